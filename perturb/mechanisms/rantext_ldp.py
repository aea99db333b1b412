"""rantext_ldp: RANTEXT's random adjacency with a proof.

The R-th nearest word of x is released, where R is drawn from one law p over ranks that does not
depend on the text. P(y | x) = p(rank_x(y)), so every ratio is at most max p / min p ≤ e^ε: ε-LDP
for replacing a token. The draw uses integers only, so the proof covers the running code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Draw, Mechanism, Words, ldp_guarantee
from perturb.mechanisms.proof import TableProof
from perturb.registry import register
from perturb.release import Guarantee
from perturb.sanitizer import Parameters, Variant
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["RanTextLDP", "RanTextLDPParameters", "rank_weights"]

UNIT = 1 << 32  # the integer weight B of a word in the flat tail
MAX_EPSILON = 18.0  # beyond it the sum of the weights would leave 64 bits
POWER_OFFSET = 3  # k0 and α of the shape `power`: best mean cosine at equal Bayes success
POWER_EXPONENT = Decimal("1.3")
RANDOM_SIZES = tuple(1 << i for i in range(10))  # 1, 2, 4, …, 512
KNN_SIZE = 16
DIGITS = 50
BLOCK = 256  # lists that are read at once: they fit the processor's second cache


@dataclass(frozen=True, kw_only=True)
class RanTextLDPParameters(Parameters):
    """ε, 0 < ε ≤ 18, and the shape of the law over ranks.

    >>> RanTextLDPParameters(epsilon=20)
    Traceback (most recent call last):
    perturb.errors.ParameterError: epsilon must be <= 18 for rantext_ldp, got 20
    """

    shape: Literal["power", "random_k", "knn"] = "power"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > MAX_EPSILON:
            raise ParameterError(
                f"epsilon must be <= {MAX_EPSILON:g} for rantext_ldp, got {self.epsilon:g}"
            )
        if self.shape not in ("power", "random_k", "knn"):
            raise ParameterError("shape must be 'power', 'random_k' or 'knn'")


def rank_weights(parameters: RanTextLDPParameters, size: int, m: int) -> list[int]:
    """Return the integer weights w_1 … w_size of the nearest ranks; every rank beyond has
    weight B.

    All lie in [B, ⌊e^ε·B⌋]: computed in 50 digits and rounded down, so the ratio of any two
    is at most e^ε exactly.

    >>> weights = rank_weights(RanTextLDPParameters(epsilon=2, shape="knn"), 20, 100)
    >>> weights[0] == weights[15] > weights[16] == UNIT
    True
    """
    with localcontext() as context:
        context.prec = DIGITS
        context.rounding = ROUND_FLOOR
        # strictly below e^ε, and 1 if ε is below the 50 digits
        top = max(Decimal(1), Decimal(parameters.epsilon).exp().next_minus())
        if parameters.shape == "power":
            powers = _raise_numbers(size + POWER_OFFSET, -POWER_EXPONENT)
            ratios = [
                top * (powers[k - 1 + POWER_OFFSET] / powers[POWER_OFFSET])
                for k in range(1, size + 1)
            ]
        elif parameters.shape == "knn":
            ratios = [top if k <= KNN_SIZE else Decimal(1) for k in range(1, size + 1)]
        else:
            # Σ_K [k ≤ K ? e^ε : 1] / (K·e^ε + m − K), over the same sum for a far rank
            lists = [k for k in RANDOM_SIZES if k <= size]
            norms = [1 / (k * top + m - k) for k in lists]
            far = sum(norms, Decimal(0))
            ratios = [
                sum(
                    (n * (top if k <= c else 1) for c, n in zip(lists, norms, strict=True)),
                    Decimal(0),
                )
                / far
                for k in range(1, size + 1)
            ]
        ceiling = int((top * UNIT).to_integral_value(ROUND_FLOOR))
        return [
            min(ceiling, max(UNIT, int((UNIT * r).to_integral_value(ROUND_FLOOR)))) for r in ratios
        ]


@lru_cache(maxsize=1)
def _raise_numbers(count: int, exponent: Decimal) -> tuple[Decimal, ...]:
    """Return n to a power for n < `count`, in the context of `rank_weights`. Only powers of primes
    are computed, which take long: a power of a product is the product of powers. The one of 0 is
    left out, as 1."""
    powers = [Decimal(1)] * count
    for n in range(2, count):
        divisor = next((d for d in range(2, math.isqrt(n) + 1) if n % d == 0), 0)
        powers[n] = powers[divisor] * powers[n // divisor] if divisor else Decimal(n) ** exponent
    return tuple(powers)


@register
class RanTextLDP(Mechanism):
    """Draw the R-th nearest word, with R from one law over ranks."""

    name = "rantext_ldp"
    brief = True
    summary = "random rank among the nearest words; ε-LDP per token, proved"
    about = (
        "RANTEXT's random adjacency with a proof: the R-th nearest word is released, R drawn from "
        "one law that does not depend on the text, with integers only. ε-LDP per token, and "
        "`inferdpt privacy certify` proves it over the whole table. The shape `power` is the "
        "default. Pick this one where a bound is wanted."
    )
    variants = (
        Variant(
            "shape random_k",
            "The same with a list of random, public size: the mixture over K = 1, 2, 4, …, 512.",
            {"shape": "random_k"},
        ),
        Variant(
            "shape knn",
            "The same with one fixed list of the 16 nearest words.",
            {"shape": "knn"},
        ),
    )
    parameter_type = RanTextLDPParameters
    parameters: RanTextLDPParameters
    certifiable = True

    def __init__(self, table: EmbeddingTable, parameters: RanTextLDPParameters) -> None:
        super().__init__(table, parameters)
        weights = rank_weights(parameters, table.neighbours.shape[1], len(table))
        self._weights = np.array(weights, dtype=np.uint64)
        self._cumulative = np.cumsum(self._weights)
        self._far = len(table) - len(weights)
        self._total = sum(weights) + self._far * UNIT
        if self._total >= 1 << 63:
            raise ParameterError(f"epsilon {self.epsilon:g} is too large for {len(table)} words")

    def proof(self) -> TableProof:
        return TableProof(
            table=self.table,
            weights=self.integer_weights,
            method="integer weights of every pair of words, compared exactly; every list of "
            "nearest words checked against the exact distances",
            one_law=True,
            by_rank=True,
        )

    @property
    def certificate(self) -> tuple[int, int]:
        """Return (max w, min w) over all ranks: ln(max w / min w) is the proved ε, and is ≤ ε
        because max w ≤ ⌊e^ε·B⌋ and min w ≥ B."""
        return int(self._weights.max()), UNIT if self._far else int(self._weights.min())

    @property
    def guarantee(self) -> Guarantee:
        return ldp_guarantee(self.epsilon)

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        words = np.asarray(words)
        if not len(words):
            return Draw(np.empty(0, dtype=np.int32))
        listed = len(self._cumulative)
        ticket = rng.integers(0, self._total, size=len(words), dtype=np.uint64)
        place = self._cumulative.searchsorted(ticket, side="right")
        nearest = np.minimum(place, listed - 1)
        released = self.table.neighbours[words, nearest].astype(np.int32)
        far = np.flatnonzero(place == listed)
        if len(far):
            beyond = (ticket[far] - self._cumulative[-1]) // UNIT
            released[far] = _find_unlisted(self.table, words[far], beyond, self._far)
        near = len(words) - len(far)
        return Draw(released, {"tail_share": 1 - near / len(words)})

    def integer_weights(self, words: Words) -> NDArray[np.uint64]:
        """Return w(x, y) for the words x, int (n,) → uint64 (n, m), in [B, ⌊e^ε·B⌋]: the running
        code draws y with probability w(x, y)/Σ_y' w(x, y') exactly."""
        rows = np.full((len(words), len(self.table)), UNIT, dtype=np.uint64)
        listed = self.table.neighbours[words].astype(np.intp)
        np.put_along_axis(rows, listed, self._weights[None, :], axis=1)
        return rows

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        rows = self.integer_weights(words) / self._total
        return rows, 0.0

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the law over ranks in falling order, and the same law in rising order.

        Two rows are one law in two orders. The sum of max(0, a − γb) over the words is largest
        when the larger a meets the smaller b (rearrangement: it is convex in a − γb).
        """
        law = np.full(len(self.table), float(UNIT))
        law[: len(self._weights)] = np.sort(self._weights)[::-1]
        law /= self._total
        return law, law[::-1].copy()

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.full(len(words), self._keep_rate)

    @cached_property
    def _keep_rate(self) -> float:
        return math.nextafter(int(self._weights[0]) / self._total, math.inf)


def _find_unlisted(
    table: EmbeddingTable, words: Words, place: NDArray[np.uint64], far: int
) -> NDArray[np.int32]:
    """Return a word that the list of each of the words does not hold. For the places from 0 to
    `far` − 1, the number of unlisted words, they are all of them, each once.

    The word with the number `place` is taken if it is not listed. If it is the j-th listed word
    below `far`, the j-th unlisted word from `far` on stands for it: there are as many of them.
    """
    answer = place.astype(np.int32)
    number = place.astype(np.uint16)[:, None]
    taken = np.flatnonzero(table.lists(words, place))
    for start in range(0, len(taken), BLOCK):
        part = taken[start : start + BLOCK]
        rows = np.sort(table.neighbours[words[part]], axis=1)
        wanted = (rows < number[part]).sum(axis=1, dtype=np.int32) + np.int32(far)
        wanted -= (rows < far).sum(axis=1, dtype=np.int32)
        # In a sorted row s, s_i − i words below s_i are unlisted. The wanted one skips every
        # listed word at or below it.
        skipped = rows - np.arange(rows.shape[1], dtype=np.int32) <= wanted[:, None]
        answer[part] = wanted + skipped.sum(axis=1)
    return answer
