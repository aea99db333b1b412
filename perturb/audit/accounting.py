"""The cost of many releases together: composition of per-token guarantees.

Three bounds are computed, and the smallest is reported with its name. They hold for replacing
every released token at once. Each bound holds by itself. The released texts may depend on earlier
releases, as long as the mechanisms and the counts do not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command
from perturb.sanitizer import Sanitizer

__all__ = ["Bound", "Spend", "best", "compose", "spend"]

DELTA = 1e-6
INTERVAL = 1e-3  # of the discretized privacy loss, rounded up: adds at most this much a token
FINE = 10_000  # releases up to which INTERVAL is used; beyond, it widens in proportion
CERTAIN = 30.0  # an ε beyond which randomized response is no better than losing ε for certain
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True)
class Spend:
    """Count releases of one channel.

    Attributes:
        count: the number of released tokens, >= 0.
        epsilon: the proved bound of one release (∞ if there is none).
        bounded_range: whether the channel is ε-bounded-range, too.
        pair: a dominating pair of the channel, see `Sanitizer.dominating_pair`.

    >>> Spend(10, 6.0).count
    10
    """

    count: int
    epsilon: float
    bounded_range: bool = False
    pair: Pair | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ParameterError(f"count must be >= 0, got {self.count}")
        if not self.epsilon >= 0:
            raise ParameterError(f"epsilon must be >= 0, got {self.epsilon}")


@dataclass(frozen=True)
class Bound:
    """State that all releases together are (ε, δ)-LDP; `name` names the theorem.

    >>> Bound("basic", 8.0, 0.0).to_dict()
    {'bound': 'basic', 'epsilon': 8.0, 'delta': 0.0}
    """

    name: str
    epsilon: float
    delta: float

    def to_dict(self) -> dict[str, Any]:
        """Return the bound ready for JSON; an infinite ε becomes the string "infinity"."""
        epsilon = "infinity" if math.isinf(self.epsilon) else self.epsilon
        return {"bound": self.name, "epsilon": epsilon, "delta": self.delta}


def spend(mechanism: Sanitizer, tokens: int) -> Spend:
    """Return the cost of `tokens` releases of a mechanism; of one release that depends on so many
    units, where it is `grouped`.

    >>> from perturb import get_mechanism
    >>> spend(get_mechanism("exponential", epsilon=2), 100)
    Spend(count=100, epsilon=2.0, bounded_range=True)
    """
    proved = mechanism.guarantee.kind == "ldp"
    narrow = proved and mechanism.bounded_range
    if mechanism.grouped:
        return Spend(min(tokens, 1), tokens * mechanism.guarantee.epsilon, narrow)
    return Spend(
        count=tokens,
        epsilon=mechanism.guarantee.epsilon,
        bounded_range=narrow,
        pair=mechanism.dominating_pair() if proved else None,
    )


def compose(spends: Sequence[Spend], *, delta: float = DELTA, losses: bool = True) -> list[Bound]:
    """Return every known bound for the releases together, the basic one first.

    - `basic`: Σ n·ε, with δ = 0. For metric mechanisms ε is ε times the largest distance.
    - `zCDP`: an ε-bounded-range release is ε²/8-zCDP (Cesar and Rogers 2021), an ε-LDP one
      ε²/2-zCDP; ρ-zCDP is (ρ + 2√(ρ ln 1/δ), δ)-DP (Bun and Steinke 2016).
    - `privacy loss distribution`: the composed loss of dominating pairs (randomized response for
      a channel without one), rounded up, by Google's dp-accounting. It is left out if `losses` is
      False.

    >>> basic, concentrated = compose([Spend(100, 1.0)], losses=False)
    >>> basic.epsilon, round(concentrated.epsilon, 2)
    (100.0, 102.57)

    Raises:
        ParameterError: δ is not in (0, 1).
        MissingPackage: dp-accounting is not installed.
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be > 0 and < 1, got {delta:g}")
    spends = [s for s in spends if s.count and s.epsilon]
    bounds = [Bound("basic", math.fsum(s.count * s.epsilon for s in spends), 0.0)]
    if spends and not math.isinf(bounds[0].epsilon):
        rho = math.fsum(s.count * s.epsilon**2 / (8 if s.bounded_range else 2) for s in spends)
        concentrated = rho + 2 * math.sqrt(rho * math.log(1 / delta))
        bounds.append(Bound("zCDP", concentrated, delta))
        if losses:
            name = "privacy loss distribution"
            bounds.append(Bound(name, _compose_losses(spends, delta), delta))
    return bounds


def best(bounds: Sequence[Bound]) -> Bound:
    """Return the bound with the smallest ε; of equal ones the first. `compose` puts the basic
    bound first, which has δ = 0.

    >>> best([Bound("basic", 8.0, 0.0), Bound("zCDP", 5.0, 1e-6)]).name
    'zCDP'
    """
    return min(bounds, key=lambda bound: bound.epsilon)


def _compose_losses(spends: Sequence[Spend], delta: float) -> float:
    """Return the ε at δ of the composed privacy losses."""
    try:
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise MissingPackage(
            f"composition by privacy loss needs dp-accounting: {install_command('audit')}"
        ) from None
    interval = INTERVAL * max(1.0, sum(s.count for s in spends) / FINE)
    certain = 0.0
    losses = [privacy_loss_distribution.identity(value_discretization_interval=interval)]
    for s in spends:
        if s.pair is not None:
            upper, lower = (dict(enumerate(np.log(law).tolist())) for law in s.pair)
            loss = privacy_loss_distribution.from_two_probability_mass_functions(
                lower, upper, value_discretization_interval=interval
            )
        elif s.epsilon <= CERTAIN:
            loss = privacy_loss_distribution.from_privacy_parameters(
                common.DifferentialPrivacyParameters(s.epsilon, 0.0),
                value_discretization_interval=interval,
            )
        else:
            certain += s.count * s.epsilon
            continue
        losses.append(loss.self_compose(s.count))
    composed = reduce(lambda one, other: one.compose(other), losses)
    return certain + float(composed.get_epsilon_for_delta(delta))
