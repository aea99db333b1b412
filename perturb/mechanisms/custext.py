"""CusText and CusText+ (Chen et al., A Customized Text Sanitization Mechanism with Differential
Privacy, Findings of ACL 2023): the exponential mechanism inside lists that partition V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.channel import Words
from perturb.errors import ParameterError
from perturb.mechanisms.scored import ScoredMechanism, ScoredParameters, no_guarantee
from perturb.registry import register
from perturb.release import Guarantee
from perturb.vocabulary.frequencies import counts_digest, word_counts
from perturb.vocabulary.stop_words import stop_words
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["CusText", "CusTextParameters", "CusTextPlus", "greedy_lists"]


@dataclass(frozen=True, kw_only=True)
class CusTextParameters(ScoredParameters):
    """Hold ε, and the number of words in a list (K), an integer >= 2."""

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
    def _list_of(self) -> NDArray[np.int32]:
        """Return the number of each word's list, int32 (m,)."""
        lists = np.empty(len(self.table), dtype=np.int32)
        for number, members in enumerate(self._lists):
            lists[members] = number
        return lists

    def weights(self, words: Words) -> NDArray[np.float64]:
        rows = np.zeros((len(words), len(self.table)))
        vectors = self.table.vectors
        for row, word in zip(rows, np.asarray(words).tolist(), strict=True):
            members = self._lists[self._list_of[word]]
            difference = vectors[members].astype(np.float64) - vectors[word].astype(np.float64)
            distances = np.sqrt(np.einsum("ij,ij->i", difference, difference))
            distances -= distances.min()
            distances /= distances.max() or 1.0
            row[members] = np.exp(distances * (-self.epsilon / 2))
        return rows

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "the released word reveals the list the token is in; inside its list of "
            f"{self.parameters.size} words the token is {self.epsilon:g}-LDP",
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

    def weights(self, words: Words) -> NDArray[np.float64]:
        rows = super().weights(words)
        kept = np.flatnonzero(self._function_words[words])
        rows[kept] = 0.0
        rows[kept, np.asarray(words)[kept]] = 1.0
        return rows

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "function words are released unchanged, and any other released word reveals the list "
            "the token is in",
        )
