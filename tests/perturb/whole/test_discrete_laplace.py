"""Discrete Laplace noise: the sampler against its exact law, and broken samplers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from perturb import seeded_generator
from perturb.rng import draw_below
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.discrete_laplace import draw_discrete_laplace

DRAWS = 6000
SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40), 12 / Fraction(0.7)]


def expected_counts(scale: Fraction, reach: int) -> np.ndarray:
    """Return DRAWS times the exact law from −reach to reach, the tails in the outer cells."""
    ratio = math.exp(-1 / scale)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1.0))
    law[[0, -1]] += ratio ** (reach + 1) / (1 + ratio)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    return law * DRAWS


def fit(drawn: list[int], scale: Fraction) -> float:
    reach = math.ceil(float(scale) * 6) + 2
    counts = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=2 * reach + 1)
    return p_value(counts, expected_counts(scale, reach))


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_sampler_matches_its_exact_law(scale: Fraction) -> None:
    rng = seeded_generator(11)
    assert fit([draw_discrete_laplace(scale, rng) for _ in range(DRAWS)], scale) > ALPHA


def keeps_negative_zero(scale: Fraction, rng: np.random.Generator) -> int:
    """Broken: takes the sign of zero for a second zero."""
    drawn = abs(draw_discrete_laplace(scale, rng))
    ratio = math.exp(-1 / scale)
    again = drawn and rng.random() < (1 - ratio) / 2  # as often as a geometric law would hold 0
    return 0 if again else int(drawn * (1 - 2 * rng.integers(2)))


def rounds_real_noise(scale: Fraction, rng: np.random.Generator) -> int:
    """Broken: rounds Laplace noise in floating point."""
    return round(rng.laplace(0, float(scale)))


def forgets_the_remainder(scale: Fraction, rng: np.random.Generator) -> int:
    """Broken: draws at the next whole scale."""
    return draw_discrete_laplace(Fraction(math.ceil(scale)), rng)


@pytest.mark.parametrize(
    ("broken", "scale"),
    [
        (keeps_negative_zero, Fraction(7, 2)),
        (rounds_real_noise, Fraction(1)),
        (forgets_the_remainder, Fraction(7, 2)),
    ],
)
def test_broken_samplers_are_caught(broken, scale: Fraction) -> None:
    rng = seeded_generator(11)
    assert fit([broken(scale, rng) for _ in range(DRAWS)], scale) < ALPHA


@pytest.mark.parametrize("epsilon", [5e-324, 1e-9, 1e9])
def test_any_epsilon_has_its_noise(epsilon: float) -> None:
    drawn = draw_discrete_laplace(1000 / Fraction(epsilon), seeded_generator(1))
    assert isinstance(drawn, int)
    assert (drawn == 0) == (epsilon > 1)


@pytest.mark.parametrize("limit", [1, 2, 3, 255, 256, 257])
def test_integers_below_a_limit_are_uniform(limit: int) -> None:
    rng = seeded_generator(5)
    counts = np.bincount([draw_below(limit, rng) for _ in range(100 * limit)], minlength=limit)
    assert len(counts) == limit
    if limit > 1:
        assert p_value(counts, np.full(limit, 100.0)) > ALPHA


def test_integers_below_a_large_limit_reach_all_its_bits() -> None:
    rng = seeded_generator(5)
    limit = 3 << 200
    thirds = np.bincount([draw_below(limit, rng) >> 200 for _ in range(3000)], minlength=3)
    assert p_value(thirds, np.full(3, 1000.0)) > ALPHA


def test_an_empty_range_is_refused() -> None:
    with pytest.raises(ValueError, match="limit must be >= 1, got 0"):
        draw_below(0, seeded_generator(1))
