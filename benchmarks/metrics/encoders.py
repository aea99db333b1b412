"""Encode texts and tokens as vectors, by MiniLM offline or any model of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.metrics.utility import find_minilm, load_minilm
from perturb.errors import MissingPackage
from perturb.install import install_command
from perturb.vocabulary.embed import local_encoder

__all__ = [
    "MINILM",
    "Encoder",
    "TokenEncoder",
    "load_feature_encoder",
    "load_sentence_encoder",
    "load_token_encoder",
    "memoize",
    "require_transformers",
]

Encoder = Callable[[Sequence[str]], NDArray[np.float32]]
TokenEncoder = Callable[[Sequence[str]], list[NDArray[np.float32]]]
MINILM = "minilm"
BATCH = 16
LONGEST = 512  # tokens of a text that are read


def load_sentence_encoder(name: str) -> Encoder:
    """Return an encoder of n texts → float32 (n, d): `minilm` or a sentence-transformers model.

    Raises:
        MissingPackage, TableError: the package or the model is not there.
    """
    return load_minilm() if name == MINILM else local_encoder(name)


def load_feature_encoder(name: str) -> Encoder:
    """Return an encoder of the features that MAUVE clusters, n texts → float32 (n, d): the
    sentence embeddings of `minilm`, or the last token's last hidden state in any transformers
    model, as mauve-text takes it from GPT-2.

    Raises:
        MissingPackage: a package is not installed.
    """
    if name == MINILM:
        return load_minilm()
    states = load_token_encoder(name, specials=True)

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([rows[-1] for rows in states(texts)])

    return encode


def load_token_encoder(name: str, *, specials: bool = False) -> TokenEncoder:
    """Return an encoder to the last hidden states of a text's tokens, n texts → n arrays float32
    (tokens, d).

    Args:
        name: `minilm`, or a transformers model's folder or name on the hub.
        specials: whether to keep tokens such as [CLS]. A text without tokens has one row of zeros.

    Raises:
        MissingPackage: a package is not installed.
    """
    transformers = require_transformers()
    import torch

    source = find_minilm() if name == MINILM else name
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(source)
    model: Any = transformers.AutoModel.from_pretrained(source).eval()

    def batch(texts: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        rows = [
            tokenizer(text, truncation=True, max_length=LONGEST)["input_ids"] for text in texts
        ]
        # Padding comes last and is masked: no token attends to it, and GPT-2's positions hold.
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
        starts = tqdm(range(0, len(texts), BATCH), desc=name, leave=False, disable=None)
        return [rows for start in starts for rows in batch(texts[start : start + BATCH])]

    return encode


def require_transformers() -> Any:
    """Import transformers, with torch beside it.

    Raises:
        MissingPackage: one of them is not installed.
    """
    try:
        import torch  # noqa: F401
        import transformers
    except ImportError:
        raise MissingPackage(
            f"models need transformers and torch: {install_command('bench')}"
        ) from None
    return transformers


def memoize(encode: Encoder) -> Encoder:
    """Wrap an encoder so that it encodes each text once."""
    known: dict[str, NDArray[np.float32]] = {}

    def remembered(texts: Sequence[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, encode(missing), strict=True))
        return np.stack([known[text] for text in texts])

    return remembered
