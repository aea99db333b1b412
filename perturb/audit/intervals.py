"""Confidence intervals of sampled figures, rigorous for any distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import MissingPackage
from perturb.install import install_command

__all__ = ["bernstein", "clopper_pearson", "require_scipy"]


def require_scipy() -> Any:
    """Return `scipy.stats`, or fail before long work begins.

    Raises:
        MissingPackage: SciPy is not installed.
    """
    try:
        from scipy import stats
    except ImportError:
        raise MissingPackage(f"the intervals need SciPy: {install_command('audit')}") from None
    return stats


def clopper_pearson(hits: int, trials: int, alpha: float) -> tuple[float, float]:
    """Bound a probability from both sides (Clopper and Pearson 1934). The interval fails to hold
    with probability at most alpha.

    >>> low, high = clopper_pearson(3, 10, alpha=0.05)
    >>> round(low, 3), round(high, 3)
    (0.067, 0.652)

    Raises:
        MissingPackage: SciPy is not installed.
    """
    beta = require_scipy().beta
    low = 0.0 if hits == 0 else float(beta.ppf(alpha / 2, hits, trials - hits + 1))
    high = 1.0 if hits == trials else float(beta.ppf(1 - alpha / 2, hits + 1, trials - hits))
    return low, high


def bernstein(values: NDArray[np.float64], span: float, alpha: float) -> tuple[float, float]:
    """Return a two-sided interval of the mean of independent values that lie in an interval of
    length `span`, by the empirical Bernstein bound (Maurer and Pontil 2009, theorem 4), each side
    at alpha/2."""
    n, log = len(values), math.log(4 / alpha)
    mean = float(values.mean())
    margin = math.sqrt(2 * float(values.var(ddof=1)) * log / n) + 7 * span * log / (3 * (n - 1))
    return mean - margin, mean + margin
