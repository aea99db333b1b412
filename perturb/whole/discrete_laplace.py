"""Discrete Laplace noise on the integers, exactly: P(n) ∝ e^(−|n|/t), t rational.

The sampler is that of Canonne, Kamath and Steinke (2020, "The Discrete Gaussian for Differential
Privacy", algorithms 1 and 2). It uses uniform integers only and rounds nothing, so the law of the
noise is the one above, and not a near one: with noise in floating point the low bits of a release
can give the private value away (Mironov 2012).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perturb.rng import draw_below

__all__ = ["draw_discrete_laplace", "happens"]


def draw_discrete_laplace(scale: Fraction, rng: np.random.Generator) -> int:
    """Return one integer n with P(n) = (e^(1/t) − 1)/(e^(1/t) + 1)·e^(−|n|/t).

    The time it takes depends on the noise, and on nothing else.

    Args:
        scale: t > 0, exactly.
        rng: gives uniform integers.
    """
    size, step = scale.numerator, scale.denominator
    while True:
        below = draw_below(size, rng)
        if not happens(below, size, rng):
            continue
        above = 0
        while happens(1, 1, rng):
            above += 1
        # below + size·above is geometric with ratio e^(−1/size)
        drawn = (below + size * above) // step
        negative = draw_below(2, rng) == 1
        if not (negative and drawn == 0):  # else zero would come twice as often
            return -drawn if negative else drawn


def happens(numerator: int, denominator: int, rng: np.random.Generator) -> bool:
    """Return True with probability e^(−numerator/denominator), a fraction from 0 to 1, by von
    Neumann's series."""
    count = 1
    while draw_below(denominator * count, rng) < numerator:
        count += 1
    return count % 2 == 1
