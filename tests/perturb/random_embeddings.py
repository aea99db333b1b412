"""Embeddings of random numbers, for small tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perturb import Vocabulary

PROVENANCE = {"model": "random numbers", "licence": "none", "created": "2025-01-01"}


def random_rows(vocabulary: Vocabulary, dimension: int, seed: int) -> NDArray[np.float64]:
    """One row for every string of letters, the rows of V first."""
    rows = len(vocabulary) + len(vocabulary.others)
    return np.random.default_rng(seed).standard_normal((rows, dimension))
