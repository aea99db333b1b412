"""The lists of nearest words, computed exactly from the vectors of a table.

The products of float16 numbers, and their sums, fit a float64 without rounding, and those of
multiples of 1/512 in rows of length one fit a float32. So the same vectors give the same lists on
every machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["GRID", "NEIGHBOURS", "find_neighbours", "measure_squares", "round_rows"]

NEIGHBOURS = 512  # rantext_ldp is flat beyond this rank
GRID = 512  # steps of 1/GRID: a table of vectors in these needs no lists in its file
EXACT = 1 << 22  # a largest square, in steps: four of them fit the 24 bits of a float32
BLOCK = 256

Rows = NDArray[np.floating[Any]]


def round_rows(rows: NDArray[np.float16]) -> NDArray[np.float16]:
    """Return rows of length one rounded to multiples of 1/GRID.

    >>> round_rows(np.array([[0.6, 0.8]], dtype=np.float16))
    array([[0.5996, 0.801 ]], dtype=float16)
    """
    return np.asarray((np.rint(rows.astype(np.float32) * GRID) / GRID).astype(np.float16))


def find_neighbours(vectors: NDArray[np.float16]) -> NDArray[np.uint16]:
    """Return the list of each word: itself, then the nearest by exact distance, ties by rank.

    Args:
        vectors: φ, float16 (m, d).

    Returns:
        uint16 (m, min(NEIGHBOURS, m)).
    """
    m = len(vectors)
    kept = min(NEIGHBOURS, m)
    wide = _widen(vectors)
    squares = np.einsum("ij,ij->i", wide, wide)
    lists = np.empty((m, kept), dtype=np.uint16)
    for start in range(0, m, BLOCK):
        own = np.arange(start, min(start + BLOCK, m))
        square = measure_squares(wide[own], wide, squares)
        square[own - start, own] = -1.0  # x itself comes first, before words at distance 0
        farthest = np.partition(square, kept - 1, axis=1)[:, kept - 1]
        for x, row, last in zip(own, square, farthest, strict=True):
            near = np.flatnonzero(row <= last)  # in the order of ranks, which a stable sort keeps
            lists[x] = near[np.argsort(row[near], kind="stable")[:kept]]
    return lists


def measure_squares(rows: Rows, wide: Rows, squares: Rows) -> Rows:
    """Return the exact ‖row − word‖², (len(rows), m)."""
    own = np.einsum("ij,ij->i", rows, rows)
    return np.asarray(own[:, None] + squares - 2.0 * (rows @ wide.T))


def _widen(vectors: NDArray[np.float16]) -> Rows:
    """Return the vectors, up to a factor, in the shortest numbers that keep all sums exact."""
    steps = vectors.astype(np.float32) * GRID
    whole = bool((steps == np.rint(steps)).all())
    if whole and np.einsum("ij,ij->i", steps, steps).max() < EXACT:
        return steps
    return vectors.astype(np.float64)
