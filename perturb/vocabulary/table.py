"""The embedding table: φ over V, and the arrays computed once from φ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.vocabulary import TokenClass, Vocabulary

__all__ = ["EmbeddingTable"]


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """Hold φ over V, and the arrays computed once from φ.

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
    def distance_factor(self) -> NDArray[np.float32]:
        """Return the columns (φ(y), 1, ‖φ(y)‖²), float32 (d + 2, m). A row (−2φ(x), ‖φ(x)‖², 1)
        times this matrix is d(x, ·)²."""
        m, d = self.vectors.shape
        factor = np.empty((d + 2, m), dtype=np.float32)  # large, so it is filled in place
        factor[:d] = self.vectors.T
        factor[d] = 1.0
        factor[d + 1] = np.einsum("ij,ij->j", factor[:d], factor[:d])
        return factor

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
        is_word = classes == TokenClass.WORD
        if mapped:
            outside = classes == TokenClass.OOV
            index[outside] = self.stand_ins[index[outside]]
            is_word |= outside
        return is_word, index[is_word]

    @cached_property
    def spans(self) -> NDArray[np.float64]:
        """Return Δ_j = max φ_j − min φ_j, float64 (d,) (InferDPT, Algorithm 2)."""
        highest, lowest = self.vectors.max(axis=0), self.vectors.min(axis=0)
        return np.asarray(highest.astype(np.float64) - lowest.astype(np.float64))
