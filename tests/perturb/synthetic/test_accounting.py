"""The division of (ε, δ) over picks: within the total, as large as it can be, and a broken one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from perturb import ParameterError
from perturb.audit.accounting import best
from perturb.synthetic.synthesis import STEPS, compose_picks, divide_budget


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0, 50.0])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize(("rounds", "picks"), [(1, 1), (3, 8), (10, 20)])
def test_total_is_kept_and_nearly_spent(
    epsilon: float, delta: float, rounds: int, picks: int
) -> None:
    shares = divide_budget(epsilon, delta, rounds=rounds, picks=picks, limited=False)
    assert shares.total.epsilon <= epsilon
    assert shares.total.delta <= delta
    more = compose_picks(shares.pick + Fraction(1, STEPS), rounds * picks, delta)
    assert best(more).epsilon > epsilon
    assert shares.round_delta == 0


def test_limited_domain_gets_half_of_delta() -> None:
    shares = divide_budget(4.0, 1e-6, rounds=4, picks=5, limited=True)
    assert shares.round_delta == pytest.approx(1e-6 / 8)
    assert shares.total.delta == pytest.approx(1e-6)
    assert shares.pick < divide_budget(4.0, 1e-6, rounds=4, picks=5, limited=False).pick


def test_without_delta_picks_add_up() -> None:
    shares = divide_budget(4.0, 0.0, rounds=2, picks=5, limited=False)
    assert shares.pick == Fraction(2, 5)
    assert shares.total.name == "basic"


def test_conversion_is_no_larger_than_the_textbook_one_and_no_smaller_than_the_mean_loss() -> None:
    """ρ + 2√(ρ ln 1/δ), Bun and Steinke 2016, is valid and looser."""
    for pick, picks, delta in [(Fraction(1, 4), 24, 1e-6), (Fraction(1, 10), 300, 1e-8)]:
        rho = picks * float(pick) ** 2 / 8
        _, found = compose_picks(pick, picks, delta)
        assert rho < found.epsilon <= rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_bound_holds_for_the_worst_binary_mechanism() -> None:
    """A pick between two candidates, one of which gets the vote, has the loss ±ε/2 at best: the
    exact δ of many of them is within the bound. Half of it is not."""
    pick, picks, delta = 0.3, 40, 1e-4
    [_, bound] = compose_picks(Fraction(3, 10), picks, delta)

    def exact(epsilon: float) -> float:
        high = 1 / (1 + math.exp(-pick / 2))  # the losses are ±pick/2
        mass = 0.0
        for wins in range(picks + 1):
            ways = math.comb(picks, wins)
            p = ways * high**wins * (1 - high) ** (picks - wins)
            q = ways * (1 - high) ** wins * high ** (picks - wins)
            mass += max(0.0, p - math.exp(epsilon) * q)
        return mass

    assert exact(bound.epsilon) <= delta
    assert exact(bound.epsilon / 2) > delta


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"epsilon": 0.0}, "epsilon must be > 0 and finite, got 0"),
        ({"epsilon": math.inf}, "epsilon must be > 0 and finite, got inf"),
        ({"delta": 1.0}, "delta must be >= 0 and < 1, got 1"),
        ({"delta": 0.0, "limited": True}, "delta must be > 0 where domain is smaller"),
        ({"epsilon": 1e-9, "delta": 0.0}, "epsilon must be larger for 3 rounds of 8 picks"),
    ],
)
def test_bad_values_are_named(values: dict[str, object], message: str) -> None:
    given = {"epsilon": 1.0, "delta": 1e-6, "rounds": 3, "picks": 8, "limited": False, **values}
    with pytest.raises(ParameterError, match=message):
        divide_budget(given.pop("epsilon"), given.pop("delta"), **given)  # type: ignore[arg-type]
