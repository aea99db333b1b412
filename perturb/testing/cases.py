"""The mechanisms under contract, and the comparison of their draws with their channels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.base import Mechanism
from perturb.rng import seeded_generator
from perturb.testing.statistics import sampler_p_value, two_sample_p_value
from perturb.vocabulary.table import EmbeddingTable

__all__ = [
    "Case",
    "choose_free_word",
    "choose_words",
    "compute_rows",
    "draw_samples",
    "expected_distinct",
    "fit_p_value",
    "sample_few_words",
    "sample_words",
    "uniform",
]

Law = Callable[[EmbeddingTable, int], NDArray[np.float64]]
WORDS_TESTED = 32


def uniform(table: EmbeddingTable, word: int) -> NDArray[np.float64]:
    """Return the uniform law over V, float64 (m,): the limit of most mechanisms as ε → 0."""
    del word
    return np.full(len(table), 1 / len(table))


@dataclass(frozen=True)
class Case:
    """Name one mechanism with one set of parameters, and the properties to expect of it.

    Attributes:
        mechanism: the class.
        epsilons: the ε at which its sampler is compared with its channel.
        draws: how often each word is drawn over the bundled table.
        parameters: the parameters beside ε.
        largest_epsilon: an ε at which it releases words near their originals.
        limit: the law of a word as ε → 0; None if no formula gives it.
        row_error: the largest error that a row of its channel may state.
        peaked: whether no word is released more often than the word itself.
        more: the keys of its identity beside mechanism, table and parameters.
    """

    mechanism: type[Mechanism]
    epsilons: tuple[float, ...]
    draws: int = 2000
    parameters: dict[str, Any] = field(default_factory=dict)
    largest_epsilon: float = 1000.0
    limit: Law | None = uniform
    row_error: float = 0.02
    peaked: bool = True
    more: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "-".join([self.mechanism.name, *map(str, self.parameters.values())])

    def build(self, table: EmbeddingTable, epsilon: float) -> Mechanism:
        """Build the mechanism over a table."""
        kind = self.mechanism
        return kind(table, kind.parameter_type(epsilon=epsilon, **self.parameters))


def sample_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Return common and rare words, including the first and the last of V."""
    words = np.random.default_rng(7).choice(len(table), WORDS_TESTED - 2, replace=False)
    return np.concatenate([words, [0, len(table) - 1]])


def sample_few_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Return a few of the words of `sample_words`, or all words of a tiny V."""
    return sample_words(table)[-12:] if len(table) > WORDS_TESTED else np.arange(len(table))


def choose_words(mechanism: Mechanism) -> NDArray[np.int64]:
    """Return the words to draw: fewer if the channel itself has to be sampled."""
    table = mechanism.table
    return sample_words(table) if mechanism.exact else sample_few_words(table)


def choose_free_word(case: Case, table: EmbeddingTable) -> int:
    """Return a word that is not kept by design: of a sample from all over V, the word with the
    flattest limit."""
    limit = case.limit
    if limit is None:
        return 1
    sample = range(0, len(table), max(1, len(table) // 50))
    return min(sample, key=lambda word: float(limit(table, word).max()))


def expected_distinct(law: NDArray[np.float64], n: int) -> float:
    """Return the expected number of different words among n draws of a law."""
    return float((1 - (1 - law) ** n).sum())


def compute_rows(mechanism: Mechanism, words: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """Return `mechanism.channel(words)`, computed once for all tests."""
    key = type(mechanism), mechanism.table, mechanism.parameters
    return _compute_rows(*key, tuple(words.tolist()))


@cache
def _compute_rows(
    cls: type[Mechanism], table: EmbeddingTable, parameters: Any, words: tuple[int, ...]
) -> tuple[NDArray[np.float64], float]:
    return cls(table, parameters).channel(np.array(words))


def draw_samples(mechanism: Any, words: NDArray[Any], n: int, seed: int) -> NDArray[Any]:
    """Draw n times for each word under a seed: (words, n)."""
    drawn = mechanism.draw(np.repeat(words, n), seeded_generator(seed)).words
    return np.asarray(drawn).reshape(len(words), n)


def fit_p_value(mechanism: Mechanism, words: NDArray[Any], drawn: NDArray[Any]) -> float:
    """Return one p-value of the fit of draws (words, n) to the mechanism's channel.

    A computed row is a law, which a chi-square test compares with the draws. If the row has no
    error, a draw with probability 0 gives the p-value 0. A sampled row (`exact` is false) is
    another sample, of `channel_draws` draws, and the test is one of homogeneity.
    """
    rows, error = compute_rows(mechanism, words)
    if not mechanism.exact:
        sampled: Any = mechanism
        m, n = len(mechanism.table), sampled.channel_draws
        values = [
            two_sample_p_value(np.bincount(mine, minlength=m), np.rint(row * n).astype(np.int64))
            for mine, row in zip(drawn, rows, strict=True)
        ]
        return min(1.0, len(values) * min(values))
    if error == 0 and (np.take_along_axis(rows, drawn, 1) == 0).any():
        return 0.0
    return sampler_p_value(drawn, rows)
