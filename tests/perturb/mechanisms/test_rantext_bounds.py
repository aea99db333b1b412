"""Lower bounds on RANTEXT's true ε and δ: every link against draws and exact figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perturb import EmbeddingTable, get_mechanism, seeded_generator
from perturb.audit.intervals import clopper_pearson
from perturb.audit.report import audit
from perturb.mechanisms.radius import RadiusTail
from perturb.mechanisms.rantext import RanText
from perturb.mechanisms.rantext_bounds import least_delta, least_epsilon, list_sizes

ALPHA = 1e-6


def rantext(table: EmbeddingTable, epsilon: float, **parameters: str) -> RanText:
    mechanism = get_mechanism("rantext", table, epsilon=epsilon, **parameters)
    assert isinstance(mechanism, RanText)
    return mechanism


@pytest.mark.parametrize("s", [0.1, 1.0, 5.0, 12.0, 30.0])
def test_tail_of_one_exponential_is_bounded(s: float) -> None:
    """Pr[ΔE > s] = e^{−s/Δ} exactly."""
    bound = RadiusTail(np.array([0.7])).log_bound(s)
    assert -s / 0.7 <= bound <= 0
    assert bound < -s / 0.7 + 6  # of use, not only true


@pytest.mark.parametrize("dimension", [2, 30, 384])
def test_tail_lies_above_what_is_drawn(dimension: int) -> None:
    rng = np.random.default_rng(5)
    spans = rng.uniform(0.1, 0.5, dimension)
    drawn = np.sqrt(rng.standard_exponential((100_000, dimension)) ** 2 @ spans**2)
    tail = RadiusTail(spans)
    levels = np.quantile(drawn, [0.01, 0.5, 0.9, 0.99, 0.999, 0.9999])
    for s in levels:
        low, high = clopper_pearson(int((drawn > s).sum()), len(drawn), ALPHA)
        assert tail.log_bound(float(s)) >= math.log(low)
        assert tail.log_bound(float(s)) <= max(0.0, math.log(high) + 4)
    bounds = [tail.log_bound(s) for s in np.linspace(0, 3 * levels[-1], 50)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == 0.0
    assert bounds[-1] < -20


def test_a_tail_bound_too_small_would_be_seen() -> None:
    """The comparison with draws can fail: without its union term the bound is no bound."""
    spans = np.full(2, 0.5)
    rng = np.random.default_rng(6)
    drawn = np.sqrt(rng.standard_exponential((100_000, 2)) ** 2 @ spans**2)
    tail = RadiusTail(spans)
    tail._union = np.full_like(tail._union, -np.inf)
    s = float(np.quantile(drawn, 0.9999))
    low, _ = clopper_pearson(int((drawn > s).sum()), len(drawn), ALPHA)
    assert tail.log_bound(s) < math.log(low)


@pytest.mark.parametrize("n", [20_000, pytest.param(100_000, marks=pytest.mark.statistical)])
@pytest.mark.parametrize("noise", ["calibrated", "published"])
@pytest.mark.parametrize("epsilon", [1.0, 3.0, 10.0])
def test_least_epsilon_is_below_the_ratio_it_names(
    epsilon: float, noise: str, n: int, toy: EmbeddingTable
) -> None:
    """P(x|x') by n draws from x', from above: the ratio can only be larger."""
    mechanism = rantext(toy, epsilon, noise=noise)
    found = least_epsilon(mechanism)
    if found.epsilon == 0:
        return
    rng = seeded_generator(8)
    own = int((mechanism.draw(np.full(n, found.x), rng).words == found.x).sum())
    other = int((mechanism.draw(np.full(n, found.other), rng).words == found.x).sum())
    highest = clopper_pearson(own, n, ALPHA)[1] / max(clopper_pearson(other, n, ALPHA)[0], 1e-300)
    assert found.epsilon <= math.log(highest)


@pytest.mark.statistical
def test_bundled_table_needs_far_more_than_nominal(bundled: EmbeddingTable) -> None:
    assert least_epsilon(rantext(bundled, 3.0)).epsilon > 9
    assert least_epsilon(rantext(bundled, 3.0, noise="published")).epsilon > 20
    assert least_epsilon(rantext(bundled, 1.0)).epsilon < 1


@pytest.mark.parametrize("epsilon", [2.0, 4.0])
def test_least_delta_is_below_the_true_one(epsilon: float, small: EmbeddingTable) -> None:
    mechanism = rantext(small, epsilon)
    words = np.arange(60)
    rows, error = mechanism.channel(words)
    factor = math.exp(epsilon)
    true = max(np.maximum(rows[x] - factor * rows, 0).sum(axis=1).max() for x in words)
    found = least_delta(mechanism, words, rows, error)
    assert 0 <= found <= true + error * (1 + factor)


@pytest.mark.statistical
def test_least_delta_shows_what_the_error_of_the_rows_would_hide(bundled: EmbeddingTable) -> None:
    mechanism = rantext(bundled, 10.0)
    found = least_epsilon(mechanism)
    words = np.array([found.x, found.other])
    rows, error = mechanism.channel(words)
    assert error * math.exp(10.0) > 1
    assert least_delta(mechanism, words, rows, error) > 0.1


def test_audit_of_rantext_claims_no_more_than_the_bound(toy: EmbeddingTable) -> None:
    mechanism = rantext(toy, 6.0)
    found = audit(mechanism, "uniform")
    assert found.epsilon.low >= least_epsilon(mechanism).epsilon
    assert math.isinf(found.epsilon.high)
    assert found.delta.high == mechanism.proved_delta
    assert "lower bound" in found.notes[0]


@pytest.mark.statistical
def test_list_sizes_match_drawn_lists(bundled: EmbeddingTable) -> None:
    mechanism = rantext(bundled, 6.0)
    sizes = list_sizes(mechanism, np.array([0.05, 0.25, 0.5, 0.75, 0.95]))
    rng = np.random.default_rng(4)
    words = rng.integers(0, len(bundled), 400)
    radii = rng.choice(bundled.radius, 400) / mechanism.z
    drawn = [int((bundled.distances(int(w)) < r).sum()) for w, r in zip(words, radii, strict=True)]
    shares = [(np.array(drawn) <= size).mean() for size in sizes]
    assert shares == pytest.approx([0.05, 0.25, 0.5, 0.75, 0.95], abs=0.13)  # 5 deviations
