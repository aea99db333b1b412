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

from perturb.mechanisms.scored import LARGEST_EXPONENT, squared_distances
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.table_build import RADIUS_DRAWS, RADIUS_QUANTILES

__all__ = [
    "QUANTILE_ERROR",
    "LeastEpsilon",
    "RadiusTail",
    "RanTextBounds",
    "RandomLists",
    "least_delta",
    "least_epsilon",
    "list_sizes",
]

NODES = 601  # of the integrals; denser near 0, where the integrand is largest
CUTS = np.geomspace(4, 120, 32)  # T
SLOPES = np.linspace(0.04, 1.6, 40)  # θ·Δ²·T of the largest Δ
RELATIVE_ROUNDING = 1e-12  # of one integral in double precision, generously
SHARES = (0.5, 0.75, 0.9, 0.97, 0.99, 0.999)  # quantiles of the radius where P(x | x) is bounded
PAIRS = 64  # farthest pairs that are examined
SIZE_RADII = 128
# The error of the table's radius quantiles: Dvoretzky–Kiefer–Wolfowitz (Massart 1990) at
# confidence 1 − 1e-9, and half a quantile.
QUANTILE_ERROR = math.sqrt(math.log(2e9) / (2 * RADIUS_DRAWS)) + 1 / RADIUS_QUANTILES


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


class RadiusTail:
    """Bound Pr[S > s] from above, S² = Σ_j (Δ_j E_j)², E_j standard exponential.

    The union bound and Chernoff's bound of the truncated variables give, for every θ, T > 0,
    Pr[S > s] ≤ d·e^{−T} + e^{−θs²}·Π_j E[e^{θΔ_j²E²}; E ≤ T]. The integrands are log-convex,
    hence convex, and the trapezoidal rule lies above a convex function's integral.

    Args:
        spans: Δ_j >= 0, float64 (d,), not all zero.

    >>> tail = RadiusTail(np.ones(4))
    >>> 0 >= tail.log_bound(1.0) > tail.log_bound(20.0)
    True
    """

    def __init__(self, spans: NDArray[np.float64]) -> None:
        squares, repeats = np.unique(spans**2, return_counts=True)
        units = np.linspace(0, 1, NODES) ** 2
        self._cut, slope = (grid.ravel() for grid in np.meshgrid(CUTS, SLOPES, indexing="ij"))
        self._theta = slope / (squares.max() * self._cut)
        self._logs = np.empty(len(self._cut))
        for i, (cut, theta) in enumerate(zip(self._cut, self._theta, strict=True)):
            t = cut * units
            values = np.exp(theta * squares[:, None] * t**2 - t)
            integrals = np.trapezoid(values, t, axis=1) * (1 + RELATIVE_ROUNDING)
            self._logs[i] = repeats @ np.log(integrals)
        self._union = math.log(len(spans)) - self._cut

    def log_bound(self, s: float) -> float:
        """Return an upper bound on ln Pr[S > s], s >= 0; at most 0."""
        chernoff = self._logs - self._theta * s**2
        return min(0.0, float(np.logaddexp(self._union, chernoff).min()) + 1e-9)


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
    tail = RadiusTail(table.spans)
    words = np.arange(len(table))
    far, reach = np.empty(len(table), dtype=np.int64), np.empty(len(table))
    for start in range(0, len(table), 512):
        rows = np.sqrt(squared_distances(table, words[start : start + 512]))
        far[start : start + 512], reach[start : start + 512] = rows.argmax(1), rows.max(1)
    radii = [float(np.quantile(table.radius, share)) / z for share in SHARES]
    within = [-math.expm1(tail.log_bound(z * r)) for r in radii]
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
            epsilon = math.log(kept * nearer) - tail.log_bound(z * float(own[other])) - 1e-9
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
    bins = table.spread.shape[1]
    counts = np.zeros((len(table), bins + 1))
    np.cumsum(table.spread, axis=1, out=counts[:, 1:])
    levels = (np.arange(SIZE_RADII) + 0.5) / SIZE_RADII
    place = np.quantile(table.radius, levels) / mechanism.z * (bins / table.diameter)
    band = np.minimum(place.astype(np.int64), bins - 1)
    share = np.minimum(place - band, 1.0)
    sizes = 1 + counts[:, band] * (1 - share) + counts[:, band + 1] * share
    return np.asarray(np.quantile(sizes, shares).round().astype(np.int64))
