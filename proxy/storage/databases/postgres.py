"""Run the transactions of a PostgreSQL database, which replicas share.

Transactions of one lane (a tenant) that wait at the same time are committed together, each behind
a savepoint of its own.

A server that restarts ends all connections, which shows when one is used. What was lost before its
COMMIT was sent changed nothing, and runs once more on a new connection. A lost COMMIT is reported
as a failure, for nobody knows if it counts: a request was charged then and is not sent, and its
texts keep their releases.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import URL, Executable, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import asyncpg as dialects
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.util import await_only, greenlet_spawn

from proxy.storage.databases.sqlite import BUSY_SECONDS
from proxy.storage.store import (
    DRIVER_ERRORS,
    ConnectionLost,
    DatabaseFailure,
    DriverConnection,
    Rows,
    Scan,
    Work,
    name_rows,
    returns_rows,
)

__all__ = ["PostgresConnection", "PostgresDatabase"]


class PostgresConnection(DriverConnection):
    """Execute statements on a connection of asyncpg.

    Use it in a function that runs inside of `sqlalchemy.util.greenlet_spawn`.
    """

    dialect = dialects.dialect()  # type: ignore[no-untyped-call]

    def __init__(self, raw: asyncpg.Connection) -> None:
        self._raw = raw

    def _run(self, statement: Executable, text: str, values: Sequence[Any]) -> Rows:
        if statement.is_dml and not returns_rows(statement):
            status: str = _wait(self._raw.execute(text, *values))
            return Rows([], int(status.rpartition(" ")[2]))  # "UPDATE 3", "INSERT 0 3"
        found = _wait(self._raw.fetch(text, *values))
        return Rows(name_rows(list(found[0].keys()), found) if found else [], len(found))

    def _run_many(self, text: str, rows: Sequence[Sequence[Any]]) -> Rows:
        _wait(self._raw.executemany(text, rows))
        return Rows([], len(rows))


def _wait(answer: Awaitable[Any]) -> Any:
    """Return the driver's answer. Every error of the driver becomes a `DatabaseFailure`; on a lost
    connection it raises some that are not the database's."""
    try:
        return await_only(answer)
    except Exception as exc:
        raise DatabaseFailure(getattr(exc, "sqlstate", None)) from exc


# A replica that hangs, or that lost its machine, must not keep a tenant's account locked until TCP
# notices, which takes hours.
WAITS = {
    "lock_timeout": f"{BUSY_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{BUSY_SECONDS}s",
}
UNSYNCED = "SET LOCAL synchronous_commit = off"
DEADLOCKED = "40P01"  # PostgreSQL's code
# A server says these before it ends a connection: lost, shut down, idle in a transaction too long.
FATAL = ("08", "57P", "25P03")
DEADLOCKS = 10  # how often a transaction may run again
AT_ONCE = 64  # transactions committed together
CONNECTIONS = 10  # for the statements of requests
ASYNCPG_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
T = TypeVar("T")


@dataclass(frozen=True)
class _Job:
    """Hold a transaction that waits."""

    work: Work[Any]
    wait: bool
    done: asyncio.Future[Any]


class _Connection(asyncpg.Connection):  # type: ignore[misc]
    def get_reset_query(self) -> str:
        """Return nothing to send when a connection is given back: requests leave no state."""
        return ""


