"""Compute the exact likelihoods of candidate documents, given one release of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.likelihood import log_likelihood
from benchmarks.harness.context import Context
from benchmarks.whole.sanitizers import build_sanitizer, draws_words
from perturb import Mechanism, TokenClass
from perturb.whole.choice import find_nearest
from perturb.whole.encoder import load_encoder
from perturb.whole.surrogate import Surrogate

__all__ = [
    "Candidate",
    "ChoiceLinkage",
    "Linkage",
    "WordLinkage",
    "build_linkage",
    "has_linkage",
    "list_candidates",
]


@dataclass(frozen=True)
class Candidate:
    """Hold a public text and its words, as places in V: int (n,)."""

    text: str
    words: NDArray[np.int32]


class Linkage(Protocol):
    """Release candidates, and score all of them by a release."""

    def release(self, place: int, rng: np.random.Generator) -> Any:
        """Return a fresh release of a candidate."""

    def scores(self, release: Any) -> NDArray[np.float64]:
        """Return ln P(release | candidate) up to a constant, float64 (N,)."""

    def resolve(self, release: Any) -> NDArray[np.float64]:
        """Return scores that decide between equally likely candidates, float64 (N,)."""


def list_candidates(context: Context) -> list[Candidate]:
    """Return different public texts of as many words of V as the suite says, in the order of the
    sets; each is the beginning of a prefix and its continuation."""
    vocabulary, whole = context.table.vocabulary, context.suite.whole
    found: dict[tuple[int, ...], Candidate] = {}
    for dataset in context.suite.datasets:
        for sample in context.samples(dataset):
            tokens = vocabulary.encode(sample.prefix + sample.continuation)
            places = np.flatnonzero(vocabulary.classes[tokens] == TokenClass.WORD)[: whole.words]
            if len(places) == whole.words:
                words = np.asarray(vocabulary.index[tokens[places]], dtype=np.int32)
                text = vocabulary.decode(tokens[: places[-1] + 1].tolist())
                found.setdefault(tuple(words.tolist()), Candidate(text, words))
    return list(found.values())[: whole.documents]


class WordLinkage:
    """Score by Σ ln P(y_i | x_i), for a mechanism that draws each word by itself.

    Args:
        mechanism: draws the words.
        words: of all candidates, as places in V, int (N, n).
    """

    def __init__(self, mechanism: Mechanism, words: NDArray[np.int32]) -> None:
        self._mechanism, self._words = mechanism, words

    def release(self, place: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return the released words, int (n,)."""
        return self._mechanism.draw(self._words[place], rng).words

    def scores(self, release: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return ln P(release | candidate), float64 (N,)."""
        rows = log_likelihood(self._mechanism, release).astype(np.float64)
        return np.asarray(rows[np.arange(len(release)), self._words].sum(axis=1))

    def resolve(self, release: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return zeros: nothing else is known."""
        del release
        return np.zeros(len(self._words))


class ChoiceLinkage:
    """Score by ln π(rank), for a private choice of one passage.

    Equally likely candidates are told apart by the similarity to the passage. Under the law that
    is claimed this gains nothing; a law that leaks the order is caught by it.

    Args:
        sanitizer: makes the choice.
        texts: of all candidates, N.
    """

    def __init__(self, sanitizer: Surrogate, texts: list[str]) -> None:
        self._sanitizer, self._texts = sanitizer, texts
        self.law = sanitizer.laws[0]
        book = sanitizer.codebook
        self._vectors = load_encoder(str(book.facts["encoder"]["encoder"]))(texts)
        self.near = np.stack(
            [find_nearest(book.similarities(vector), self.law.near) for vector in self._vectors]
        )

    def release(self, place: int, rng: np.random.Generator) -> int:
        """Return the index of the chosen passage."""
        chosen = self._sanitizer.perturb(self._texts[place], rng).words[0]
        index = self._sanitizer.codebook.find(chosen)
        assert index is not None, "a surrogate releases passages of its codebook"
        return index

    def scores(self, release: int) -> NDArray[np.float64]:
        """Return ln P(release | candidate), float64 (N,)."""
        high, low = (np.log(weight / self.law.total) for weight in self.law.weights)
        return np.asarray(np.where((self.near == release).any(axis=1), high, low))

    def resolve(self, release: int) -> NDArray[np.float64]:
        """Return the cosines of the candidates and the passage, float64 (N,)."""
        book = self._sanitizer.codebook
        row = book.vectors[release].astype(np.float32) * book.scales[release]
        return np.asarray(self._vectors @ row, dtype=np.float64)

    @property
    def success(self) -> float:
        """Return the exact chance to name a candidate drawn at random: the mean over candidates
        of Σ_c max P(c | x), ties counted as one over their number."""
        covered = len(np.unique(self.near))
        high, low = self.law.weights
        total = covered * high + (self.law.candidates - covered) * low
        return total / self.law.total / len(self.near)

    def pair_success(self, first: int, second: int) -> float:
        """Return the exact chance to tell two candidates apart, (1 + TV)/2."""
        common = len(np.intersect1d(self.near[first], self.near[second]))
        high, low = self.law.weights
        return (1 + (self.law.near - common) * (high - low) / self.law.total) / 2


def has_linkage(context: Context, label: str) -> bool:
    """Tell whether the likelihoods of a sanitizer are computed exactly."""
    if draws_words(context, label):
        return True
    subject = context.subject({"mechanism": label})
    choices = {"passages", "sections"} & subject.parameters.keys()
    return subject.mechanism == Surrogate.name and not choices


def build_linkage(context: Context, label: str, epsilon: float) -> Linkage:
    """Build the likelihoods of all candidates under a sanitizer."""
    candidates = list_candidates(context)
    if draws_words(context, label):
        words = np.stack([candidate.words for candidate in candidates])
        return WordLinkage(context.mechanism(label, epsilon), words)
    sanitizer = build_sanitizer(context, label, epsilon)
    assert isinstance(sanitizer, Surrogate), "`has_linkage` is asked first"
    return ChoiceLinkage(sanitizer, [candidate.text for candidate in candidates])
