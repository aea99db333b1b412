"""Word embeddings with noise: Madlib (Feyisetan et al., WSDM 2020) and the Mahalanobis mechanism
(Xu et al., PrivateNLP 2020).

y is the word nearest to φ(x) + η. The channel has no closed form, so it is sampled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.base import Draw, Mechanism, Words
from perturb.mechanisms.scored import ScoredParameters, metric_guarantee, require_share
from perturb.registry import register
from perturb.release import Guarantee

__all__ = ["MadLib", "Mahalanobis", "MahalanobisParameters"]

TOKENS_PER_BLOCK = 128  # score rows held at once
# Figures of the channel are Monte Carlo over public numbers. Nothing secret depends on them, so
# NumPy's own seeded generator is safe here, and everyone gets the same figures.
PUBLIC_SEED = 20250101
CHANNEL_SCORES = 1 << 25  # scores computed for one row of the channel
BLOCK_SCORES = 1 << 19  # scores held at once
MOST_DRAWS = 1 << 18
FAILURE = 1e-6  # probability that a stated Monte Carlo bound does not hold
KEEP_DRAWS = 2048
KEEP_NEAREST = 8
KEEP_ALONG = 8
SINGLE_ROUNDING = 1e-5  # of a product with unit rows, relative to the length of the noise


@register
class MadLib(Mechanism):
    """Draw the word nearest to φ(x) + η, where η has a density ∝ exp(−ε‖η‖): direction uniform,
    length Gamma(d, 1/ε).

    Moving φ(x) to φ(x') changes the density of z = φ(x) + η by a factor of at most
    exp(ε·d(x, x')) everywhere, and y depends on x through z alone. Of several words at the same
    distance from z (words that share a vector), the one of lowest rank is released.
    """

    name = "madlib"
    summary = "nearest word to the embedding with noise; metric privacy"
    about = (
        "The word nearest to the embedding with noise of density ∝ exp(−ε‖η‖) (Feyisetan et al., "
        "WSDM 2020). Metric privacy. In many dimensions the noise is long: these ε give almost "
        "random words. Its channel has no closed form; the figures are Monte Carlo, with "
        "intervals at 99.9 %, and the mutual information is an upper bound."
    )
    parameter_type = ScoredParameters
    exact = False

    @property
    def guarantee(self) -> Guarantee:
        return metric_guarantee(self.epsilon, self.table.diameter, precision="single")

    def vector_noise(self) -> MadLib:
        return self

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return n draws of η, float32 (n, d)."""
        dimension = self.table.vectors.shape[1]
        direction = rng.standard_normal((n, dimension))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        direction *= rng.standard_gamma(dimension, (n, 1)) / self.epsilon
        return self._shape(direction).astype(np.float32)

    def _shape(self, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn round noise into the mechanism's."""
        return noise

    def _unshape(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        """Undo `_shape`."""
        return vectors

    def log_density(self, noisy: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return ln of the density of z = φ(x) + η for every x, up to one constant: vectors z,
        (n, d) → float64 (n, m)."""
        means = self._unshape(self.table.vectors.astype(np.float64))
        z = self._unshape(noisy.astype(np.float64))
        square = z @ means.T
        square *= -2.0
        square += np.einsum("ij,ij->i", means, means)
        square += np.einsum("ij,ij->i", z, z)[:, None]
        return np.asarray(-self.epsilon * np.sqrt(np.maximum(square, 0.0)))

    @cached_property
    def _leaders(self) -> NDArray[np.intp]:
        """Return the words that have no word of lower rank with the same vector, ascending."""
        _, first = np.unique(self.table.vectors, axis=0, return_index=True)
        return np.sort(first)

    @cached_property
    def _columns(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return φ(y) of the leaders, float32 (d, k), and ‖φ(y)‖²/2, (k,)."""
        columns = np.ascontiguousarray(self.table.vectors[self._leaders].astype(np.float32).T)
        return columns, np.einsum("ij,ij->j", columns, columns) / 2

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        words = np.asarray(words)
        columns, half = self._columns
        released = np.empty(len(words), dtype=np.int32)
        for start in range(0, len(words), TOKENS_PER_BLOCK):
            block = words[start : start + TOKENS_PER_BLOCK]
            noisy = self.table.vectors[block] + self.noise(len(block), rng)
            # nearest to z: the largest ⟨z, φ(y)⟩ − ‖φ(y)‖²/2
            scores = noisy @ columns
            scores -= half
            released[start : start + len(block)] = self._leaders[scores.argmax(axis=1)]
        return Draw(released)

    @property
    def channel_draws(self) -> int:
        return min(MOST_DRAWS, CHANNEL_SCORES // len(self.table))

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        """Return, by Monte Carlo, the share of `channel_draws` draws that release y.

        The same public noise serves every row. With n_y draws of y among N, the total variation
        to the true row is at most Σ_y √n_y / N + √(2·ln(1/δ)/N), except with probability δ, here
        1e-6 for each row. Symmetrisation bounds the mean of the distance by the mean of the first
        term. One draw changes either by at most 1/N, and McDiarmid's inequality gives the bound.
        """
        words = np.asarray(words)
        columns, half = self._columns
        rng = np.random.default_rng(PUBLIC_SEED)
        means = self.table.vectors[words].astype(np.float32) @ columns - half
        counts = np.zeros((len(words), len(self.table)))
        n = self.channel_draws
        size = max(TOKENS_PER_BLOCK, BLOCK_SCORES // len(self.table))
        for start in range(0, n, size):
            scores = self.noise(min(size, n - start), rng) @ columns
            for row, mean in zip(counts, means, strict=True):
                winners = self._leaders[(scores + mean).argmax(axis=1)]
                row += np.bincount(winners, minlength=len(row))
        error = np.sqrt(counts).sum(axis=1).max(initial=0.0) / n
        return counts / n, float(error + math.sqrt(2 * math.log(1 / FAILURE) / n))

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.asarray(self._keep_rates[np.asarray(words)])

    @cached_property
    def _keep_rates(self) -> NDArray[np.float64]:
        """Bound P(x | x) for every x from above: the probability that x is as near to z as a few
        rivals, the nearest words of x and those most in the direction of the noise.

        Monte Carlo over public noise with Chernoff's margin, which fails for a word with
        probability 1e-6. A word that shares its vector with one of lower rank is never released.
        """
        table = self.table
        vectors = table.vectors.astype(np.float32)
        half = np.einsum("ij,ij->i", vectors, vectors) / 2
        usual = vectors @ vectors.mean(axis=0) - half
        near = table.neighbours[:, 1 : KEEP_NEAREST + 1].astype(np.intp).T
        lead = [half[y] + half - np.einsum("ij,ij->i", vectors[y], vectors) for y in near]
        rng = np.random.default_rng(PUBLIC_SEED)
        kept = np.zeros(len(table), dtype=np.int64)
        for _ in range(0, KEEP_DRAWS, TOKENS_PER_BLOCK):
            noise = self.noise(TOKENS_PER_BLOCK, rng)
            slack = SINGLE_ROUNDING * (1 + np.linalg.norm(noise, axis=1))
            products = vectors @ noise.T
            stays = np.ones(products.shape, dtype=np.bool_)
            for y, margin in zip(near, lead, strict=True):  # ⟨η, φ(y) − φ(x)⟩ ≤ d(x, y)²/2
                stays &= products[y] - products <= margin[:, None] + slack
            along = np.ascontiguousarray(products.T)
            far = np.argpartition(along + usual, -min(KEEP_ALONG, len(table)), axis=1)
            far = far[:, -KEEP_ALONG:]
            rivals, place = np.unique(far, return_inverse=True)
            place = place.reshape(far.shape)
            gram = vectors[rivals] @ vectors.T
            limit = along + half + slack[:, None]
            # ⟨z, φ(y)⟩ − ‖φ(y)‖²/2 of the rival, against the same of x
            for y, row in zip(far.T, place.T, strict=True):
                shift = along[np.arange(len(y)), y] - half[y]
                stays &= (gram[row] + shift[:, None] <= limit).T
            kept += stays.sum(axis=1)
        rates = _bound_rates(kept, KEEP_DRAWS)
        rates[np.setdiff1d(np.arange(len(table)), self._leaders)] = 0.0
        return rates


@dataclass(frozen=True, kw_only=True)
class MahalanobisParameters(ScoredParameters):
    """ε, and the share of the covariance in the shape of the noise (λ), in (0, 1]."""

    mixing: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share("mixing", self.mixing)


@register
class Mahalanobis(MadLib):
    """Draw as Madlib does, with η = length · A^{1/2} · direction, A = λΣ̂ + (1 − λ)I, length and
    direction as in Madlib; Σ̂ is the covariance of φ over V, scaled to a mean variance of 1.

    The density of η is ∝ exp(−ε·‖A^{−1/2}η‖), so the proof is Madlib's with the distance
    d_M(x, x') = ‖A^{−1/2}(φ(x) − φ(x'))‖. Eigenvalues of A below 1e-9 are raised to 1e-9, so that
    the noise has a density for every table.
    """

    name = "mahalanobis"
    summary = "nearest word to the embedding with noise shaped by the covariance; metric privacy"
    about = (
        "Madlib with noise shaped by the covariance of the embeddings (Xu et al., PrivateNLP "
        "2020). Metric privacy in the Mahalanobis distance. Monte Carlo as madlib."
    )
    parameter_type = MahalanobisParameters
    distance = "d_M"
    parameters: MahalanobisParameters

    @property
    def guarantee(self) -> Guarantee:
        return metric_guarantee(self.epsilon, self._diameter, "d_M", precision="single")

    @cached_property
    def _axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the eigenvectors of A as columns, (d, d), and the roots of its eigenvalues,
        (d,)."""
        vectors = self.table.vectors.astype(np.float64)
        covariance = np.atleast_2d(np.cov(vectors, rowvar=False, bias=True))
        values, axes = np.linalg.eigh(covariance / (np.trace(covariance) / len(covariance)))
        mixing = self.parameters.mixing
        return axes, np.sqrt(np.maximum(mixing * values + (1 - mixing), 1e-9))

    @cached_property
    def _diameter(self) -> float:
        """Return an upper bound of d_M over V: twice the largest distance from the mean."""
        axes, roots = self._axes
        vectors = self.table.vectors.astype(np.float64)
        centred = (vectors - vectors.mean(axis=0)) @ axes / roots
        return 2 * float(np.linalg.norm(centred, axis=1).max()) * (1 + 1e-6)

    def _shape(self, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        axes, roots = self._axes
        return np.asarray((noise * roots) @ axes.T)

    def _unshape(self, vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        axes, roots = self._axes
        return np.asarray(vectors @ axes / roots)


def _bound_rates(seen: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return the largest p with n·KL(seen/n ‖ p) ≤ ln(1/δ), δ = 1e-6. By Chernoff's bound a rate
    above p gives so few hits in n with probability at most δ."""
    share = seen / n
    low, high = share.copy(), np.ones(len(seen))
    for _ in range(40):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            hit = np.where(share > 0, share * np.log(share / middle), 0.0)
            missed = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - middle)), 0.0)
        inside = n * (hit + missed) <= math.log(1 / FAILURE)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high
