"""How often an attacker who knows the mechanism and the language guesses words right.

Two language models: bigrams of the corpus, whose posteriors are exact (`forward_backward`, which
says what is proved), and a neural one with a beam (`beam`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.beam import CausalModel, Lattice, decode
from benchmarks.attacks.corpus import corpus_words
from benchmarks.attacks.forward_backward import Chain, by_form, odds
from benchmarks.attacks.likelihood import likelihood
from benchmarks.attacks.skeleton import skeleton
from benchmarks.context import Context, Release
from benchmarks.experiment import Experiment, Found, mean, success
from benchmarks.ngram import Ngram
from benchmarks.records import Case, Estimate
from perturb.frequencies import unigram_prior

__all__ = ["Contextual"]

BIGRAM = "bigram"
BIGRAM_SHARE, NEURAL_SHARE = 3, 6  # of the suite's texts one in so many is attacked
CANDIDATES = 16  # words that the beam tries at a place: the likeliest by the bigrams' posterior
ROUNDING = 1e-4  # of ln odds: the likelihoods are in single precision

Texts = list[Release]


class Contextual(Experiment):
    """x̂ of the largest posterior under a language model and the exact channel: by bigrams for
    every mechanism, by a neural model for those that answers are generated for.

    Values: `success`; `prior`, the same attacker's without any release; `context_free`, that of
    the best guess under the unigram prior on the same words; `gain`, success − context_free, over
    texts; and for bigrams `others`, the success of the best guess of each word from all releases
    but its own, and `odds`, the largest ln of a posterior's odds over those.
    """

    name = "contextual"
    about = "words guessed by bigrams or a neural model and the exact channel together"

    def __init__(self) -> None:
        self._chain = lru_cache(maxsize=1)(_chain)
        self._evidence = lru_cache(maxsize=1)(_evidence)
        self._model = lru_cache(maxsize=1)(CausalModel)
        self._priors = lru_cache(maxsize=None)(self._prior)

    def cases(self, context: Context) -> Iterable[Case]:
        if context.corpus is None:
            return
        for model in (BIGRAM, *context.suite.causal):
            yield from context.suite.cases(pipeline=model != BIGRAM, model=model)

    def measure(self, case: Case, context: Context) -> Found:
        label, epsilon, dataset = case["mechanism"], case["epsilon"], case["dataset"]
        limit = _limit(case["model"], context)
        texts = [r for r in context.releases(label, epsilon, dataset)[:limit] if len(r.raw)]
        seen, likelihoods = self._evidence(context, label, epsilon)
        places = [np.searchsorted(seen, release.released) for release in texts]
        group = context.forms.group
        unigram = unigram_prior(context.table.vocabulary)
        free = [
            by_form(likelihoods[rows] * unigram, context.forms).argmax(axis=1) == group[r.raw]
            for rows, r in zip(places, texts, strict=True)
        ]
        extra: dict[str, Any] = {}
        breaches: tuple[str, ...] = ()
        if case["model"] == BIGRAM:
            hits, others, largest = self._bigrams(context, texts, likelihoods, places)
            extra = {"others": _rate(others), "odds": largest}
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
            "success": _rate(hits),
            "prior": _rate(self._priors(context, case["model"], dataset)),
            "context_free": _rate(free),
            "gain": mean(gain, context.rng(self.name, case)),
            **extra,
        }
        return Found(values, breaches)

    def _bigrams(
        self,
        context: Context,
        texts: Texts,
        likelihoods: NDArray[np.floating],
        places: Sequence[NDArray[np.integer]],
    ) -> tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]], float]:
        """Hits with all releases, and with all but a word's own; the largest change of odds."""
        forms, hits, without, largest = context.forms, [], [], 0.0
        found = self._chain(context).others(likelihoods, places)
        for others, rows, release in zip(found, places, texts, strict=True):
            before = by_form(others, forms)
            after = by_form(others * likelihoods[rows], forms)
            hits.append(after.argmax(axis=1) == forms.group[release.raw])
            without.append(before.argmax(axis=1) == forms.group[release.raw])
            largest = max(largest, odds(after, before))
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
        gaps = [skeleton(vocabulary, s.prefix) for s in context.samples(dataset)]
        found = self._chain(context).others(likelihoods, places)
        lattices = [
            Lattice.best(gap, others, likelihoods[rows], vocabulary.words, CANDIDATES)
            for gap, others, rows in zip(filter(None, gaps), found, places, strict=False)
        ]
        guesses = decode(self._model(model), lattices)
        return [
            group[guess] == group[release.raw]
            for guess, release in zip(guesses, texts, strict=True)
        ]

    def _prior(self, context: Context, model: str, dataset: str) -> list[NDArray[np.bool_]]:
        """Hits of the same attacker with releases that say nothing."""
        samples = context.samples(dataset)[: _limit(model, context)]
        raw = [words for s in samples if len(words := context.words(s.prefix))]
        texts = [Release(words, words) for words in raw]
        nothing = np.ones((1, len(context.table)), dtype=np.float32)
        places = [np.zeros(len(words), dtype=np.int64) for words in raw]
        if model == BIGRAM:
            return self._bigrams(context, texts, nothing, places)[0]
        return self._neural(model, context, dataset, texts, nothing, places)


def _limit(model: str, context: Context) -> int:
    """How many texts of a set are attacked: fewer than others attack, as it takes longer."""
    return max(2, context.suite.texts // (BIGRAM_SHARE if model == BIGRAM else NEURAL_SHARE))


def _rate(hits: list[NDArray[np.bool_]]) -> Estimate:
    every = np.concatenate(hits)
    return success(int(every.sum()), len(every))


def _chain(context: Context) -> Chain:
    words = corpus_words(context)
    return Chain(Ngram.fit(words, order=2, vocabulary=len(context.table) + 1))


def _evidence(
    context: Context, label: str, epsilon: float
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The different words that all sets' releases show, ascending, (k,), and the likelihood of
    each, (k, m): one pass over the channel serves all cases of a mechanism and an ε."""
    releases: Iterator[Release] = (
        release
        for dataset in context.suite.datasets
        for release in context.releases(label, epsilon, dataset)[: _limit(BIGRAM, context)]
    )
    seen = np.unique(np.concatenate([release.released for release in releases]))
    found = likelihood(context.mechanism(label, epsilon), seen)
    found[~found.any(axis=1)] = 1.0  # a sampled channel may miss what was drawn: it says nothing
    return seen, found
