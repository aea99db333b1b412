"""SanText and SanText+ (Yue et al., Differential Privacy for Text Analytics via Natural Text
Sanitization, Findings of ACL 2021): the exponential mechanism on the distance itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.base import Draw, Words
from perturb.mechanisms.by_distance import draw_by_distance
from perturb.mechanisms.scored import (
    ROUNDING,
    DistanceMechanism,
    DistanceProfile,
    ScoredMechanism,
    ScoredParameters,
    metric_guarantee,
    no_guarantee,
    require_share,
    squared_distances,
)
from perturb.registry import register
from perturb.release import Guarantee
from perturb.vocabulary.frequencies import counts_digest, word_counts

__all__ = ["SanText", "SanTextPlus", "SanTextPlusParameters"]

ROUNDS = 16  # a word that none of them replaced is rare, unless V_S is small or far


@register
class SanText(DistanceMechanism):
    """Draw by P(y | x) ∝ exp(−ε/2 · d(x, y)) over V (Yue et al., equation 1).

    Replacing x by x' changes every weight, and so the sum of them, by a factor of at most
    exp(ε/2 · d(x, x')): the ratio of two probabilities is at most exp(ε · d(x, x')).
    """

    name = "santext"
    summary = "exponential mechanism on the distance; metric privacy"
    about = (
        "P(y|x) ∝ exp(−ε/2·d(x, y)) over V (Yue et al., Findings of ACL 2021). Metric privacy: ε "
        "per unit of distance, so near words are hard and far words easier to tell apart. The "
        "smallest ε for which it is LDP over this table is computed below; compare that figure "
        "with the ε of rantext_ldp."
    )
    parameter_type = ScoredParameters

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return _weigh(distances, self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return metric_guarantee(self.epsilon, self.table.diameter)


@dataclass(frozen=True, kw_only=True)
class SanTextPlusParameters(ScoredParameters):
    """ε, the share of V that is sensitive (w), in (0, 1], and the probability that any other
    word is replaced (p), in [0, 1]."""

    share: float = 0.5
    probability: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share("share", self.share)
        require_share("probability", self.probability, zero=True)


@register
class SanTextPlus(ScoredMechanism):
    """Draw as SanText does over the rarer words V_S, and mostly keep a word outside V_S.

    V_S holds the ⌈w·m⌉ rarest words of V by the bundled corpus counts; of equally rare words,
    those of higher rank. x ∈ V_S: P(y | x) ∝ exp(−ε/2 · d(x, y)) over V_S. x ∉ V_S: the same with
    probability p, else x itself.
    """

    name = "santext_plus"
    summary = "santext over the rarer words; frequent words are mostly kept; no bound"
    about = (
        "SanText over the rarer half of V; a frequent word is kept with probability 0.8 (Yue et "
        "al., Findings of ACL 2021). A frequent word that appears reveals itself: no bound holds "
        "over V. For comparison with the literature only."
    )
    parameter_type = SanTextPlusParameters
    verbatim = True
    parameters: SanTextPlusParameters

    @cached_property
    def sensitive(self) -> NDArray[np.bool_]:
        """Return which words are in V_S, bool (m,)."""
        m = len(self.table)
        by_frequency = np.argsort(-word_counts(self.table.vocabulary), kind="stable")
        inside = np.zeros(m, dtype=np.bool_)
        inside[by_frequency[m - int(np.ceil(self.parameters.share * m)) :]] = True
        return inside

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        """Release one word for each word, as `Mechanism.draw`.

        SanText draws over all of V, and again where its word is outside V_S (rejection sampling).
        What is left after ROUNDS draws by rows over V_S: the same law.
        """
        words = np.asarray(words)
        released = words.astype(np.int32)
        chosen = rng.random(len(words)) < self.parameters.probability
        left = np.flatnonzero(self.sensitive[words] | chosen)
        fall = DistanceProfile(partial(_weigh, epsilon=self.epsilon), self._draw_tickets)
        for _ in range(ROUNDS):
            drawn = draw_by_distance(self.table, words[left], fall, rng)
            accepted = self.sensitive[drawn]
            released[left[accepted]] = drawn[accepted]
            left = left[~accepted]
        released[left] = self._draw_by_rows(words[left], self._weigh_sensitive, rng)
        return Draw(released)

    def _weigh_sensitive(self, words: Words) -> NDArray[np.float64]:
        """Return the rows of words that are replaced, float64 (n, m)."""
        distances = np.sqrt(squared_distances(self.table, words))
        distances[:, ~self.sensitive] = np.inf
        distances -= distances.min(axis=1, keepdims=True)
        rows = _weigh(distances, self.epsilon)
        rows /= rows.sum(axis=1, keepdims=True)
        return rows

    def weights(self, words: Words) -> NDArray[np.float64]:
        rows = self._weigh_sensitive(words)
        outside = np.flatnonzero(~self.sensitive[words])
        rows[outside] *= self.parameters.probability
        rows[outside, np.asarray(words)[outside]] = 1 - self.parameters.probability
        return rows

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.asarray(self._keep_rates[np.asarray(words)])

    @cached_property
    def _keep_rates(self) -> NDArray[np.float64]:
        """Bound P(x | x) for every x from above. Outside V_S, where x itself is never drawn, it
        is the probability that x is kept."""
        rates = np.full(len(self.table), (1 - self.parameters.probability) * (1 + ROUNDING))
        sensitive = np.flatnonzero(self.sensitive)
        rates[sensitive] = super().keep_rate(sensitive)
        return np.asarray(np.minimum(rates, 1.0))

    @property
    def guarantee(self) -> Guarantee:
        return no_guarantee(
            self.epsilon,
            "a frequent word is never released unless it was there, so it reveals itself "
            f"whenever it is kept ({1 - self.parameters.probability:.0%} of the time)",
        )

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "counts": counts_digest()}


def _weigh(distances: NDArray[np.float64], epsilon: float) -> NDArray[np.float64]:
    return np.asarray(np.exp(distances * (-epsilon / 2)))
