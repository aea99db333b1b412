"""Run the transactions of a SQLite file on the event loop, and wait for the disk elsewhere.

A transaction reads and writes a few rows, which takes less time than passing it to a thread; one
of many rows runs in a thread. Its commit writes the log without waiting for the disk; one `fsync`
of the log then makes all commits before it durable (`GroupSync`). A log is as durable as with
`synchronous = FULL`, which runs the same `fsync` in every commit. The file is private, in WAL
mode, and the same while it is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import URL, Connection, Executable, Table, create_engine, event
from sqlalchemy.dialects import sqlite

from proxy.errors import ConfigError, store_unavailable
from proxy.storage.store import DriverConnection, Rows, Scan, Work, name_rows

__all__ = ["BUSY_SECONDS", "DatabaseFile", "GroupSync", "SqliteConnection", "SqliteDatabase"]


class GroupSync:
    """Run a blocking `sync` in a thread of its own, once for everybody who waits.

    A caller waits for a `sync` that began after its call. The kernel forgets what it could not
    write, so after one failure every later call fails, too.

    Args:
        sync: brings everything written so far to the disk, or raises `OSError`.
    """

    def __init__(self, sync: Callable[[], None]) -> None:
        self._sync = sync
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inferdpt-sync")
        self._next: asyncio.Future[None] | None = None
        self._running: asyncio.Task[None] | None = None
        self._failure: OSError | None = None

    async def wait(self) -> None:
        """Return when everything that was written before the call is on disk; raise `OSError`."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        await asyncio.shield(self._next)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while (waiting := self._next) is not None:
            self._next = None
            try:
                self.check()
                await loop.run_in_executor(self._thread, self._sync)
            except Exception as exc:
                if not isinstance(exc, OSError):  # there are no more threads, or they are closed
                    exc = OSError(f"cannot wait for the disk: {exc}")
                self._failure = exc
                waiting.set_exception(exc)
                waiting.exception()  # a caller that was cancelled does not fetch it
            else:
                waiting.set_result(None)
        self._running = None

    def check(self) -> None:
        """Raise the `OSError` of the `sync` that failed, if one did."""
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


logger = logging.getLogger("inferdpt.store")
BUSY_SECONDS = 30  # how long a writer waits for another process
# SQLite's own files. Without its log the database lacks the latest charges; without the shared
# index two processes no longer wait for each other.
ENDINGS = ("", "-wal", "-shm")


