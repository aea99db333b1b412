"""Confidence intervals of sampled figures: rigorous ones, for any distribution, and the
bootstrap's for means over texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command

__all__ = ["Interval", "bernstein", "bootstrap_mean", "clopper_pearson", "require_scipy"]

BLOCK = 2_000_000  # values resampled at a time: 16 MB of places and 16 MB of values


@dataclass(frozen=True)
class Interval:
    """Hold a mean and its confidence interval, `low` to `high`, in the unit of the values."""

    mean: float
    low: float
    high: float


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


def bootstrap_mean(
    values: NDArray[np.floating],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """Return the mean of one value per text, (n,), with its percentile bootstrap interval over
    texts (Efron and Tibshirani 1993, chapter 13).

    To compare two systems on the same texts, pass their differences, text by text. The difficulty
    of each text then cancels, and an interval that contains zero shows no difference. Two separate
    intervals that overlap do not. Coverage is the stated level for large n and a little less for
    few or skewed values.

    Raises:
        ParameterError: fewer than 2 values, a value that is not finite, or an option outside
            its rule.
    """
    if values.ndim != 1 or len(values) < 2:
        raise ParameterError(f"values must be (n,) with n >= 2, got shape {values.shape}")
    if not np.isfinite(values).all():
        bad = int(np.count_nonzero(~np.isfinite(values)))
        raise ParameterError(f"values must be finite, {bad} of {len(values)} are not")
    if not 0 < level < 1:
        raise ParameterError(f"level must be within (0, 1), got {level}")
    if resamples < 1:
        raise ParameterError(f"resamples must be >= 1, got {resamples}")
    wide, n = values.astype(np.float64), len(values)
    rows = max(1, BLOCK // n)
    means = np.concatenate(
        [
            wide[rng.integers(n, size=(min(rows, resamples - start), n))].mean(axis=1)
            for start in range(0, resamples, rows)
        ]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(wide.mean()), float(low), float(high))
