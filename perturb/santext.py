"""SanText and SanText+ (Yue et al., Differential Privacy for Text Analytics via Natural Text
Sanitization, Findings of ACL 2021): the exponential mechanism on the distance itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.frequencies import counts_digest, word_counts
from perturb.mechanism import Guarantee, Words, register
from perturb.scored import (
    DistanceMechanism,
    ScoredMechanism,
    ScoredParameters,
    metric_guarantee,
    no_guarantee,
    require_share,
    squared_distances,
)

__all__ = ["SanText", "SanTextPlus", "SanTextPlusParameters"]


@register
class SanText(DistanceMechanism):
    """P(y | x) ∝ exp(−ε/2 · d(x, y)) over V (Yue et al., equation 1).

    Replacing x by x' changes every weight, and so the sum of them, by a factor of at most
    exp(ε/2 · d(x, x')): the ratio of two probabilities is at most exp(ε · d(x, x')).
    """

    name = "santext"
    summary = "exponential mechanism on the distance; metric privacy"
    parameter_type = ScoredParameters

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(distances * (-self.epsilon / 2)))

    @property
    def guarantee(self) -> Guarantee:
        return metric_guarantee(self.epsilon, self.table.diameter)


@dataclass(frozen=True, kw_only=True)
class SanTextPlusParameters(ScoredParameters):
    """ε; the share of V that is sensitive (w), in (0, 1]; the probability p, in [0, 1], with
    which any other word is replaced."""

    share: float = 0.5
    probability: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share("share", self.share)
        require_share("probability", self.probability, zero=True)


@register
class SanTextPlus(ScoredMechanism):
    """SanText over the rarer words V_S; a word outside V_S is mostly kept.

    V_S are the ⌈w·m⌉ rarest words of V by the bundled corpus counts, of equally rare ones those
    of higher rank. x ∈ V_S: P(y | x) ∝ exp(−ε/2 · d(x, y)) over V_S. x ∉ V_S: the same with
    probability p, else x itself.
    """

    name = "santext_plus"
    summary = "santext over the rarer words; frequent words are mostly kept; no bound"
    parameter_type = SanTextPlusParameters
    verbatim = True
    parameters: SanTextPlusParameters

    @cached_property
    def sensitive(self) -> NDArray[np.bool_]:
        """Which words are in V_S, bool (m,)."""
        m = len(self.table)
        by_frequency = np.argsort(-word_counts(self.table.vocabulary), kind="stable")
        inside = np.zeros(m, dtype=np.bool_)
        inside[by_frequency[m - int(np.ceil(self.parameters.share * m)) :]] = True
        return inside

    def weights(self, words: Words) -> NDArray[np.float64]:
        distances = np.sqrt(squared_distances(self.table, words))
        distances[:, ~self.sensitive] = np.inf
        distances -= distances.min(axis=1, keepdims=True)
        rows = np.exp(distances * (-self.epsilon / 2))
        rows /= rows.sum(axis=1, keepdims=True)
        outside = np.flatnonzero(~self.sensitive[words])
        rows[outside] *= self.parameters.probability
        rows[outside, np.asarray(words)[outside]] = 1 - self.parameters.probability
        return np.asarray(rows)

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "a frequent word is never released unless it was there, so it reveals itself "
            f"whenever it is kept ({1 - self.parameters.probability:.0%} of the time)",
        )

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "counts": counts_digest()}
