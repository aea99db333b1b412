"""Measure the nearness of two texts in meaning, by the project's own word table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perturb import EmbeddingTable
from perturb.vocabulary.frequencies import unigram_prior

__all__ = ["Nearness"]

RARITY = 3e-4  # a word of this frequency counts half as much as the rarest


class Nearness:
    """Measure the cosine of two texts' mean word vectors. Each word is weighted by a / (a + its
    frequency), and the language's mean word is subtracted (Arora et al., 2017)."""

    def __init__(self, table: EmbeddingTable) -> None:
        self.table = table
        prior = unigram_prior(table.vocabulary)
        vectors = table.vectors.astype(np.float32)
        self.vectors = (vectors - prior @ vectors) * (RARITY / (RARITY + prior))[:, None]

    def measure(self, texts: Sequence[str], truth: str) -> NDArray[np.float32]:
        """Return each text's nearness to the truth, from −1 to 1, (n,); 0 for a text without
        words."""
        rows = np.stack([self._vector(text) for text in (*texts, truth)])
        return np.asarray(rows[:-1] @ rows[-1], dtype=np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        _, places = self.table.places(self.table.vocabulary.encode(text))
        total = self.vectors[places].sum(axis=0)
        return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9))
