"""Compute the exact likelihoods of candidate documents, given the bytes released for one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks.likelihood import log_likelihood
from benchmarks.harness.context import Context
from benchmarks.whole.sanitizers import build_sanitizer, draws_words
from perturb import DocumentOptions, Perturber, TokenClass, seeded_generator
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
    "read_skeleton",
]

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class Candidate:
    """Hold a public text and its words, as places in V: int (n,)."""

    text: str
    words: NDArray[np.int32]


class Linkage(Protocol):
    """Release candidates, and score all of them by a release.

    Attributes:
        kinds: a number for what every release of a candidate shows, int (N,): no proof covers it.
    """

    kinds: NDArray[np.intp]

    def release(self, place: int, rng: np.random.Generator) -> Any:
        """Return a fresh release of a candidate."""

    def scores(self, release: Any) -> NDArray[np.float64]:
        """Return ln P(release | candidate) up to a constant, float64 (N,)."""

    def resolve(self, release: Any) -> NDArray[np.float64]:
        """Return scores that decide between equally likely candidates, float64 (N,)."""


@lru_cache(maxsize=2)
def list_candidates(context: Context, times: int = 1) -> list[Candidate]:
    """Return different public texts of as many words of V as the suite says, or `times` as many,
    in the order of the sets; each is the beginning of a prefix and its continuation."""
    vocabulary, whole = context.table.vocabulary, context.suite.whole
    count = whole.words * times
    found: dict[tuple[int, ...], Candidate] = {}
    for dataset in context.suite.datasets:
        for sample in context.samples(dataset):
            tokens = vocabulary.encode(sample.prefix + sample.continuation)
            places = np.flatnonzero(vocabulary.classes[tokens] == TokenClass.WORD)[:count]
            if len(places) == count:
                words = np.asarray(vocabulary.index[tokens[places]], dtype=np.int32)
                text = vocabulary.decode(tokens[: places[-1] + 1].tolist())
                found.setdefault(tuple(words.tolist()), Candidate(text, words))
    return list(found.values())[: whole.documents]


def read_skeleton(text: str) -> str:
    """Return a released text with `w` for each word and `0` for each digit: the part that is the
    same in every release of a document. In a release, a word is a longest run of letters.

    >>> read_skeleton("Hello (at 12.30), world")
    'w (w 00.00), w'
    """
    return _DIGIT.sub("0", _WORD.sub("w", text))


class WordLinkage:
    """Score the bytes of a release, for a mechanism that draws each word by itself.

    A candidate with another skeleton cannot have been released as these bytes. For the others,
    ln P(bytes | candidate) is Σ ln P(y_i | x_i), up to the law of the digits, which depends on the
    skeleton alone.

    Args:
        sanitizer: draws the words.
        texts: of all candidates, N.

    Attributes:
        kinds: a number for the skeleton of each candidate, int (N,).
        counts: how many words are drawn for each candidate, int (N,).
    """

    def __init__(self, sanitizer: Perturber, texts: list[str]) -> None:
        self._sanitizer, self._texts = sanitizer, texts
        vocabulary = sanitizer.vocabulary
        self._places = {word: place for place, word in enumerate(vocabulary.words)}
        words = [sanitizer.places(vocabulary.encode(text)) for text in texts]
        self._words = [places for _, places in words]
        rng = seeded_generator(0)  # any draw shows the skeleton
        shown = [read_skeleton(sanitizer.perturb(text, rng).text) for text in texts]
        self._kinds = {skeleton: kind for kind, skeleton in enumerate(dict.fromkeys(shown))}
        self.kinds = np.array([self._kinds[skeleton] for skeleton in shown])
        self.counts = np.array([len(places) for places in self._words])

    def release(self, place: int, rng: np.random.Generator) -> str:
        """Return the text that is sent for a candidate."""
        return self._sanitizer.perturb(self._texts[place], rng).text

    def scores(self, release: str) -> NDArray[np.float64]:
        """Return ln P(release | candidate) up to a constant, float64 (N,)."""
        found = np.full(len(self._texts), -np.inf)
        same = np.flatnonzero(self.kinds == self._kinds[read_skeleton(release)])
        found[same] = 0.0
        if len(same) > 1:
            words = np.array(
                [self._places[word] for word in _WORD.findall(release)], dtype=np.intp
            )
            raw = np.stack([self._words[place] for place in same])
            rows = log_likelihood(self._sanitizer.mechanism, words).astype(np.float64)
            found[same] = rows[np.arange(len(words)), raw].sum(axis=1)
        return found

    def resolve(self, release: str) -> NDArray[np.float64]:
        """Return zeros: nothing else is known."""
        del release
        return np.zeros(len(self._texts))


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
        self.kinds = np.zeros(len(texts), dtype=np.intp)
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


def build_linkage(
    context: Context, label: str, epsilon: float, options: DocumentOptions | None = None
) -> Linkage:
    """Build the likelihoods of all candidates under a sanitizer; `options` are of words."""
    texts = [candidate.text for candidate in list_candidates(context)]
    if draws_words(context, label):
        return WordLinkage(Perturber(context.mechanism(label, epsilon), options), texts)
    sanitizer = build_sanitizer(context, label, epsilon)
    assert isinstance(sanitizer, Surrogate), "`has_linkage` is asked first"
    return ChoiceLinkage(sanitizer, texts)
