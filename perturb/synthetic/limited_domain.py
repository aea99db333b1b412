"""LimitedDomain: the most frequent of N candidates, without looking at all of them.

After Durfee and Rogers (2019, "Practical Differentially Private Top-k Selection with Pay-what-
you-get Composition", algorithm 1). Every private text votes for one candidate. The K candidates
with the most votes, ties by index, are drawn from without replacement: candidate j has the
weight e^(εh_j), and an end, which stops the drawing, the weight e^(ε(h_(K+1) + 1) + c), where
h_(K+1) is the largest count outside the K and c ≥ ln 1/δ. Adding Gumbel noise of scale 1/ε to
all counts and sorting, as in the paper, has the same law. With K = N there is no end.

Add a vote for candidate i. If the same K candidates stay, the new vote multiplies one weight by
e^ε, or that of the end by at most e^ε: each pick is ε-bounded-range, which is stronger than
ε-DP. Else i takes the place of the K-th candidate m, which has h_m ≤ h_i + 1 votes. With m and i
read as one name, the same holds. The two names can be told apart only if m or i is picked, and
before the change m loses against the end with probability at least 1 − 1/(1 + e^c), because h_m
≤ h_(K+1) + 1; after it so does i, because its h_i + 1 votes are at most h_m + 1, and m is the
(K+1)-th. So k picks together are k picks of ε-bounded range, but for an event of probability at
most δ on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.rng import draw_below
from perturb.whole.discrete_laplace import happens

__all__ = ["LimitedDomain", "find_margin"]

DIGITS = 30
STEP = Decimal("1e-9")  # c is a multiple of it


def find_margin(delta: float) -> Fraction:
    """Return c ≥ ln 1/δ, rounded up.

    >>> float(find_margin(0.5))
    0.693147181

    Raises:
        ParameterError: δ is not > 0 and < 1.
    """
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be > 0 and < 1, got {delta:g}")
    with localcontext() as context:
        context.prec = DIGITS
        # ln is correctly rounded: the number after it is strictly above ln 1/δ
        above = (-Decimal(delta).ln()).next_plus()
        return Fraction(above.quantize(STEP, rounding=ROUND_CEILING))


@dataclass(frozen=True)
class LimitedDomain:
    """The law of one list of picks.

    Attributes:
        epsilon: ε of each pick, > 0, exactly.
        picks: k ≥ 1, the most that are picked.
        domain: K ≥ 1, how many candidates can be picked; None is all of them.
        delta: the probability, > 0 and < 1, with which a candidate may be picked that could not be
            without one text; unused where all candidates can be picked.

    Raises:
        ParameterError: a value breaks its rule.
    """

    epsilon: Fraction
    picks: int
    domain: int | None = None
    delta: float = 1e-6

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ParameterError(f"epsilon must be > 0, got {float(self.epsilon):g}")
        for name, value in (("picks", self.picks), ("domain", self.domain)):
            if value is not None and value < 1:
                raise ParameterError(f"{name} must be >= 1, got {value}")
        find_margin(self.delta)

    def draw(self, counts: NDArray[np.integer[Any]], rng: np.random.Generator) -> list[int]:
        """Return the picked candidates, in the order in which they were picked; fewer than `picks`
        where the end was drawn, or where no more can be.

        Args:
            counts: the votes of each candidate, int (N,).
            rng: the noise. Only uniform integers are drawn, and nothing is rounded. The time
                depends on the counts.
        """
        weights = self._weigh(counts)
        picked: list[int] = []
        while weights and len(picked) < self.picks:
            found = _draw_by_weight(list(weights.items()), rng)
            if found is None:
                break
            picked.append(found)
            del weights[found]
        return picked

    def _weigh(self, counts: NDArray[np.integer[Any]]) -> dict[int | None, Fraction]:
        """Return the logarithm of each weight, by candidate; that of the end by None."""
        order = np.lexsort((np.arange(len(counts)), -counts.astype(np.int64))).tolist()
        size = len(order) if self.domain is None else min(self.domain, len(order))
        weights: dict[int | None, Fraction] = {
            place: self.epsilon * int(counts[place]) for place in order[:size]
        }
        if size < len(order):
            most_outside = int(counts[order[size]])
            weights[None] = self.epsilon * (most_outside + 1) + find_margin(self.delta)
        return weights


def _draw_by_weight(
    weights: Sequence[tuple[int | None, Fraction]], rng: np.random.Generator
) -> int | None:
    """Return a name with probability proportional to e^w, by rejection: a uniform one, kept with
    probability e^(w − max)."""
    top = max(weight for _, weight in weights)
    while True:
        name, weight = weights[draw_below(len(weights), rng)]
        if _survives(top - weight, rng):
            return name


def _survives(exponent: Fraction, rng: np.random.Generator) -> bool:
    """Return True with probability e^(−exponent), exponent ≥ 0."""
    whole, rest = divmod(exponent, 1)
    return all(happens(1, 1, rng) for _ in range(whole)) and happens(
        rest.numerator, rest.denominator, rng
    )
