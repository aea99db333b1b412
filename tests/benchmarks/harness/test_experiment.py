"""The two estimates experiments are made of: an interval that covers, and a bootstrap's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.harness.experiment import mean, success
from perturb import seeded_generator


@pytest.mark.parametrize("trials", [1, 5, 40, 300])
def test_clopper_pearson_covers_every_rate(trials):
    """Exactly, by a sum over all outcomes: at least 95 %, and each side misses 2.5 % at most."""
    found = [success(hits, trials) for hits in range(trials + 1)]
    low, high = np.array([f.low for f in found]), np.array([f.high for f in found])
    for rate in np.linspace(0, 1, 101):
        law = binom.pmf(np.arange(trials + 1), trials, rate)
        assert law[low > rate].sum() <= 0.025 + 1e-12
        assert law[high < rate].sum() <= 0.025 + 1e-12


def test_success_of_worked_examples():
    """No hit of n: the upper end solves (1 − p)^n = 2.5 %."""
    none, all_ = success(0, 10), success(10, 10)
    assert (none.value, none.low, none.n) == (0, 0, 10)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 10))
    assert (all_.value, all_.high) == (1, 1)
    assert all_.low == pytest.approx(0.025 ** (1 / 10))
    assert success(3, 10).value == pytest.approx(0.3)


def test_mean_is_that_of_the_values_and_reproducible():
    values = np.arange(50.0)
    found = mean(values, seeded_generator(1))
    assert found == mean(values, seeded_generator(1))
    assert (found.value, found.n) == (24.5, 50)
    half = 1.96 * values.std() / np.sqrt(50)
    assert found.low == pytest.approx(24.5 - half, abs=0.4)
    assert found.high == pytest.approx(24.5 + half, abs=0.4)
