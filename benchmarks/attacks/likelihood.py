"""An attacker who knows the mechanism: how likely each raw word gives what was seen.

The whole channel is read once for a mechanism and kept, so that attacks on one mechanism, run
one after another, share the pass with each other and with the channel's own figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from perturb import Mechanism
from perturb.audit import prior_of
from perturb.channel import ChannelSums, Forms, read_channel

__all__ = ["Channel", "best_forms", "channel_of", "likelihood", "log_likelihood"]

PRIOR = "unigram"


@dataclass(frozen=True)
class Channel:
    """A mechanism's whole channel.

    Attributes:
        prior: π, the unigram prior, float64 (m,).
        sums: its figures under π.
        likelihoods: P(y | x), float32 (m, m), a row for each y: 484 MB at m = 11,000.
    """

    prior: NDArray[np.float64]
    sums: ChannelSums
    likelihoods: NDArray[np.float32]


@lru_cache(maxsize=1)
def channel_of(mechanism: Mechanism) -> Channel:
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
    """P(y | x) of the channel for k released words y, int (k,), and every x of V:
    float32 (k, m)."""
    return np.asarray(channel_of(mechanism).likelihoods[released])


def log_likelihood(mechanism: Mechanism, released: NDArray[np.integer]) -> NDArray[np.float32]:
    """ln P(y | x), as `likelihood`. Where rows are known up to an error alone, that much of a
    uniform row is mixed in: a zero that is none would rule the truth out."""
    error = channel_of(mechanism).sums.error
    found = likelihood(mechanism, released)
    if error:
        found = found * np.float32(1 - error) + np.float32(error / found.shape[1])
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(found), dtype=np.float32)


def best_forms(scores: NDArray[np.floating], forms: Forms) -> NDArray[np.int64]:
    """The form whose words are most likely together, by its number, int (n,).

    Args:
        scores: ln P(x, everything seen) up to a constant of each row, float (n, m).
        forms: of V.
    """
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    of_forms = np.add.reduceat(chances[:, forms.order], forms.starts, axis=1)
    best = forms.order[forms.starts[of_forms.argmax(axis=1)]]
    return np.asarray(forms.group[best])
