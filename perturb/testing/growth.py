"""Measure how the processor time of a piece of work grows with the length of its input."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable

__all__ = ["grows_linearly"]

_QUARTER = 4
# Linear work takes 4 times as long for a text 4 times as long, quadratic work 16 times.
_BETWEEN = 8.0
_ATTEMPTS = 20  # a busy machine may charge a thread several times what it used
_SHORT = 3  # times that the shorter text is measured each time: longer times let anything pass


def grows_linearly(work: Callable[[int], object], length: int, *, seconds: float) -> bool:
    """Tell whether `work` stays below the square of its length.

    Work that is done within `seconds` passes at once. Slower work, on a slow machine as well, is
    measured at `length` and at a quarter of it, again and again: noise only adds to a time, so the
    shortest times tell. It passes as soon as the longer text takes less than eight times as long.

    Args:
        work: does the work for a text of the given length.
        length: the length of the longer text, at least 4.
        seconds: processor time of this thread within which nothing more is measured.
    """
    long = short = math.inf
    for _ in range(_ATTEMPTS):
        long = min(long, _measure(work, length))
        if long < seconds:
            return True
        short = min(short, *(_measure(work, length // _QUARTER) for _ in range(_SHORT)))
        if long < _BETWEEN * short:
            return True
    return False


def _measure(work: Callable[[int], object], length: int) -> float:
    collecting = gc.isenabled()
    gc.disable()  # a collection takes as long as the process is large, whatever the work
    try:
        begun = time.thread_time()
        work(length)
        return time.thread_time() - begun
    finally:
        if collecting:
            gc.enable()
