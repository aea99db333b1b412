"""The benchmark measures what it says: its baseline draws from the same channel."""

from __future__ import annotations

import numpy as np

from benchmarks.speed import perturb_one_by_one
from perturb import get_mechanism
from perturb.mechanisms.rantext import RanText
from tests.tables import bundled_table


def test_the_baseline_is_the_same_mechanism() -> None:
    """Mean distance to the released word agrees within five standard errors, on one word."""
    table = bundled_table()
    mechanism = get_mechanism("rantext", table, epsilon=14)
    assert isinstance(mechanism, RanText)
    word = table.vocabulary.words.index("happy")
    distances = table.distances(word)
    (row,), _ = mechanism.channel(np.array([word]))
    mean = float(row @ distances)
    deviation = float(np.sqrt(row @ (distances - mean) ** 2))
    words = np.full(150, word, dtype=np.int32)
    drawn = distances[perturb_one_by_one(table, mechanism, words, np.random.default_rng(3))]
    assert abs(drawn.mean() - mean) < 5 * deviation / np.sqrt(len(words))
