"""Measure the success of an attacker who knows the mechanism and the language.

There are two language models: bigrams of the corpus, with exact posteriors (`forward_backward`,
which states the proof), and a neural one with a beam (`beam`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.in_context.beam import CausalModel, Lattice, decode
from benchmarks.attacks.in_context.corpus import read_corpus_words
from benchmarks.attacks.in_context.forward_backward import Chain, measure_odds_change, sum_by_form
from benchmarks.attacks.in_context.skeleton import find_gaps
from benchmarks.attacks.likelihood import likelihood
from benchmarks.attacks.word_attack import CLAIM, WordAttack, list_by_set
from benchmarks.harness.context import Context, Release
from benchmarks.harness.experiment import Outcome, mean, success
from benchmarks.harness.markdown import (
    format_figure,
    format_percent,
    format_point,
    format_table,
)
from benchmarks.harness.records import Case, Estimate, Record
from benchmarks.metrics.ngram import Ngram
from perturb.vocabulary.frequencies import unigram_prior

__all__ = ["Contextual"]

BIGRAM = "bigram"
BIGRAM_SHARE, NEURAL_SHARE = 3, 6  # one in this many of the suite's texts is attacked
CANDIDATES = 16  # the beam tries this many words at a place, the likeliest under bigrams
ROUNDING = 1e-4  # of ln odds: the likelihoods are in single precision

Texts = list[Release]


class Contextual(WordAttack):
    """Guess x̂ with the largest posterior under a language model and the exact channel: by bigrams
    for every mechanism, by a neural model for those that answers are generated for.

    Values:
        success: the attacker's.
        prior: the same attacker's success without any release.
        context_free: the success, on the same words, of the best guess under the unigram prior.
        gain: success − context_free, over texts.
        others: for bigrams, the success of the best guess of each word without its own release.
        odds: for bigrams, the largest ln of a posterior's odds over those.
    """

    name = "contextual"
    about = "words guessed by bigrams or a neural model and the exact channel together"
    strongest_value = "success"

    def __init__(self) -> None:
        self._chain = lru_cache(maxsize=1)(_fit_chain)
        self._evidence = lru_cache(maxsize=1)(_gather_evidence)
        self._model = lru_cache(maxsize=1)(CausalModel)
        self._priors = lru_cache(maxsize=None)(self._prior)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.corpus is None:
            return
        for model in (BIGRAM, *context.suite.causal):
            yield from context.suite.cases(pipeline=model != BIGRAM, model=model)

    def measure(self, case: Case, context: Context) -> Outcome:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        limit = _count_texts(case["model"], context)
        texts = [r for r in context.releases(label, epsilon, dataset)[:limit] if len(r.raw)]
        seen, likelihoods = self._evidence(context, label, epsilon)
        places = [np.searchsorted(seen, release.released) for release in texts]
        group = context.forms.group
        unigram = unigram_prior(context.table.vocabulary)
        free = [
            sum_by_form(likelihoods[rows] * unigram, context.forms).argmax(axis=1) == group[r.raw]
            for rows, r in zip(places, texts, strict=True)
        ]
        extra: dict[str, Any] = {}
        breaches: tuple[str, ...] = ()
        if case["model"] == BIGRAM:
            hits, others, largest = self._bigrams(context, texts, likelihoods, places)
            extra = {"others": _estimate_rate(others), "odds": largest}
            guarantee = context.mechanism(label, epsilon).guarantee
            if guarantee.kind == "ldp" and largest > guarantee.epsilon + ROUNDING:
                breaches = (
                    f"one release changed the odds of a word by e^{largest:.6g}, above the "
                    f"proved e^{guarantee.epsilon:.6g}",
                )
        else:
            hits = self._neural(case["model"], context, dataset, texts, likelihoods, places)
        gain = np.array([a.mean() - b.mean() for a, b in zip(hits, free, strict=True)])
        values = {
            "success": _estimate_rate(hits),
            "prior": _estimate_rate(self._priors(context, case["model"], dataset)),
            "context_free": _estimate_rate(free),
            "gain": mean(gain, context.rng(self.name, case)),
            **extra,
        }
        return Outcome(values, breaches)

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        rows = [
            [
                *format_point(r.case),
                r.case["dataset"],
                r.case["model"],
                format_percent(r.values["success"]),
                format_percent(r.values["context_free"]),
                format_figure(r.values["gain"], 1, sign=True, scale=100),
                format_percent(r.values["prior"]),
            ]
            for r in records
        ]
        if rows:
            head = ["mechanism", "ε", "set", "model", "words read", "without context", "gain"]
            yield (
                "### Words read with context\n\n"
                "A language model and the exact channel together: exact posteriors by "
                "forward–backward for bigrams, a beam for a neural model. *Without context* is "
                "the Bayes attack on the same words, *gain* the difference over texts, *blind* "
                "the language model alone.\n\n" + format_table([*head, "blind"], rows)
            )

    def render_remark(self, records: Sequence[Record]) -> str:
        found = self.select(records, model=BIGRAM, **CLAIM)
        return f"An attacker with context reads {list_by_set(found, 'success')}." if found else ""

    def _bigrams(
        self,
        context: Context,
        texts: Texts,
        likelihoods: NDArray[np.floating],
        places: Sequence[NDArray[np.integer]],
    ) -> tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]], float]:
        """Return the hits with all releases, the hits without a word's own release, and the
        largest change of odds."""
        forms, hits, without, largest = context.forms, [], [], 0.0
        found = self._chain(context).infer_from_others(likelihoods, places)
        for others, rows, release in zip(found, places, texts, strict=True):
            before = sum_by_form(others, forms)
            after = sum_by_form(others * likelihoods[rows], forms)
            hits.append(after.argmax(axis=1) == forms.group[release.raw])
            without.append(before.argmax(axis=1) == forms.group[release.raw])
            largest = max(largest, measure_odds_change(after, before))
        return hits, without, largest

    def _neural(
        self,
        model: str,
        context: Context,
        dataset: str,
        texts: Texts,
        likelihoods: NDArray[np.floating],
        places: Sequence[NDArray[np.integer]],
    ) -> list[NDArray[np.bool_]]:
        vocabulary, group = context.table.vocabulary, context.forms.group
        gaps = [find_gaps(vocabulary, s.prefix) for s in context.samples(dataset)]
        found = self._chain(context).infer_from_others(likelihoods, places)
        lattices = [
            Lattice.from_best(gap, others, likelihoods[rows], vocabulary.words, CANDIDATES)
            for gap, others, rows in zip(filter(None, gaps), found, places, strict=False)
        ]
        guesses = decode(self._model(model), lattices)
        return [
            group[guess] == group[release.raw]
            for guess, release in zip(guesses, texts, strict=True)
        ]

    def _prior(self, context: Context, model: str, dataset: str) -> list[NDArray[np.bool_]]:
        """Return the hits of the same attacker with releases that carry no information."""
        samples = context.samples(dataset)[: _count_texts(model, context)]
        raw = [words for s in samples if len(words := context.words(s.prefix))]
        texts = [Release(words, words) for words in raw]
        nothing = np.ones((1, len(context.table)), dtype=np.float32)
        places = [np.zeros(len(words), dtype=np.int64) for words in raw]
        if model == BIGRAM:
            return self._bigrams(context, texts, nothing, places)[0]
        return self._neural(model, context, dataset, texts, nothing, places)


def _count_texts(model: str, context: Context) -> int:
    """Return the number of attacked texts of a set, which is smaller than in other attacks
    because this one is slow."""
    return max(2, context.suite.texts // (BIGRAM_SHARE if model == BIGRAM else NEURAL_SHARE))


def _estimate_rate(hits: list[NDArray[np.bool_]]) -> Estimate:
    every = np.concatenate(hits)
    return success(int(every.sum()), len(every))


def _fit_chain(context: Context) -> Chain:
    words = read_corpus_words(context)
    return Chain(Ngram.fit(words, order=2, vocabulary=len(context.table) + 1))


def _gather_evidence(
    context: Context, label: str, epsilon: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the different words in the releases of all sets, ascending, (k,), and the likelihood
    of each, (k, m). One pass over the channel serves all cases of a mechanism and an ε."""
    releases: Iterator[Release] = (
        release
        for dataset in context.suite.datasets
        for release in context.releases(label, epsilon, dataset)[: _count_texts(BIGRAM, context)]
    )
    seen = np.unique(np.concatenate([release.released for release in releases]))
    found = likelihood(context.mechanism(label, epsilon), seen)
    found[~found.any(axis=1)] = 1.0  # a sampled channel may miss a drawn word: no information
    return seen, found
