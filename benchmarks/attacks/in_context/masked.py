"""Input inference, in which a masked language model fills each place of the perturbed text.

The released word at the place itself is masked, so the guess uses only the other releases. Its
success comes from context that survived; the ε of the word's own release does not bound it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from benchmarks.attacks.in_context.skeleton import Gap, fill_gaps, find_gaps
from benchmarks.harness.context import Context
from benchmarks.harness.experiment import Experiment, Outcome, success
from benchmarks.harness.markdown import format_percent, format_point, format_table
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.metrics.encoders import require_transformers

__all__ = ["InputInference", "MaskedModel"]

BATCH = 32  # texts the model reads at once


class MaskedModel:
    """Run a masked language model of transformers.

    Args:
        name: a model on the Hugging Face hub or in a folder.

    Raises:
        MissingPackage: transformers or torch is not installed.
    """

    def __init__(self, name: str) -> None:
        transformers = require_transformers()
        self._model: Any = transformers.AutoModelForMaskedLM.from_pretrained(name).eval()
        self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name)

    def guess_each(self, gaps: Sequence[Gap], words: Sequence[str]) -> list[str]:
        """Return the model's word for each place, (n,), when only that place of the text is
        masked."""
        mask = self._tokenizer.mask_token
        texts = [fill_gaps(gaps, [*words[:i], mask, *words[i + 1 :]]) for i in range(len(words))]
        found = [self._guess(texts[i : i + BATCH]) for i in range(0, len(texts), BATCH)]
        return [guess for batch in found for [guess] in batch]

    def guess_all(self, gaps: Sequence[Gap]) -> list[str]:
        """Return the model's words for a text of which only the layout is known, (n,)."""
        return self._guess([fill_gaps(gaps, [self._tokenizer.mask_token] * len(gaps))])[0]

    def _guess(self, texts: list[str]) -> list[list[str]]:
        """Return the likeliest token at every mask of each text; special tokens, [UNK] among them,
        are excluded."""
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
    """Measure the success, up to case, of the suite's `masked` models, and their `prior`: the
    success with every word masked."""

    name = "masked"
    about = "words guessed by masked language models; nothing where the suite names none (masked)"

    def __init__(self) -> None:
        self._model = lru_cache(maxsize=1)(MaskedModel)

    def cases(self, context: Context) -> Iterable[Case]:
        for model in context.suite.masked:
            yield from context.suite.cases(model=model)

    def measure(self, case: Case, context: Context) -> Outcome:
        model, vocabulary = self._model(case["model"]), context.table.vocabulary
        releases = context.releases(case["mechanism"], case["epsilon"], case["dataset"])
        hits: list[bool] = []
        prior: list[bool] = []
        samples = context.samples(case["dataset"])
        pairs = zip(samples, releases, strict=False)
        for sample, release in tqdm(
            list(pairs), desc="masked", unit="text", leave=False, disable=None
        ):
            if not len(release.raw):
                continue
            gaps = find_gaps(vocabulary, sample.prefix)
            raw = _spell(release.raw, vocabulary.words)
            released = _spell(release.released, vocabulary.words)
            hits += _match(model.guess_each(gaps, released), raw)
            prior += _match(model.guess_all(gaps), raw)
        values: dict[str, Estimate] = {
            "success": success(sum(hits), len(hits)),
            "prior": success(sum(prior), len(prior)),
        }
        return Outcome(values)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                r.case["dataset"],
                r.case["model"],
                *(format_percent(r.values[name]) for name in ("success", "prior")),
            ]
            for r in records
        ]
        if rows:
            yield (
                "### Words filled in by a masked language model\n\n"
                "Per cent of the words that the model names where the released word is masked "
                "and the others are kept. *Blind*: with every word masked.\n\n"
                + format_table(["mechanism", "ε", "set", "model", "words read", "blind"], rows)
            )


def _spell(places: NDArray[np.int32], words: Sequence[str]) -> list[str]:
    return [words[place] for place in places]


def _match(guesses: list[str], raw: list[str]) -> list[bool]:
    return [a.casefold() == b.casefold() for a, b in zip(guesses, raw, strict=True)]
