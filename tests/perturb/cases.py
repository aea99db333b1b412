"""The mechanisms under contract, and how a sampler is held against its channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, Mechanism, get_mechanism, seeded_generator
from perturb.custext import greedy_lists
from perturb.frequencies import word_counts
from perturb.madlib import MadLib
from perturb.mechanism import Parameters
from perturb.rantext import RanText
from perturb.stop_words import stop_words
from tests.perturb.chi_square import sampler_p_value, two_sample_p_value

Tables = Callable[[str], EmbeddingTable]
Law = Callable[[EmbeddingTable, int], NDArray[np.float64]]
WORDS_TESTED = 32
BUNDLED_DRAWS = 500  # of every word: RANTEXT costs 50 µs a draw there
SMALL_DRAWS = 1500


# The law of a word as ε → 0, (m,), written plainly.


def uniform(table: EmbeddingTable, word: int) -> NDArray[np.float64]:
    return np.full(len(table), 1 / len(table))


def uniform_on_list(table: EmbeddingTable, word: int) -> NDArray[np.float64]:
    [members] = [members for members in greedy_lists(table, 20) if word in members]
    return np.isin(np.arange(len(table)), members) / len(members)


def uniform_on_list_or_kept(table: EmbeddingTable, word: int) -> NDArray[np.float64]:
    if stop_words(table.vocabulary)[word]:
        return np.eye(1, len(table), word)[0]
    return uniform_on_list(table, word)


def uniform_on_rarer_half_or_kept(table: EmbeddingTable, word: int) -> NDArray[np.float64]:
    rare = rarer_half(table)
    law = np.isin(np.arange(len(table)), rare) / len(rare)
    return law if word in rare else 0.2 * law + 0.8 * np.eye(1, len(table), word)[0]


@cache
def rarer_half(table: EmbeddingTable) -> list[int]:
    counts = word_counts(table.vocabulary).tolist()
    return sorted(range(len(table)), key=lambda w: (-counts[w], w))[len(table) // 2 :]


@dataclass(frozen=True)
class Case:
    """One mechanism with one set of parameters, how much it is sampled, what to expect of it.

    Attributes:
        limit: the law of a word as ε → 0; None where no formula gives it.
        row_error: the largest error a row may state.
        peaked: whether no word is released more often than the word itself.
        more: what its identity says beside mechanism, table and parameters.
    """

    name: str
    epsilons: tuple[float, ...]
    draws: int = 2000  # of every word
    parameters: dict[str, Any] = field(default_factory=dict)
    largest_epsilon: float = 1000.0
    limit: Law | None = uniform
    row_error: float = 0.02
    peaked: bool = True
    more: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "-".join([self.name, *map(str, self.parameters.values())])

    def build(self, table: EmbeddingTable, epsilon: float) -> Mechanism:
        return get_mechanism(self.name, table, epsilon=epsilon, **self.parameters)


COUNTED = ("counts",)
CASES = [
    Case("rantext", (3.0, 14.0), BUNDLED_DRAWS),
    Case("rantext", (2.5,), BUNDLED_DRAWS, {"noise": "published"}),
    *(
        Case("rantext_ldp", (3.0, 8.0), 2000, {"shape": shape}, largest_epsilon=18.0)
        for shape in ("power", "random_k", "knn")
    ),
    Case("exponential", (3.0, 16.0), largest_epsilon=24.0),
    Case("exponential", (14.0,), parameters={"radius": 0.7}, largest_epsilon=24.0),
    Case("santext", (3.0, 14.0)),
    Case(
        "santext_plus",
        (3.0, 14.0),
        limit=uniform_on_rarer_half_or_kept,
        peaked=False,
        more=COUNTED,
    ),
    Case("custext", (3.0, 14.0), limit=uniform_on_list, more=COUNTED),
    Case("custext_plus", (8.0,), limit=uniform_on_list_or_kept, more=COUNTED),
    Case("tem", (3.0, 14.0)),
    Case("selective", (3.0, 8.0), largest_epsilon=18.0, more=("marks",)),
    Case("madlib", (12.0, 60.0), BUNDLED_DRAWS, limit=None, row_error=0.12, peaked=False),
    Case("mahalanobis", (60.0,), BUNDLED_DRAWS, limit=None, row_error=0.12, peaked=False),
]
LEVELS = [
    pytest.param(case, epsilon, id=f"{case}-{epsilon:g}")
    for case in CASES
    for epsilon in case.epsilons
]
CASE_IDS = [str(case) for case in CASES]


def sample_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """Common and rare words alike, the first and the last of V among them."""
    words = np.random.default_rng(7).choice(len(table), WORDS_TESTED - 2, replace=False)
    return np.concatenate([words, [0, len(table) - 1]])


def some_words(table: EmbeddingTable) -> NDArray[np.int64]:
    """A few of the words of `sample_words`, or all of a tiny V."""
    return sample_words(table)[-12:] if len(table) > WORDS_TESTED else np.arange(len(table))


def words_for(mechanism: Mechanism) -> NDArray[np.int64]:
    """The words whose draws are tested: fewer where the channel itself has to be sampled."""
    table = mechanism.table
    return sample_words(table) if mechanism.exact else some_words(table)


def lively_word(case: Case, table: EmbeddingTable) -> int:
    """A word that is not kept by design: of some all over V, one with the flattest limit."""
    if case.limit is None:
        return 1
    some = range(0, len(table), max(1, len(table) // 50))
    return min(some, key=lambda w: case.limit(table, w).max())


def expected_distinct(law: NDArray[np.float64], n: int) -> float:
    """How many different words n draws of a law show, on average."""
    return float((1 - (1 - law) ** n).sum())


def exact_rows(mechanism: Mechanism, words: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
    """`mechanism.channel(words)`, computed once for all tests."""
    key = type(mechanism), mechanism.table, mechanism.parameters
    return _exact_rows(*key, tuple(words.tolist()))


@cache
def _exact_rows(
    cls: type[Mechanism], table: EmbeddingTable, parameters: Parameters, words: tuple[int, ...]
) -> tuple[NDArray[np.float64], float]:
    return cls(table, parameters).channel(np.array(words))


def draws_of(mechanism: Any, words: NDArray[Any], n: int, seed: int) -> NDArray[Any]:
    drawn = mechanism.draw(np.repeat(words, n), seeded_generator(seed)).words
    return np.asarray(drawn).reshape(len(words), n)


def fit_p_value(mechanism: Mechanism, words: NDArray[Any], drawn: NDArray[Any]) -> float:
    """How well draws (words, n) fit the mechanism's channel, as one p-value.

    A computed row is a law: a chi-square, and an exact one excludes what it gives probability
    0. A sampled row is another sample: homogeneity of the two.
    """
    rows, _ = exact_rows(mechanism, words)
    if isinstance(mechanism, MadLib):
        m, n = len(mechanism.table), mechanism.channel_draws
        values = [
            two_sample_p_value(np.bincount(mine, minlength=m), np.rint(row * n).astype(np.int64))
            for mine, row in zip(drawn, rows, strict=True)
        ]
        return min(1.0, len(values) * min(values))
    if not isinstance(mechanism, RanText) and (np.take_along_axis(rows, drawn, 1) == 0).any():
        return 0.0
    return sampler_p_value(drawn, rows)
