"""The checks that every embedding table passes: type, shape and content of its arrays."""

from __future__ import annotations

import math

import numpy as np

from perturb.errors import TableError
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["ARRAYS", "check_table"]

ARRAYS = {  # name → (dtype, number of axes)
    "vectors": (np.float16, 2),
    "neighbours": (np.uint16, 2),
    "nearest": (np.uint16, 1),
    "spread": (np.uint16, 2),
    "radius": (np.float64, 1),
}


def check_table(table: EmbeddingTable) -> None:
    """Check every array of a table, its diameter and its calibration.

    Raises:
        TableError: one of them breaks its rule; the message says which.
    """
    for name, (dtype, axes) in ARRAYS.items():
        array = getattr(table, name)
        if array.dtype != dtype or array.ndim != axes:
            raise TableError(
                f"array {name!r} must be {np.dtype(dtype).name} with {axes} axes, "
                f"got {array.dtype} with {array.ndim}"
            )
        if 0 in array.shape:
            raise TableError(f"array {name!r} is empty")
    points = dict(table.calibration)
    if not {"2", "6", "10", "14"} <= set(points) or not all(
        math.isfinite(z) and z > 0 for z in points.values()
    ):
        raise TableError("the calibration must give z > 0 at ε = 2, 6, 10 and 14")
    if not (math.isfinite(table.diameter) and table.diameter > 0):
        raise TableError(f"the diameter must be > 0 and finite, got {table.diameter}")
    m = len(table.vocabulary)
    for name in ("vectors", "neighbours", "spread"):
        if len(getattr(table, name)) != m:
            raise TableError(f"array {name!r} must have one row for each of the {m} words")
    if len(table.nearest) != len(table.vocabulary.others):
        raise TableError("array 'nearest' must have one entry for each word outside V")
    if not np.isfinite(table.vectors).all() or not np.isfinite(table.radius).all():
        raise TableError("the table holds values that are not finite numbers")
    if (table.nearest >= m).any() or (table.neighbours >= m).any():
        raise TableError("the table points at words outside V")
    _check_lists(table)
    if (table.spread.sum(axis=1, dtype=np.int64) != m - 1).any():
        raise TableError("a row of 'spread' does not count every other word once")
    if not (table.radius > 0).all() or (np.diff(table.radius) < 0).any():
        raise TableError("array 'radius' must be positive and ascending")


def _check_lists(table: EmbeddingTable) -> None:
    """Check that every list of nearest words begins with its word and names no word twice."""
    words = table.vocabulary.words
    astray = np.flatnonzero(table.neighbours[:, 0] != np.arange(len(words)))
    if len(astray):
        x = int(astray[0])
        raise TableError(
            f"the list of {words[x]!r} must begin with the word itself, it begins with "
            f"{words[table.neighbours[x, 0]]!r}"
        )
    ordered = np.sort(table.neighbours, axis=1)
    again = np.argwhere(ordered[:, 1:] == ordered[:, :-1])
    if len(again):
        x, y = int(again[0, 0]), int(ordered[tuple(again[0])])
        raise TableError(
            f"the list of {words[x]!r} names {words[y]!r} twice: it is not a permutation"
        )
