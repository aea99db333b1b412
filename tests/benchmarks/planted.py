"""Mechanisms that are what a test says they are, on small tables of their own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb import EmbeddingTable, Guarantee, Mechanism, Vocabulary
from perturb.mechanisms.base import Draw, ldp_guarantee
from perturb.sanitizer import Parameters
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import load_encoding


@cache
def table_of(words: int) -> EmbeddingTable:
    """So many words, in 3 random dimensions."""
    vocabulary = Vocabulary(load_encoding(), words)
    return build_table(vocabulary, random_rows(vocabulary, 3, 1), provenance=PROVENANCE)


class Planted(Mechanism):
    """Draws from the rows it is given, and claims the ε it is given."""

    name = "planted"
    summary = "as a test says"

    def __init__(self, table: EmbeddingTable, rows: NDArray[np.float64], claimed: float) -> None:
        super().__init__(table, Parameters(epsilon=claimed))
        self.rows = rows

    @property
    def guarantee(self) -> Guarantee:
        return ldp_guarantee(self.epsilon)

    def draw(self, words: Any, rng: np.random.Generator) -> Draw:
        upto = np.cumsum(self.rows, axis=1)[words]
        ticket = rng.random(len(words))[:, None] * upto[:, -1:]
        return Draw((upto <= ticket).sum(axis=1).astype(np.int32))

    def channel(self, words: Any) -> tuple[NDArray[np.float64], float]:
        return self.rows[words], 0.0

    def keep_rate(self, words: Any) -> NDArray[np.float64]:
        return np.asarray(self.rows[words, words])


def keeps(words: int, share: float, claimed: float) -> Planted:
    """Keeps a word with probability `share`, else draws uniformly from V."""
    rows = np.full((words, words), (1 - share) / words) + share * np.eye(words)
    return Planted(table_of(words), rows, claimed)


def responds(truth: float, claimed: float) -> Planted:
    """Randomised response on two words: the truth with this probability."""
    rows = np.array([[truth, 1 - truth], [1 - truth, truth]])
    return Planted(table_of(2), rows, claimed)
