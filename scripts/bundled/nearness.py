"""How near a text is to another in meaning, by the project's own table of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perturb import EmbeddingTable
from perturb.frequencies import unigram_prior
from perturb.vocabulary import TokenClass

__all__ = ["Nearness"]

RARITY = 3e-4  # a word of this frequency counts half as much as the rarest


class Nearness:
    """The cosine of two texts' mean word vectors, each word weighted by a / (a + its frequency)
    and the language's mean word taken off (Arora et al., 2017)."""

    def __init__(self, table: EmbeddingTable) -> None:
        self.table = table
        prior = unigram_prior(table.vocabulary)
        vectors = table.vectors.astype(np.float32)
        self.vectors = (vectors - prior @ vectors) * (RARITY / (RARITY + prior))[:, None]

    def of(self, texts: Sequence[str], truth: str) -> NDArray[np.float32]:
        """Each text's nearness to the truth, from −1 to 1, (n,); 0 for one without words."""
        rows = np.stack([self._vector(text) for text in (*texts, truth)])
        return np.asarray(rows[:-1] @ rows[-1], dtype=np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        vocabulary = self.table.vocabulary
        tokens = vocabulary.encode(text)
        kinds, places = vocabulary.classes[tokens], vocabulary.index[tokens]
        known = places[kinds == TokenClass.WORD]
        others = self.table.nearest[places[kinds == TokenClass.OOV]]
        total = self.vectors[np.concatenate([known, others])].sum(axis=0)
        return np.asarray(total / max(float(np.linalg.norm(total)), 1e-9))
