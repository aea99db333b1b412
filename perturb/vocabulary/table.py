"""The embedding table: φ over V, and the arrays computed once from φ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.vocabulary import TokenClass, Vocabulary

__all__ = ["NEAR", "EmbeddingTable"]

NEAR = 16  # words of each list whose distances are kept: more do not make drawing faster
PAIRS = 128  # pairs whose distance is computed at once: their rows stay in the cache
ROWS = 256  # lists that are read at once, likewise
SIEVE = 2048  # bits for each list: a power of two
_WORD, _OOV = TokenClass.WORD.value, TokenClass.OOV.value


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """φ over V, and the arrays computed once from φ.

    >>> from perturb import load_table
    >>> table = load_table()
    >>> words = table.vocabulary.words
    >>> london = words.index("London")
    >>> [words[y] for y in table.neighbours[london, :4]]
    ['London', 'uk', 'UK', 'Britain']
    >>> table.distances(london)[london]
    np.float64(0.0)
    >>> is_word, places = table.places(table.vocabulary.encode("London, 2024"))
    >>> is_word.tolist(), [words[x] for x in places]
    ([True, False, False, False, False], ['London'])

    With m = |V|, d the dimension, h = min(512, m):

    Attributes:
        vocabulary: the V that the rows stand for.
        vectors: float16 (m, d), φ, rows of length one up to rounding.
        neighbours: uint16 (m, h), row x: x itself, then the nearest words by exact distance,
            ties by rank (MECHANISMS: σ_x cut at h).
        nearest: uint16 (len(vocabulary.others),), the nearest word of V for every other
            string of letters: the public out-of-vocabulary map.
        spread: uint16 (m, bins), the number of other words in each of `bins` equal distance
            bands of [0, diameter] around x.
        radius: float64 (q,), the quantiles (i + ½)/q of S = ‖(Δ_j E_j)_j‖, E_j standard
            exponential: RANTEXT's radius is S / z(ε).
        diameter: the largest distance between two words, rounded up.
        calibration: z at each target ε, see `perturb.mechanisms.rantext`.
        provenance: model, licence, created.
        sha256: the table's digest, see `table_digest`; empty for one that was never saved.
    """

    vocabulary: Vocabulary
    vectors: NDArray[np.float16]
    neighbours: NDArray[np.uint16]
    nearest: NDArray[np.uint16]
    spread: NDArray[np.uint16]
    radius: NDArray[np.float64]
    diameter: float
    calibration: Mapping[str, float]
    provenance: Mapping[str, str] = field(default_factory=dict)
    sha256: str = ""

    def __len__(self) -> int:
        return len(self.vectors)

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """Return φ in single precision, float32 (m, d)."""
        return self.vectors.astype(np.float32)

    @cached_property
    def squares(self) -> NDArray[np.float64]:
        """Return ‖φ(x)‖², float64 (m,). A sum of products of float16 numbers is exact in double
        precision."""
        return self._sum_products(np.arange(len(self)), np.arange(len(self)), np.float64)

    @cached_property
    def near(self) -> NDArray[np.float64]:
        """Return the distances to the first words of each list, float64 (m, min(NEAR, h))."""
        listed = self.neighbours[:, :NEAR].astype(np.intp)
        own = np.repeat(np.arange(len(self)), listed.shape[1])
        square = self.pair_squares(own, listed.ravel(), np.float64)
        return np.sqrt(square).reshape(listed.shape)

    @cached_property
    def farther(self) -> NDArray[np.float64]:
        """Return lower bounds, float64 (m, 2), on the distances to the listed words after `near`
        and to the words that are not listed. They hold for distances in single precision, too."""
        first = self.neighbours[:, min(NEAR, self.neighbours.shape[1] - 1)]
        square = self.pair_squares(np.arange(len(self)), first, np.float64)
        error = self.pair_error
        both = np.stack([square - error, self.listed_squares - 2 * error], axis=1)
        return np.asarray(np.sqrt(np.maximum(both, 0.0)))

    @cached_property
    def listed_squares(self) -> NDArray[np.float64]:
        """Return upper bounds, float64 (m,), on the squared distances to the listed words. They
        hold for distances in single precision, too."""
        square = self.pair_squares(np.arange(len(self)), self.neighbours[:, -1], np.float64)
        return square + self.pair_error

    def pair_squares(
        self, words: NDArray[Any], others: NDArray[Any], precision: type[np.floating[Any]]
    ) -> NDArray[np.float64]:
        """Return d(x, y)² of pairs of words, int (n,) each, float64 (n,).

        Args:
            words: the places of x in V.
            others: the places of y in V.
            precision: of the sum of products: np.float64, which is exact, or np.float32.
        """
        out = self._sum_products(words, others, precision)
        out *= -2.0
        out += self.squares[words]
        out += self.squares[others]
        return np.asarray(np.maximum(out, 0.0, out=out))

    def _sum_products(
        self, words: NDArray[Any], others: NDArray[Any], precision: type[np.floating[Any]]
    ) -> NDArray[np.float64]:
        out = np.empty(len(words))
        for start in range(0, len(words), PAIRS):
            part = slice(start, start + PAIRS)
            one, other = (self.single.take(side[part], axis=0) for side in (words, others))
            out[part] = np.vecdot(one, other, dtype=precision)
        return out

    @cached_property
    def pair_error(self) -> float:
        """Return a bound on the error of `pair_squares` in single precision, in whatever order
        the products are summed: twice γ_d · ‖φ(x)‖ · ‖φ(y)‖ (Higham, Accuracy and Stability of
        Numerical Algorithms, 2002, §3.1)."""
        rounding = self.vectors.shape[1] * 2.0**-24
        return float(2.01 * rounding / (1 - rounding) * self.squares.max(initial=0.0))

    def lists(
        self, words: NDArray[np.integer[Any]], others: NDArray[np.integer[Any]]
    ) -> NDArray[np.bool_]:
        """Return whether the list of each word x holds y, int (n,) each, bool (n,).

        Args:
            words: the places of x in V.
            others: the places of y in V.
        """
        number = others.astype(np.uint16)
        bit = number % np.uint16(SIEVE)
        found = self._sieve[words, bit >> 3] >> (bit & 7).astype(np.uint8) & 1 == 1
        left = np.flatnonzero(found)
        for start in range(0, len(left), ROWS):
            part = left[start : start + ROWS]
            rows = self.neighbours.take(words[part], axis=0)
            found[part] = (rows == number[part, None]).any(axis=1)
        return np.asarray(found)

    @cached_property
    def _sieve(self) -> NDArray[np.uint8]:
        """Return bits, uint8 (m, SIEVE / 8): bit y mod SIEVE of row x is set if the list of x
        holds y. So most words that are not listed are told without reading the list."""
        out = np.empty((len(self), SIEVE // 8), dtype=np.uint8)
        for start in range(0, len(self), ROWS):
            rows = self.neighbours[start : start + ROWS] % np.uint16(SIEVE)
            bits = np.zeros((len(rows), SIEVE), dtype=np.bool_)
            np.put_along_axis(bits, rows.astype(np.intp), True, axis=1)
            out[start : start + len(rows)] = np.packbits(bits, axis=1, bitorder="little")
        return out

    @cached_property
    def wide(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return φ and ‖φ(x)‖² in double precision, float64 (m, d) and (m,)."""
        vectors = self.vectors.astype(np.float64)
        return vectors, np.einsum("ij,ij->i", vectors, vectors)

    @cached_property
    def stand_ins(self) -> NDArray[np.uint16]:
        """Return the place of the word of V that stands for each index of class OOV, uint16: the
        nearest word of a string of `others`, then V itself (see `Vocabulary.index`)."""
        return np.concatenate([self.nearest, np.arange(len(self), dtype=np.uint16)])

    @cached_property
    def _nearer(self) -> NDArray[np.uint16]:
        """Return the number of words before each edge of a distance band, uint16 (m, bins + 1)."""
        counts = np.ones((len(self), self.spread.shape[1] + 1), dtype=np.uint16)
        np.cumsum(self.spread, axis=1, out=counts[:, 1:], dtype=np.uint16)
        counts[:, 1:] += 1
        return counts

    def count_nearer(self, words: NDArray[Any], radii: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the number of words y with d(x, y) < r for words x, int (n,), and radii r >= 0,
        float64 (n,) or (k,) for words of shape (n, 1): exact at the edges of the distance bands of
        `spread`, and interpolated between them."""
        place = radii * (self.spread.shape[1] / self.diameter)
        band = np.minimum(place.astype(np.intp), self.spread.shape[1] - 1)
        share = np.minimum(place - band, 1.0)
        low, high = self._nearer[words, band], self._nearer[words, band + 1]
        return np.asarray(low * (1 - share) + high * share)

    def distances(self, word: int) -> NDArray[np.float64]:
        """Return d(x, y) for every y of V, float64 (m,), in double precision."""
        difference = self.vectors.astype(np.float64) - self.vectors[word].astype(np.float64)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", difference, difference)))

    def places(
        self, tokens: NDArray[np.uint32], *, mapped: bool = True
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Return which cl100k_base tokens stand for a word of V, bool (n,), and the places of
        these words, int32. A word stands for itself; with `mapped`, other strings of letters stand
        for their nearest word."""
        classes = self.vocabulary.classes[tokens]
        index = self.vocabulary.index[tokens].copy()
        is_word = classes == _WORD
        if mapped:
            outside = classes == _OOV
            index[outside] = self.stand_ins[index[outside]]
            is_word |= outside
        return is_word, index[is_word]

    def find_place(self, token: int) -> int:
        """Return the place of the word of V that stands for one token of letters, see `places`."""
        place = int(self.vocabulary.index[token])
        is_word = self.vocabulary.classes[token] == _WORD
        return place if is_word else int(self.stand_ins[place])

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """Return Δ_j = max φ_j − min φ_j, float64 (d,) (InferDPT, Algorithm 2)."""
        highest, lowest = self.vectors.max(axis=0), self.vectors.min(axis=0)
        return np.asarray(highest.astype(np.float64) - lowest.astype(np.float64))
