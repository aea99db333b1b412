"""The law of RANTEXT's noise length S = ‖(Δ_j E_j)_j‖, E_j standard exponential: r = S / z(ε).

The law depends on the table alone, so it is tabulated once. The density of W = S² comes from its
characteristic function by the trapezoidal rule, and is interpolated linearly between equally
spaced knots. A draw takes a cell between two knots by an alias table of integers, and a place
inside it.

Every step has a bound on its error, and `error` is their sum, in total variation. Where it would
exceed LARGEST_ERROR (few dimensions, or one that dominates), S is drawn as it is defined.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.table import EmbeddingTable

__all__ = [
    "LARGEST_ERROR",
    "DefinedRadius",
    "RadiusLaw",
    "RadiusTail",
    "TabulatedRadius",
    "build_alias",
    "radius_law",
]

LARGEST_ERROR = 1e-6  # of a tabulated law in total variation
CELL_BITS = 14
CELLS = 1 << CELL_BITS
COIN_BITS = 63 - CELL_BITS  # a cell's probability is a multiple of 2^-63
CUT = 1e-12  # probability beyond the last knot
QUICK_SLOPES = np.array([0.4, 0.7, 1.0])  # of the tail's bound that places the last knot
MOST_STEPS = 1 << 12  # of the integral; a law that needs more is not tabulated
NODES = 1 << 12  # at which the characteristic function of E² is computed
FOURTH = math.factorial(8)  # bounds its fourth derivative: E[E⁸]
STEPS = np.arange(-4.2, 4.5, 0.04)  # of the double exponential quadrature
ROUNDING = 1e-9  # far above the rounding of the density in double precision
BLOCK = 1 << 14  # rows of noise drawn at once

TAIL_NODES = 601  # of the integrals of a tail's bound; denser near 0, where it is largest
CUTS = np.geomspace(4, 120, 32)  # T
SLOPES = np.linspace(0.04, 1.6, 40)  # θ·Δ²·T of the largest Δ
RELATIVE_ROUNDING = 1e-12  # of one integral in double precision, generously


class RadiusLaw(Protocol):
    """Draw S."""

    @property
    def error(self) -> float:
        """Return a bound on the total variation between the draws and the law of S."""

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return n draws of S, float64 (n,)."""

    def log_tail(self, s: float) -> float:
        """Return an upper bound, at most 0, on ln Pr[S > s], s >= 0, both for S and its draws."""


@lru_cache(maxsize=4)
def radius_law(table: EmbeddingTable) -> RadiusLaw:
    """Return the law of S for a table: tabulated, if the error allows it.

    >>> from perturb import load_table
    >>> radius_law(load_table()).error < LARGEST_ERROR
    True
    """
    try:
        return TabulatedRadius(table.spans)
    except ValueError:
        return DefinedRadius(table.spans)


class DefinedRadius:
    """Draw S as it is defined, from one exponential number for each Δ_j.

    Args:
        spans: Δ_j >= 0, float64 (d,), not all zero.
    """

    error = 0.0

    def __init__(self, spans: NDArray[np.float64]) -> None:
        self._spans = spans

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        squares = (self._spans**2).astype(np.float32)
        drawn = np.empty(n)
        for start in range(0, n, BLOCK):
            shape = min(BLOCK, n - start), len(squares)
            noise = rng.standard_exponential(shape, dtype=np.float32)
            np.square(noise, out=noise)
            drawn[start : start + len(noise)] = np.sqrt(noise @ squares)
        return drawn

    @cached_property
    def _tail(self) -> RadiusTail:
        return RadiusTail(self._spans)

    def log_tail(self, s: float) -> float:
        return self._tail.log_bound(s)


