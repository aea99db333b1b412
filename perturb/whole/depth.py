"""The exponential mechanism on depths: deep candidates are likely, in integers.

A candidate's depth is a whole number that changes by at most 1 if one sentence of the text is
replaced, added or removed. Candidate c has the weight r^depth(c) with r = A/B <= e^(ε/2) and A, B
whole numbers. One sentence changes each weight by a factor of at most r, up or down, and so their
sum: no probability changes by more than r² <= e^ε. The draw uses integers only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from perturb.proof import Progress, Proof, Worst
from perturb.rng import draw_below
from perturb.whole.choice import floor_exp

__all__ = ["DepthLaw", "DepthProof", "measure_depths"]

UNIT = 1 << 20  # B
LIMIT = {
    "x": "a text in which the candidate is one deeper, and every other one less deep",
    "x'": "the same text with another sentence in place of one",
    "y": "the candidate, in the limit of texts in which the others are far deeper",
}


def measure_depths(
    candidates: NDArray[np.float32], sentences: NDArray[np.float32]
) -> NDArray[np.int64]:
    """Return each candidate's approximate Tukey depth among a text's sentences, int64 (n,).

    On each of p lines, count the sentences on either side of the candidate, those at its place
    on both. The depth is the smallest of these 2p counts, from 0 to k (Meehan, Mrini and
    Chaudhuri 2022, section 4). A sentence is counted or not, so one sentence changes a depth by at
    most 1, wherever the projections lie.

    Args:
        candidates: projections on the p lines, (p, n).
        sentences: projections of the k sentences, (p, k).
    """
    k = sentences.shape[1]
    depths = np.full(candidates.shape[1], k, dtype=np.int64)
    for line, places in zip(candidates, np.sort(sentences, axis=1), strict=True):
        before = np.searchsorted(places, line, side="right")
        after = k - np.searchsorted(places, line, side="left")
        np.minimum(depths, np.minimum(before, after), out=depths)
    return depths


@dataclass(frozen=True)
class DepthLaw:
    """The law of one release, given the depths.

    Attributes:
        epsilon: ε of one sentence, exactly.
    """

    epsilon: Fraction

    @property
    def ratio(self) -> Fraction:
        """Return r, by which a candidate's weight grows with each step of its depth."""
        return Fraction(floor_exp(self.epsilon / 2, UNIT), UNIT)

    def weights(self, depths: NDArray[np.int64]) -> dict[int, int]:
        """Return the weight of a candidate by its depth: r^depth, times the same whole number for
        all, which cancels."""
        up, unit = self.ratio.as_integer_ratio()
        low, high = int(depths.min()), int(depths.max())
        found = np.unique(depths).tolist()
        return {depth: up ** (depth - low) * unit ** (high - depth) for depth in found}

    def draw(self, depths: NDArray[np.int64], rng: np.random.Generator) -> int:
        """Return a candidate, drawn by its weight.

        Args:
            depths: of the n >= 1 candidates, int (n,).
            rng: the noise.
        """
        weights = self.weights(depths)
        members = {depth: np.flatnonzero(depths == depth) for depth in weights}
        drawn = draw_below(sum(len(members[d]) * w for d, w in weights.items()), rng)
        for depth, weight in weights.items():
            mass = len(members[depth]) * weight
            if drawn < mass:
                return int(members[depth][drawn // weight])
            drawn -= mass
        raise AssertionError("the masses sum to the limit of the draw")


@dataclass(frozen=True)
class DepthProof(Proof):
    """Prove the ε of one sentence.

    Attributes:
        law: of the release.
        candidates: how many there are.
    """

    law: DepthLaw
    candidates: int
    method = (
        "whole weights r^depth: one sentence changes each depth by at most 1, so each weight and "
        "their sum by a factor of at most r, and a probability by at most r²; the ratio is that "
        "bound, which texts of growing length approach"
    )
    unit = "sentence"

    @property
    def vocabulary(self) -> str:
        return f"{self.candidates:,} public passages of a codebook"

    @property
    def size(self) -> int:
        return self.candidates

    def find_worst(self, progress: Progress) -> Worst:
        progress(1, 1)
        ratio = self.ratio_of(LIMIT)
        return Worst(LIMIT, ratio, ratio)

    def ratio_of(self, pair: Mapping[str, str]) -> Fraction:
        del pair  # it is the same for every candidate
        return self.law.ratio * self.law.ratio
