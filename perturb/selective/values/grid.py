"""Draw a place near a private one on a public grid, exactly: P(s | x) ∝ e^(−ε·|x − s|/2).

Two places at a distance of d have laws that differ by a factor of at most e^(ε·d): metric
differential privacy. The sampler uses uniform integers only and rounds nothing
(`perturb.whole.discrete_laplace`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from perturb.rng import draw_below
from perturb.whole.discrete_laplace import draw_discrete_laplace, happens

__all__ = [
    "AGES",
    "DAYS",
    "MAGNITUDES",
    "PERCENT",
    "YEARS",
    "ValueGrid",
    "draw_place",
    "keep_rate",
    "law",
]

FIRST_DAY, LAST_DAY = 693_596, 767_009  # 1 January 1900 to 31 December 2100, as date.toordinal
# The preferred numbers of ISO 3, series R20: twenty steps of about 12 % to each power of ten.
_R20 = (
    *(100, 112, 125, 140, 160, 180, 200, 224, 250, 280),
    *(315, 355, 400, 450, 500, 560, 630, 710, 800, 900),
)


@dataclass(frozen=True)
class ValueGrid:
    """The public values of a type, in rising order.

    Attributes:
        name: what it holds, for the receipt.
        values: a range, or whole numbers.
    """

    name: str
    values: Sequence[int]

    def find(self, value: int) -> int:
        """Return the place of the value nearest to a number; of two, the smaller.

        >>> MAGNITUDES.values[MAGNITUDES.find(1300)], AGES.find(500)
        (1250, 120)
        """
        after = bisect_left(self.values, value)
        near = [i for i in (after - 1, after) if 0 <= i < len(self.values)]
        return min(near, key=lambda i: (abs(self.values[i] - value), i))


AGES = ValueGrid("years from 0 to 120", range(121))
PERCENT = ValueGrid("whole per cent from 0 to 100", range(101))
YEARS = ValueGrid("years from 1900 to 2100", range(1900, 2101))
DAYS = ValueGrid("days from 1900 to 2100", range(FIRST_DAY, LAST_DAY + 1))
MAGNITUDES = ValueGrid(
    "0 and the preferred numbers of ISO 3 (R20) up to 9·10^12",
    tuple(sorted({0, *(m * 10**k // 100 for k in range(13) for m in _R20)})),
)


def draw_place(place: int, size: int, epsilon: float, rng: np.random.Generator) -> int:
    """Return one place s of the grid with P(s) ∝ e^(−ε·|place − s|/2).

    >>> from perturb import seeded_generator
    >>> draw_place(60, 121, 0.5, seeded_generator(1)) in range(121)
    True

    Args:
        place: the private one, from 0 to `size` − 1.
        epsilon: ε > 0, taken as the fraction that it is.
    """
    scale = 2 / Fraction(epsilon)
    while True:
        if scale < size:
            drawn = place + draw_discrete_laplace(scale, rng)
            if 0 <= drawn < size:
                return drawn
        else:  # nearly flat: the noise would seldom stay on the grid
            drawn = draw_below(size, rng)
            share = abs(drawn - place) / scale
            if happens(share.numerator, share.denominator, rng):
                return drawn


def law(place: int, size: int, epsilon: float) -> NDArray[np.float64]:
    """Return the law of `draw_place`, float64 (size,)."""
    weights = np.exp(-epsilon / 2 * np.abs(np.arange(size) - place))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def keep_rate(place: int, size: int, epsilon: float) -> float:
    """Return an upper bound on the chance that a place stays."""
    ratio = math.exp(-epsilon / 2)
    if ratio == 1.0:
        return 1.0
    below, above = place, size - 1 - place
    sides = sum(ratio * (1 - ratio**n) / (1 - ratio) for n in (below, above))
    return min(1.0, (1 + 1e-9) / (1 + sides))
