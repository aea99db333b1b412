"""The private choice: one of N public candidates, by a law that sees only which t are nearest.

The t candidates most similar to the private text have an integer weight H each, all others an
integer weight L, so P(c | x) is H/S or L/S with S = tH + (N − t)L, whatever the text x is. Every
ratio P(c | x)/P(c | x′) is at most H/L ≤ e^ε: one choice is ε-LDP with respect to replacing the
whole text by any other. The similarities may be anything, for the proof does not read them; of
all laws with that ratio none puts more mass on the first t. The draw uses integers only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.proof import Progress, Proof, Worst

__all__ = [
    "MAX_EPSILON",
    "ChoiceProof",
    "PrivateChoice",
    "choose_near_count",
    "find_nearest",
    "floor_exp",
]

MAX_EPSILON = 24.0  # of one choice; beyond it the sum of the weights would leave 63 bits
UNIT = 1 << 12  # the integer weight L of a candidate that is not among the nearest
DIGITS = 50
WORST_PAIR = {
    "x": "a text to which every chosen candidate is near",
    "x'": "a text to which none of them is",
    "y": "the chosen candidates",
}


@lru_cache(maxsize=256)
def floor_exp(epsilon: Fraction, unit: int) -> int:
    """Return ⌊unit·e^ε⌋, never rounded up, and the unit where ε is below the digits.

    >>> floor_exp(Fraction(1), 1000)
    2718
    """
    with localcontext() as context:
        context.prec = DIGITS
        context.rounding = ROUND_FLOOR
        exponent = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        # exp is correctly rounded: the number before it is strictly below e^ε
        below = max(Decimal(1), exponent.exp().next_minus())
        return int((below * unit).to_integral_value(ROUND_FLOOR))


@dataclass(frozen=True)
class PrivateChoice:
    """The law of one choice; nothing in it depends on a private text.

    Attributes:
        candidates: N ≥ 1.
        near: t, how many of them are favoured, 1 ≤ t ≤ N.
        epsilon: ε of the choice, 0 ≤ ε ≤ 24, exactly; at 0 all candidates are equally likely.

    >>> choice = PrivateChoice(candidates=65536, near=39, epsilon=Fraction(10))
    >>> round(choice.near_mass, 2)
    0.93

    Raises:
        ParameterError: a value breaks its rule.
    """

    candidates: int
    near: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= MAX_EPSILON:
            raise ParameterError(
                f"epsilon of one choice must be >= 0 and <= {MAX_EPSILON:g}, "
                f"got {float(self.epsilon):g}"
            )
        if self.candidates < 1:
            raise ParameterError(f"candidates must be >= 1, got {self.candidates}")
        if not 1 <= self.near <= self.candidates:
            raise ParameterError(
                f"near must be from 1 to {self.candidates}, the candidates, got {self.near}"
            )
        if self.total >= 1 << 63:
            raise ParameterError(
                f"near must be smaller at epsilon {float(self.epsilon):g}: the weights of "
                f"{self.near} candidates leave 63 bits"
            )

    @property
    def weights(self) -> tuple[int, int]:
        """Return H and L."""
        return floor_exp(self.epsilon, UNIT), UNIT

    @property
    def total(self) -> int:
        """Return S, the sum of all weights."""
        high, low = self.weights
        return self.near * high + (self.candidates - self.near) * low

    @property
    def ratio(self) -> Fraction:
        """Return the largest P(c | x)/P(c | x′) there is, exactly."""
        high, low = self.weights
        return Fraction(high, low) if self.near < self.candidates else Fraction(1)

    @property
    def near_mass(self) -> float:
        """Return the probability that one of the nearest is chosen."""
        return self.near * self.weights[0] / self.total

    @property
    def expected_rank(self) -> float:
        """Return the mean rank of what is chosen, 1 being the nearest, where ties are in any
        order."""
        t, n = self.near, self.candidates
        return self.near_mass * (t + 1) / 2 + (1 - self.near_mass) * (t + 1 + n) / 2

    @property
    def capacity(self) -> float:
        """Return the most bits that one release tells about the text, log₂ N less the entropy of
        the law."""
        told = math.log2(self.candidates) + float(self.law @ np.log2(self.law))
        return max(0.0, told)  # rounding may leave less than nothing

    @property
    def largest_posterior(self) -> float:
        """Return the best chance to name the text among `candidates` equally likely ones of
        which each has one candidate of its own nearest to it, and t = 1: e^ε/(e^ε + N − 1)."""
        high, low = self.weights
        return high / (high + (self.candidates - 1) * low)

    @property
    def law(self) -> NDArray[np.float64]:
        """Return the probabilities by rank, float64 (N,)."""
        high, low = self.weights
        out = np.full(self.candidates, low / self.total)
        out[: self.near] = high / self.total
        return out

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the two laws, float64 (3,) each, that are easiest to tell apart: of two texts
        that share as few of their nearest as there can be.

        The candidates near to the one text alone, near to the other alone, and all the rest
        are one outcome each. For every γ, Σ max(0, P − γ·Q) grows with the first two.
        """
        high, low = self.weights
        apart = min(self.near, self.candidates - self.near)
        one, other = apart * high / self.total, apart * low / self.total
        rest = 1.0 - one - other
        return np.array([one, other, rest]), np.array([other, one, rest])

    def draw(self, nearest: NDArray[Any], rng: np.random.Generator) -> int:
        """Return the chosen candidate.

        Args:
            nearest: the t nearest candidates, int (t,), without repeats, in any order.
            rng: the noise.

        Raises:
            ParameterError: there are not t of them, one is no candidate, or one comes twice.
        """
        near = np.unique(nearest)
        if len(near) != self.near or len(nearest) != self.near:
            raise ParameterError(f"nearest must be {self.near} different candidates")
        if near[0] < 0 or near[-1] >= self.candidates:
            raise ParameterError(f"nearest must be candidates, 0 to {self.candidates - 1}")
        high, low = self.weights
        drawn = int(rng.integers(self.total, dtype=np.uint64))
        if drawn < self.near * high:
            return int(near[drawn // high])
        # the k-th candidate that is not among the nearest
        k = (drawn - self.near * high) // low
        return k + int(np.searchsorted(near - np.arange(len(near)), k, side="right"))


@dataclass(frozen=True)
class ChoiceProof(Proof):
    """Prove the ε of several choices that are made for one text.

    Attributes:
        laws: the law of each choice.
        about: a sentence about the candidates.
    """

    laws: Sequence[PrivateChoice]
    about: str
    method = (
        "two integer weights, the same for every text: whatever the similarities are, a ratio is "
        "at most the larger one over the smaller one for each choice"
    )
    unit = "document"

    @property
    def vocabulary(self) -> str:
        return self.about

    @property
    def size(self) -> int:
        return sum(law.candidates for law in self.laws)

    def find_worst(self, progress: Progress) -> Worst:
        progress(len(self.laws), len(self.laws))
        ratio = self.ratio_of(WORST_PAIR)
        return Worst(WORST_PAIR, ratio, ratio)

    def ratio_of(self, pair: Mapping[str, str]) -> Fraction:
        del pair  # it is the same for every pair of texts that share none of their nearest
        return math.prod((law.ratio for law in self.laws), start=Fraction(1))


def find_nearest(similarity: NDArray[np.floating[Any]], count: int) -> NDArray[np.int64]:
    """Return the `count` candidates of largest similarity, int64 (count,), ascending.

    Ties go to the lower index, so that there are always exactly `count`; what is no number is
    less than every number.

    >>> find_nearest(np.array([0.5, 0.9, 0.5, np.nan, 0.5]), 3).tolist()
    [0, 1, 2]
    """
    values = np.nan_to_num(similarity, nan=-math.inf, posinf=math.inf, neginf=-math.inf)
    if count >= len(values):
        return np.arange(len(values))
    edge = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > edge)
    ties = np.flatnonzero(values == edge)[: count - len(above)]
    return np.sort(np.concatenate([above, ties]))


def choose_near_count(profile: NDArray[np.float64], candidates: int, epsilon: Fraction) -> int:
    """Return the t that makes the mean similarity of what is chosen largest.

    Args:
        profile: mean similarity by rank of public texts, float64 (n,), n ≤ N ranks from the
            nearest on; every farther rank is taken to have the similarity of the last.
        candidates: N.
        epsilon: of the choice.
    """
    high, low = floor_exp(epsilon, UNIT), UNIT
    most = min(len(profile), candidates, max(1, ((1 << 62) - candidates * low) // high))
    first = np.cumsum(profile[:most])
    every = float(profile.sum() + (candidates - len(profile)) * profile[-1])
    t = np.arange(1, most + 1)
    near, far = t.astype(np.float64) * high, (candidates - t).astype(np.float64) * low
    means = (first * high + (every - first) * low) / (near + far)
    return int(np.argmax(means)) + 1
