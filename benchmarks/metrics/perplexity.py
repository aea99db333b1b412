"""Measure bits per byte of texts under a language model and an n-gram model over the same tokens.

The unit is the byte, so that models with different tokenizers can be compared.
"""

from __future__ import annotations

import json
import lzma
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.metrics.ngram import Ngram
from extraction.bundled.dequantize import write_hf

__all__ = ["Scorer", "ngram_bits_per_byte"]

ORDER = 4
NGRAM_TOKENS = 20_000_000


class Scorer:
    """Score texts with a GGUF file's model, dequantized, in transformers.

    A text is scored after the end-of-text token, as the model met it in training.
    """

    def __init__(self, model: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        with tempfile.TemporaryDirectory() as folder:
            write_hf(model, Path(folder))
            self._model: Any = AutoModelForCausalLM.from_pretrained(folder).eval()
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.vocabulary: int = self._model.config.vocab_size

    def tokens(self, text: str) -> list[int]:
        """Return the end-of-text token and the text's tokens."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return [self._tokenizer.eos_token_id, *ids]

    def bits_per_byte(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return −log2 p(text) over its length in UTF-8, for each text."""
        import torch

        out = np.empty(len(texts))
        for i, text in enumerate(tqdm(texts, desc="model", leave=False, disable=None)):
            ids = torch.tensor([self.tokens(text)])
            with torch.inference_mode():
                logits = self._model(ids).logits[0, :-1].double()
            chosen = logits.log_softmax(-1).gather(1, ids[0, 1:, None])
            out[i] = _per_byte(-float(chosen.sum()), text)
        return out


def ngram_bits_per_byte(scorer: Scorer, corpus: Path, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the bits per byte under an n-gram model of order 4 (Kneser–Ney), fitted on the first
    20 million tokens of the corpus, by the scorer's tokenizer.

    Args:
        scorer: for its tokenizer.
        corpus: lines of `{"text"}`, xz-compressed.
        texts: the texts to score.
    """
    seen: list[NDArray[np.uint16]] = []
    count = 0
    with (
        lzma.open(corpus, "rt", encoding="utf-8") as lines,
        tqdm(
            total=NGRAM_TOKENS, desc="n-gram corpus", unit="token", leave=False, disable=None
        ) as bar,
    ):
        for line in lines:
            ids = np.array(scorer.tokens(json.loads(line)["text"]), dtype=np.uint16)
            seen.append(ids)
            count += len(ids)
            bar.update(len(ids))
            if count >= NGRAM_TOKENS:
                break
    model = Ngram.fit(
        np.concatenate(seen)[:NGRAM_TOKENS], order=ORDER, vocabulary=scorer.vocabulary
    )
    out = np.empty(len(texts))
    for i, text in enumerate(texts):
        nats = -model.log_probabilities(np.array(scorer.tokens(text)))[1:].sum()
        out[i] = _per_byte(float(nats), text)
    return out


def _per_byte(nats: float, text: str) -> float:
    return nats / math.log(2) / len(text.encode())
