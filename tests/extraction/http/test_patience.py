"""One timer serves many waits: it ends a wait that is late, and no other."""

from __future__ import annotations

import asyncio
import gc
import weakref

from extraction.http.client import Patience
from tests.limits import LIMIT

SOON = 0.02  # seconds


async def test_a_wait_that_is_late_is_ended_once() -> None:
    ended = asyncio.Event()
    times: list[None] = []

    def end() -> None:
        times.append(None)
        ended.set()

    patience, clock = Patience(end), asyncio.get_running_loop().time
    deadline = clock() + SOON
    patience.begin(deadline)
    async with asyncio.timeout(LIMIT):
        await ended.wait()
    assert clock() >= deadline - SOON / 2
    await asyncio.sleep(2 * SOON)
    assert len(times) == 1


async def test_a_wait_that_ended_in_time_is_left_alone() -> None:
    times: list[None] = []
    patience, clock = Patience(lambda: times.append(None)), asyncio.get_running_loop().time
    patience.begin(clock() + SOON)
    patience.deadline = None
    await asyncio.sleep(2 * SOON)
    patience.begin(clock() + LIMIT)
    patience.deadline = None
    patience.begin(clock() + SOON)
    patience.close()
    await asyncio.sleep(2 * SOON)
    assert times == []


async def test_the_timer_of_an_earlier_wait_ends_a_later_one_at_its_own_deadline() -> None:
    ended = asyncio.Event()
    patience, clock = Patience(ended.set), asyncio.get_running_loop().time
    patience.begin(clock() + SOON)
    patience.deadline = None
    deadline = clock() + 5 * SOON
    patience.begin(deadline)
    async with asyncio.timeout(LIMIT):
        await ended.wait()
    assert clock() >= deadline - SOON / 2


async def test_an_earlier_deadline_is_kept_though_the_timer_is_set_for_later() -> None:
    ended = asyncio.Event()
    patience, clock = Patience(ended.set), asyncio.get_running_loop().time
    patience.begin(clock() + 10 * LIMIT)
    patience.deadline = None
    patience.begin(clock() + SOON)
    async with asyncio.timeout(LIMIT):
        await ended.wait()
    patience.close()


class Waiter:
    """Waits, and is told itself that it is late."""

    def __init__(self) -> None:
        self.patience = Patience(self.end)

    def end(self) -> None:
        pass


async def test_whoever_waited_is_freed_at_once() -> None:
    gc.disable()
    try:
        waiter = Waiter()
        waiter.patience.begin(asyncio.get_running_loop().time() + LIMIT)
        waiter.patience.close()
        left = weakref.ref(waiter)
        del waiter
        assert left() is None
    finally:
        gc.enable()
