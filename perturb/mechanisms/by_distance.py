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

from perturb.channel import Words
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["Fall", "draw_by_distance"]

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
    for start in range(0, len(words), TOKENS_AT_ONCE):
        tokens = np.arange(start, min(start + TOKENS_AT_ONCE, len(words)))
        released[tokens] = _Line(table, words[tokens], tokens, fall).draw(rng)
    return released


class _Line:
    """Lay out V for each token: the nearest words, the other listed ones, and all words once
    more, of which those that are not listed can be drawn."""

    def __init__(
        self, table: EmbeddingTable, words: Words, tokens: NDArray[np.intp], fall: Fall
    ) -> None:
        self._table, self._words, self._tokens, self._fall = table, words, tokens, fall
        m, listed = len(table), table.neighbours.shape[1]
        near, farther = table.near[words], table.farther[words]
        self._near = np.cumsum(fall.weigh(tokens, near), axis=1)
        self._bounds = fall.weigh(tokens, farther)
        kind = self._near.dtype.type
        self._listed = self._near[:, -1] + self._bounds[:, 0] * kind(listed - near.shape[1])
        self._total = self._listed + self._bounds[:, 1] * kind(m if m > listed else 0)
        # Even the farthest word has this weight: no distance is needed below it.
        self._least = fall.weigh(tokens, np.full(len(words), table.diameter))

    def draw(self, rng: np.random.Generator) -> NDArray[np.int32]:
        released = np.empty(len(self._words), dtype=np.int32)
        waiting = np.arange(len(self._words))
        while len(waiting):
            tickets = max(1, TICKETS_AT_ONCE // len(waiting))
            drawn, accepted = self._take(np.repeat(waiting, tickets), rng)
            accepted = accepted.reshape(-1, tickets)
            first, done = accepted.argmax(axis=1), accepted.any(axis=1)
            drawn = drawn.reshape(-1, tickets)[np.arange(len(waiting)), first]
            released[waiting[done]] = drawn[done]
            waiting = waiting[~done]
        return released

    def _take(
        self, rows: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Draw a ticket for each row; return its word and whether it is accepted."""
        ticket = self._fall.draw_tickets(self._total[rows], rng)
        place = np.zeros(len(rows), dtype=np.intp)  # in the list of the word; −1 outside it
        drawn = np.empty(len(rows), dtype=np.int32)
        rest = np.zeros_like(ticket)  # the place of the ticket in its segment
        table, near, listed = self._table, self._table.near.shape[1], len(self._table.neighbours[0])

        is_near = ticket < self._near[rows, -1]
        at = np.flatnonzero(is_near)
        place[at] = (self._near[rows[at]] <= ticket[at, None]).sum(axis=1)
        within = ticket < self._listed[rows]
        at = np.flatnonzero(within & ~is_near)
        segment, rest[at] = np.divmod(ticket[at] - self._near[rows[at], -1], self._bounds[rows[at], 0])
        place[at] = np.minimum(segment.astype(np.intp) + near, listed - 1)
        drawn[within] = table.neighbours[self._words[rows[within]], place[within]]
        at = np.flatnonzero(~within)
        segment, rest[at] = np.divmod(ticket[at] - self._listed[rows[at]], self._bounds[rows[at], 1])
        drawn[at] = np.minimum(segment.astype(np.intp), len(table) - 1)

        accepted = is_near | (rest < self._least[rows])
        at = np.flatnonzero(~accepted)
        square = table.pair_squares(self._words[rows[at]], drawn[at], self._fall.precision)
        accepted[at] = rest[at] < self._fall.weigh(self._tokens[rows[at]], np.sqrt(square))
        at = np.flatnonzero(accepted & ~within)
        again = table.neighbours[self._words[rows[at]]] == drawn[at, None].astype(np.uint16)
        accepted[at] = ~again.any(axis=1)
        return drawn, accepted
