"""The proof of mechanisms that draw words by integer weights, over every pair of words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import CertificateError
from perturb.mechanisms.scored import squared_distances
from perturb.proof import Progress, Proof, Worst
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["TableProof"]

ROWS = 512
# A share w/Σw takes three roundings (both numbers to float64, the quotient). Two shares and their
# ratio take seven, of 2^-53 each; 2^-49 leaves a margin.
OUTWARD = 1 + Fraction(1, 1 << 49)


@dataclass(frozen=True, kw_only=True)
class TableProof(Proof):
    """Prove ε over a table: P(y | x) = w(x, y)/Σ_y' w(x, y'), in integers.

    Attributes:
        table: the table that the proof covers.
        weights: w(x, ·) for the words x, int (n,) → uint64 (n, m); a row's sum fits 63 bits.
        method: the method of proof, as the certificate states it.
        one_law: whether every row is one law in another order.
        by_rank: whether the proof needs the table's lists to be in order.
    """

    table: EmbeddingTable
    weights: Callable[[NDArray[Any]], NDArray[np.uint64]]
    method: str
    one_law: bool = False
    by_rank: bool = False

    @property
    def vocabulary(self) -> str:
        return self.table.vocabulary.description

    @property
    def size(self) -> int:
        return len(self.table)

    def find_worst(self, progress: Progress) -> Worst:
        if not self.table.sha256:
            raise CertificateError("the table was never saved: it has no SHA-256 to name")
        vectors = self.table.vectors
        norms = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
        if norms.max() > 4:  # sums of products of float16 numbers stay exact: see table_build
            raise CertificateError("an embedding is longer than 2: its distances may be rounded")
        if self.by_rank:
            _check_order(self.table)
        (x, other, y), ratio, bound = self._find_largest_ratio(progress)
        words = self.table.vocabulary.words
        return Worst({"x": words[x], "x'": words[other], "y": words[y]}, ratio, bound)

    def ratio_of(self, pair: Mapping[str, str]) -> Fraction:
        words = self.table.vocabulary.words
        x, other, y = (words.index(pair[key]) for key in ("x", "x'", "y"))
        rows = self.weights(np.array([x, other]))
        above, below = (Fraction(int(row[y]), int(row.sum(dtype=np.uint64))) for row in rows)
        return above / below

    def _find_largest_ratio(
        self, progress: Progress
    ) -> tuple[tuple[int, int, int], Fraction, Fraction]:
        """Return the (x, x', y) of the largest P(y|x)/P(y|x'), that exact ratio, and a bound on
        all ratios.

        If the rows are one law in different orders, their integers are compared directly. If their
        sums differ, quotients are compared.
        """
        m, one_law = len(self.table), self.one_law
        kind = np.uint64 if one_law else np.float64
        high = _Extreme(np.zeros(m, dtype=kind), largest=True)
        most = np.iinfo(np.uint64).max if one_law else np.inf
        low = _Extreme(np.full(m, most, dtype=kind), largest=False)
        sums = np.empty(m, dtype=np.uint64)
        for start in range(0, m, ROWS):
            words = np.arange(start, min(start + ROWS, m))
            weights = self.weights(words)
            sums[words] = weights.sum(axis=1, dtype=np.uint64)
            keys = weights if one_law else weights / sums[words, None]
            high.update(keys, weights, words)
            low.update(keys, weights, words)
            progress(start + len(words), m)

        def ratio(y: int) -> Fraction:
            above = Fraction(int(high.weight[y]), int(sums[high.row[y]]))
            return above / Fraction(int(low.weight[y]), int(sums[low.row[y]]))

        if one_law:
            if (sums != sums[0]).any():
                raise CertificateError("the rows of the mechanism are not one law")
            y = max(range(m), key=lambda y: Fraction(int(high.weight[y]), int(low.weight[y])))
            bound = ratio(y)
        else:
            quotients = high.key / low.key
            y = int(np.argmax(quotients))
            bound = Fraction(float(quotients[y])) * OUTWARD
        return (int(high.row[y]), int(low.row[y]), y), ratio(y), bound


class _Extreme:
    """Track the largest or the smallest key of every column, with its row and its weight."""

    def __init__(self, first: NDArray[Any], largest: bool) -> None:
        self.key = first
        self.row = np.zeros(len(first), dtype=np.int64)
        self.weight = np.zeros(len(first), dtype=np.uint64)
        self._exceeds: Any = np.greater if largest else np.less
        self._pick: Any = np.argmax if largest else np.argmin

    def update(
        self, keys: NDArray[Any], weights: NDArray[np.uint64], rows: NDArray[np.int64]
    ) -> None:
        found, columns = self._pick(keys, axis=0), np.arange(keys.shape[1])
        new = self._exceeds(keys[found, columns], self.key)
        self.key[new] = keys[found, columns][new]
        self.row[new] = rows[found[new]]
        self.weight[new] = weights[found, columns][new]


def _check_order(table: EmbeddingTable) -> None:
    """Check that every list holds x and then the nearest words by exact distance, ties by rank.
    Then σ_x, the list followed by all other words, is a permutation.

    Raises:
        CertificateError: a list does not; the message names the list and the words.
    """
    words, m = table.vocabulary.words, len(table)
    for start in range(0, m, ROWS):
        block = np.arange(start, min(start + ROWS, m))
        square = squared_distances(table, block)
        square[np.arange(len(block)), block] = -1.0  # x itself comes first
        listed = table.neighbours[block].astype(np.int64)
        far = np.take_along_axis(square, listed, axis=1)
        nearer = (far[:, :-1] < far[:, 1:]) | (
            (far[:, :-1] == far[:, 1:]) & (listed[:, :-1] < listed[:, 1:])
        )
        if (wrong := np.argwhere(~nearer)).size:
            row, place = wrong[0]
            one, two = words[listed[row, place]], words[listed[row, place + 1]]
            twice = np.bincount(listed[row]).max() > 1
            again = words[int(np.bincount(listed[row]).argmax())]
            fault = f"{again!r} twice" if twice else f"{one!r} before {two!r}, which is nearer"
            raise CertificateError(f"the list of {words[block[row]]!r} names {fault}")
        # The list is in order and without repeats. It is complete if no other word is nearer than
        # its last.
        last, edge = listed[:, -1:], far[:, -1:]
        before = (square < edge) | ((square == edge) & (np.arange(m) < last))
        missing = np.flatnonzero(before.sum(axis=1) != listed.shape[1] - 1)
        if missing.size:
            row = int(missing[0])
            left_out = np.setdiff1d(np.flatnonzero(before[row]), listed[row])
            raise CertificateError(
                f"the list of {words[block[row]]!r} leaves out {words[left_out[0]]!r} and names "
                f"{words[listed[row, -1]]!r}, which is farther"
            )
