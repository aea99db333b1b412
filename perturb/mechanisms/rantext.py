"""RANTEXT, the mechanism of InferDPT (Tong et al., TDSC 2025, Algorithms 2 and 3).

For every token a fresh radius r = ‖η‖, η_j ~ Laplace(0, Δ_j / z(ε)), selects a list of near words,
C_r(x) = {y : d(x, y) < r}. The exponential mechanism with u = (r − d) / r releases one of them.
The list depends on x, so the published ε is nominal: see `guarantee`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perturb.channel import Draw, Words
from perturb.errors import ParameterError
from perturb.mechanisms.base import Mechanism
from perturb.mechanisms.rantext_bounds import QUANTILE_ERROR, RanTextBounds
from perturb.mechanisms.rantext_channel import Grid, Quadrature
from perturb.mechanisms.scored import squared_distances
from perturb.registry import register
from perturb.release import Guarantee
from perturb.sanitizer import Parameters
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["RanText", "RanTextParameters", "noise_scale"]

# a, b, c, k: the authors' fit of z for their text-embedding-ada-002 table (InferDPT, Appendix B).
PUBLISHED = (0.01658160142016071, 19.064721649556482, -38.1294334077209, 9.311083811697406)
WORDS_PER_BLOCK = 128  # distance rows held at once
TOKENS_PER_BLOCK = 64  # weight rows held at once: they stay in the second-level cache
COLUMNS = 128  # weights are summed in runs of this many words
CHANNEL_ROWS = 256  # rows of the channel computed at once
ROUNDING = 1e-5  # of a row in total variation: its sums are taken in single precision


@dataclass(frozen=True, kw_only=True)
class RanTextParameters(Parameters):
    """Hold ε, 1e-9 ≤ ε ≤ 1e6, and the source of the noise scale: fitted to the table
    (`calibrated`), or the constants for text-embedding-ada-002 (`published`)."""

    noise: Literal["calibrated", "published"] = "calibrated"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-9 <= self.epsilon <= 1e6:  # single precision holds every weight in between
            raise ParameterError(
                f"epsilon must be from 1e-9 to 1e6 for rantext, got {self.epsilon:g}"
            )
        if self.noise not in ("calibrated", "published"):
            raise ParameterError("noise must be 'calibrated' or 'published'")


def noise_scale(table: EmbeddingTable, parameters: RanTextParameters) -> float:
    """Return z(ε): ε below 2, else a·ln(bε + c) + k.

    Calibrated: b = 1, and a, c, k are fitted to the table's z at ε = 2, 6, 10, 14 as the published
    curve fits its own points: a and k by least squares on the last three, then c so that the curve
    passes through the first exactly (c lies just above −2).

    >>> from perturb import load_table
    >>> noise_scale(load_table(), RanTextParameters(epsilon=1.5))
    1.5
    """
    epsilon = parameters.epsilon
    if epsilon < 2:
        return epsilon
    if parameters.noise == "published":
        a, b, c, k = PUBLISHED
        return a * math.log(b * epsilon + c) + k
    start, *rest = sorted((float(key), z) for key, z in table.calibration.items())
    logs = np.log([e - start[0] for e, _ in rest])
    a, k = (float(value) for value in np.polyfit(logs, [z for _, z in rest], 1))
    if a <= 0:  # z does not grow with ε in this table: interpolate between the points instead
        points = [start, *rest]
        return float(np.interp(epsilon, [e for e, _ in points], [z for _, z in points]))
    offset = math.exp((start[1] - k) / a)
    return a * math.log(epsilon - start[0] + offset) + k


@register
class RanText(Mechanism):
    """Draw from a random list of near words."""

    name = "rantext"
    brief = True
    summary = "random adjacency list and exponential mechanism, as published; no LDP bound"
    about = (
        "The mechanism of InferDPT (Tong et al., IEEE TDSC 2025, Algorithms 2 and 3): noise of a "
        "random length decides how many near words are candidates, and one of them is released by "
        "the exponential mechanism. The published ε is nominal: the list of candidates depends on "
        "the token, so the proof of the paper does not hold. The proved bound is (ε, δ)-LDP with "
        "δ near 1 from ε = 2 up. Below ε = 2 the noise is so wide that every word is a candidate. "
        "It is the default because it is the published mechanism; for a bound, take rantext_ldp."
    )
    parameter_type = RanTextParameters
    parameters: RanTextParameters

    @cached_property
    def z(self) -> float:
        """Return z(ε), the inverse noise scale."""
        return noise_scale(self.table, self.parameters)

    @cached_property
    def _scales(self) -> NDArray[np.float32]:
        """Return (Δ_j / z)², float32 (d,)."""
        return ((self.table.spans / self.z) ** 2).astype(np.float32)

    @property
    def proved_delta(self) -> float:
        """Return δ of the proved (ε, δ)-LDP at the nominal ε: Pr[r < D] from the table's
        quantiles, including their sampling error at confidence 1 − 1e-9."""
        radius = self.table.radius
        below = np.searchsorted(radius, self.table.diameter * self.z, side="right")
        return min(1.0, math.ceil((below / len(radius) + QUANTILE_ERROR) * 1e4) / 1e4)

    @property
    def guarantee(self) -> Guarantee:
        delta = self.proved_delta
        proved = (
            f"it is proved to be ({self.epsilon:g}, δ)-LDP per token with δ = {delta:.4f}"
            if delta < 1
            else "no bound is proved at this ε"
        )
        return Guarantee(
            kind="none",
            nominal=self.epsilon,
            epsilon=math.inf,
            statement=(
                f"nominal ε = {self.epsilon:g} per token is not an LDP bound: the list of "
                f"candidates depends on the token; {proved}"
            ),
        )

    def bounds(self) -> RanTextBounds:
        return RanTextBounds(self, self.proved_delta)

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        words = np.asarray(words)
        released = np.empty(len(words), dtype=np.int32)
        sizes = np.empty(len(words), dtype=np.int32)
        radii = self._draw_radii(len(words), rng)
        choices = rng.random((len(words), 2))
        order = np.argsort(words, kind="stable")
        unique, starts = np.unique(words[order], return_index=True)
        ends = np.append(starts[1:], len(words))
        # Columns beyond m, up to a whole run, stay at infinite distance: never drawn.
        width = -(-len(self.table) // COLUMNS) * COLUMNS
        distances = np.full((min(len(unique), WORDS_PER_BLOCK), width), np.inf, dtype=np.float32)
        for first in range(0, len(unique), WORDS_PER_BLOCK):
            block = unique[first : first + WORDS_PER_BLOCK]
            self._fill_distances(block, distances)
            low, high = starts[first], ends[first + len(block) - 1]

            for start in range(low, high, TOKENS_PER_BLOCK):
                tokens = order[start : min(start + TOKENS_PER_BLOCK, high)]
                rows = distances[np.searchsorted(block, words[tokens])]
                sizes[tokens], released[tokens] = _choose(
                    rows, radii[tokens], self.epsilon, choices[tokens]
                )
        if not len(words):
            return Draw(released)
        return Draw(
            released,
            {
                "list_size_min": int(sizes.min()),
                "list_size_mean": float(sizes.mean()),
                "list_size_max": int(sizes.max()),
            },
        )

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        """Return P(· | x) = E_r[P(· | x, r)] over the table's radius quantiles.

        For one x it is a function of the distance alone, so it is computed on a grid of distances
        and interpolated linearly. The result is exactly the channel of the interpolated weight,
        and a row sums to one. The error is the sum of three terms: the total variation between
        the averages over the even and the odd quantiles (an estimate, not a bound, of the error of
        the quadrature), a bound on the effect of the interpolation, and ROUNDING.
        """
        words = np.asarray(words)
        rows = np.empty((len(words), len(self.table)))
        error = 0.0
        for start in range(0, len(words), CHANNEL_ROWS):
            block = words[start : start + CHANNEL_ROWS]
            rows[start : start + len(block)], worst = self._channel_rows(block)
            error = max(error, worst)
        return rows, min(1.0, error + ROUNDING)

    @cached_property
    def _grid(self) -> Grid:
        return Grid(self.epsilon, self.table.diameter, float(self.table.radius[0]) / self.z)

    @cached_property
    def _halves(self) -> list[Quadrature]:
        radii = self.table.radius / self.z
        return [Quadrature(self.epsilon, radii[half::2], self._grid) for half in (0, 1)]

    def _channel_rows(self, words: Words) -> tuple[NDArray[np.float64], float]:
        n, grid = len(words), self._grid
        place = grid.place(np.sqrt(squared_distances(self.table, words)))
        band = np.minimum(place.astype(np.int32), len(grid.nodes) - 2)
        share = (place - band).ravel()  # of a word, counted at the far end of its band
        flat = (band + (np.arange(n, dtype=np.int32) * len(grid.nodes))[:, None]).ravel()
        size = n * len(grid.nodes)
        near, far = (np.bincount(flat, mass, size).reshape(n, -1) for mass in (1 - share, share))
        ragged = np.maximum(near, far)
        near[:, 1:] += far[:, :-1]
        counts = near.astype(np.float32)
        even, odd = (half.laws(counts, ragged) for half in self._halves)
        # a line through |f − g| lies above |the line through f − g|
        split = (counts * np.abs(even[0] - odd[0])).sum(axis=1, dtype=np.float64) / 2
        law = ((even[0] + odd[0]) / 2).ravel()
        rows = (law[flat] * (1 - share) + law[flat + 1] * share).reshape(n, -1)
        rows /= rows.sum(axis=1, keepdims=True)  # the sums are one up to single precision
        return rows, float((split + (even[1] + odd[1]) / 2).max(initial=0.0))

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.asarray(self._keep_rates[np.asarray(words)])

    @cached_property
    def _keep_rates(self) -> NDArray[np.float64]:
        """Bound P(x | x) = E_r[1 / Σ_{y ∈ C_r} exp(−ε/2·d/r)] from above: every other word is put
        at the far edge of its distance band."""
        spread = self.table.spread.astype(np.float32)
        edges = np.linspace(0, self.table.diameter, spread.shape[1] + 1)[1:, None]
        # P(x | x, r) falls with r: the lowest quantile of each group bounds the group.
        nodes = self.table.radius[::16] / self.z
        weights = np.where(edges < nodes, np.exp(-self.epsilon / 2 * edges / nodes), 0.0)
        kept = 1 / (1 + spread @ weights.astype(np.float32))
        return np.asarray(kept.mean(axis=1, dtype=np.float64))

    def _draw_radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw r = ‖η‖ for n tokens. Only |η_j| matters, and |Laplace(0, b)| is b times a standard
        exponential."""
        scales = self._scales
        radii = np.empty(n, dtype=np.float32)
        for start in range(0, n, 1 << 14):
            noise = rng.standard_exponential(
                (min(1 << 14, n - start), len(scales)), dtype=np.float32
            )
            np.square(noise, out=noise)
            radii[start : start + len(noise)] = np.sqrt(noise @ scales)
        return radii

    def _fill_distances(self, words: Words, rows: NDArray[np.float32]) -> None:
        """Write d(x, ·) for a block of words into the first columns of `rows`."""
        square = rows[: len(words), : len(self.table)]
        vectors = self.table.vectors[words].astype(np.float32)
        squares = np.einsum("ij,ij->i", vectors, vectors)[:, None]
        # (−2φ(x), ‖φ(x)‖², 1) · (φ(y), 1, ‖φ(y)‖²): squared distances in one matrix product
        left = np.hstack([vectors * np.float32(-2), squares, np.ones_like(squares)])
        np.matmul(left, self.table.distance_factor, out=square)
        np.sqrt(np.maximum(square, 0.0, out=square), out=square)
        square[np.arange(len(words)), words] = 0.0


