"""TEM, the truncated exponential mechanism (Carvalho et al., TEM: High Utility Metric
Differential Privacy on Text, 2021, Algorithm 1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from perturb.mechanisms.scored import (
    DistanceMechanism,
    ScoredParameters,
    metric_guarantee,
    require_share,
)
from perturb.registry import register
from perturb.release import Guarantee

__all__ = ["TEM", "TEMParameters"]


@dataclass(frozen=True, kw_only=True)
class TEMParameters(ScoredParameters):
    """ε, and β in (0, 1): a word beyond γ is released with probability at most β."""

    beta: float = 0.001

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share("beta", self.beta, one=False)


@register
class TEM(DistanceMechanism):
    """Draw by P(y | x) ∝ exp(−ε/2 · min(d(x, y), γ)), γ = (2/ε)·ln((1 − β)(m − 1)/β).

    The published algorithm scores the words within γ of x by −d, and ⊥, which stands for all words
    beyond, by −γ + (2/ε)·ln|beyond|. It adds Gumbel(2/ε) noise to every score. The highest wins,
    and ⊥ releases a word beyond uniformly. The winner has P ∝ exp(ε/2 · score), and ⊥'s mass
    |beyond|·exp(−ε/2 · γ) is shared evenly: the closed form above. If no word lies beyond γ, ⊥ has
    mass 0 and never wins. A γ below 0 (β above 1 − 1/m) counts as 0: uniform over V.

    min(d(x, y), γ) changes by at most d(x, x') and by at most γ when x becomes x'. So the weights
    and their sum change by a factor of at most exp(ε/2 · min(d(x, x'), γ)) each, and the ratio of
    two probabilities is at most exp(ε · min(d(x, x'), γ)).
    """

    name = "tem"
    summary = "exponential mechanism on the distance, flat beyond a radius; metric privacy"
    about = (
        "The exponential mechanism on the distance, flat beyond a radius γ (Carvalho et al., "
        "2021). Metric privacy, and ε·γ bounds the LDP ε. At every ε below, γ is larger than the "
        "diameter of the table: the figures are santext's."
    )
    parameter_type = TEMParameters
    parameters: TEMParameters

    @cached_property
    def gamma(self) -> float:
        """Return γ, the distance beyond which all words are equally likely."""
        beta = self.parameters.beta
        log = math.log1p(-beta) + math.log(len(self.table) - 1) - math.log(beta)
        return max(0.0, 2 / self.epsilon * log)

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(np.minimum(distances, self.gamma) * (-self.epsilon / 2)))

    @property
    def guarantee(self) -> Guarantee:
        return metric_guarantee(self.epsilon, min(self.table.diameter, self.gamma))
