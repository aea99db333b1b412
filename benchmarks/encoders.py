"""Texts and their tokens as vectors: by MiniLM, offline, or any model of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.utility import NEEDS_BENCH, minilm_encoder, minilm_folder
from perturb.embed import local_encoder
from perturb.errors import MissingPackage

__all__ = [
    "Encoder",
    "TokenEncoder",
    "feature_encoder",
    "remembering",
    "require_transformers",
    "sentence_encoder",
    "token_encoder",
]

Encoder = Callable[[Sequence[str]], NDArray[np.float32]]
TokenEncoder = Callable[[Sequence[str]], list[NDArray[np.float32]]]
MINILM = "minilm"
BATCH = 16
LONGEST = 512  # tokens of a text that are looked at


def sentence_encoder(name: str) -> Encoder:
    """n texts → float32 (n, d), by `minilm` or a sentence-transformers model.

    Raises:
        MissingPackage, TableError: the package or the model is not there.
    """
    return minilm_encoder() if name == MINILM else local_encoder(name)


def feature_encoder(name: str) -> Encoder:
    """What MAUVE clusters, n texts → float32 (n, d): `minilm`'s sentence embeddings, or the last
    token's last hidden state in any transformers model, as mauve-text takes it from GPT-2.

    Raises:
        MissingPackage: a package is not installed.
    """
    if name == MINILM:
        return minilm_encoder()
    states = token_encoder(name, specials=True)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([rows[-1] for rows in states(texts)])

    return encode


def token_encoder(name: str, *, specials: bool = False) -> TokenEncoder:
    """The last hidden states of a text's tokens, n texts → n arrays float32 (tokens, d).

    Args:
        name: `minilm`, or a transformers model's folder or name on the hub.
        specials: keep tokens such as [CLS], too. A text without tokens has one row of zeros.

    Raises:
        MissingPackage: a package is not installed.
    """
    transformers = require_transformers()
    import torch

    source = minilm_folder() if name == MINILM else name
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(source)
    model: Any = transformers.AutoModel.from_pretrained(source).eval()

    def batch(texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        rows = [
            tokenizer(text, truncation=True, max_length=LONGEST)["input_ids"] for text in texts
        ]
        # Padding goes last and is masked: no token sees it, and GPT-2's positions stay right.
        width = max(1, *map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
        with torch.inference_mode():
            states = model(input_ids=ids, attention_mask=mask).last_hidden_state.float().numpy()
        for row, found in zip(rows, states, strict=True):
            own = np.isin(row, tokenizer.all_special_ids, invert=True) | specials
            kept = found[: len(row)][own]
            yield kept if len(kept) else np.zeros_like(found[:1])

    def encode(texts: Sequence[str]) -> list[NDArray[np.float32]]:
        starts = tqdm(range(0, len(texts), BATCH), desc=name, leave=False)
        return [rows for start in starts for rows in batch(texts[start : start + BATCH])]

    return encode


def require_transformers() -> Any:
    """The package transformers, with torch beside it.

    Raises:
        MissingPackage: one of them is not installed.
    """
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingPackage(f"models need transformers and torch: {NEEDS_BENCH}") from None
    return transformers


def remembering(encode: Encoder) -> Encoder:
    """The same encoder, that is asked for each text once."""
    known: dict[str, NDArray[np.float32]] = {}

    def remembered(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, encode(missing), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered
