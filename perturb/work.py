"""Bound the processor time that the texts of one request may take, from its body to its answer.

Every stage that works on a text runs through `offload`, beside the event loop unless it is shorter
than the way there, and its time is charged. Long stages look at the time themselves, too: before
each window of a search, and in long loops.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from perturb.errors import OutOfTime

__all__ = ["SHORT", "charge_work", "check_work", "limit_work", "offload"]


class _Allowance:
    """The seconds that a request has left; its threads share it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left = seconds


_ALLOWANCE: ContextVar[_Allowance | None] = ContextVar("allowance", default=None)
_END: ContextVar[float] = ContextVar("end")  # of this stage, on the clock of its thread


@contextmanager
def limit_work(seconds: float) -> Iterator[None]:
    """Limit the processor time of all stages in the block, also in its tasks and threads.

    Time that other threads take does not count, so a busy machine refuses no request.
    """
    token = _ALLOWANCE.set(_Allowance(seconds))
    try:
        yield
    finally:
        _ALLOWANCE.reset(token)


def charge_work() -> AbstractContextManager[None]:
    """Charge the processor time of a block, one stage in one thread.

    Raises:
        OutOfTime: from the block: nothing is left, before it or after it; its result must not be
            used.
    """
    allowance = _ALLOWANCE.get()
    return _UNBOUNDED if allowance is None else _Charge(allowance)


_UNBOUNDED = nullcontext()


class _Charge(AbstractContextManager[None]):
    """Charge one block, once. Every event of a stream is one, so this is no generator."""

    __slots__ = ("_allowance", "_begun", "_token")

    def __init__(self, allowance: _Allowance) -> None:
        self._allowance = allowance

    def __enter__(self) -> None:
        left = self._allowance.left
        if left <= 0:
            raise _make_error(self._allowance)
        self._begun = time.thread_time()
        self._token = _END.set(self._begun + left)

    def __exit__(self, kind: object, *_: object) -> None:
        _END.reset(self._token)
        self._allowance.left -= time.thread_time() - self._begun
        if kind is None and self._allowance.left <= 0:
            raise _make_error(self._allowance)


def check_work() -> None:
    """Look at the time, inside a stage.

    Raises:
        OutOfTime: the request has none left.
    """
    end, allowance = _END.get(None), _ALLOWANCE.get()
    if end is not None and allowance is not None and time.thread_time() >= end:
        raise _make_error(allowance)


def _make_error(allowance: _Allowance) -> OutOfTime:
    seconds = allowance.seconds
    return OutOfTime(f"the texts of a request may take {seconds:g} s of processor time")


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
