"""Mechanisms whose channel is a row of weights over V: P(y | x) = w(x, y) / Σ_y' w(x, y').

All of them share one channel. Integer weights are drawn exactly. Floats are drawn up to words so
unlikely (about 2⁻⁵³) that no ticket in double precision meets them. A weight that depends on the
distance alone is one non-increasing function, and is drawn without computing whole rows.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Draw, Mechanism, Words
from perturb.mechanisms.by_distance import Fall, draw_by_distance
from perturb.release import Guarantee, format_upper
from perturb.sanitizer import Parameters
from perturb.vocabulary.table import EmbeddingTable

__all__ = [
    "LARGEST_EXPONENT",
    "DistanceMechanism",
    "DistanceProfile",
    "ScoredMechanism",
    "ScoredParameters",
    "metric_guarantee",
    "no_guarantee",
    "require_share",
    "squared_distances",
]

WORDS_PER_BLOCK = 128  # rows of weights held at once
LARGEST_EXPONENT = 700.0  # e^700 is a float64
ROUNDING = 1e-9  # far above the rounding of a row in double precision


@dataclass(frozen=True, kw_only=True)
class ScoredParameters(Parameters):
    """ε, 1e-9 ≤ ε ≤ 1e6: double precision holds the weights for every ε in this range.

    >>> ScoredParameters(epsilon=1e7)
    Traceback (most recent call last):
    perturb.errors.ParameterError: epsilon must be from 1e-9 to 1e6, got 1e+07
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1e-9 <= self.epsilon <= 1e6:
            raise ParameterError(f"epsilon must be from 1e-9 to 1e6, got {self.epsilon:g}")


