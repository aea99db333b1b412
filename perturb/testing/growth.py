"""Measure how the processor time of a piece of work grows with the length of its input."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["grows_linearly"]

_QUARTER = 4
# Linear work takes 4 times as long for a text 4 times as long, quadratic work 16 times.
_BETWEEN = 8.0
_ATTEMPTS = 3


def grows_linearly(work: Callable[[int], object], length: int, *, seconds: float) -> bool:
    """Tell whether `work` stays below the square of its length.

    Work that is done within `seconds` passes at once. Slower work, on a slow machine as well, is
    measured at `length` and at a quarter of it: it passes if the longer text takes less than eight
    times as long in one of three attempts.

    Args:
        work: does the work for a text of the given length.
        length: the length of the longer text, at least 4.
        seconds: processor time of this thread within which nothing more is measured.
    """
    for _ in range(_ATTEMPTS):
        long = _measure(work, length)
        if long < seconds or long < _BETWEEN * _measure(work, length // _QUARTER):
            return True
    return False


def _measure(work: Callable[[int], object], length: int) -> float:
    begun = time.thread_time()
    work(length)
    return time.thread_time() - begun
