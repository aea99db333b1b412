"""One pass over a whole channel, and the sums from which an audit computes its figures.

Rows are computed a block at a time, so 11,000 × 11,000 probabilities are never held at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perturb.files import Checkpoint
from perturb.mechanisms.base import Mechanism
from perturb.mechanisms.scored import LARGEST_EXPONENT, squared_distances
from perturb.vocabulary.table import EmbeddingTable

__all__ = [
    "ChannelSums",
    "Forms",
    "PairFigures",
    "compare_pairs",
    "public_sample",
    "read_channel",
    "unit_vectors",
]

ROWS = 128  # rows held at once: 11 MB at m = 11,000, and a few arrays like it
PART = "rows"  # of a checkpoint
SAMPLED = 64  # words of the public sample, beside the nearest and the farthest word of each

Progress = Callable[[int, int], None]
Rows = Callable[[NDArray[np.int64], NDArray[np.float64]], None]


class Forms:
    """Group the words of V by their form up to case (`str.casefold`). An attack succeeds if it is
    right up to case.

    Attributes:
        group: int (m,), the number of each word's form.
        order: int (m,), the words with those of one form beside each other.
        starts: int (groups,), the place in `order` where each form begins.
        pairs: int (k, 2), every (x, y) of one form, x = y included, by x in `order`.

    >>> Forms(("The", "tea", "the")).group.tolist()
    [0, 1, 0]
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        number: dict[str, int] = {}
        self.group = np.array([number.setdefault(w.casefold(), len(number)) for w in words])
        self.order = np.argsort(self.group, kind="stable")
        self.starts = np.unique(self.group[self.order], return_index=True)[1]
        members = np.split(self.order, self.starts[1:])
        self.pairs = np.array([(x, y) for form in members for x in form for y in form])

    def blocks(self, done: int = 0) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield blocks of about ROWS words, each with the places where its forms begin; no form is
        cut in two. The blocks of the first `done` words are left out."""
        first = int(np.searchsorted(self.starts, done))
        while first < len(self.starts):
            start = self.starts[first]
            last = int(np.searchsorted(self.starts, start + ROWS))
            stop = self.starts[last] if last < len(self.starts) else len(self.order)
            yield self.order[start:stop], self.starts[first:last] - start
            first = last


@dataclass
class ChannelSums:
    """The sums of one pass over P(y | x) under a prior π. Arrays are (m,), by y unless stated
    otherwise.

    Attributes:
        error, mean_error: the largest error of a row in total variation, and under π.
        highest, highest_at, lowest, lowest_at: max and min of P(y | x) over x, and that x.
        joint: max_x π(x)P(y | x).
        joint_forms, joint_forms_at: max over forms of Σ_{x of the form} π(x)P(y | x), and that
            form: the success of the best guess, and the best guess.
        output: q(y) = Σ_x π(x)P(y | x).
        kept, kept_forms: by x: P(x | x), and the probability of x in any case.
        entropy: by x: H(P(· | x)) in bits.
        cosine: by x: Σ_y P(y | x)·cos(x, y).
        support: by x: the number of words with P(y | x) > 0.
    """

    error: float
    mean_error: float
    highest: NDArray[np.float64]
    highest_at: NDArray[np.int64]
    lowest: NDArray[np.float64]
    lowest_at: NDArray[np.int64]
    joint: NDArray[np.float64]
    joint_forms: NDArray[np.float64]
    joint_forms_at: NDArray[np.int64]
    output: NDArray[np.float64]
    kept: NDArray[np.float64]
    kept_forms: NDArray[np.float64]
    entropy: NDArray[np.float64]
    cosine: NDArray[np.float64]
    support: NDArray[np.int64]


def read_channel(
    mechanism: Mechanism,
    prior: NDArray[np.float64],
    forms: Forms,
    progress: Progress = lambda done, total: None,
    rows_read: Rows = lambda words, rows: None,
    checkpoint: Checkpoint | None = None,
) -> ChannelSums:
    """Read every row of the channel once, a block at a time.

    Args:
        mechanism: the mechanism with the channel.
        prior: π, float64 (m,).
        forms: the forms of the words of V.
        progress: called with (done, total).
        rows_read: called with each block of words, int (n,), and their rows, float64 (n, m). A
            block that a checkpoint holds is not read again.
        checkpoint: keeps the sums from time to time; of a run with this mechanism and prior.
    """
    m = len(mechanism.table)
    unit = unit_vectors(mechanism.table)
    sums, done = _begin(m), 0
    if checkpoint and (kept := checkpoint.load(PART)):
        done = int(kept.pop("done"))
        sums = ChannelSums(float(kept.pop("error")), float(kept.pop("mean_error")), **kept)
    for words, starts in forms.blocks(done):
        rows, error = mechanism.channel(words)
        rows_read(words, rows)
        sums.error = max(sums.error, error)
        sums.mean_error += error * float(prior[words].sum())
        _update_extremes(sums, rows, words)
        here = forms.pairs[np.isin(forms.pairs[:, 0], words)]
        place = np.zeros(m, dtype=np.int64)
        place[words] = np.arange(len(words))
        sums.kept[words] = rows[np.arange(len(words)), words]
        same = rows[place[here[:, 0]], here[:, 1]]
        sums.kept_forms += np.bincount(here[:, 0], same, m)
        sums.support[words] = np.count_nonzero(rows, axis=1)
        sums.cosine[words] = np.einsum("ij,ij->i", rows.astype(np.float32) @ unit, unit[words])
        logs = np.log2(rows, out=np.zeros_like(rows), where=rows > 0)
        sums.entropy[words] = -np.einsum("ij,ij->i", rows, logs)
        rows = rows * prior[words, None]  # P(x, y) from here on
        sums.output += rows.sum(axis=0)
        np.maximum(sums.joint, rows.max(axis=0), out=sums.joint)
        of_forms = np.add.reduceat(rows, starts, axis=0)
        at = of_forms.argmax(axis=0)
        largest = of_forms[at, np.arange(m)]
        better = largest > sums.joint_forms
        sums.joint_forms[better] = largest[better]
        sums.joint_forms_at[better] = forms.group[words[starts[at[better]]]]
        done += len(words)
        progress(done, m)
        if checkpoint and checkpoint.due:
            checkpoint.save(PART, done=done, **vars(sums))
    return sums


def _begin(m: int) -> ChannelSums:
    """Return the sums over no rows."""
    return ChannelSums(
        error=0.0,
        mean_error=0.0,
        highest=np.full(m, -1.0),
        highest_at=np.zeros(m, dtype=np.int64),
        lowest=np.full(m, 2.0),
        lowest_at=np.zeros(m, dtype=np.int64),
        joint=np.zeros(m),
        joint_forms=np.full(m, -1.0),
        joint_forms_at=np.zeros(m, dtype=np.int64),
        output=np.zeros(m),
        kept=np.zeros(m),
        kept_forms=np.zeros(m),
        entropy=np.zeros(m),
        cosine=np.zeros(m),
        support=np.zeros(m, dtype=np.int64),
    )


def _update_extremes(
    sums: ChannelSums, rows: NDArray[np.float64], words: NDArray[np.int64]
) -> None:
    y = np.arange(rows.shape[1])
    for best, at, found, sign in (
        (sums.highest, sums.highest_at, rows.argmax(axis=0), 1),
        (sums.lowest, sums.lowest_at, rows.argmin(axis=0), -1),
    ):
        values = rows[found, y]
        better = sign * values > sign * best
        best[better], at[better] = values[better], words[found[better]]


def unit_vectors(table: EmbeddingTable) -> NDArray[np.float32]:
    """Return φ with rows of length one, float32 (m, d).

    >>> from perturb import load_table
    >>> unit_vectors(load_table()).shape
    (11000, 384)
    """
    wide = table.vectors.astype(np.float32)
    return np.asarray(wide / np.linalg.norm(wide, axis=1, keepdims=True))


def public_sample(table: EmbeddingTable) -> NDArray[np.int64]:
    """Return the words that are compared in pairs: SAMPLED words evenly spaced over V, and
    for each the nearest word with another vector and the farthest word. They depend on the table
    alone.

    >>> from perturb import load_table
    >>> len(public_sample(load_table())) <= 3 * SAMPLED
    True
    """
    m = len(table)
    words = np.unique(np.linspace(0, m - 1, min(SAMPLED, m)).round().astype(np.int64))
    rows = squared_distances(table, words)
    farthest = rows.argmax(axis=1)
    rows[rows == 0] = np.inf
    return np.unique(np.concatenate([words, rows.argmin(axis=1), farthest]))


@dataclass(frozen=True)
class PairFigures:
    """The figures of all ordered pairs of some words.

    Attributes:
        pairs: the number of ordered pairs of different words.
        delta: the largest Σ_y max(0, P(y|x) − e^ε·P(y|x')).
        slope: the largest |ln P(y|x)/P(y|x')| / d(x, x'), over d > 0 (∞ if only one of the two
            probabilities is zero, or if two words with the same vector have different rows).
    """

    pairs: int
    delta: float
    slope: float


def compare_pairs(
    table: EmbeddingTable, words: NDArray[np.int64], rows: NDArray[np.float64], epsilon: float
) -> PairFigures:
    """Compare the channel rows, (n, m), of every pair of n words at the given ε."""
    factor = np.exp(min(epsilon, LARGEST_EXPONENT))
    distances = np.sqrt(squared_distances(table, words)[:, words])
    with np.errstate(divide="ignore"):
        logs = np.log(rows)
    scaled = factor * rows
    work = np.empty_like(rows)
    delta = slope = 0.0
    for i in range(len(words)):
        excess = np.maximum(np.subtract(rows[i], scaled, out=work), 0.0, out=work)
        delta = max(delta, float(excess.sum(axis=1).max()))
        with np.errstate(invalid="ignore"):
            change = np.abs(np.subtract(logs[i], logs, out=work), out=work)
        steepest = np.fmax.reduce(change, axis=1, initial=0.0)  # NaN: zero in both rows
        apart = distances[i] > 0
        slope = max(slope, float((steepest[apart] / distances[i][apart]).max(initial=0.0)))
        if steepest[~apart].max() > np.sqrt(np.finfo(np.float64).eps):
            slope = float("inf")
    return PairFigures(len(words) * (len(words) - 1), delta, slope)
