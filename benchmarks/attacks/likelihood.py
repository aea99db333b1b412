"""Compute likelihoods for an attacker who knows the mechanism.

The whole channel is read once per mechanism and kept, so that consecutive attacks on one mechanism
share the pass with each other and with the channel's own figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from perturb import Mechanism
from perturb.audit.channel import ChannelSums, Forms, read_channel
from perturb.audit.figures import prior_of

__all__ = ["Channel", "choose_forms", "likelihood", "load_channel", "log_likelihood"]

PRIOR = "unigram"


@dataclass(frozen=True)
class Channel:
    """Hold a mechanism's whole channel.

    Attributes:
        prior: π, the unigram prior, float64 (m,).
        sums: its figures under π.
        likelihoods: P(y | x), float32 (m, m), a row for each y: 484 MB at m = 11,000.
    """

    prior: NDArray[np.float64]
    sums: ChannelSums
    likelihoods: NDArray[np.float32]


@lru_cache(maxsize=1)
def load_channel(mechanism: Mechanism) -> Channel:
    """Read the channel of a mechanism; the last one read is kept."""
    m = len(mechanism.table)
    likelihoods = np.empty((m, m), dtype=np.float32)

    def keep(words: NDArray[np.int64], rows: NDArray[np.float64]) -> None:
        likelihoods[:, words] = rows.T

    prior = prior_of(mechanism, PRIOR)
    forms = Forms(mechanism.table.vocabulary.words)
    sums = read_channel(mechanism, prior, forms, rows_read=keep)
    return Channel(prior, sums, likelihoods)


def likelihood(mechanism: Mechanism, released: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return P(y | x) of the channel for k released words y, int (k,), and every x of V: float32
    (k, m)."""
    return np.asarray(load_channel(mechanism).likelihoods[released])


def log_likelihood(mechanism: Mechanism, released: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ln P(y | x), as `likelihood`. If rows are known only up to an error, a uniform row of
    that weight is mixed in, because a spurious zero would rule out the truth."""
    error = load_channel(mechanism).sums.error
    found = likelihood(mechanism, released)
    if error:
        found = found * np.float32(1 - error) + np.float32(error / found.shape[1])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(found), dtype=np.float32)


def choose_forms(scores: NDArray[np.floating], forms: Forms) -> NDArray[np.int64]:
    """Return the form whose words are most likely together, by its number, int (n,).

    Args:
        scores: ln P(x, everything seen) up to a constant of each row, float (n, m).
        forms: of V.
    """
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    of_forms = np.add.reduceat(chances[:, forms.order], forms.starts, axis=1)
    best = forms.order[forms.starts[of_forms.argmax(axis=1)]]
    return np.asarray(forms.group[best])
