"""Input inference: a masked language model fills each place of the perturbed text.

The released word at the place itself is masked, so the guess uses the other releases alone: what
succeeds here is context that survived, and no ε of the word's own release bounds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.attacks.skeleton import Gap, fill, skeleton
from benchmarks.context import Context
from benchmarks.encoders import require_transformers
from benchmarks.experiment import Experiment, Found, success
from benchmarks.records import Case, Estimate

__all__ = ["InputInference", "MaskedModel"]

BATCH = 32  # texts the model reads at once


class MaskedModel:
    """Any masked language model of transformers.

    Args:
        name: a model on the Hugging Face hub or in a folder.

    Raises:
        MissingPackage: transformers or torch is not installed.
    """

    def __init__(self, name: str) -> None:
        transformers = require_transformers()
        self._model: Any = transformers.AutoModelForMaskedLM.from_pretrained(name).eval()
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name)

    def one_by_one(self, gaps: Sequence[Gap], words: Sequence[str]) -> list[str]:
        """The model's word for each place, (n,), of a text where that place alone is masked."""
        mask = self._tokenizer.mask_token
        texts = [fill(gaps, [*words[:i], mask, *words[i + 1 :]]) for i in range(len(words))]
        found = [self._guess(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        return [guess for batch in found for [guess] in batch]

    def all_at_once(self, gaps: Sequence[Gap]) -> list[str]:
        """The model's words for a text of which the layout alone is known, (n,)."""
        return self._guess([fill(gaps, [self._tokenizer.mask_token] * len(gaps))])[0]

    def _guess(self, texts: list[str]) -> list[list[str]]:
        """The likeliest token at every mask of each text; special ones, [UNK] among them, are no
        guesses."""
        import torch

        tokenizer = self._tokenizer
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        with torch.inference_mode():
            logits = self._model(**batch).logits
            logits[..., tokenizer.all_special_ids] = -torch.inf
            best = logits.argmax(-1)
        masked = batch["input_ids"] == tokenizer.mask_token_id
        return [
            [tokenizer.decode([token]).strip() for token in row[at].tolist()]
            for row, at in zip(best, masked, strict=True)
        ]


class InputInference(Experiment):
    """Success up to case of the suite's `masked` models, and their `prior`: with every word
    masked."""

    name = "masked"
    about = "words guessed by masked language models; nothing where the suite names none (masked)"

    def __init__(self) -> None:
        self._model = lru_cache(maxsize=1)(MaskedModel)

    def cases(self, context: Context) -> Iterable[Case]:
        for model in context.suite.masked:
            yield from context.suite.cases(model=model)

    def measure(self, case: Case, context: Context) -> Found:
        model, vocabulary = self._model(case["model"]), context.table.vocabulary
        releases = context.releases(case["mechanism"], case["epsilon"], case["dataset"])
        hits: list[bool] = []
        prior: list[bool] = []
        samples = context.samples(case["dataset"])
        pairs = zip(samples, releases, strict=False)
        for sample, release in tqdm(list(pairs), desc="masked", unit="text", leave=False):
            if not len(release.raw):
                continue
            gaps = skeleton(vocabulary, sample.prefix)
            raw = _spell(release.raw, vocabulary.words)
            released = _spell(release.released, vocabulary.words)
            hits += _same(model.one_by_one(gaps, released), raw)
            prior += _same(model.all_at_once(gaps), raw)
        values: dict[str, Estimate] = {
            "success": success(sum(hits), len(hits)),
            "prior": success(sum(prior), len(prior)),
        }
        return Found(values)


def _spell(places: NDArray[np.int32], words: Sequence[str]) -> list[str]:
    return [words[place] for place in places]


def _same(guesses: list[str], raw: list[str]) -> list[bool]:
    return [a.casefold() == b.casefold() for a, b in zip(guesses, raw, strict=True)]
