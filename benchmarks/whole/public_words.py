"""Count the content words of public passages, for attackers who know the language alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.utility.quality import split_words
from perturb.vocabulary.stop_words import FUNCTION_WORDS
from perturb.whole.choice import PrivateChoice
from perturb.whole.codebook import Codebook
from perturb.whole.passages import WORDS

__all__ = ["PublicWords", "find_thresholds", "is_content", "list_content_words"]

SHORTEST = 3  # letters of a content word
POPULATION = 16_384  # passages that stand for all texts; more change the figures little
ROWS = 256  # multiplied at a time
NEAREST = 50  # passages beside a released one whose words are counted
WIDER = 200  # likewise, where they only correct the prior


def is_content(word: str) -> bool:
    """Tell whether a case-folded word is a content word: letters only, and no function word."""
    return len(word) >= SHORTEST and word.isalpha() and word not in FUNCTION_WORDS


def list_content_words(text: str) -> list[str]:
    """Return the different content words of a text, case-folded, in their order.

    >>> list_content_words("The river rose, and the River fell.")
    ['river', 'rose', 'fell']
    """
    return [
        w for w in dict.fromkeys(word.casefold() for word in split_words(text)) if is_content(w)
    ]


class PublicWords:
    """Hold which content words occur in which passages of a codebook.

    The passages, evenly spaced in an order that their hashes decide, stand for the texts that
    people may send. The prior is of another collection: general English.

    Args:
        book: the codebook.
        prior: how frequent words are in general, by case-folded word.

    Attributes:
        words: all content words, the most frequent first.
        places: int (k,), the passages.
        frequency: float64 (words,), the share of the passages with each word.
        general: float64 (words,), the chance that a text of a passage's length has it by the
            prior; a word without one has its frequency.
    """

    def __init__(self, book: Codebook, prior: Mapping[str, float]) -> None:
        self._book = book
        count = min(len(book), POPULATION)
        self.places = np.linspace(0, len(book) - 1, count).astype(np.int64)
        texts = [list_content_words(book.passage(int(place))) for place in self.places]
        counts = Counter(word for words in texts for word in words)
        self.words = [word for word, _ in counts.most_common()]
        number = {word: i for i, word in enumerate(self.words)}
        self.frequency = np.array([counts[word] for word in self.words]) / count
        share = np.array([prior.get(word, 0.0) for word in self.words])
        self.general = np.where(share > 0, 1 - (1 - share) ** WORDS, self.frequency)
        self._held = [np.array([number[w] for w in words], dtype=np.int64) for words in texts]
        self._number = number

    def rank(self, scores: NDArray[np.float64], count: int) -> list[str]:
        """Return the `count` words with the highest scores; equal ones by their frequency."""
        return [self.words[i] for i in np.argsort(-scores, kind="stable")[:count]]

    def count_in(self, chosen: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return how many of some passages, by number in `places`, have each word."""
        if not len(chosen):
            return np.zeros(len(self.words))
        held = np.concatenate([self._held[i] for i in chosen])
        return np.bincount(held, minlength=len(self.words)).astype(np.float64)

    def score_passage(self, passage: str) -> NDArray[np.float64]:
        """Return scores that put the words of a passage first."""
        scores = self.frequency.copy()
        known = (self._number.get(word) for word in list_content_words(passage))
        scores[[i for i in known if i is not None]] += 1
        return scores

    def score_nearest(self, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the share of the passages nearest to the released one that have each word.

        Args:
            cosines: of the released passage and each of `places`, float (k,).
        """
        near = np.argsort(-cosines, kind="stable")[:NEAREST]
        return (self.count_in(near) + self.frequency) / len(near)

    def score_prior(self, cosines: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the general chance of each word, times the ratio by which passages near to the
        released one have it more often than others.

        Args:
            cosines: as above.
        """
        near = np.argsort(-cosines, kind="stable")[:WIDER]
        share = (self.count_in(near) / len(near) + self.frequency) / 2
        return self.general * share / self.frequency

    def score_posterior(
        self, law: PrivateChoice, cosines: NDArray[np.floating], thresholds: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Return P(the text has the word | the released passage) for a text that is drawn from
        the passages, by Bayes' rule.

        Args:
            law: of the choice.
            cosines: as above.
            thresholds: see `find_thresholds`.
        """
        high, low = law.weights
        favour = np.flatnonzero(cosines >= thresholds)
        k = len(self.places)
        mass = len(favour) * high + (k - len(favour)) * low
        found = self.count_in(favour)
        return (found * high + (self.frequency * k - found) * low) / mass


@lru_cache(maxsize=8)
def find_thresholds(book: Codebook, near: int, count: int) -> NDArray[np.float32]:
    """Return the cosine of each of `count` evenly spaced passages to the one that is `near`-th
    nearest to it in the codebook, itself left out: float32 (count,)."""
    places = np.linspace(0, len(book) - 1, count).astype(np.int64)
    every = book.vectors.astype(np.float32) * book.scales[:, None]
    found = np.empty(count, dtype=np.float32)
    kept = len(book) - 1 - near  # the first is the passage itself
    for start in range(0, count, ROWS):
        some = places[start : start + ROWS]
        cosines = every[some] @ every.T
        found[start : start + ROWS] = np.partition(cosines, kept, axis=1)[:, kept]
    return found