class TabulatedRadius:
    """Draw S from a table of the density of S².

    The error is the sum of these bounds. Beyond the last knot w: Pr[S² > w], which the trapezoidal
    rule folds back (Poisson's summation formula). The end of the integral: |φ(t)| is at most the
    product of min(1, √(π/(4Δ_j²t))). The characteristic function between its nodes: h⁴/384 of its
    fourth derivative. Linear interpolation: h²/24·∫|f″|. And ROUNDING.

    Args:
        spans: Δ_j >= 0, float64 (d,), not all zero.

    Raises:
        ValueError: the error would exceed LARGEST_ERROR.
    """

    def __init__(self, spans: NDArray[np.float64]) -> None:
        self._spans = spans
        squares = spans[spans > 0] ** 2
        last = _find_last_knot(spans)
        step = 2 * math.pi / last
        steps, end_error = _find_end(squares, step)
        t: NDArray[np.float64] = np.arange(steps, dtype=np.float64) * step
        phi, phi_error = _characteristic(squares, t)
        width = last / CELLS
        # density, its second derivative at the knots, and a bound on the third
        density = _invert(phi, last)
        bend = np.abs(_invert(-(t**2) * phi, last))
        third = float((t**3 * np.abs(phi)).sum()) * step / math.pi
        bend = np.maximum(bend, np.roll(bend, -1)) + third * width / 2
        interpolation = float(bend.sum()) * width**3 / 24
        folded = last / 2 * (end_error + phi_error * step) / math.pi
        self.error = CUT + folded + interpolation + ROUNDING
        if not self.error <= LARGEST_ERROR:
            raise ValueError(f"the error of the radius is {self.error:.1e}")
        density = np.append(np.maximum(density, 0.0), 0.0)
        self._width = width
        both = density[:-1] + density[1:]
        self._near = np.divide(density[:-1], both, out=np.full(CELLS, 0.5), where=both > 0)
        self._shares = _round_shares(both)
        self._kept, self._alias = build_alias(self._shares)

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        ticket = rng.integers(0, 1 << 63, size=n, dtype=np.int64)
        cell = ticket >> COIN_BITS
        moved = (ticket & ((1 << COIN_BITS) - 1)) >= self._kept[cell]
        cell = np.where(moved, self._alias[cell], cell)
        place, coin = rng.random((2, n))
        # Linear density from a to b: a uniform place is kept with probability proportional to the
        # density there, else mirrored.
        near = self._near[cell]
        place = np.where(coin < near + (1 - 2 * near) * place, place, 1 - place)
        return np.asarray(np.sqrt((cell + place) * self._width))

    @cached_property
    def _tail(self) -> RadiusTail:
        return RadiusTail(self._spans)

    @cached_property
    def _beyond(self) -> NDArray[np.float64]:
        """Return Pr[S² >= the first knot of each cell], of the draws."""
        shares = self._shares[::-1] * (2.0**-63 * (1 + ROUNDING))
        return np.asarray(np.cumsum(shares)[::-1])

    def log_tail(self, s: float) -> float:
        cell = int(s**2 / self._width)
        drawn = float(self._beyond[cell]) if cell < CELLS else 0.0
        return max(self._tail.log_bound(s), min(0.0, math.log(drawn)) if drawn else -math.inf)


def _find_last_knot(spans: NDArray[np.float64]) -> float:
    """Return w with Pr[S² > w] <= CUT."""
    tail = RadiusTail(spans, cuts=np.array([1 - math.log(CUT / len(spans))]), slopes=QUICK_SLOPES)
    s = math.sqrt(2 * float((spans**2).sum()))
    while tail.log_bound(s) > math.log(CUT):
        s *= 1.05
    return s**2


def _find_end(squares: NDArray[np.float64], step: float) -> tuple[int, float]:
    """Return the number of steps after which the integral of |φ| is small, and a bound on the
    rest of it.

    Raises:
        ValueError: it needs more than MOST_STEPS.
    """
    steps = 64
    while steps <= MOST_STEPS:
        end = steps * step
        logs = np.minimum(0.0, np.log(math.pi / (4 * squares * end)) / 2)
        falling = int(np.count_nonzero(logs))  # factors that fall as t^(−1/2) from here on
        if falling > 2:
            rest = math.exp(float(logs.sum())) * end / (falling / 2 - 1)
            if rest < CUT:
                return steps, rest
        steps += steps // 4
    raise ValueError("the characteristic function of the radius falls too slowly")


def _characteristic(
    squares: NDArray[np.float64], t: NDArray[np.float64]
) -> tuple[NDArray[np.complex128], float]:
    """Return E[e^{itS²}] at each t, and a bound on the sum of the errors of its absolute values.

    It is the product of E[e^{iuE²}] at u = Δ_j²t, by Hermite's interpolation between NODES.
    """
    top = float(t[-1] * squares.max())
    h = top / (NODES - 1)
    value, slope = _exponential_square(np.linspace(0, top, NODES))
    slope *= h
    error = h**4 / 384 * FOURTH
    product = np.ones(len(t), dtype=np.complex128)
    smallest = np.ones(len(t))
    for square, repeats in zip(*np.unique(squares, return_counts=True), strict=True):
        place = t * (square / h)
        node = np.minimum(place.astype(np.intp), NODES - 2)
        x = place - node
        y = 1 - x
        factor = (1 + 2 * x) * y**2 * value[node] + x * y**2 * slope[node]
        factor += x**2 * (3 - 2 * x) * value[node + 1] - x**2 * y * slope[node + 1]
        product *= factor**repeats
        np.minimum(smallest, np.abs(factor), out=smallest)
    grown = np.expm1(len(squares) * np.log1p(error / smallest))
    return product, float((np.abs(product) * grown).sum())


