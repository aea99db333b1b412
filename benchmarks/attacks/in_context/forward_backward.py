"""Guess words in context with an n-gram prior and the exact channel, by forward–backward.

The model is a hidden Markov chain: words x_1 … x_n of a bigram model p(x_i | x_{i−1}), and every
released y_i drawn from P(y_i | x_i) alone. Rabiner (1989), "A tutorial on hidden Markov models",
Proc. IEEE 77, §III.B, gives each P(x_i | y) exactly; taking the likeliest word at every place is
right most often, on average over texts of the model, of all attackers that know it.

The bound of an ε-LDP channel here: with the other releases y_{−i} as side knowledge,

    P(x_i = a | y) / P(x_i ≠ a | y) ≤ e^ε · P(x_i = a | y_{−i}) / P(x_i ≠ a | y_{−i}),

for any prior over texts, since y_i adds only P(y_i | x_i). This is a theorem about each posterior,
for any text, and is checked as such (`measure_odds_change`). Averaged over texts of the model it
says success ≤ e^ε p / (1 + (e^ε − 1) p), with p the success of the best guess of x_i from y_{−i};
the bound is concave in p, so it also holds for averages. It is no theorem about real texts: there,
p is the success of a model that did not generate them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.metrics.ngram import Ngram
from perturb.audit.channel import Forms

__all__ = ["Chain", "measure_odds_change", "sum_by_form"]

BATCH = 16  # texts at a time: 150 MB for texts of 50 words at m = 11,000
CERTAIN = 1e-9  # above 1 − this, double precision cannot represent odds

Rows = NDArray[np.floating]


class Chain:
    """Infer the words of a text exactly under a bigram model.

    Args:
        model: of order 2 over m + 1 tokens: V, and a last one that stands before every text.

    Raises:
        ParameterError: a model of another order.
        MissingPackage: SciPy is not installed.
    """

    def __init__(self, model: Ngram) -> None:
        self._backward, self._left_over, self._single = model.bigram()
        self._forward = self._backward.T.tocsr()

    def infer_from_others(
        self, likelihoods: Rows, places: Sequence[NDArray[np.integer]]
    ) -> Iterator[NDArray[np.float64]]:
        """Yield P(x_i = a | y_{−i}) for each text, float64 (n, m): the belief about a place from
        the model and the releases at all other places. Times P(y_i | a), it is P(x_i = a | y) up
        to a factor.

        Args:
            likelihoods: P(y | x) of k released words, (k, m), none of them all zeros.
            places: for each text, (n,), n > 0, the rows of its releases.
        """
        for start in range(0, len(places), BATCH):
            yield from self._batch(likelihoods, places[start : start + BATCH])

    def _batch(
        self, likelihoods: Rows, places: Sequence[NDArray[np.integer]]
    ) -> Iterator[NDArray[np.float64]]:
        lengths = np.array([len(rows) for rows in places])
        size, longest = len(self._single), int(lengths.max())
        evidence = np.ones((longest, size, len(places)))
        for text, rows in enumerate(places):
            evidence[: len(rows), :-1, text] = likelihoods[rows]
        evidence[:, -1] = 0.0  # no new text begins inside a text
        found = np.empty_like(evidence)
        belief = np.zeros((size, len(places)))
        belief[-1] = 1.0
        for i in range(longest):
            found[i] = self._forward @ belief
            found[i] += np.outer(self._single, self._left_over @ belief)
            belief = found[i] * evidence[i]
            belief /= belief.sum(axis=0)
        after = np.ones_like(belief)
        for i in reversed(range(longest)):
            after[:, lengths == i + 1] = 1.0
            found[i] *= after
            after *= evidence[i]
            after = self._backward @ after + np.outer(self._left_over, self._single @ after)
            after /= after.max(axis=0)
        for text, n in enumerate(lengths):
            words = found[:n, :-1, text]
            yield words / words.sum(axis=1, keepdims=True)


def sum_by_form(beliefs: Rows, forms: Forms) -> Rows:
    """Return the share of every form, (n, groups), in beliefs over V, (n, m). Rows are normalised
    to sum to one."""
    shares = np.add.reduceat(beliefs[:, forms.order], forms.starts, axis=1)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def measure_odds_change(after: Rows, before: Rows) -> float:
    """Return the largest ln of odds after over odds before, over all entries of two (n, k) arrays
    of shares. It is at most ε where `after` knows one more release of an ε-LDP channel."""
    known = (np.minimum(after, before) > 0) & (np.maximum(after, before) < 1 - CERTAIN)
    now, then = after[known], before[known]
    change = np.log(now) - np.log1p(-now) - np.log(then) + np.log1p(-then)
    return float(change.max(initial=0.0))
