"""The mechanisms under contract."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from perturb import EmbeddingTable, mechanism_class
from perturb.mechanisms.custext import greedy_lists
from perturb.testing import Case
from perturb.vocabulary.frequencies import word_counts
from perturb.vocabulary.stop_words import stop_words

BUNDLED_DRAWS = 500  # of every word: RANTEXT costs 50 µs a draw there


# The law of a word as ε → 0, (m,), written plainly.


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


COUNTED = ("counts",)
RANTEXT, RANTEXT_LDP = mechanism_class("rantext"), mechanism_class("rantext_ldp")
EXPONENTIAL = mechanism_class("exponential")
CASES = [
    Case(RANTEXT, (3.0, 14.0), BUNDLED_DRAWS),
    Case(RANTEXT, (2.5,), BUNDLED_DRAWS, {"noise": "published"}),
    *(
        Case(RANTEXT_LDP, (3.0, 8.0), 2000, {"shape": shape}, largest_epsilon=18.0)
        for shape in ("power", "random_k", "knn")
    ),
    Case(EXPONENTIAL, (3.0, 16.0), largest_epsilon=24.0),
    Case(EXPONENTIAL, (14.0,), parameters={"radius": 0.7}, largest_epsilon=24.0),
    Case(mechanism_class("santext"), (3.0, 14.0)),
    Case(
        mechanism_class("santext_plus"),
        (3.0, 14.0),
        limit=uniform_on_rarer_half_or_kept,
        peaked=False,
        more=COUNTED,
    ),
    Case(mechanism_class("custext"), (3.0, 14.0), limit=uniform_on_list, more=COUNTED),
    Case(mechanism_class("custext_plus"), (8.0,), limit=uniform_on_list_or_kept, more=COUNTED),
    Case(mechanism_class("tem"), (3.0, 14.0)),
    Case(
        mechanism_class("selective"),
        (3.0, 8.0),
        largest_epsilon=18.0,
        more=("draws", "marks", "names", "public"),
    ),
    Case(
        mechanism_class("madlib"),
        (12.0, 60.0),
        BUNDLED_DRAWS,
        limit=None,
        row_error=0.12,
        peaked=False,
    ),
    Case(
        mechanism_class("mahalanobis"),
        (60.0,),
        BUNDLED_DRAWS,
        limit=None,
        row_error=0.12,
        peaked=False,
    ),
]
