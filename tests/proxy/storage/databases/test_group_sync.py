"""Waiting for the disk in groups."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import AsyncIterator

import pytest

from proxy.storage.databases.sqlite import GroupSync
from tests.limits import LIMIT


class Disk:
    """A disk whose syncs end when the test says so, each as it says."""

    def __init__(self) -> None:
        self.begun = 0
        self.threads: set[int] = set()
        self._turn = threading.Semaphore(0)
        self._outcomes: list[Exception | None] = []

    def sync(self) -> None:
        self.threads.add(threading.get_ident())
        self.begun += 1
        assert self._turn.acquire(timeout=LIMIT)
        if outcome := self._outcomes.pop(0):
            raise outcome

    def end(self, outcome: Exception | None = None) -> None:
        """End one sync: the running one, or the next."""
        self._outcomes.append(outcome)
        self._turn.release()

    async def begin(self, count: int) -> None:
        """Return when that many syncs have begun."""
        async with asyncio.timeout(LIMIT):
            while self.begun < count:
                await asyncio.sleep(0.001)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
async def group(disk: Disk) -> AsyncIterator[GroupSync]:
    made = GroupSync(disk.sync)
    yield made
    made.close()


def wait(group: GroupSync, count: int = 1) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(group.wait()) for _ in range(count)]


async def turn_loop() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


async def test_all_that_wait_at_once_share_a_sync(disk: Disk, group: GroupSync) -> None:
    disk.end()
    await asyncio.gather(*wait(group, 50))
    assert disk.begun == 1
    assert disk.threads != {threading.get_ident()}


async def test_who_comes_during_a_sync_waits_for_the_next(disk: Disk, group: GroupSync) -> None:
    early = wait(group, 3)
    await disk.begin(1)
    late = wait(group, 5)
    await turn_loop()
    disk.end()
    await asyncio.gather(*early)
    await disk.begin(2)
    await turn_loop()
    assert not any(task.done() for task in late)
    disk.end()
    await asyncio.gather(*late)
    assert disk.begun == 2


async def test_each_call_has_a_sync_of_its_own_if_nobody_else_waits(
    disk: Disk, group: GroupSync
) -> None:
    for _ in range(5):
        disk.end()
        await group.wait()
    assert disk.begun == 5


async def test_after_a_failure_every_call_fails(disk: Disk, group: GroupSync) -> None:
    early = wait(group, 2)
    await disk.begin(1)
    late = wait(group, 2)
    await turn_loop()
    disk.end(OSError(errno.EIO, "lost"))
    for task in (*early, *late, *wait(group, 2)):
        with pytest.raises(OSError, match="lost"):
            await task
    with pytest.raises(OSError, match="lost"):
        await group.wait()
    assert disk.begun == 1  # no later sync could say that all is on disk


@pytest.mark.parametrize("fails", [False, True])
async def test_who_is_cancelled_disturbs_nobody(disk: Disk, group: GroupSync, fails: bool) -> None:
    early = wait(group, 3)
    await disk.begin(1)
    late = wait(group, 3)
    await turn_loop()
    for tasks in (early, late):
        tasks[0].cancel()
    await turn_loop()
    assert early[0].cancelled()
    assert late[0].cancelled()
    disk.end(OSError(errno.EIO, "lost") if fails else None)
    disk.end()
    outcomes = await asyncio.gather(*early[1:], *late[1:], return_exceptions=True)
    assert [isinstance(outcome, OSError) for outcome in outcomes] == [fails] * 4


async def test_if_all_are_cancelled_the_next_one_is_served(disk: Disk, group: GroupSync) -> None:
    gone = wait(group, 2)
    await disk.begin(1)
    for task in gone:
        task.cancel()
    (task,) = wait(group)
    await turn_loop()
    disk.end()
    await disk.begin(2)
    assert not task.done()
    disk.end()
    await task


async def test_no_error_leaves_anybody_waiting(disk: Disk, group: GroupSync) -> None:
    """As where the system has no thread left."""
    (task,) = wait(group)
    await disk.begin(1)
    disk.end(RuntimeError("can't start new thread"))
    async with asyncio.timeout(LIMIT / 10):
        with pytest.raises((OSError, RuntimeError)):
            await task
