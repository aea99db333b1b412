"""Run the transactions of a SQLite file on the event loop, and wait for the disk elsewhere.

A transaction reads and writes a few rows, which takes less time than passing it to a thread. Its
commit writes the log without waiting for the disk; one `fsync` of the log then makes all commits
before it durable (`GroupSync`). A log is as durable as with `synchronous = FULL`, which runs the
same `fsync` in every commit.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Table, create_engine, event
from sqlalchemy.dialects import sqlite

from proxy.storage.databases.base import Scan, Work
from proxy.storage.databases.group_sync import GroupSync
from proxy.storage.databases.sqlite_connection import SqliteConnection
from proxy.storage.databases.sqlite_file import BUSY_SECONDS, DatabaseFile

__all__ = ["SqliteDatabase"]

logger = logging.getLogger("inferdpt.store")
FIRST_WAIT, LONGEST_WAIT = 0.0005, 0.003  # seconds between two attempts to get another's lock
RECENT = 0.02  # seconds for which a check of the file is good enough for a read
PREPARED = 256  # statements that a connection keeps
CHECKPOINT_WRITES = 250  # some megabytes of log
T = TypeVar("T")


class SqliteDatabase:
    """Hold the connections to an open SQLite file, see `open`. Use it from one event loop."""

    def __init__(self, guard: DatabaseFile) -> None:
        self._guard = guard
        self._disk = GroupSync(guard.sync)
        self._engine = create_engine(
            URL.create("sqlite", database=str(guard.path)),
            # Parameters hold generations and released text: errors must not show them.
            hide_parameters=True,
            connect_args={"check_same_thread": False},
        )
        event.listen(self._engine, "do_connect", self._check)  # SQLite would make an empty file
        event.listen(self._engine, "connect", _prepare)
        event.listen(self._engine, "begin", _begin)
        self._reader, self._writer = self._open_inline(), self._open_inline()
        self._turn = asyncio.Lock()  # fair, unlike polling
        self._writes = 0
        self._checkpointing: asyncio.Task[None] | None = None
        self._threads: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(cls, path: Path) -> SqliteDatabase:
        """Open a file; make it if there is none.

        Raises:
            ConfigError: it cannot be written.
            sqlite3.Error: it is no database, or another process locks it.
        """
        file = DatabaseFile(path)
        file.make()
        await asyncio.to_thread(file.open)
        return cls(file)

    @property
    def file(self) -> Path:
        return self._guard.path

    def insert(self, table: Table) -> Any:
        return sqlite.insert(table)

    async def read(self, work: Work[T]) -> T:
        self._check(since=time.monotonic() - RECENT)  # nothing leaves without a write
        return await _retry(lambda: work(self._reader))

    async def scan(self, work: Scan[T]) -> T:
        self._check()
        return await self._run_thread(partial(self._run_beside, work))

    async def migrate(self, work: Scan[T]) -> T:
        async with self._turn:
            done = await self._run_thread(partial(self._run_beside, work, writes=True))
        await self._disk.wait()
        return done

    async def write(self, work: Work[T], *, lane: str, wait: bool) -> T:
        del lane  # there is one writer
        async with self._turn:
            done = await _retry(lambda: self._run(work))
            self._guard.check()  # a commit to a deleted file is lost
        self._count_write()
        if wait:
            await self._disk.wait()
        return done

    def size(self) -> int:
        return self._guard.bytes()

    async def empty_log(self, *, wait: bool) -> bool:
        await self._run_thread(partial(self._guard.checkpoint, "PASSIVE"))  # beside writers
        async with self._turn:
            return await self._run_thread(partial(self._guard.checkpoint, "TRUNCATE", wait=wait))

    async def close(self) -> None:
        if running := [task for task in (self._checkpointing, *self._threads) if task]:
            await asyncio.wait(running)
        self._disk.close()
        self._reader.raw.close()
        self._writer.raw.close()
        self._engine.dispose()
        self._guard.close()

    async def _run_thread(self, work: Callable[[], T]) -> T:
        """Run a function in a thread, which `close` waits for if the caller is cancelled: it must
        not write to a folder that is gone."""
        task = asyncio.create_task(asyncio.to_thread(work))
        self._threads.add(task)
        task.add_done_callback(self._threads.discard)
        return await asyncio.shield(task)

    def _open_inline(self) -> SqliteConnection:
        """Open a connection for the event loop, which never waits for a lock."""
        raw = sqlite3.connect(
            self._guard.path, check_same_thread=False, cached_statements=PREPARED
        )
        _prepare(raw, None)
        raw.execute("PRAGMA busy_timeout = 0")
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        return SqliteConnection(raw)

    def _run(self, work: Work[T]) -> T:
        """Run a transaction on the event loop."""
        self._disk.check()
        raw = self._writer.raw
        raw.execute("BEGIN IMMEDIATE")
        try:
            done = work(self._writer)
            raw.execute("COMMIT")
        except BaseException:
            raw.rollback()
            raise
        return done

    def _run_beside(self, work: Scan[T], *, writes: bool = False) -> T:
        """Run a transaction in the current thread."""
        engine = self._engine.execution_options(writes=writes)
        with engine.begin() as connection:
            return work(connection)

    def _count_write(self) -> None:
        self._writes += 1
        if self._writes % CHECKPOINT_WRITES == 0 and self._checkpointing is None:
            self._checkpointing = asyncio.create_task(self._checkpoint())

    async def _checkpoint(self) -> None:
        """Move the log into the database: most of it beside other writers, the rest alone, so
        that the log starts again."""
        try:
            await asyncio.to_thread(self._guard.checkpoint, "PASSIVE")
            async with self._turn:
                await asyncio.to_thread(self._guard.checkpoint, "RESTART")
        except Exception as exc:  # the next one tries again
            logger.warning("the log could not be moved into the database: %s", type(exc).__name__)
        finally:
            self._checkpointing = None

    def _check(self, *_: object, since: float = math.inf) -> None:
        """Check that the disk is in order, and the file still there (see `DatabaseFile.check`);
        raise `OSError` or `ApiError` if not."""
        self._disk.check()
        self._guard.check(since=since)


async def _retry(run: Callable[[], T]) -> T:
    """Run a transaction, again while the database is locked, for `BUSY_SECONDS`."""
    clock = asyncio.get_running_loop().time
    deadline, wait = clock() + BUSY_SECONDS, FIRST_WAIT
    while True:
        try:
            return run()
        except sqlite3.OperationalError as exc:
            code = getattr(exc, "sqlite_errorcode", 0)  # what Python's part raises has none
            if code & 0xFF != sqlite3.SQLITE_BUSY or clock() > deadline:
                raise
        await asyncio.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def _prepare(connection: Any, _: Any) -> None:
    """Prepare a fresh connection. `_begin` begins its transactions, not the driver."""
    connection.isolation_level = None
    for setting in (
        f"busy_timeout = {BUSY_SECONDS * 1000}",
        "synchronous = NORMAL",  # `GroupSync` waits for the disk
        "foreign_keys = ON",
        "secure_delete = ON",  # forgotten rows are overwritten
    ):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: Connection) -> None:
    """Begin a transaction.

    A transaction that will write takes the lock at once. If it read first, another could write in
    between, and its own first write would fail.
    """
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