def _choose(
    distances: NDArray[np.float32],
    radii: NDArray[np.float32],
    epsilon: float,
    uniform: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Draw y with P ∝ exp(ε/2·(r−d)/r) over d < r, one row a token; return |C_r| and y.

    The constant exp(ε/2) cancels. Two draws are made: first a run of COLUMNS words by the weight
    of the run, then a word in it by its own weight. The product is the word's probability.
    """
    n = len(distances)
    radii = np.maximum(radii, np.finfo(np.float32).tiny)[:, None]  # r = 0 has probability 0
    weights = distances * (np.float32(-epsilon / 2) / radii)
    np.exp(weights, out=weights)
    inside = distances < radii
    weights *= inside
    runs = weights.reshape(n, -1, COLUMNS)
    run = _invert_cumulative(runs @ np.ones(COLUMNS, dtype=np.float32), uniform[:, 0])
    column = _invert_cumulative(runs[np.arange(n), run], uniform[:, 1])
    sizes = np.array([np.count_nonzero(row) for row in inside])
    return sizes, (run * COLUMNS + column).astype(np.int32)


def _invert_cumulative(
    weights: NDArray[np.float32], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Invert the cumulative weights at `uniform` in [0, 1), one row each.

    The comparison is strict, so an entry of weight zero is never returned.
    """
    cumulative = np.cumsum(weights, axis=1, dtype=np.float64)
    target = uniform * cumulative[:, -1]
    return np.asarray((cumulative <= target[:, None]).sum(axis=1))