class DatabaseFile:
    """Watch a SQLite file.

    A deleted file is lost with the process, and with it every charge and every draw that equal
    texts must reuse.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._paths = [str(path) + ending for ending in ENDINGS]
        self._anchor: sqlite3.Connection | None = None
        self._log: int | None = None  # of the log
        self._identity: list[tuple[int, int]] | None = None
        self._size = 0  # at the last check
        self._least = 0  # a database below this size was cut short
        self._schema = 0
        self._lost = False
        self._checked = -math.inf

    def make(self) -> None:
        """Make the file before SQLite does, for this user alone.

        The files that SQLite puts beside it get its mode.

        Raises:
            ConfigError: it cannot be written.
        """
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError as exc:
            raise ConfigError(f"store: {self.path} cannot be written ({exc.strerror})") from None
        if not os.access(self.path, os.R_OK | os.W_OK):
            raise ConfigError(f"store: {self.path} cannot be written (no permission)")

    def open(self) -> None:
        """Put the file into WAL mode, and remember its identity.

        One connection stays open, so that SQLite does not remove the log and the index before
        `close`.
        """
        self._anchor = sqlite3.connect(self.path, check_same_thread=False)
        # SQLite does not wait for other processes when it changes the mode.
        deadline = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._anchor.execute("PRAGMA journal_mode = WAL")
                self._anchor.execute("SELECT count(*) FROM sqlite_master").fetchone()
                break
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        self._identity, self._size = self._inspect()
        self._least = self._size
        self._log = os.open(self._paths[1], os.O_RDWR)
        _sync_folder(self.path.parent)

    def check(self, *, since: float = math.inf) -> None:
        """Check that the path still leads to the open file, and that it was not cut short.

        Args:
            since: when the last check may have been (`time.monotonic`).

        Raises:
            ApiError: 503, one of these is not so, and nothing may be sent.
        """
        if self._identity is None or self._checked >= since:
            return
        lost = not self._is_whole()
        if lost and not self._lost:
            logger.error(
                "the database %s was deleted, replaced or cut short while the proxy was running: "
                "requests are refused and nothing is sent. Stop the proxy, put the file back "
                "with the -wal file beside it, and start it again; without them budgets start "
                "anew and texts released before are drawn afresh.",
                self.path,
            )
        self._lost = lost
        self._checked = -math.inf if lost else time.monotonic()
        if lost:
            raise store_unavailable()

    def sync(self) -> None:
        """Bring every commit so far to the disk; raise `OSError`."""
        if self._log is not None:
            os.fsync(self._log)

    def checkpoint(
        self, mode: Literal["PASSIVE", "RESTART", "TRUNCATE"], *, wait: bool = False
    ) -> bool:
        """Move the log into the database; see SQLite's `wal_checkpoint` for the modes.

        Args:
            wait: for readers, up to `BUSY_SECONDS`.

        Returns:
            Whether no reader was in the way.
        """
        seconds = BUSY_SECONDS if wait else 0
        uri = f"{self.path.absolute().as_uri()}?mode=rw"  # never makes an empty file
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=seconds)) as connection:
            busy, _, _ = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            return not busy

    def bytes(self) -> int:
        """Return the size of the database and its log, in bytes."""
        return sum(os.path.getsize(path) for path in self._paths[:2] if os.path.exists(path))

    def close(self) -> None:
        """Release the file."""
        if self._anchor is not None:
            self._anchor.close()
        if self._log is not None:
            os.close(self._log)
        self._anchor = self._identity = self._log = None

    def _is_whole(self) -> bool:
        """Return whether the files are those that were opened, and the database was not cut."""
        try:
            identity, size = self._inspect()
            if identity != self._identity:
                return False
            self._allow_vacuum()
        except (OSError, sqlite3.Error):
            return False
        if size < self._least:
            return False
        if size != self._size:  # it grew, or this is the checkpoint after a VACUUM
            self._least = size
        self._size = size
        return True

    def _allow_vacuum(self) -> None:
        """Let the file shrink to the size that a `VACUUM` leaves, now or at a later checkpoint.

        A `VACUUM` raises the schema's version, as migrations do. An open connection sees no such
        rise if an older copy replaces the file or the file is cut short.
        """
        assert self._anchor is not None
        (schema,) = self._anchor.execute("PRAGMA schema_version").fetchone()
        if schema > self._schema:
            (pages,) = self._anchor.execute("PRAGMA page_count").fetchone()
            (page,) = self._anchor.execute("PRAGMA page_size").fetchone()
            self._schema, self._least = schema, min(self._least, pages * page)

    def _inspect(self) -> tuple[list[tuple[int, int]], int]:
        """Return the identities of the files at the paths, and the size of the database."""
        found = [os.stat(path) for path in self._paths]
        return [(one.st_dev, one.st_ino) for one in found], found[0].st_size


def _sync_folder(folder: Path) -> None:
    """Make the files of a folder as durable as their contents."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class SqliteConnection(DriverConnection):
    """Execute statements on a connection of `sqlite3`."""

    dialect = sqlite.dialect(paramstyle="qmark")

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def _run(self, statement: Executable, text: str, values: Sequence[Any]) -> Rows:
        cursor = self.raw.execute(text, values)
        rows = cursor.fetchall()
        if rows:
            rows = name_rows([column[0] for column in cursor.description], rows)
        return Rows(rows, cursor.rowcount)

    def _run_many(self, text: str, rows: Sequence[Sequence[Any]]) -> Rows:
        return Rows([], self.raw.executemany(text, rows).rowcount)


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
        self._running: set[asyncio.Task[Any]] = set()
        # Its own: what has its turn never waits until the texts of large requests are through.
        self._threads = ThreadPoolExecutor(2, "inferdpt-store")  # a checkpoint beside a writer

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
        return await self._finish(asyncio.to_thread(self._run_beside, work))

    async def migrate(self, work: Scan[T]) -> T:
        async with self._turn:
            done = await self._run_thread(partial(self._run_beside, work, writes=True))
        await self._disk.wait()
        return done

    async def write(self, work: Work[T], *, lane: str, wait: bool, brief: bool) -> T:
        del lane  # there is one writer
        await self._turn.acquire()
        if brief:
            done = await self._write(work, None)
        else:
            done = await self._finish(self._write(work, self._threads))
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
        if running := [task for task in (self._checkpointing, *self._running) if task]:
            await asyncio.wait(running)
        self._threads.shutdown()
        self._disk.close()
        self._reader.raw.close()
        self._writer.raw.close()
        self._engine.dispose()
        self._guard.close()

    async def _run_thread(self, work: Callable[[], T]) -> T:
        """Run a function in a thread of the store's own, to its end as `_finish` does."""
        return await self._finish(_run_in(self._threads, work))

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine with a thread to its end, also if the caller is cancelled: it keeps its
        turn until then. `close` waits for it: it must not write to a folder that is gone."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _write(self, work: Work[T], threads: Executor | None) -> T:
        """Run a transaction whose turn it is, on the event loop or in a thread, and end its
        turn."""
        try:
            done = await _retry(lambda: self._run(work), threads)
            self._guard.check()  # a commit to a deleted file is lost
            self._count_write()
        finally:
            self._turn.release()
        return done

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
        """Run a transaction in the current thread, whose turn it is."""
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
            await self._run_thread(partial(self._guard.checkpoint, "PASSIVE"))
            async with self._turn:
                await self._run_thread(partial(self._guard.checkpoint, "RESTART"))
        except Exception as exc:  # the next one tries again
            logger.warning("the log could not be moved into the database: %s", type(exc).__name__)
        finally:
            self._checkpointing = None

    def _check(self, *_: object, since: float = math.inf) -> None:
        """Check that the disk is in order, and the file still there (see `DatabaseFile.check`);
        raise `OSError` or `ApiError` if not."""
        self._disk.check()
        self._guard.check(since=since)


async def _run_in(threads: Executor, run: Callable[[], T]) -> T:
    """Run a function in a thread, in the caller's context."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(threads, copy_context().run, run)


async def _retry(run: Callable[[], T], threads: Executor | None = None) -> T:
    """Run a transaction, in one of the threads if they are given, again while the database is
    locked, for `BUSY_SECONDS`."""
    clock = asyncio.get_running_loop().time
    deadline, wait = clock() + BUSY_SECONDS, FIRST_WAIT
    while True:
        try:
            return run() if threads is None else await _run_in(threads, run)
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
