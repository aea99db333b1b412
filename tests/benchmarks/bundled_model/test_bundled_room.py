"""The gain from a damaged generation, by the best linear mix: none where it is noise."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.bundled_model.__main__ import measure_room
from benchmarks.metrics.utility import cosines

TEXTS, SIZE = 400, 64


def test_a_text_with_something_of_the_truth_adds_to_the_base() -> None:
    rng = np.random.default_rng(1)
    truths, noise, other = rng.standard_normal((3, TEXTS, SIZE))
    base = truths + 2 * noise
    weight, gain = measure_room(base, truths + other, truths)
    assert 0 < weight <= 1
    assert gain.shape == (TEXTS,)
    assert gain.mean() > 0.2


@pytest.mark.parametrize("common", [0.0, 5.0])
def test_noise_adds_nothing_also_where_all_texts_share_a_direction(common: float) -> None:
    rng = np.random.default_rng(2)
    truths, noise, other = rng.standard_normal((3, TEXTS, SIZE))
    towards = np.zeros(SIZE)
    towards[0] = common
    weight, gain = measure_room(truths + noise, other + towards, truths + towards)
    assert weight <= 0.1
    # The weight is chosen on the same texts: a little is won by chance, and none is lost.
    assert 0 <= gain.mean() < 0.005


def test_a_damaged_text_that_points_away_is_left_out() -> None:
    rng = np.random.default_rng(3)
    truths, noise = rng.standard_normal((2, TEXTS, SIZE))
    weight, gain = measure_room(truths + noise, noise, truths)
    assert weight == 0
    assert not gain.any()
    assert cosines(truths + noise, truths).mean() > 0.5
