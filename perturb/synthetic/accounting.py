"""Divide one (ε, δ) over all picks of a synthesis.

Each pick is ε₀-bounded-range given all earlier ones (perturb.synthetic.limited_domain), and so
ε₀²/8-zCDP (Cesar and Rogers 2021, "Bounding, Concentrating, and Truncating"). A round's list may
show a candidate that could not be picked without one text, with probability at most δ₀; these add
up. A text votes within its own label, so only the picks of one label count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from perturb.audit.accounting import Bound, best
from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command

__all__ = ["Shares", "compose_picks", "divide_budget"]

STEPS = 10_000  # ε of a pick is a multiple of 1/STEPS, rounded down


@dataclass(frozen=True)
class Shares:
    """The privacy budget of each part of a synthesis.

    Attributes:
        pick: ε of one pick.
        round_delta: δ of one round's list; 0 where every candidate can be picked.
        total: the bound for all picks together, and its name.
    """

    pick: Fraction
    round_delta: float
    total: Bound


def compose_picks(pick: Fraction, picks: int, delta: float) -> list[Bound]:
    """Return every known bound for `picks` adaptive picks together, the basic one first.

    - `basic`: Σ ε₀, with δ = 0.
    - `zCDP`: the Rényi divergences of Σ ε₀²/8, converted by Google's dp-accounting.

    Args:
        pick: ε₀ of one pick.
        delta: of the second bound; 0 leaves it out.

    Raises:
        MissingPackage: dp-accounting is not installed.
    """
    bounds = [Bound("basic", float(pick * picks), 0.0)]
    if delta > 0 and picks:
        bounds.append(Bound("zCDP", _convert(picks * float(pick) ** 2 / 8, delta), delta))
    return bounds


def divide_budget(
    epsilon: float, delta: float, *, rounds: int, picks: int, limited: bool
) -> Shares:
    """Return the largest ε of a pick with which all rounds together keep (ε, δ).

    Args:
        epsilon: ε of all rounds together, for adding or removing one text.
        delta: δ of all rounds together; 0 is allowed where the domain is not limited.
        rounds: how often the texts vote.
        picks: the most that are picked in a round.
        limited: whether some candidates cannot be picked. Then half of δ is theirs.

    Raises:
        ParameterError: ε or δ breaks its rule, or ε is too small for so many picks.
        MissingPackage: dp-accounting is not installed.
    """
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ParameterError(f"epsilon must be > 0 and finite, got {epsilon:g}")
    if not 0 <= delta < 1:
        raise ParameterError(f"delta must be >= 0 and < 1, got {delta:g}")
    if limited and delta == 0:
        raise ParameterError("delta must be > 0 where domain is smaller than population, got 0")
    composed = delta / 2 if limited else delta
    count = rounds * picks

    def total(steps: int) -> Bound:
        return best(compose_picks(Fraction(steps, STEPS), count, composed))

    low, high = 0, math.ceil(epsilon * STEPS) + 1
    while high - low > 1:
        middle = (low + high) // 2
        if total(middle).epsilon <= epsilon:
            low = middle
        else:
            high = middle
    if low == 0:
        raise ParameterError(
            f"epsilon must be larger for {rounds} rounds of {picks} picks, got {epsilon:g}"
        )
    chosen = total(low)
    round_delta = delta / 2 / rounds if limited else 0.0
    spent = chosen.delta + rounds * round_delta
    return Shares(Fraction(low, STEPS), round_delta, Bound(chosen.name, chosen.epsilon, spent))


def _convert(rho: float, delta: float) -> float:
    """Return the ε at δ of ρ-zCDP."""
    try:
        from dp_accounting.dp_event import ZCDpEvent
        from dp_accounting.rdp import RdpAccountant
    except ImportError:
        raise MissingPackage(
            f"composition over rounds needs dp-accounting: {install_command('audit')}"
        ) from None
    accountant = RdpAccountant()
    accountant.compose(ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))
