"""Composition: against exact enumeration on small channels, and what each bound is about."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from perturb import (
    EmbeddingTable,
    ParameterError,
    get_mechanism,
    mechanism_class,
    mechanism_names,
)
from perturb.audit.accounting import Bound, Spend, best, compose, spend

DELTA = 1e-6
EPSILONS = (0.5, 1.0, 3.0, 6.0, 8.0)


def named(bounds: list[Bound]) -> dict[str, float]:
    return {bound.name: bound.epsilon for bound in bounds}


def hockey_stick(p: NDArray[Any], q: NDArray[Any], gamma: float) -> float:
    return float(np.maximum(0.0, p - gamma * q).sum())


def exact_epsilon(p: NDArray[Any], q: NDArray[Any], n: int, delta: float) -> float:
    """The smallest ε of n independent draws, by enumeration of all outcomes."""
    many_p = np.array([math.prod(c) for c in itertools.product(p, repeat=n)])
    many_q = np.array([math.prod(c) for c in itertools.product(q, repeat=n)])
    low, high = 0.0, float(n * np.log(p / q).max())
    for _ in range(60):
        middle = (low + high) / 2
        if hockey_stick(many_p, many_q, math.exp(middle)) > delta:
            low = middle
        else:
            high = middle
    return high


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("delta", [1e-6, 1e-3, 0.05])
def test_privacy_loss_bound_is_exact_up_to_its_rounding(n: int, delta: float) -> None:
    p = np.array([0.6, 0.25, 0.1, 0.05])
    pair = (p, p[::-1].copy())
    found = named(compose([Spend(n, math.log(12), True, pair)], delta=delta))
    truth = exact_epsilon(*pair, n, delta)
    assert truth <= found["privacy loss distribution"] <= truth + n * 1e-3 + 1e-6


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_channel_without_a_pair_composes_as_randomized_response(epsilon: float) -> None:
    kept = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.array([kept, 1 - kept])
    found = named(compose([Spend(6, epsilon)], delta=0.01))
    truth = exact_epsilon(p, p[::-1], 6, 0.01)
    assert truth <= found["privacy loss distribution"] + 1e-9 <= truth + 0.01


def test_zcdp_formula() -> None:
    rho = 100 * 0.5**2 / 8
    expected = rho + 2 * math.sqrt(rho * math.log(1e6))
    assert named(compose([Spend(100, 0.5, True)]))["zCDP"] == pytest.approx(expected)
    plain = named(compose([Spend(100, 0.5)]))["zCDP"]
    assert plain == pytest.approx(4 * rho + 2 * math.sqrt(4 * rho * math.log(1e6)))


def test_basic_is_the_sum_without_delta() -> None:
    basic = compose([Spend(3, 2.0), Spend(4, 0.5)])[0]
    assert basic == Bound("basic", 8.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.floats(0.01, 8.0)), max_size=4))
def test_best_is_the_smallest_and_never_above_basic(releases: list[tuple[int, float]]) -> None:
    spends = [Spend(count, epsilon) for count, epsilon in releases]
    bounds = compose(spends)
    assert best(bounds).epsilon == min(bound.epsilon for bound in bounds)
    assert best(bounds).epsilon <= bounds[0].epsilon


def test_infinity_stays_infinity() -> None:
    assert best(compose([Spend(1, math.inf), Spend(5, 1.0)])) == Bound("basic", math.inf, 0.0)
    assert best(compose([Spend(1, math.inf)])).to_dict()["epsilon"] == "infinity"


def test_nothing_released_costs_nothing() -> None:
    assert best(compose([])) == Bound("basic", 0.0, 0.0)
    assert best(compose([Spend(0, math.inf)])) == Bound("basic", 0.0, 0.0)


def test_huge_epsilon_is_lost_for_certain() -> None:
    found = named(compose([Spend(3, 1000.0), Spend(50, 0.1)], delta=0.01))
    assert 3000 < found["privacy loss distribution"] < found["basic"]


def test_many_releases_stay_a_bound(toy: EmbeddingTable) -> None:
    mechanism = get_mechanism("rantext_ldp", toy, epsilon=1)
    one, ten = (best(compose([spend(mechanism, n)])).epsilon for n in (10_000, 100_000))
    assert one < ten < 10 * one * 1.2


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("n", [1, 20, 200])
def test_no_bound_is_below_what_two_rows_show(
    epsilon: float, n: int, pair: EmbeddingTable
) -> None:
    """Two words: n draws are told apart by how many came out as the first, a binomial."""
    mechanism = get_mechanism("rantext_ldp", pair, epsilon=epsilon)
    (first, second), _ = mechanism.channel(np.array([0, 1]))
    hits = np.arange(n + 1)
    p, q = (stats.binom.pmf(hits, n, row[0]) for row in (first, second))
    for bound in compose([spend(mechanism, n)], delta=DELTA):
        # the ratio is the same in all outcomes of one count, so counts tell everything
        assert hockey_stick(p, q, math.exp(min(bound.epsilon, 700))) <= bound.delta + 1e-12, bound


def spread(mechanism: Any) -> float:
    """The widest interval of ln P(y|x)/P(y|x') over y, for any two words."""
    rows, _ = mechanism.channel(np.arange(len(mechanism.table)))
    logs = np.log(rows)
    return max(float(np.ptp(logs - row, axis=1).max()) for row in logs)


@pytest.mark.parametrize("name", mechanism_names())
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_who_says_bounded_range_has_it(name: str, epsilon: float, small: EmbeddingTable) -> None:
    if mechanism_class(name).bounded_range:
        assert spread(get_mechanism(name, small, epsilon=epsilon)) <= epsilon + 1e-9


def test_rantext_ldp_is_not_bounded_range(small: EmbeddingTable) -> None:
    """The control: ε-LDP alone makes the interval up to 2ε wide, and here it is."""
    mechanism = get_mechanism("rantext_ldp", small, epsilon=3, shape="knn")
    assert not mechanism.bounded_range
    assert spread(mechanism) == pytest.approx(6.0)


@pytest.mark.parametrize("shape", ["power", "random_k", "knn"])
@pytest.mark.parametrize("name", ["toy", "lattice"])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_two_rows_beat_the_dominating_pair(
    shape: str, name: str, epsilon: float, tables: Any
) -> None:
    table = tables(name)
    mechanism = get_mechanism("rantext_ldp", table, epsilon=epsilon, shape=shape)
    pair = mechanism.dominating_pair()
    assert pair is not None
    assert all(law.sum() == pytest.approx(1.0) for law in pair)
    rows, _ = mechanism.channel(np.arange(40))
    for gamma in np.exp(np.linspace(-epsilon, epsilon, 7)):
        top = hockey_stick(*pair, gamma)
        for x, y in itertools.permutations(range(0, 40, 3), 2):
            assert hockey_stick(rows[x], rows[y], gamma) <= top + 1e-12


def test_two_rows_at_hand_are_no_dominating_pair(toy: EmbeddingTable) -> None:
    """The control: some other two rows are easier to tell apart."""
    rows, _ = get_mechanism("rantext_ldp", toy, epsilon=6).channel(np.arange(100))
    guess = hockey_stick(rows[0], rows[1], 1.0)
    assert any(hockey_stick(rows[0], row, 1.0) > guess + 1e-6 for row in rows[2:])


def test_the_pair_says_far_less_than_epsilon_times_tokens(bundled: EmbeddingTable) -> None:
    mechanism = get_mechanism("rantext_ldp", bundled, epsilon=6)
    bounds = named(compose([spend(mechanism, 500)]))
    assert bounds["privacy loss distribution"] < bounds["basic"] / 4


def test_mechanisms_without_a_bound_spend_infinity(toy: EmbeddingTable) -> None:
    spent = spend(get_mechanism("rantext", toy, epsilon=6), 10)
    assert math.isinf(spent.epsilon)
    assert not spent.bounded_range


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0, math.nan])
def test_bad_delta_is_refused(delta: float) -> None:
    with pytest.raises(ParameterError, match=r"^delta must be > 0 and < 1"):
        compose([], delta=delta)


def test_bad_spends_are_refused() -> None:
    with pytest.raises(ParameterError, match="count must be >= 0, got -1"):
        Spend(-1, 1.0)
    with pytest.raises(ParameterError, match="epsilon must be >= 0, got nan"):
        Spend(1, math.nan)
