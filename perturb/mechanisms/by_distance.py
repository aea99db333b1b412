"""Draw words by weights that fall with the distance, without a weight for every word of V.

The weights of the nearest words are computed. Every other word has a bound instead: the weight at
a distance that is not above its own. All of V is laid out on a line, a word's segment as long as
its weight or its bound, and a uniform ticket falls on one segment. If it falls beyond the weight
inside the segment, a new ticket is drawn (rejection sampling, von Neumann 1951). So every word is
drawn with probability proportional to its weight, exactly, and one distance is computed a ticket.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.base import Words
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["Fall", "Line", "draw_by_distance"]

TOKENS_AT_ONCE = 4096
TICKETS_AT_ONCE = 512  # a few tokens get many tickets each, so that few rounds are needed


class Fall(ABC):
    """Give the weights of words by their distances, for every token of a document.

    Attributes:
        precision: of the distances of single pairs.
    """

    precision: type[np.floating[Any]] = np.float64

    @abstractmethod
    def weigh(self, tokens: NDArray[np.intp], distances: NDArray[np.float64]) -> NDArray[Any]:
        """Return the weights of words at these distances, float64 or uint64.

        They do not grow with the distance, and are positive at 0.

        Args:
            tokens: the places of tokens in the document, (n,).
            distances: from each of them, (n,) or (n, k); the weights have the same shape.
        """

    def draw_tickets(self, totals: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Draw a uniform number in [0, total) for each total."""
        return np.asarray(rng.random(len(totals)) * totals)


def draw_by_distance(
    table: EmbeddingTable, words: Words, fall: Fall, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Release one word for each of the words, int (n,) → int32 (n,): y with probability
    w(x, y) / Σ_y' w(x, y')."""
    released = np.empty(len(words), dtype=np.int32)
    order = np.argsort(words, kind="stable")  # equal words together: their rows stay in the cache
    for start in range(0, len(words), TOKENS_AT_ONCE):
        tokens = order[start : start + TOKENS_AT_ONCE]
        released[tokens] = Line(table, words[tokens], tokens, fall).draw(rng)
    return released


class Line:
    """V laid out for each token: the nearest words, the other listed ones, and all words
    once more, of which those that are not listed can be drawn."""

    def __init__(
        self, table: EmbeddingTable, words: Words, tokens: NDArray[np.intp], fall: Fall
    ) -> None:
        self._table, self._words, self._tokens, self._fall = table, words, tokens, fall
        m, listed = len(table), table.neighbours.shape[1]
        near = table.near[words]
        self._near = np.cumsum(fall.weigh(tokens, near), axis=1)
        bounds = fall.weigh(tokens, table.farther[words])
        kind = self._near.dtype.type
        self._ends = np.empty((len(words), 3), dtype=kind)  # of the three parts of the line
        self._ends[:, 0] = self._near[:, -1]
        self._ends[:, 1] = self._ends[:, 0] + bounds[:, 0] * kind(listed - near.shape[1])
        self._ends[:, 2] = self._ends[:, 1] + bounds[:, 1] * kind(m if m > listed else 0)
        self._bounds = np.maximum(bounds, np.finfo(kind).tiny if kind is np.float64 else kind(1))
        # Even the farthest word has this weight: no distance is needed below it.
        self._least = fall.weigh(tokens, np.full(len(words), table.diameter))

    def draw(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw tickets until one is accepted for every token, and return the words."""
        released = np.empty(len(self._words), dtype=np.int32)
        waiting = np.arange(len(self._words))
        while len(waiting):
            tickets = max(1, TICKETS_AT_ONCE // len(waiting))
            rows = np.repeat(waiting, tickets) if tickets > 1 else waiting
            drawn, accepted = self.take(rows, rng)
            if tickets > 1:  # the first one that is accepted
                tried = accepted.reshape(-1, tickets)
                first = tried.argmax(axis=1)
                drawn = drawn.reshape(-1, tickets)[np.arange(len(waiting)), first]
                accepted = tried[np.arange(len(waiting)), first]
            released[waiting[accepted]] = drawn[accepted]
            waiting = waiting[~accepted]
        return released

    def take(
        self, rows: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Draw a ticket for each row; return its word and whether it is accepted."""
        table, words, ends = self._table, self._words[rows], self._ends[rows]
        listed, near = table.neighbours.shape[1], self._near.shape[1]
        ticket = self._fall.draw_tickets(ends[:, 2], rng)
        is_near, is_listed = ticket < ends[:, 0], ticket < ends[:, 1]
        bound = np.where(is_listed, self._bounds[rows, 0], self._bounds[rows, 1])
        rest = ticket - np.where(is_listed, ends[:, 0], ends[:, 1])
        rest[is_near] = 0
        segment = (rest // bound).astype(np.int32)
        rest -= segment.astype(rest.dtype) * bound  # the place of the ticket in its segment
        drawn = np.minimum(segment, len(table) - 1)
        at = np.flatnonzero(is_listed)
        place = np.minimum(segment[at] + near, listed - 1)
        nearest = np.flatnonzero(is_near[at])
        tops, chosen = self._near[rows[at[nearest]]], ticket[at[nearest], None]
        place[nearest] = (tops <= chosen).sum(axis=1)
        drawn[at] = table.neighbours[words[at], place]

        accepted = is_near | (rest < self._least[rows])
        at = np.flatnonzero(~accepted)
        square = table.pair_squares(words[at], drawn[at], np.float32)
        accepted[at] = self._are_below(rest[at], rows[at], drawn[at], square)
        doubtful = accepted & ~is_listed
        doubtful[at] &= square <= table.listed_squares[words[at]]
        at = np.flatnonzero(doubtful)
        accepted[at] = ~table.lists(words[at], drawn[at])
        return drawn, accepted

    def _are_below(
        self,
        rest: NDArray[Any],
        rows: NDArray[np.intp],
        drawn: NDArray[np.int32],
        square: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Tell whether each ticket lies below the weight of its word.

        Where double precision is asked for, a distance is only computed in it if the weights at
        both ends of what it can be, given `square` in single precision, do not decide.
        """
        tokens, weigh, error = self._tokens[rows], self._fall.weigh, self._table.pair_error
        if self._fall.precision is np.float32:
            return np.asarray(rest < weigh(tokens, np.sqrt(square)))
        below = rest < weigh(tokens, np.sqrt(square + error))
        least = np.sqrt(np.maximum(square - error, 0.0))
        at = np.flatnonzero(~below & (rest < weigh(tokens, least)))
        if len(at):
            exact = self._table.pair_squares(self._words[rows[at]], drawn[at], np.float64)
            below[at] = rest[at] < weigh(tokens[at], np.sqrt(exact))
        return np.asarray(below)
