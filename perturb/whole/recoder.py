"""A public recoder: the few directions in which passages on different subjects differ most.

Sentences of one text and passages on its subject lie close together in these directions, so that
passages can be deep among the sentences at all: in the encoder's own space hardly any is. It is
fitted to the codebook alone and affects only usefulness.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from perturb.vocabulary.table_build import unit_rows
from perturb.whole.codebook import Codebook

__all__ = ["fit_recoder"]

CLUSTERS = 256
PASSAGES = 16_384  # the first of the codebook: in the order of their SHA-256, a random sample
ROUNDS = 8  # of k-means
RIDGE = 0.1  # of the mean variance within clusters, added in every direction


@lru_cache(maxsize=4)
def fit_recoder(codebook: Codebook, dimensions: int) -> NDArray[np.float32]:
    """Return the linear map to `dimensions` coordinates, float32 (d, dimensions).

    Passages are clustered by k-means; the map is that of linear discriminant analysis: largest
    variance between clusters for the variance within.

    Args:
        codebook: the passages and their vectors.
        dimensions: from 1 to d.
    """
    rows = codebook.vectors[:PASSAGES].astype(np.float32) * codebook.scales[:PASSAGES, None]
    labels = _cluster(rows, max(2, min(CLUSTERS, len(rows) // 8)))
    centre, d = rows.mean(axis=0), rows.shape[1]
    between, within = np.zeros((d, d)), np.zeros((d, d))
    for label in np.unique(labels):
        members = rows[labels == label]
        mean = members.mean(axis=0)
        between += len(members) * np.outer(mean - centre, mean - centre)
        within += (members - mean).T @ (members - mean)
    within += np.eye(d) * (RIDGE * np.trace(within) / d + np.finfo(np.float32).tiny)
    values, vectors = np.linalg.eigh(within)
    whiten = vectors @ np.diag(values**-0.5) @ vectors.T
    _, directions = np.linalg.eigh(whiten @ between @ whiten)
    found: NDArray[np.float32] = (whiten @ directions[:, ::-1][:, :dimensions]).astype(np.float32)
    return found


def _cluster(rows: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return a cluster for each row of length 1, int64 (n,), by k-means on cosines from the first
    rows on."""
    means = rows[:count].copy()
    labels = np.zeros(len(rows), dtype=np.int64)
    for _ in range(ROUNDS):
        labels = np.argmax(rows @ means.T, axis=1)
        for label in np.unique(labels):
            means[label] = rows[labels == label].mean(axis=0)
        means = unit_rows(means).astype(np.float32)
    return labels
