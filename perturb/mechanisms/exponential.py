"""The exponential mechanism (McSherry and Talwar, FOCS 2007) over all of V, in integers.

P(y | x) ∝ exp(ε/2 · u(x, y)), u = max(0, 1 − d(x, y)/r₀): ε-LDP, because u lies in [0, 1] and no
word is left out. The weights are integers, so the proof covers the running code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Words, ldp_guarantee
from perturb.mechanisms.proof import TableProof
from perturb.mechanisms.scored import DistanceMechanism
from perturb.registry import register
from perturb.release import Guarantee
from perturb.sanitizer import Parameters
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["Exponential", "ExponentialParameters", "level_weights"]

UNIT = 1 << 32  # the integer weight B of a word beyond r₀
LEVELS = 1024  # u is rounded down to a multiple of 1/1024
DIGITS = 50
LARGEST_TOTAL = 1 << 63  # a row's sum must fit 64 bits


@dataclass(frozen=True, kw_only=True)
class ExponentialParameters(Parameters):
    """ε, and r₀ > 0, the distance beyond which all words are equally likely; None takes the
    table's diameter."""

    radius: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        radius = self.radius
        if radius is None:
            return
        if isinstance(radius, bool) or not isinstance(radius, (int, float)):
            raise ParameterError(f"radius must be a number, got {type(radius).__name__}")
        if not 0 < radius < math.inf:
            raise ParameterError(f"radius must be > 0 and finite, got {radius:g}")


def level_weights(epsilon: float) -> list[int]:
    """Return the integer weights of u = 0, 1/1024, …, 1: ⌊B·exp(ε/2 · u)⌋, non-decreasing.

    All lie in [B, ⌊e^{ε/2}·B⌋]: computed in 50 digits and rounded down, so the ratio of any two
    is at most e^{ε/2} exactly.

    >>> weights = level_weights(2.0)
    >>> len(weights), weights[0] == UNIT, round(weights[-1] / weights[0], 6)
    (1025, True, 2.718282)
    """
    with localcontext() as context:
        context.prec = DIGITS
        context.rounding = ROUND_FLOOR
        # the factor of one level: strictly below the true one, and 1 if ε is below the 50 digits
        step = max(Decimal(1), (Decimal(epsilon) / (2 * LEVELS)).exp().next_minus())
        weights, weight = [], Decimal(UNIT)
        for _ in range(LEVELS + 1):
            weights.append(int(weight))
            weight *= step
    return weights


@register
class Exponential(DistanceMechanism):
    """Draw by the exponential mechanism over all of V.

    r₀ is the table's diameter unless given. Of the diameter, its half and the mean distances to
    the 16th, 64th and 512th nearest word, it kept the highest mean cosine at equal Bayes success
    (unigram prior, bundled table); the smaller ones reach the same success at a smaller ε. A
    larger r₀ spends ε for nothing: from the diameter up it is santext at ε/r₀.
    """

    name = "exponential"
    summary = "exponential mechanism over all of V; ε-LDP per token, proved"
    about = (
        "The exponential mechanism over all of V (McSherry and Talwar, FOCS 2007) with utility "
        "max(0, 1 − d/r₀), rounded down to 1/1024, in integer weights. ε-LDP per token and "
        "certifiable. Its sum of weights depends on the token, so half of ε is lost: at equal ε "
        "it hides more and keeps less than rantext_ldp."
    )
    parameter_type = ExponentialParameters
    # ln w(x, y)/w(x', y) lies in [−ε/2, ε/2], and the sums shift it by the same for every y.
    bounded_range = True
    parameters: ExponentialParameters
    certifiable = True

    def __init__(self, table: EmbeddingTable, parameters: ExponentialParameters) -> None:
        super().__init__(table, parameters)
        # Checked first: `level_weights` would compute numbers of any length for a huge ε.
        too_large = self.epsilon / 2 > math.log(LARGEST_TOTAL)
        if too_large or len(table) * level_weights(self.epsilon)[-1] >= LARGEST_TOTAL:
            raise ParameterError(f"epsilon {self.epsilon:g} is too large for {len(table)} words")

    @cached_property
    def _level_weights(self) -> NDArray[np.uint64]:
        return np.array(level_weights(self.epsilon), dtype=np.uint64)

    @cached_property
    def radius(self) -> float:
        """Return r₀."""
        given = self.parameters.radius
        return self.table.diameter if given is None else float(given)

    def integer_weights(self, words: Words) -> NDArray[np.uint64]:
        """Return w(x, y) for the words x, int (n,) → uint64 (n, m), in [B, ⌊e^{ε/2}·B⌋]: the
        running code draws y with probability w(x, y)/Σ_y' w(x, y') exactly.

        Every operation on the exact squared distances is correctly rounded (IEEE 754), so all
        machines have the same weights.
        """
        return self.weights(words)

    def proof(self) -> TableProof:
        return TableProof(
            table=self.table,
            weights=self.integer_weights,
            method="integer weights of every pair of words; quotients in double precision, "
            "rounded outwards, and the worst one exactly",
        )

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.uint64]:
        utility = 1.0 - distances / self.radius
        levels = np.maximum(utility * LEVELS, 0.0).astype(np.int32)
        return self._level_weights[levels]

    def _draw_tickets(
        self, totals: NDArray[np.uint64], rng: np.random.Generator
    ) -> NDArray[np.uint64]:
        return rng.integers(0, totals, dtype=np.uint64)

    @property
    def guarantee(self) -> Guarantee:
        return ldp_guarantee(self.epsilon)

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "radius": self.radius}
