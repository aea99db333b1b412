"""The law of a private choice: its weights, its draws, and what must be caught."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import ParameterError, seeded_generator
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.choice import (
    MAX_EPSILON,
    PrivateChoice,
    choose_near_count,
    find_nearest,
)

EPSILONS = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
SIZES = [2, 3, 10, 1000, 65_536, 1_000_000]


def power_of_e(epsilon: Fraction) -> Fraction:
    """e^ε from below, to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        exact = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        return Fraction(exact.exp().next_minus())


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("candidates", SIZES)
def test_no_ratio_is_above_e_to_the_epsilon(epsilon: int, candidates: int) -> None:
    for near in {1, max(1, candidates // 3), candidates - 1}:
        try:
            choice = PrivateChoice(candidates, near, Fraction(epsilon))
        except ParameterError:
            assert near > 1  # the sum of the weights is bounded
            continue
        assert 1 < choice.ratio <= power_of_e(Fraction(epsilon))
        assert float(choice.ratio) > math.exp(epsilon) * (1 - 1e-3)  # none is given away


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_two_texts_over_a_whole_codebook(epsilon: int) -> None:
    """The exact log ratio of every candidate, for texts whose nearest are all others."""
    choice = PrivateChoice(1000, 20, Fraction(epsilon))
    high, low = choice.weights
    first = [high] * 20 + [low] * 980
    second = [low] * 980 + [high] * 20
    assert sum(first) == sum(second) == choice.total
    worst = max(Fraction(a, b) for a, b in zip(first, second, strict=True))
    assert worst == choice.ratio <= power_of_e(Fraction(epsilon))


def test_the_shares_of_several_choices_are_exact() -> None:
    shares = [Fraction(10.1) / 7] * 7
    assert sum(shares) == Fraction(10.1)
    ratio = PrivateChoice(100, 3, shares[0]).ratio ** 7
    assert ratio <= power_of_e(Fraction(10.1))


@pytest.mark.parametrize(("candidates", "near"), [(2, 1), (7, 3), (50, 49), (400, 10), (5, 5)])
@pytest.mark.parametrize("epsilon", [0.1, 2, 6])
def test_draws_match_the_law(candidates: int, near: int, epsilon: float) -> None:
    choice = PrivateChoice(candidates, near, Fraction(epsilon))
    rng = seeded_generator(candidates * 31 + near)
    favoured = rng.permutation(candidates)[:near]
    draws = 12_000
    counts = np.bincount([choice.draw(favoured, rng) for _ in range(draws)], minlength=candidates)
    law = np.empty(candidates)
    law[favoured] = choice.law[0]
    law[np.setdiff1d(np.arange(candidates), favoured)] = choice.law[-1]
    assert law.sum() == pytest.approx(1.0)
    assert p_value(counts, law * draws) > ALPHA


def test_a_law_that_reads_similarities_is_caught() -> None:
    """Negative control: weights by the size of the similarity, not by rank alone."""
    choice = PrivateChoice(50, 5, Fraction(3))
    rng = seeded_generator(3)
    similarity = np.linspace(1, 0, 50)
    broken = np.exp(3 * similarity) / np.exp(3 * similarity).sum()
    counts = np.bincount(rng.choice(50, 40_000, p=broken), minlength=50)
    assert p_value(counts, choice.law * 40_000) < ALPHA


def test_candidates_that_depend_on_the_text_are_refused() -> None:
    choice = PrivateChoice(10, 3, Fraction(2))
    rng = seeded_generator(1)
    for favoured in ([1, 2], [1, 2, 3, 4], [1, 1, 2], [1, 2, 10], [-1, 2, 3]):
        with pytest.raises(ParameterError, match="nearest must be"):
            choice.draw(np.array(favoured), rng)


@given(
    st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, math.nan, math.inf, -math.inf]), min_size=1),
    st.data(),
)
def test_nearest_is_always_as_many_and_ties_go_by_index(values: list[float], data) -> None:
    """Hypothesis against a slow reference. Ties by anything else would let contents choose how
    many are favoured."""
    count = data.draw(st.integers(1, len(values)))
    got = find_nearest(np.array(values), count)
    keys = [(-math.inf if math.isnan(v) else v) for v in values]
    reference = sorted(range(len(values)), key=lambda i: (-keys[i], i))[:count]
    assert got.tolist() == sorted(reference)


@pytest.mark.parametrize("epsilon", [1, 4, 8])
def test_dominating_pair_dominates(epsilon: int) -> None:
    """Over every overlap of two texts' nearest, at any γ."""
    for candidates, near in ((10, 3), (10, 7), (4, 2), (9, 1)):
        choice = PrivateChoice(candidates, near, Fraction(epsilon))
        first, second = choice.dominating_pair()
        assert first.sum() == pytest.approx(1.0) == second.sum()
        one = choice.law
        for moved in range(candidates):
            other = np.roll(one, moved)
            for gamma in (0, 0.5, 1, 2, math.exp(epsilon / 2), 0.99 * math.exp(epsilon)):
                bound = np.maximum(0, first - gamma * second).sum()
                assert np.maximum(0, one - gamma * other).sum() <= bound * (1 + 1e-9) + 1e-12


def test_figures_of_a_small_law_by_hand() -> None:
    choice = PrivateChoice(4, 1, Fraction(2))
    law = choice.law
    assert choice.near_mass == law[0]
    assert choice.expected_rank == pytest.approx(law @ np.arange(1, 5))
    assert choice.largest_posterior == pytest.approx(law[0])
    assert choice.capacity == pytest.approx(2 + sum(p * math.log2(p) for p in law))
    assert PrivateChoice(4, 4, Fraction(2)).capacity == pytest.approx(0)


def test_t_makes_the_mean_similarity_largest() -> None:
    profile = np.linspace(1, 0, 40) ** 3
    for epsilon in (1, 3, 5, 8):
        found = choose_near_count(np.append(profile, 0.0), 500, Fraction(epsilon))
        means = []
        for near in range(1, 41):
            law = PrivateChoice(500, near, Fraction(epsilon)).law
            means.append(law[:40] @ profile)
        assert found == int(np.argmax(means)) + 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((10, 3, Fraction(-1)), "epsilon of one choice must be >= 0"),
        ((10, 3, Fraction(MAX_EPSILON) + 1), "and <= 24, got 25"),
        ((0, 1, Fraction(1)), "candidates must be >= 1, got 0"),
        ((10, 0, Fraction(1)), "near must be from 1 to 10"),
        ((10, 11, Fraction(1)), "near must be from 1 to 10"),
        ((1_000_000, 900_000, Fraction(24)), "near must be smaller at epsilon 24"),
    ],
)
def test_bad_values_are_refused_by_name(values, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        PrivateChoice(*values)
