"""Run the transactions of a SQLite file on the event loop, and wait for the disk elsewhere.

A transaction reads and writes a few rows, which takes less time than passing it to a thread. Its
commit writes the log without waiting for the disk; one `fsync` of the log then makes all commits
before it durable (`GroupSync`). A log is as durable as with `synchronous = FULL`, which runs the
same `fsync` in every commit.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, create_engine, event
from sqlalchemy.exc import OperationalError

from proxy.storage.databases.base import Work
from proxy.storage.databases.group_sync import GroupSync
from proxy.storage.databases.sqlite_file import BUSY_SECONDS, DatabaseFile

__all__ = ["SqliteDatabase"]

logger = logging.getLogger("inferdpt.store")
FIRST_WAIT, LONGEST_WAIT = 0.001, 0.02  # seconds between two attempts to get another's lock
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
        self._reader = self._open_inline(isolation_level="AUTOCOMMIT")
        self._writer = self._open_inline(writes=True)
        self._turn = asyncio.Lock()  # fair, unlike polling
        self._writes = 0
        self._checkpointing: asyncio.Task[None] | None = None

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

    async def read(self, work: Work[T]) -> T:
        self._check()
        return await _retry(lambda: work(self._reader))

    async def scan(self, work: Work[T]) -> T:
        def run() -> T:
            with self._engine.begin() as connection:
                return work(connection)

        self._check()
        return await asyncio.to_thread(run)

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

    async def empty_log(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self._guard.checkpoint)

    async def close(self) -> None:
        if self._checkpointing is not None:
            await asyncio.wait([self._checkpointing])
        self._disk.close()
        self._reader.close()
        self._writer.close()
        self._engine.dispose()
        self._guard.close()

    def _open_inline(self, **options: Any) -> Connection:
        """Open a connection that never blocks."""
        connection = self._engine.connect().execution_options(**options)
        raw: Any = connection.connection.driver_connection
        raw.execute("PRAGMA busy_timeout = 0")
        raw.execute("PRAGMA wal_autocheckpoint = 0")
        return connection

    def _run(self, work: Work[T]) -> T:
        self._check()
        with self._writer.begin():
            return work(self._writer)

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
        except sqlite3.Error as exc:
            logger.warning("the log could not be moved into the database: %s", exc)
        finally:
            self._checkpointing = None

    def _check(self, *_: object) -> None:
        """Check that the file is still there, and the disk in order; raise `ApiError` or
        `OSError` if not."""
        self._disk.check()
        self._guard.check()


async def _retry(run: Callable[[], T]) -> T:
    """Run a transaction, again while the database is locked, for `BUSY_SECONDS`."""
    clock = asyncio.get_running_loop().time
    deadline, wait = clock() + BUSY_SECONDS, FIRST_WAIT
    while True:
        try:
            return run()
        except OperationalError as exc:
            code = getattr(exc.orig, "sqlite_errorcode", 0)
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
    options = connection.get_execution_options()
    if options.get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")
