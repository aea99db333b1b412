"""Embedding tables for tests: the bundled one, and small ones of random numbers."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.embeddings import load_table
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.table_build import build_table
from perturb.vocabulary.vocabulary import Vocabulary, load_encoding

__all__ = ["PROVENANCE", "TABLES", "load_test_table", "random_rows"]

PROVENANCE = {"model": "random numbers", "licence": "none", "created": "2025-01-01"}
TABLES = ("bundled", "lattice", "pair", "skewed", "small", "toy", "words")


@cache
def load_test_table(name: str) -> EmbeddingTable:
    """Return a table by its name; each is built once.

    `bundled`: the table that is installed.
    `words`: the installed table of whole words.
    `toy`: 600 words in 8 dimensions: more than a list of nearest words holds, so there is a tail.
    `small`: 60 words in 4 dimensions, for slow references.
    `lattice`: 560 words on 80 directions: every word shares its vector with others, and ties
    are frequent.
    `skewed`: 600 words in 8 dimensions that vary 12 times as much along one axis as along another.
    `pair`: two words, the smallest possible V.
    """
    if name == "bundled":
        return load_table()
    if name == "words":
        return load_table(vocabulary="words")
    size = {"toy": 600, "small": 60, "lattice": 560, "skewed": 600, "pair": 2}[name]
    vocabulary = Vocabulary(load_encoding(), size)
    if name == "toy":
        rows = random_rows(vocabulary, 8, 1)
    elif name == "small":
        rows = random_rows(vocabulary, 4, 8)
    elif name == "skewed":
        rows = random_rows(vocabulary, 8, 6) * np.geomspace(1, 12, 8)
    elif name == "pair":
        rows = random_rows(vocabulary, 3, 3)
    else:
        shape = (len(vocabulary) + len(vocabulary.others), 4)
        rows = np.random.default_rng(2).integers(-1, 2, shape).astype(np.float64)
        rows[~rows.any(axis=1)] = 1.0
    return build_table(vocabulary, rows, provenance=PROVENANCE)


def random_rows(vocabulary: Vocabulary, dimension: int, seed: int) -> NDArray[np.float64]:
    """Return one random row for every string of letters, the rows of V first."""
    rows = len(vocabulary) + len(vocabulary.others)
    return np.random.default_rng(seed).standard_normal((rows, dimension))
