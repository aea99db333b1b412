"""Randomized response over the vocabulary V: keep the word, or release any other one.

With m = |V|, the weight a = ⌊e^ε·B⌋ of the word itself and the weight B of every other word,

    P(y | x) = a / (a + (m − 1)·B) for y = x, and B / (a + (m − 1)·B) for y ≠ x

(Warner 1965 for two words; Kairouz, Bonawitz and Ramage 2016 for m).

Proof of ε-LDP. The denominator is the same for every x. So P(y | x) / P(y | x') is 1, a/B or
B/a, and B ≤ a ≤ e^ε·B: no ratio is above e^ε. The draw is one integer below a + (m − 1)·B, so
the proof covers exactly the channel that runs; nothing is rounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb import (
    Draw,
    EmbeddingTable,
    Guarantee,
    Mechanism,
    ParameterError,
    Parameters,
    TableProof,
    ldp_guarantee,
)

UNIT = 1 << 32  # B
LARGEST_EPSILON = 18.0  # beyond it the sum of the weights would exceed 63 bits


@dataclass(frozen=True, kw_only=True)
class RandomizedResponseParameters(Parameters):
    """Accept 0 < ε ≤ 18."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > LARGEST_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {LARGEST_EPSILON:g} for randomized_response, "
                f"got {self.epsilon:g}"
            )


class RandomizedResponse(Mechanism):
    """Keep a word, or release another one; all others are equally likely."""

    name = "randomized_response"
    summary = "keeps the word or releases any other; ε-LDP per token, proved"
    parameter_type = RandomizedResponseParameters
    certifiable = True

    def __init__(self, table: EmbeddingTable, parameters: RandomizedResponseParameters) -> None:
        super().__init__(table, parameters)
        with localcontext() as context:
            context.prec, context.rounding = 50, ROUND_FLOOR
            weight = int(Decimal(self.epsilon).exp().next_minus() * UNIT)
        self._own = max(UNIT, weight)
        self._total = self._own + (len(table) - 1) * UNIT

    @property
    def guarantee(self) -> Guarantee:
        return ldp_guarantee(self.epsilon)

    def draw(self, words: NDArray[np.integer[Any]], rng: np.random.Generator) -> Draw:
        words = np.asarray(words)
        ticket = rng.integers(0, self._total, size=len(words), dtype=np.int64)
        other = (ticket - self._own) // UNIT  # among the m − 1 others, in their order
        released = np.where(ticket < self._own, words, other + (other >= words))
        return Draw(released.astype(np.int32))

    def channel(self, words: NDArray[np.integer[Any]]) -> tuple[NDArray[np.float64], float]:
        return self.integer_weights(words) / self._total, 0.0

    def keep_rate(self, words: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        return np.full(len(words), math.nextafter(self._own / self._total, math.inf))

    def integer_weights(self, words: NDArray[np.integer[Any]]) -> NDArray[np.uint64]:
        """Return a for the word itself and B for every other: uint64 (n, m)."""
        rows = np.full((len(words), len(self.table)), UNIT, dtype=np.uint64)
        rows[np.arange(len(words)), words] = self._own
        return rows

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the rows of two words; any other two differ in the same way."""
        (first, second), _ = self.channel(np.array([0, 1]))
        return first, second

    def proof(self) -> TableProof:
        return TableProof(
            table=self.table,
            weights=self.integer_weights,
            method="integer weights of every pair of words, compared exactly",
            one_law=True,
        )
