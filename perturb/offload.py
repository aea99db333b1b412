"""Run computations beside the event loop, except those that are shorter than the way there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from perturb.work import charge_work

__all__ = ["SHORT", "offload"]

SHORT = 1_000  # characters of a text on which ordinary work takes less than a millisecond
P = ParamSpec("P")
T = TypeVar("T")


async def offload(brief: bool, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the function's result, from a thread unless it is brief.

    Under load, a thread may wait for the interpreter's whole switch interval (5 ms), twice.

    Args:
        brief: whether the call takes about a millisecond or less.
        function: is called with the other arguments.

    Raises:
        OutOfTime: the request's processor time is used up, see `perturb.work`.
    """

    def work() -> T:
        with charge_work():
            return function(*args, **kwargs)

    return work() if brief else await asyncio.to_thread(work)
