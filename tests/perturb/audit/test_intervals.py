"""The bootstrap interval of a mean covers it as often as it says."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom

from perturb import seeded_generator
from perturb.audit import intervals
from perturb.audit.intervals import Interval, bootstrap_mean
from perturb.errors import ParameterError

TRIALS, TEXTS = 800, 100
ERROR = 1e-6  # chance that a right interval is called wrong, in all


def covered(level: float, seed: int) -> int:
    """Return the number of intervals, of so many normal samples, that hold the mean."""
    rng = seeded_generator(seed)
    hits = 0
    for _ in range(TRIALS):
        found = bootstrap_mean(rng.normal(3, 2, TEXTS), rng, level=level, resamples=400)
        hits += found.low <= 3 <= found.high
    return hits


def accepted(level: float) -> tuple[float, float]:
    """Counts that happen but for a chance of ERROR, if coverage is at most 0.02 under the level:
    100 values and 400 resamples cost about 0.01."""
    low, high = binom.ppf(ERROR / 2, TRIALS, level - 0.02), binom.isf(ERROR / 2, TRIALS, level)
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_covers_the_mean_as_often_as_it_says(level):
    low, high = accepted(level)
    assert low <= covered(level, seed=1) <= high


@pytest.mark.parametrize(("claimed", "drawn"), [(0.95, 0.8), (0.8, 0.95)])
def test_an_interval_of_another_level_would_be_noticed(claimed, drawn):
    low, high = accepted(claimed)
    assert not low <= covered(drawn, seed=1) <= high


def test_the_interval_of_two_values_is_known():
    """Resampled means of 0 and 1 are 0, ½ and 1 with chances ¼, ½ and ¼."""
    values = np.array([0.0, 1.0])
    assert bootstrap_mean(values, seeded_generator(1)) == Interval(0.5, 0.0, 1.0)
    assert bootstrap_mean(values, seeded_generator(1), level=0.4) == Interval(0.5, 0.5, 0.5)


def test_the_interval_of_equal_values_is_a_point():
    assert bootstrap_mean(np.full(7, 0.25), seeded_generator(1)) == Interval(0.25, 0.25, 0.25)


def test_paired_differences_see_what_two_intervals_do_not():
    """Texts differ far more than the two systems do."""
    rng = seeded_generator(2)
    one = rng.normal(0, 10, 200)
    other = one + rng.normal(0.5, 1, 200)
    paired = bootstrap_mean(other - one, rng)
    first, second = bootstrap_mean(one, rng), bootstrap_mean(other, rng)
    assert paired.low > 0
    assert first.high > second.low


def test_the_blocks_do_not_show_and_every_resample_is_drawn(monkeypatch):
    values = seeded_generator(3).normal(size=50)
    calls = []

    class Counting:
        def integers(self, n, size):
            calls.append(size[0])
            return np.arange(size[0] * size[1]).reshape(size) % n

    monkeypatch.setattr(intervals, "BLOCK", 50 * 30)
    found = bootstrap_mean(values, Counting(), resamples=100)
    assert calls == [30, 30, 30, 10]
    assert found.low == found.high == pytest.approx(values.mean())


def test_memory_stays_under_a_hundred_megabytes():
    values = np.arange(5000, dtype=np.float64)
    tracemalloc.start()
    try:
        bootstrap_mean(values, seeded_generator(1), resamples=2000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6 < 2000 * 5000 * 16


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.ones(1), {}, r"n >= 2, got shape \(1,\)"),
        (np.ones((3, 2)), {}, r"n >= 2, got shape \(3, 2\)"),
        (np.array([1.0, np.nan, np.inf]), {}, "values must be finite, 2 of 3 are not"),
        (np.ones(3), {"level": 1.0}, r"level must be within \(0, 1\), got 1.0"),
        (np.ones(3), {"level": 0.0}, r"level must be within \(0, 1\), got 0.0"),
        (np.ones(3), {"resamples": 0}, "resamples must be >= 1, got 0"),
    ],
)
def test_bootstrap_refuses_what_it_cannot_use(values, options, words):
    with pytest.raises(ParameterError, match=words):
        bootstrap_mean(values, seeded_generator(1), **options)
