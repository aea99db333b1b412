"""Chi-square tests of samplers at one stated level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["ALPHA", "p_value", "sampler_p_value", "two_sample_p_value"]

ALPHA = 1e-6  # of one test, for any number of words
SMALLEST_CELL = 5.0  # expected count; smaller cells are merged with their neighbours
POOLED_CELLS = 64


def p_value(
    counts: NDArray[Any], expected: NDArray[np.float64], smallest: float = SMALLEST_CELL
) -> float:
    """Return Pearson's chi-square p-value of counts against expected counts of the same total.

    Neighbouring cells are merged until each expects at least `smallest`, so the order of the cells
    decides which are pooled.

    >>> round(p_value(np.array([10, 20]), np.array([15.0, 15.0])), 3)
    0.068
    """
    assert len(counts) == len(expected)
    cell = np.zeros(len(expected), dtype=np.int64)
    number, filled = 0, 0.0
    for i, value in enumerate(expected.tolist()):
        if filled >= smallest:
            number, filled = number + 1, 0.0
        cell[i] = number
        filled += value
    if filled < smallest and number:
        cell[cell == number] = number - 1
    merged = np.bincount(cell, weights=expected)
    seen = np.bincount(cell, weights=counts)
    assert len(merged) > 1, "too few draws: everything is one cell"
    return float(stats.chi2.sf(((seen - merged) ** 2 / merged).sum(), len(merged) - 1))


def two_sample_p_value(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the p-value of the chi-square test of homogeneity of two lists of category counts;
    rare categories are merged."""
    total = first + second
    order = np.argsort(-total, kind="stable")
    smaller = min(first.sum(), second.sum()) / total.sum()
    keep = int((total * smaller >= SMALLEST_CELL).sum())
    if 0 < total[order[keep:]].sum() * smaller < SMALLEST_CELL:
        keep = max(1, keep - 1)  # the merged cell expects too few, so it takes one more category
    table = np.array(
        [[*counts[order[:keep]], counts[order[keep:]].sum()] for counts in (first, second)]
    )
    table = table[:, table.sum(axis=0) > 0]
    return float(stats.chi2_contingency(table).pvalue)


def sampler_p_value(drawn: NDArray[Any], rows: NDArray[np.float64]) -> float:
    """Return one Bonferroni p-value of the fit of draws (words, n) to channel rows (words, m).

    Half the level goes to one pooled test of all draws over the words ordered by their probability
    (about 64 cells of equal mass, for power against small tilts). The other half is split evenly
    over one test for each word that is not always kept.
    """
    n, m = drawn.shape[1], rows.shape[1]
    pooled_counts, pooled_expected = np.zeros(m), np.zeros(m)
    singles = []
    for draws, row in zip(drawn, rows, strict=True):
        order = np.argsort(-row, kind="stable")
        counts = np.bincount(draws, minlength=m)[order]
        expected = row[order] * n
        if row.max() < 1:
            singles.append(p_value(counts, expected))
        pooled_counts += counts
        pooled_expected += expected
    pooled = p_value(pooled_counts, pooled_expected, max(SMALLEST_CELL, drawn.size / POOLED_CELLS))
    return min(1.0, 2 * pooled, 2 * len(singles) * min(singles))
