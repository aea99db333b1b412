"""RANTEXT's channel by quadrature: the mean of its law over some radii, on a grid of distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["DistanceGrid", "Quadrature"]

BANDS = 8192  # of the distance, on which the channel is computed
COARSE = 8  # bands within every radius are this many times as wide,
STEP = 1 / 64  # if the exponent changes by no more than this over a coarse band
GROUPS = 8  # of radii, each computed on the bands that lie within its largest radius


class DistanceGrid:
    """A grid of distances from 0 to the diameter: BANDS + 1 of them, evenly spaced. Below the
    smallest radius only every COARSE-th is kept: the channel is smooth there, unless ε is large.

    Attributes:
        nodes: the distances, float64 (k,).
        width: the width of a fine band.
        widest: the width of the widest band, in fine bands.
    """

    def __init__(self, epsilon: float, diameter: float, smallest: float) -> None:
        self.width = diameter / BANDS
        smooth = epsilon / 2 / smallest * self.width * COARSE <= STEP
        self.widest = COARSE if smooth else 1
        within = min(int(np.ceil(smallest / self.width)) - 1, BANDS)
        self._fine = max(0, within) // COARSE * COARSE  # where the fine bands begin
        coarse = np.arange(0, self._fine, self.widest)
        self.nodes = np.concatenate([coarse, np.arange(self._fine, BANDS + 1)]) * self.width

    def place(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the places of distances among the nodes: k + s at share s of the way from node k
        to node k + 1."""
        place = distances / self.width
        place -= np.minimum(place, self._fine) * (1 - 1 / self.widest)
        return place

    def edge(self, radii: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the band that each radius ends in, as the number of the node before it."""
        return np.searchsorted(self.nodes, radii) - 1


class Quadrature:
    """Compute the mean of RANTEXT's channel over some ascending radii, on the nodes of a grid."""

    def __init__(self, epsilon: float, radii: NDArray[np.float64], grid: DistanceGrid) -> None:
        rate = epsilon / 2 / radii
        self._radii, self._nodes = len(radii), len(grid.nodes)
        # exp(−ε/2·d/r) inside the radius: (nodes, radii) for each group of radii
        self._groups: list[tuple[slice, NDArray[np.float32]]] = []
        for part in np.array_split(np.arange(len(radii)), GROUPS):
            if len(part):
                here = slice(int(part[0]), int(part[-1]) + 1)
                nodes = grid.nodes[grid.nodes < radii[here][-1], None]
                weights = np.exp((nodes * -rate[here]).astype(np.float32))
                weights *= nodes < radii[here]
                self._groups.append((here, weights))
        edge = grid.edge(radii)
        self._cut = np.flatnonzero(edge < len(grid.nodes) - 1)  # some words lie beyond them
        self._edge = edge[self._cut]
        self._last = np.exp((grid.nodes[self._edge] * -rate[self._cut]).astype(np.float32))
        step = rate * grid.width * grid.widest
        self._bend = float(np.minimum(1.0, step**2 / 8 * np.exp(np.minimum(step, 1.0))).mean())

    def laws(
        self, counts: NDArray[np.float32], ragged: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return P(y | x) at each distance, (n, nodes), and a bound on the effect of the
        interpolation.

        With w̃ the interpolated weight, the total variation is at most E_r[max(Σ(w − w̃)⁺,
        Σ(w̃ − w)⁺) / Σ w̃]. In the band that holds the edge r, a word at share s of the width has w
        between 0 and the weight W at the near end, and w̃ ≤ (1 − s)·W up to the bend. So the sums
        are at most Σ s·W and Σ (1 − s)·W, and `ragged` is the larger of Σ s and Σ (1 − s). In any
        other band a line through a convex function is off by at most (a²/8)·e^a of it, where a is
        the change of the exponent over one band.

        Args:
            counts: the words at each node, (n, nodes).
            ragged: see above, (n, nodes).
        """
        sums = np.empty((len(counts), self._radii), dtype=np.float32)
        law = np.zeros((len(counts), self._nodes), dtype=np.float32)
        for here, weights in self._groups:
            inside = slice(0, len(weights))
            np.matmul(counts[:, inside], weights, out=sums[:, here])
            law[:, inside] += (1 / sums[:, here]) @ weights.T
        law /= np.float32(self._radii)
        steepest = self._last / sums[:, self._cut]
        error = (ragged[:, self._edge] * steepest).sum(axis=1) / self._radii + self._bend
        return law, np.asarray(error, dtype=np.float64)