def _exponential_square(
    u: NDArray[np.float64],
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """Return E[e^{iuE²}] and its derivative at each u >= 0.

    The path of the integral is turned by 45°, where e^{−x + iux²} does not oscillate with u:
    x = ρ·e^{iπ/4} gives e^{−ρ·e^{iπ/4} − uρ²}. The double exponential rule integrates over ρ.
    """
    rho = np.exp(STEPS - np.exp(-STEPS))
    turn = np.exp(0.25j * math.pi)
    weights = turn * (STEPS[1] - STEPS[0]) * rho * (1 + np.exp(-STEPS)) * np.exp(-turn * rho)
    falls = np.exp(np.outer(u, -(rho**2)))
    return falls @ weights, falls @ (-(rho**2) * weights)


def _invert(phi: NDArray[np.complex128], last: float) -> NDArray[np.float64]:
    """Return (1/2π)·∫ φ(t)·e^{−itw} dt at each knot w, by the trapezoidal rule, float64
    (CELLS,)."""
    padded = np.zeros(CELLS // 2 + 1, dtype=np.complex128)
    padded[: len(phi)] = phi
    return np.asarray(np.fft.hfft(padded, CELLS) / last)


def _round_shares(shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return shares as integers >= 0 with the sum 2^63, int64."""
    total = CELLS << COIN_BITS
    rounded = np.floor(shares / shares.sum() * (total - CELLS)).astype(np.int64)
    rounded[rounded.argmax()] += total - sum(rounded.tolist())
    return np.asarray(rounded)


def build_alias(shares: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an alias table (Walker 1977) of CELLS shares with the sum CELLS·2^COIN_BITS: how many
    of the 2^COIN_BITS coins stay in each cell, and the cell that the others go to.

    One sweep fills every light cell from the first heavy cell that has something left. A heavy
    cell that gave too much is filled from the next.
    """
    unit = 1 << COIN_BITS
    light, heavy = np.flatnonzero(shares < unit), np.flatnonzero(shares >= unit)
    lacks, given = np.cumsum(unit - shares[light]), np.cumsum(shares[heavy] - unit)
    before = lacks - (unit - shares[light])
    kept, alias = shares.copy(), np.arange(len(shares))
    alias[light] = heavy[np.searchsorted(given, before, side="right")]
    filled = np.append(0, lacks)[np.searchsorted(before, given, side="left")]
    kept[heavy] = unit - (filled - given)
    alias[heavy[:-1]] = heavy[1:]
    return kept, alias


class RadiusTail:
    """Bound Pr[S > s] from above, S² = Σ_j (Δ_j E_j)², E_j standard exponential.

    The union bound and Chernoff's bound of the truncated variables give, for every θ, T > 0,
    Pr[S > s] ≤ d·e^{−T} + e^{−θs²}·Π_j E[e^{θΔ_j²E²}; E ≤ T]. The integrands are log-convex,
    hence convex, and the trapezoidal rule lies above a convex function's integral.

    Args:
        spans: Δ_j >= 0, float64 (d,), not all zero.
        cuts: the values of T that are tried.
        slopes: the values of θ·Δ²·T, for the largest Δ, that are tried.

    >>> tail = RadiusTail(np.ones(4))
    >>> 0 >= tail.log_bound(1.0) > tail.log_bound(20.0)
    True
    """

    def __init__(
        self,
        spans: NDArray[np.float64],
        cuts: NDArray[np.float64] = CUTS,
        slopes: NDArray[np.float64] = SLOPES,
    ) -> None:
        squares, repeats = np.unique(spans**2, return_counts=True)
        units = np.linspace(0, 1, TAIL_NODES) ** 2
        self._cut, slope = (grid.ravel() for grid in np.meshgrid(cuts, slopes, indexing="ij"))
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
