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

from perturb.errors import ParameterError
from perturb.mechanisms.base import Draw, Mechanism, Words
from perturb.mechanisms.by_distance import Fall, draw_by_distance
from perturb.mechanisms.radius import radius_law
from perturb.mechanisms.rantext_bounds import QUANTILE_ERROR, RanTextBounds
from perturb.mechanisms.rantext_channel import DistanceGrid, Quadrature
from perturb.mechanisms.scored import squared_distances
from perturb.registry import register
from perturb.release import Guarantee
from perturb.sanitizer import Parameters
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["RanText", "RanTextParameters", "noise_scale"]

# a, b, c, k: the authors' fit of z for their text-embedding-ada-002 table (InferDPT, Appendix B).
PUBLISHED = (0.01658160142016071, 19.064721649556482, -38.1294334077209, 9.311083811697406)
CHANNEL_ROWS = 256  # rows of the channel computed at once
ROUNDING = 1e-5  # of a row in total variation: its sums are taken in single precision
SMALLEST_RADIUS = 1e-30  # r = 0 has probability 0


@dataclass(frozen=True, kw_only=True)
class RanTextParameters(Parameters):
    """ε, 1e-9 ≤ ε ≤ 1e6, and the source of the noise scale: fitted to the table
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

    @property
    def proved_delta(self) -> float:
        """Return δ of the proved (ε, δ)-LDP at the nominal ε: Pr[r < D] from the table's
        quantiles, including their sampling error at confidence 1 − 1e-9 and the error of the
        drawn radius."""
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
        if not len(words):
            return Draw(np.empty(0, dtype=np.int32))
        radii = radius_law(self.table).draw(len(words), rng) / self.z
        released = draw_by_distance(self.table, words, _RandomLists(radii, self.epsilon), rng)
        sizes = self.table.count_nearer(words, radii)
        return Draw(
            released,
            {
                "list_size_min": round(float(sizes.min())),
                "list_size_mean": float(sizes.mean()),
                "list_size_max": round(float(sizes.max())),
            },
        )

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        """Return P(· | x) = E_r[P(· | x, r)] over the table's radius quantiles.

        For one x it is a function of the distance alone, so it is computed on a grid of distances
        and interpolated linearly. The result is exactly the channel of the interpolated weight,
        and a row sums to one. The error is the sum of four terms: the total variation between
        the averages over the even and the odd quantiles (an estimate, not a bound, of the error of
        the quadrature), a bound on the effect of the interpolation, the error of the drawn radius
        (`perturb.mechanisms.radius`), and ROUNDING.
        """
        words = np.asarray(words)
        rows = np.empty((len(words), len(self.table)))
        error = 0.0
        for start in range(0, len(words), CHANNEL_ROWS):
            block = words[start : start + CHANNEL_ROWS]
            rows[start : start + len(block)], worst = self._channel_rows(block)
            error = max(error, worst)
        return rows, min(1.0, error + radius_law(self.table).error + ROUNDING)

    @cached_property
    def _grid(self) -> DistanceGrid:
        return DistanceGrid(
            self.epsilon, self.table.diameter, float(self.table.radius[0]) / self.z
        )

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


class _RandomLists(Fall):
    """Weigh by exp(ε/2·(r − d)/r) over d < r, up to the constant exp(ε/2).

    Args:
        radii: r of each token, float64 (n,).
        epsilon: ε.
    """

    precision = np.float32

    def __init__(self, radii: NDArray[np.float64], epsilon: float) -> None:
        self._radii = np.maximum(radii, SMALLEST_RADIUS)
        self._rates = epsilon / 2 / self._radii

    def weigh(
        self, tokens: NDArray[np.intp], distances: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        radii, rates = self._radii[tokens], self._rates[tokens]
        if distances.ndim == 2:
            radii, rates = radii[:, None], rates[:, None]
        weights = np.exp((distances * -rates).astype(np.float32))
        return (weights * (distances < radii)).astype(np.float64)
