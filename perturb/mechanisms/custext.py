"""CusText and CusText+ (Chen et al., A Customized Text Sanitization Mechanism with Differential
Privacy, Findings of ACL 2023): the exponential mechanism inside lists that partition V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.mechanisms.base import Draw, Words
from perturb.mechanisms.scored import ROUNDING, ScoredMechanism, ScoredParameters, no_guarantee
from perturb.registry import register
from perturb.release import Guarantee, format_upper
from perturb.vocabulary.frequencies import counts_digest, word_counts
from perturb.vocabulary.stop_words import stop_words
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["CusText", "CusTextParameters", "CusTextPlus", "greedy_lists"]


@dataclass(frozen=True, kw_only=True)
class CusTextParameters(ScoredParameters):
    """ε, and the number of words in a list (K), an integer >= 2."""

    size: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.size, bool) or not isinstance(self.size, int):
            raise ParameterError(f"size must be an integer, got {type(self.size).__name__}")
        if self.size < 2:
            raise ParameterError(f"size must be >= 2, got {self.size}")


@lru_cache(maxsize=2)
def greedy_lists(table: EmbeddingTable, size: int) -> tuple[NDArray[np.int32], ...]:
    """Partition V into lists of `size` words; the last list may be shorter.

    Words are taken from the most frequent in the bundled corpus counts to the rarest (ties by
    rank). A word that is in no list yet starts one, with the `size` − 1 nearest words that are in
    no list yet (ties by rank). Each list is sorted (Chen et al., Algorithm 1).

    >>> from perturb import load_table
    >>> lists = greedy_lists(load_table(), 20)
    >>> len(lists), {len(words) for words in lists[:-1]}
    (550, {20})
    """
    vectors = table.vectors.astype(np.float64)
    squares = np.einsum("ij,ij->i", vectors, vectors)
    free = np.ones(len(table), dtype=np.bool_)
    lists = []
    for word in np.argsort(-word_counts(table.vocabulary), kind="stable"):
        if not free[word]:
            continue
        near = table.neighbours[word].astype(np.int32)
        near = near[free[near]]
        if len(near) < size:  # the row of nearest words is used up
            rest = np.flatnonzero(free).astype(np.int32)
            square = squares[rest] - 2.0 * (vectors[rest] @ vectors[word])
            square[rest == word] = -np.inf  # before words that share its vector
            near = rest[np.argsort(square, kind="stable")]
        chosen = np.sort(near[:size])
        free[chosen] = False
        lists.append(chosen)
    return tuple(lists)


@register
class CusText(ScoredMechanism):
    """Draw from the list of x: P(y | x) ∝ exp(ε/2 · u(x, y)), u = −(d − d_min)/(d_max − d_min),
    where d_min and d_max are the extremes of d(x, ·) over that list (Chen et al., equations 2 and
    5).

    If all words of a list are equally far from x, u = 0: uniform over the list.
    """

    name = "custext"
    summary = "exponential mechanism inside a fixed list of 20 words; no bound over V"
    about = (
        "The exponential mechanism inside fixed lists of 20 words (Chen et al., Findings of ACL "
        "2023). Inside its list a token is ε-LDP; the released word reveals the list, so over V δ "
        "is 1. For comparison with the literature only."
    )
    parameter_type = CusTextParameters
    parameters: CusTextParameters

    @cached_property
    def _lists(self) -> tuple[NDArray[np.int32], ...]:
        return greedy_lists(self.table, self.parameters.size)

    @cached_property
    def _members(self) -> NDArray[np.int32]:
        """Return the list of each word, int32 (m, size); a shorter list is filled with its last
        word."""
        members = np.empty((len(self.table), self.parameters.size), dtype=np.int32)
        for listed in self._lists:
            members[listed] = np.pad(listed, (0, members.shape[1] - len(listed)), mode="edge")
        return members

    @cached_property
    def _list_weights(self) -> NDArray[np.float64]:
        """Return the weights of the list of each word, float64 (m, size)."""
        members = self._members
        own = np.repeat(np.arange(len(members)), members.shape[1])
        square = self.table.pair_squares(own, members.ravel(), np.float64)
        distances = np.sqrt(square).reshape(members.shape)
        distances -= distances.min(axis=1, keepdims=True)
        largest = distances.max(axis=1, keepdims=True)
        distances /= np.where(largest == 0, 1.0, largest)
        weights = np.exp(distances * (-self.epsilon / 2))
        weights[:, 1:][members[:, 1:] == members[:, :-1]] = 0.0  # filled up
        return weights

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.cumsum(self._list_weights, axis=1)

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        words = np.asarray(words)
        rows = self._cumulative[words]
        tickets = self._draw_tickets(rows[:, -1], rng)
        # The first sum above the ticket: an entry of weight zero is never returned.
        return Draw(self._members[words, (rows <= tickets[:, None]).sum(axis=1)])

    def weights(self, words: Words) -> NDArray[np.float64]:
        rows = np.zeros((len(words), len(self.table)))
        # Backwards: the first entry of a filled list has the weight, and is written last.
        listed = self._members[words, ::-1].astype(np.intp)
        np.put_along_axis(rows, listed, self._list_weights[words, ::-1], axis=1)
        return rows

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.asarray(self._keep_rates[np.asarray(words)])

    @cached_property
    def _keep_rates(self) -> NDArray[np.float64]:
        """Bound P(x | x) for every x from above, by more than the rounding of the sums."""
        own = self._members == np.arange(len(self.table))[:, None]
        kept = self._list_weights.max(axis=1, where=own, initial=0.0) / self._cumulative[:, -1]
        return np.asarray(np.minimum(kept * (1 + ROUNDING), 1.0))

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "the released word reveals the list the token is in; inside its list of "
            f"{self.parameters.size} words the token is {format_upper(self.epsilon)}-LDP",
        )

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "counts": counts_digest()}


@register
class CusTextPlus(CusText):
    """Draw as CusText does, but keep function words (see `perturb.vocabulary.stop_words`)."""

    name = "custext_plus"
    summary = "custext that keeps function words unchanged; no bound over V"
    about = (
        "CusText that keeps function words unchanged (Chen et al., Findings of ACL 2023). No "
        "bound over V. For comparison with the literature only."
    )
    verbatim = True

    @cached_property
    def _function_words(self) -> NDArray[np.bool_]:
        return stop_words(self.table.vocabulary)

    @cached_property
    def _list_weights(self) -> NDArray[np.float64]:
        weights = super()._list_weights
        kept = np.flatnonzero(self._function_words)
        own = self._members[kept] == kept[:, None]
        own[:, 1:] &= self._members[kept, 1:] != self._members[kept, :-1]
        weights[kept] = own
        return weights

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "function words are released unchanged, and any other released word reveals the list "
            "the token is in",
        )