def require_share(name: str, value: Any, *, zero: bool = False, one: bool = True) -> None:
    """Check that a value is a number from 0 to 1; `zero` and `one` tell whether that end is
    allowed.

    >>> require_share("share", 0.5)
    >>> require_share("share", 0)
    Traceback (most recent call last):
    perturb.errors.ParameterError: share must be > 0 and <= 1, got 0

    Raises:
        ParameterError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ParameterError(f"{name} must be a number, got {type(value).__name__}")
    above = value >= 0 if zero else value > 0
    below = value <= 1 if one else value < 1
    if not (above and below):
        rule = f"{'>=' if zero else '>'} 0 and {'<=' if one else '<'} 1"
        raise ParameterError(f"{name} must be {rule}, got {value}")


def metric_guarantee(
    epsilon: float, largest: float, distance: str = "d", precision: str = "double"
) -> Guarantee:
    """Return a guarantee of ε per unit of distance; `largest` bounds the distance of two words.

    >>> round(metric_guarantee(6.0, 1.5).epsilon, 9)
    9.0
    """
    bound = math.nextafter(epsilon * largest, math.inf)
    return Guarantee(
        kind="metric",
        nominal=epsilon,
        epsilon=bound,
        statement=(
            f"each released token is {format_upper(epsilon)}·{distance}(x, x')-metric private "
            f"with respect to replacing that token x by x', up to the rounding of {precision} "
            f"precision: at most {format_upper(bound, 4)} over this table"
        ),
    )


def no_guarantee(epsilon: float, reason: str) -> Guarantee:
    """Return the guarantee of a mechanism without a bound over V, with the reason.

    >>> no_guarantee(6.0, "the word reveals its list").epsilon
    inf
    """
    return Guarantee(
        kind="none",
        nominal=epsilon,
        epsilon=math.inf,
        statement=f"nominal ε = {epsilon:g} per token is not an LDP bound: {reason}",
    )


def squared_distances(table: EmbeddingTable, words: Words) -> NDArray[np.float64]:
    """Return d(x, y)² for the words x and every y of V, float64 (n, m). The squares are exact, see
    `perturb.vocabulary.table_build`.

    >>> from perturb import load_table
    >>> rows = squared_distances(load_table(), np.array([3, 7]))
    >>> rows.shape, float(rows[0, 3])
    ((2, 11000), 0.0)
    """
    wide, squares = table.wide
    out = wide[words] @ wide.T
    out *= -2.0
    out += squares
    out += squares[words][:, None]
    return np.asarray(np.maximum(out, 0.0, out=out))


class ScoredMechanism(Mechanism):
    """Draw by weights, which a subclass computes a row at a time."""

    @abstractmethod
    def weights(self, words: Words) -> NDArray[Any]:
        """Return w(x, ·) for the words x, float64 or uint64 (n, m). The sum of every row is
        positive and below the largest number of its type."""

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(self._draw_by_rows(np.asarray(words), self.weights, rng))

    def _draw_by_rows(
        self, words: Words, weigh: Callable[[Words], NDArray[Any]], rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Release one word for each word, int (n,) → int32 (n,), by rows such as `weights`."""
        released = np.empty(len(words), dtype=np.int32)
        unique, row_of = np.unique(words, return_inverse=True)
        order = np.argsort(row_of, kind="stable")
        ends = np.cumsum(np.bincount(row_of, minlength=len(unique)))
        for first, block in _blocks(unique):
            cumulative = np.cumsum(weigh(block), axis=1)
            low = ends[first - 1] if first else 0
            tokens = order[low : ends[first + len(block) - 1]]
            tickets = self._draw_tickets(cumulative[row_of[tokens] - first, -1], rng)
            cuts = ends[first : first + len(block) - 1] - low
            parts = zip(np.split(tokens, cuts), np.split(tickets, cuts), strict=True)
            for row, (mine, drawn) in zip(cumulative, parts, strict=True):
                # The first sum above the ticket: an entry of weight zero is never returned.
                released[mine] = np.searchsorted(row, drawn, side="right")
        return released

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        rows = np.empty((len(words), len(self.table)))
        for first, block in _blocks(np.asarray(words)):
            weights = self.weights(block)
            rows[first : first + len(block)] = weights / weights.sum(axis=1, keepdims=True)
        return rows, 0.0

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        unique, row_of = np.unique(np.asarray(words), return_inverse=True)
        kept = np.empty(len(unique))
        for first, block in _blocks(unique):
            rows, _ = self.channel(block)
            kept[first : first + len(block)] = rows[np.arange(len(block)), block]
        return np.minimum(kept * (1 + ROUNDING), 1.0)[row_of]

    def _draw_tickets(self, totals: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Draw a uniform number in [0, total) for each total."""
        return np.asarray(rng.random(len(totals)) * totals)


class DistanceMechanism(ScoredMechanism):
    """Draw by weights that fall with the distance and depend on nothing else."""

    @abstractmethod
    def profile(self, distances: NDArray[np.float64]) -> NDArray[Any]:
        """Return the weight at each distance, same shape; positive at 0, non-increasing."""

    def weights(self, words: Words) -> NDArray[Any]:
        square = squared_distances(self.table, words)
        return self.profile(np.sqrt(square, out=square))

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(draw_by_distance(self.table, np.asarray(words), self.fall, rng))

    @property
    def fall(self) -> Fall:
        """Return the weights for a draw."""
        return DistanceProfile(self.profile, self._draw_tickets)

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.asarray(self._keep_rates[np.asarray(words)])

    @cached_property
    def _keep_rates(self) -> NDArray[np.float64]:
        """Bound P(x | x) for every x from above: every other word is put at the far edge of its
        distance band."""
        spread = self.table.spread.astype(np.float64)
        edges = np.linspace(0, self.table.diameter, spread.shape[1] + 1) * (1 + ROUNDING)
        own, *others = self.profile(edges).astype(np.float64)
        rates = own / (own + spread @ np.array(others)) * (1 + ROUNDING)
        return np.asarray(np.minimum(rates, 1.0))


class DistanceProfile(Fall):
    """Weigh by a profile of the distance, the same for all tokens."""

    def __init__(
        self,
        profile: Callable[[NDArray[np.float64]], NDArray[Any]],
        tickets: Callable[[NDArray[Any], np.random.Generator], NDArray[Any]],
    ) -> None:
        self._profile, self._tickets = profile, tickets

    def weigh(self, tokens: NDArray[np.intp], distances: NDArray[np.float64]) -> NDArray[Any]:
        del tokens
        return self._profile(distances)

    def draw_tickets(self, totals: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        return self._tickets(totals, rng)


def _blocks(words: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield blocks of words, each with the place of its first word."""
    for first in range(0, len(words), WORDS_PER_BLOCK):
        yield first, words[first : first + WORDS_PER_BLOCK]
