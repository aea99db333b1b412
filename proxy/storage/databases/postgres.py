"""Run the transactions of a PostgreSQL database, which replicas share.

Transactions of one lane (a tenant) that wait at the same time are committed together, each behind
a savepoint of its own.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import URL, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from proxy.storage.databases.base import Scan, Work
from proxy.storage.databases.sqlite_file import BUSY_SECONDS

__all__ = ["PostgresDatabase"]

# A replica that hangs, or that lost its machine, must not keep a tenant's account locked until TCP
# notices, which takes hours.
WAITS = {
    "lock_timeout": f"{BUSY_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{BUSY_SECONDS}s",
}
UNSYNCED = text("SET LOCAL synchronous_commit = off")
DEADLOCKED = "40P01"  # PostgreSQL's code
DEADLOCKS = 10  # how often a transaction may run again
AT_ONCE = 64  # transactions committed together
T = TypeVar("T")


@dataclass(frozen=True)
class _Job:
    """Hold a transaction that waits."""

    work: Work[Any]
    wait: bool
    done: asyncio.Future[Any]


class PostgresDatabase:
    """Connect to PostgreSQL. Use it from one event loop."""

    def __init__(self, url: URL) -> None:
        # Parameters hold generations and released text: errors must not show them.
        self._engine = create_async_engine(
            url, hide_parameters=True, connect_args={"server_settings": WAITS}
        )
        self._waiting: defaultdict[str, list[_Job]] = defaultdict(list)
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def file(self) -> None:
        return None

    async def read(self, work: Work[T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def scan(self, work: Scan[T]) -> T:
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def migrate(self, work: Scan[T]) -> T:
        return await self.scan(work)

    async def write(self, work: Work[T], *, lane: str, wait: bool) -> T:
        job = _Job(work, wait, asyncio.get_running_loop().create_future())
        self._waiting[lane].append(job)
        if lane not in self._running:
            self._running[lane] = asyncio.create_task(self._drain(lane))
        done: T = await job.done
        return done

    def size(self) -> None:
        return None

    async def empty_log(self, *, wait: bool) -> bool:
        """Return at once: the server looks after its log."""
        return True

    async def close(self) -> None:
        if self._running:
            await asyncio.wait(self._running.values())
        await self._engine.dispose()

    async def _drain(self, lane: str) -> None:
        """Run the transactions of a lane until none waits."""
        try:
            while waiting := self._waiting.pop(lane, []):
                jobs, rest = waiting[:AT_ONCE], waiting[AT_ONCE:]
                if rest:
                    self._waiting[lane] = rest
                await self._commit([job for job in jobs if not job.done.cancelled()])
        finally:
            del self._running[lane]

    async def _commit(self, jobs: list[_Job], again: int = DEADLOCKS) -> None:
        """Run transactions and commit them together; a failed one leaves no trace.

        One that waited for another that waited for it runs again, alone.
        """
        outcomes: list[Any] = []
        try:
            async with self._engine.begin() as connection:
                if not any(job.wait for job in jobs):
                    await connection.execute(UNSYNCED)
                outcomes = [await _run(connection, job.work) for job in jobs]
        except Exception as exc:  # the server is gone, or it refused to commit
            outcomes = [exc] * len(jobs)
        for job, outcome in zip(jobs, outcomes, strict=True):
            if job.done.done():
                continue
            if again and _is_deadlock(outcome):
                await self._commit([job], again - 1)
            elif isinstance(outcome, Exception):
                job.done.set_exception(outcome)
            else:
                job.done.set_result(outcome)


def _is_deadlock(outcome: object) -> bool:
    return isinstance(outcome, DBAPIError) and getattr(outcome.orig, "sqlstate", "") == DEADLOCKED


async def _run(connection: AsyncConnection, work: Work[Any]) -> Any:
    """Return the outcome of a transaction, or the exception that ended it."""
    try:
        async with connection.begin_nested():
            return await connection.run_sync(work)
    except Exception as exc:
        if connection.invalidated:  # the connection is gone, and with it all that ran on it
            raise
        return exc