class PostgresDatabase:
    """Connect to PostgreSQL. Use it from one event loop.

    Requests run on connections of the driver; what reads many rows or changes the schema runs
    with SQLAlchemy.
    """

    def __init__(self, url: URL) -> None:
        # Parameters hold generations and released text: errors must not show them.
        self._engine = create_async_engine(
            url, hide_parameters=True, connect_args={"server_settings": WAITS}
        )
        self._url = url
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None
        self._opening = asyncio.Lock()
        self._renewed = 0.0  # when the connections were given up, by the loop's clock
        self._waiting: defaultdict[str, list[_Job]] = defaultdict(list)
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def file(self) -> None:
        return None

    def insert(self, table: Table) -> Any:
        return postgresql.insert(table)

    async def read(self, work: Work[T]) -> T:
        async def run() -> T:
            async with self._connect() as raw:
                with _map_errors(raw):
                    return await _run(raw, work)

        return await self._try_twice(run)

    async def scan(self, work: Scan[T]) -> T:
        async def run() -> T:
            with _map_errors():
                async with self._engine.connect() as connection:
                    raw: Any = (await connection.get_raw_connection()).driver_connection
                    with _map_errors(raw):
                        found = await connection.run_sync(work)
                    await connection.commit()
                    return found

        return await self._try_twice(run)

    async def migrate(self, work: Scan[T]) -> T:
        return await self.scan(work)

    async def write(self, work: Work[T], *, lane: str, wait: bool, brief: bool) -> T:
        del brief  # the driver belongs to the event loop
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
        if self._pool is not None:
            await self._pool.close()
        await self._engine.dispose()

    async def _try_twice(self, run: Callable[[], Awaitable[T]]) -> T:
        """Run statements, once more on a new connection if theirs was lost before COMMIT."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            return await run()
        except ConnectionLost:
            if self._renewed <= began:  # else another has given up the old connections meanwhile
                self._renewed = clock()
                await self._give_up_connections()
            return await run()

    async def _give_up_connections(self) -> None:
        """Use no open connection any more: what ended one has probably ended all."""
        with _map_errors():
            if self._pool is not None:
                await self._pool.expire_connections()
            await self._engine.dispose()

    @asynccontextmanager
    async def _connect(self) -> AsyncIterator[asyncpg.Connection]:
        """Lend a connection for the statements of requests."""
        with _map_errors():
            if self._pool is None:
                async with self._opening:
                    self._pool = self._pool or await self._open_pool()
            raw = await self._pool.acquire()
        try:
            yield raw
        finally:
            with suppress(DatabaseFailure), _map_errors():  # the pool closes it then
                await self._pool.release(raw)

    async def _open_pool(self) -> asyncpg.Pool[asyncpg.Record]:
        _, settings = PostgresConnection.dialect.create_connect_args(self._url)  # type: ignore[no-untyped-call]
        # SQLAlchemy's name for it; 0 is for servers behind a pool of connections.
        kept = settings.pop("prepared_statement_cache_size", None)
        if kept is not None:
            settings["statement_cache_size"] = int(kept)
        return await asyncpg.create_pool(
            **settings,
            min_size=1,
            max_size=CONNECTIONS,
            connection_class=_Connection,
            server_settings=WAITS,
        )

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
        """Run transactions and commit them together; a failed one leaves no trace, with or
        without others.

        One that waited for another that waited for it runs again, alone.
        """
        try:
            outcomes = await self._try_twice(lambda: self._run_jobs(jobs))
        except Exception as exc:  # the only one failed, the server is gone or refused to commit
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

    async def _run_jobs(self, jobs: list[_Job]) -> list[Any]:
        """Run transactions as one, and return the outcome of each."""
        run = _run if len(jobs) == 1 else _try
        async with self._connect() as raw:
            transaction = raw.transaction()
            with _map_errors(raw):
                await transaction.start()
                try:
                    if not any(job.wait for job in jobs):
                        await raw.execute(UNSYNCED)
                    outcomes = [await run(raw, job.work) for job in jobs]
                except BaseException:
                    await transaction.rollback()
                    raise
            with _map_errors():  # a connection that is lost now may have committed
                await transaction.commit()
        return outcomes


def _is_deadlock(outcome: object) -> bool:
    return isinstance(outcome, DatabaseFailure) and outcome.sqlstate == DEADLOCKED


async def _run(raw: asyncpg.Connection, work: Work[T]) -> T:
    return await greenlet_spawn(work, PostgresConnection(raw))


async def _try(raw: asyncpg.Connection, work: Work[Any]) -> Any:
    """Return the outcome of a transaction, or the exception that ended it."""
    try:
        with _map_errors(raw):
            async with raw.transaction():
                return await _run(raw, work)
    except ConnectionLost:  # and with it all that ran on it
        raise
    except Exception as exc:
        return exc


@contextmanager
def _map_errors(raw: asyncpg.Connection | None = None) -> Iterator[None]:
    """Map all errors of the drivers to `DatabaseFailure`, whose text names nothing that was sent.

    Args:
        raw: the connection on which nothing has been committed; the error is `ConnectionLost` if
            it has ended.
    """
    try:
        yield
    except ConnectionLost:
        raise
    except (*ASYNCPG_ERRORS, *DRIVER_ERRORS) as exc:
        sqlstate = getattr(getattr(exc, "orig", exc), "sqlstate", None)
        if raw is not None and (_is_closed(raw) or (sqlstate or "").startswith(FATAL)):
            raise ConnectionLost(sqlstate) from exc
        raise DatabaseFailure(sqlstate) from exc


def _is_closed(raw: asyncpg.Connection) -> bool:
    try:
        return bool(raw.is_closed())
    except asyncpg.InterfaceError:  # it has left the pool, as closed ones do
        return True
