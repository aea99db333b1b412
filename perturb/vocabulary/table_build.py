"""Build an embedding table from raw embeddings of every string of letters in cl100k_base.

Distances are compared exactly (perturb.vocabulary.neighbours), so the same embeddings give the
same table on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from perturb.errors import TableError
from perturb.rng import seeded_generator
from perturb.vocabulary.neighbours import BLOCK, find_neighbours, measure_squares
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Vocabulary

__all__ = ["build_table", "build_table_from_rows", "normalize_rows", "unit_rows"]

SPREAD_BINS = 64
RADIUS_DRAWS = 1 << 21  # 2 M draws: a quantile's probability is known to ±0.04 points (1 s.d.)
RADIUS_QUANTILES = 4096
RADIUS_SEED = 20250101  # any fixed number: the table must not depend on who builds it
# Pr[|C_r(happy)|/|V| ≤ 5 %] at each ε (InferDPT, Appendix B)
CALIBRATION_WORD = "happy"
CALIBRATION_SHARE = 0.05
CALIBRATION_TARGETS = {2.0: 0.015, 6.0: 0.090, 10.0: 0.100, 14.0: 0.105}

Progress = Callable[[str, int, int], None]


def build_table(
    vocabulary: Vocabulary,
    embeddings: NDArray[np.floating],
    *,
    provenance: Mapping[str, str],
    progress: Progress = lambda stage, done, total: None,
) -> EmbeddingTable:
    """Build the table for `vocabulary`.

    Args:
        vocabulary: V and the strings outside it.
        embeddings: (len(words) + len(others), d), the rows of V first, any scale.
        provenance: model, licence, created; written beside the table.
        progress: called with (stage, done, total).

    Raises:
        TableError: wrong shape, a value that is not finite, a zero row, or identical rows only.
    """
    expected = len(vocabulary) + len(vocabulary.others)
    if embeddings.ndim != 2 or len(embeddings) != expected:
        raise TableError(f"embeddings must have {expected} rows, got shape {embeddings.shape}")
    rows = normalize_rows(embeddings)
    return build_table_from_rows(vocabulary, rows, provenance=provenance, progress=progress)


def normalize_rows(embeddings: NDArray[np.floating]) -> NDArray[np.float16]:
    """Return the embeddings scaled to length one and rounded, (n, d).

    >>> normalize_rows(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]], dtype=float16)

    Raises:
        TableError: a value is not finite, or a row is zero.
    """
    refusal = TableError("an embedding is zero or not finite")
    if not np.isfinite(embeddings).all():
        raise refusal
    rows = unit_rows(embeddings).astype(np.float16)
    if not rows.any(axis=1).all():
        raise refusal
    return rows


def unit_rows(rows: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return rows scaled to length 1, float64 (n, d); rows of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return wide / np.where(lengths == 0, 1.0, lengths)


def build_table_from_rows(
    vocabulary: Vocabulary,
    unit: NDArray[np.float16],
    *,
    provenance: Mapping[str, str],
    progress: Progress = lambda stage, done, total: None,
) -> EmbeddingTable:
    """Build the table, as `build_table` does, from the output of `normalize_rows`.

    Raises:
        TableError: the rows are all alike.
    """
    m = len(vocabulary)
    vectors = unit[:m]
    spans = np.ptp(vectors.astype(np.float64), axis=0)
    if not spans.any():
        raise TableError("all embeddings are alike: no two distances differ")
    wide = vectors.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    diameter = _find_diameter(wide, squares)
    spread = _count_bands(wide, squares, diameter, progress)
    radius = _sample_radius_quantiles(spans, progress)
    return EmbeddingTable(
        vocabulary=vocabulary,
        vectors=vectors,
        neighbours=find_neighbours(vectors),
        nearest=_find_nearest(wide, squares, unit[m:].astype(np.float64), progress),
        spread=spread,
        radius=radius,
        diameter=diameter,
        calibration=_calibrate(vocabulary, wide, radius),
        provenance=dict(provenance),
    )


def _find_diameter(wide: NDArray[np.float64], squares: NDArray[np.float64]) -> float:
    """Return the largest distance, rounded up slightly so that no word lies beyond it."""
    largest = max(
        float(measure_squares(wide[start : start + BLOCK], wide, squares).max())
        for start in range(0, len(wide), BLOCK)
    )
    return math.nextafter(math.sqrt(largest), math.inf) * (1 + 1e-6)


def _count_bands(
    wide: NDArray[np.float64], squares: NDArray[np.float64], diameter: float, progress: Progress
) -> NDArray[np.uint16]:
    """Return the number of other words in each distance band of each word, uint16 (m, bins)."""
    m = len(wide)
    spread = np.empty((m, SPREAD_BINS), dtype=np.uint16)
    for start in range(0, m, BLOCK):
        stop = min(start + BLOCK, m)
        square = measure_squares(wide[start:stop], wide, squares)
        own = np.arange(start, stop)
        square[own - start, own] = 0.0
        bands = (np.sqrt(np.maximum(square, 0.0)) * (SPREAD_BINS / diameter)).astype(np.int64)
        np.minimum(bands, SPREAD_BINS - 1, out=bands)
        for row, band in zip(own, bands, strict=True):
            spread[row] = np.bincount(band, minlength=SPREAD_BINS)
        spread[own, 0] -= 1  # x itself is not one of the others
        progress("neighbours", stop, m)
    return spread


def _find_nearest(
    wide: NDArray[np.float64],
    squares: NDArray[np.float64],
    others: NDArray[np.float64],
    progress: Progress,
) -> NDArray[np.uint16]:
    nearest = np.empty(len(others), dtype=np.uint16)
    for start in range(0, len(others), BLOCK):
        block = others[start : start + BLOCK]
        nearest[start : start + BLOCK] = measure_squares(block, wide, squares).argmin(axis=1)
        progress("words outside V", start + len(block), len(others))
    return nearest


def _sample_radius_quantiles(
    spans: NDArray[np.float64], progress: Progress
) -> NDArray[np.float64]:
    """Return quantiles (i + ½)/q of S = sqrt(Σ_j (Δ_j E_j)²); |Laplace(0, Δ/z)| is (Δ/z)·E."""
    rng = seeded_generator(RADIUS_SEED)
    draws = np.empty(RADIUS_DRAWS, dtype=np.float64)
    weights = (spans**2).astype(np.float32)
    block = 1 << 14
    for start in range(0, RADIUS_DRAWS, block):
        noise = rng.standard_exponential((block, len(spans)), dtype=np.float32)
        np.square(noise, out=noise)
        draws[start : start + block] = np.sqrt(noise @ weights)
        progress("radius", start + block, RADIUS_DRAWS)
    levels = (np.arange(RADIUS_QUANTILES) + 0.5) / RADIUS_QUANTILES
    return np.asarray(np.quantile(draws, levels))


def _calibrate(
    vocabulary: Vocabulary, wide: NDArray[np.float64], radius: NDArray[np.float64]
) -> dict[str, float]:
    """Return z at each target ε, such that Pr[|C_r(happy)| ≤ 5 % of V] is the published share.

    |C_r| = #{y : d < r} ≤ k exactly when r ≤ d₍ₖ₎, the k-th smallest distance counted from 0.
    r = S/z, so z = Q_S(target) / d₍ₖ₎. A vocabulary that is too small to hold the word uses its
    first word.
    """
    words = vocabulary.words
    word = words.index(CALIBRATION_WORD) if CALIBRATION_WORD in words else 0
    difference = wide - wide[word]
    ordered = np.sort(np.sqrt(np.einsum("ij,ij->i", difference, difference)))
    edge = ordered[max(1, math.floor(CALIBRATION_SHARE * len(words)))]
    if edge == 0:
        raise TableError("the calibration word shares its embedding with 5 % of V")
    levels = (np.arange(len(radius)) + 0.5) / len(radius)
    return {
        f"{epsilon:g}": float(np.interp(target, levels, radius) / edge)
        for epsilon, target in CALIBRATION_TARGETS.items()
    }
