"""Lower bounds on RANTEXT's true ε and δ, from words that lie far apart.

P(x | x') ≤ Pr[r > d(x, x')], because x is on the list of x' only if r exceeds that distance. The
tail is too small to be estimated from draws, so it is bounded from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.radius import LARGEST_ERROR, radius_law
from perturb.mechanisms.scored import LARGEST_EXPONENT, squared_distances
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.table_build import RADIUS_DRAWS, RADIUS_QUANTILES

__all__ = [
    "QUANTILE_ERROR",
    "LeastEpsilon",
    "RanTextBounds",
    "RandomLists",
    "least_delta",
    "least_epsilon",
    "list_sizes",
]

SHARES = (0.5, 0.75, 0.9, 0.97, 0.99, 0.999)  # quantiles of the radius where P(x | x) is bounded
PAIRS = 64  # farthest pairs that are examined
SIZE_RADII = 128
# The error of the table's radius quantiles: Dvoretzky–Kiefer–Wolfowitz (Massart 1990) at
# confidence 1 − 1e-9, and half a quantile; and that of the drawn radius.
QUANTILE_ERROR = (
    math.sqrt(math.log(2e9) / (2 * RADIUS_DRAWS)) + 1 / RADIUS_QUANTILES + LARGEST_ERROR
)


class RandomLists(Protocol):
    """Supply the parts of RANTEXT that the bounds read: its table, its nominal ε and z(ε), see
    `perturb.mechanisms.rantext`."""

    table: EmbeddingTable

    @property
    def epsilon(self) -> float:
        """Return the nominal ε."""

    @property
    def z(self) -> float:
        """Return the inverse noise scale."""


@dataclass(frozen=True)
class RanTextBounds:
    """Bound RANTEXT's channel, see `perturb.mechanisms.base.Bounds`."""

    mechanism: RandomLists
    proved_delta: float

    def least_epsilon(self) -> tuple[float, int, int]:
        """Return `least_epsilon` of the mechanism, and its words."""
        found = least_epsilon(self.mechanism)
        return found.epsilon, found.x, found.other

    def least_delta(
        self, words: NDArray[np.int64], rows: NDArray[np.float64], error: float
    ) -> float:
        """Return `least_delta` of the mechanism."""
        return least_delta(self.mechanism, words, rows, error)

    def list_sizes(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return `list_sizes` of the mechanism."""
        return list_sizes(self.mechanism, shares)


@dataclass(frozen=True)
class LeastEpsilon:
    """State that RANTEXT is not ε-LDP for any ε below `epsilon`, because ln P(x|x)/P(x|x') is at
    least `epsilon` for the words `x` and `other` (x')."""

    epsilon: float
    x: int
    other: int


def least_epsilon(mechanism: RandomLists) -> LeastEpsilon:
    """Return the best of the bounds
    ln P(x|x) − ln Pr[r > d(x,x')] + ln #{y : d(x',y) ≤ d(x,x')}
    over the PAIRS farthest pairs, each with P(x|x) bounded from below.

    The last term holds because every nearer word is on the list of x' whenever x is, and none of
    them weighs less. P(x|x, r) falls with r, so P(x|x) ≥ Pr[r ≤ ρ]·P(x|x, ρ) for every ρ.
    """
    table, z = mechanism.table, mechanism.z
    tail = radius_law(table)
    words = np.arange(len(table))
    far, reach = np.empty(len(table), dtype=np.int64), np.empty(len(table))
    for start in range(0, len(table), 512):
        rows = np.sqrt(squared_distances(table, words[start : start + 512]))
        far[start : start + 512], reach[start : start + 512] = rows.argmax(1), rows.max(1)
    radii = [float(np.quantile(table.radius, share)) / z for share in SHARES]
    within = [-math.expm1(tail.log_tail(z * r)) for r in radii]
    best = LeastEpsilon(0.0, 0, 0)
    for one in np.argsort(-reach, kind="stable")[:PAIRS].tolist():
        two = int(far[one])
        pair = np.sqrt(squared_distances(table, np.array([one, two])))
        for x, other, own, others in ((one, two, *pair), (two, one, *pair[::-1])):
            # The rounding of the sums is less than one part in 10^9.
            kept = max(
                share / float(np.exp(-mechanism.epsilon / 2 * own[own < r] / r).sum())
                for r, share in zip(radii, within, strict=True)
            )
            kept = max(kept, 1 / len(table))
            nearer = int((others <= own[other]).sum())
            epsilon = math.log(kept * nearer) - tail.log_tail(z * float(own[other])) - 1e-9
            if epsilon > best.epsilon:
                best = LeastEpsilon(epsilon, x, other)
    return best


def least_delta(
    mechanism: RandomLists, words: NDArray[np.int64], rows: NDArray[np.float64], error: float
) -> float:
    """Return a lower bound on δ at the nominal ε from all pairs of the words, whose channel rows
    are known up to `error`: max over x, x', s of P(A|x) − e^ε·P(A|x'), A = {y : d(x', y) ≥ s}.

    P(A|x') ≤ Pr[r > s]·|A|/m, because for r > s every word outside A is listed, and none weighs
    less than a word of A. Unlike the difference of the rows themselves, this bound does not
    multiply their error by e^ε.
    """
    if mechanism.epsilon > LARGEST_EXPONENT:
        return 0.0
    table, m = mechanism.table, len(mechanism.table)
    levels = 1 - np.arange(len(table.radius) + 1) / len(table.radius) + QUANTILE_ERROR
    best = 0.0
    for word in words:
        distances = np.sqrt(squared_distances(table, np.array([word])))[0]
        order = np.argsort(-distances, kind="stable")
        tail = levels[np.searchsorted(table.radius, distances[order] * mechanism.z)]
        least = math.exp(mechanism.epsilon) * np.minimum(tail, 1) * (np.arange(m) + 1) / m
        useful = int(np.searchsorted(least, 1.0))  # `least` grows, and no P(A|x) exceeds 1
        if useful:
            excess = np.cumsum(rows[:, order[:useful]], axis=1)
            excess -= least[:useful]
            best = max(best, float(excess.max()))
    return max(0.0, best - error)


def list_sizes(mechanism: RandomLists, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return quantiles of |C_r(x)| over the radius and x uniform in V, from the table's distance
    bands. A size is exact up to the words of one band.

    >>> from perturb import get_mechanism
    >>> low, high = list_sizes(get_mechanism("rantext", epsilon=6), np.array([0.05, 0.95]))
    >>> bool(1 <= low < high <= 11000)
    True
    """
    table = mechanism.table
    levels = (np.arange(SIZE_RADII) + 0.5) / SIZE_RADII
    radii = np.quantile(table.radius, levels) / mechanism.z
    sizes = table.count_nearer(np.arange(len(table))[:, None], radii)
    return np.asarray(np.quantile(sizes, shares).round().astype(np.int64))
