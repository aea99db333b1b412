"""Hold the store: the one database that outlives the process and that replicas share.

It is a SQLite file under the state directory, or PostgreSQL for several proxies. It holds only
what the remote already knows, keyed hashes, counters and encrypted rows (proxy.storage.schema).

The store needs transactions of a database, each one function of a connection. Statements are
SQLAlchemy's, and run on the driver itself. One is compiled once, and its text is what the driver
keeps prepared. Values pass as they are: no type of the schema needs a conversion.
"""

from __future__ import annotations

import sqlite3
import time
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast

import sqlalchemy
from sqlalchemy import (
    Dialect,
    Executable,
    Insert,
    Table,
    bindparam,
    delete,
    func,
    select,
    true,
    tuple_,
)
from sqlalchemy.exc import EmulatedDBAPIException, SQLAlchemyError

from proxy.errors import bad_request, store_unavailable
from proxy.storage.schema import (
    ACCOUNTS,
    ANSWERS,
    BATCHES,
    CHARGES,
    DISCLOSURES,
    FILE_LINES,
    FILES,
    KEYS,
    OWNERS,
    PASSAGES,
    RATES,
    RECORDS,
    RELEASES,
    SESSIONS,
    SPENDS,
)

__all__ = [
    "DRIVER_ERRORS",
    "SIGN_IN_SECONDS",
    "SWEEP_SECONDS",
    "Connection",
    "ConnectionLost",
    "Database",
    "DatabaseFailure",
    "DriverConnection",
    "Parameters",
    "Result",
    "Rows",
    "Scan",
    "Store",
    "Work",
    "batches",
    "name_rows",
    "returns_rows",
]


T = TypeVar("T")
# What SQLAlchemy, `sqlite3` and sockets raise. An end of a stream is an `EOFError`; warnings are
# raised where Python is told to.
DRIVER_ERRORS = (
    SQLAlchemyError,
    EmulatedDBAPIException,
    sqlite3.Error,
    sqlite3.Warning,
    OSError,
    EOFError,
    Warning,
)


class DatabaseFailure(OSError):
    """Report that a server failed, with its SQLSTATE if it gave one."""

    def __init__(self, sqlstate: str | None = None) -> None:
        super().__init__("the database failed")
        self.sqlstate = sqlstate


class ConnectionLost(DatabaseFailure):
    """Report that a connection ended before COMMIT was sent: nothing of the transaction counts,
    and it may run again."""


class Result(Protocol):
    """Hold what a statement returned: rows with their columns as attributes."""

    @property
    def rowcount(self) -> int:
        """Return how many rows the statement changed."""

    def __iter__(self) -> Iterator[Any]: ...

    def all(self) -> Sequence[Any]:
        """Return all rows."""

    def first(self) -> Any:
        """Return the first row; None if there is none."""

    def scalar_one(self) -> Any:
        """Return the first column of the only row."""


class Connection(Protocol):
    """Execute statements in a transaction: the part of SQLAlchemy's connection that requests use.

    A statement that is a constant of its module is compiled once.
    """

    def execute(
        self,
        statement: Executable,
        parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> Result:
        """Execute a statement, once for each of several parameters."""

    def scalar(self, statement: Executable, parameters: Mapping[str, Any] | None = None) -> Any:
        """Return the first column of the first row; None if there is none."""


Work: TypeAlias = Callable[[Connection], T]
Scan: TypeAlias = Callable[[sqlalchemy.Connection], T]


class Database(Protocol):
    """Run transactions. Every call raises `DRIVER_ERRORS`, `ApiError` or what its work raised."""

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for a server."""

    def insert(self, table: Table) -> Any:
        """Return the dialect's INSERT, which has `on_conflict_do_…`."""

    async def read(self, work: Work[T]) -> T:
        """Run statements that read a few rows by their keys, each for itself."""

    async def scan(self, work: Scan[T]) -> T:
        """Run a transaction that may read many rows."""

    async def migrate(self, work: Scan[T]) -> T:
        """Run a transaction that may change the schema."""

    async def write(self, work: Work[T], *, lane: str, wait: bool, brief: bool) -> T:
        """Run a transaction that writes.

        Args:
            work: is run alone, or not at all; again if its first run surely changed nothing.
            lane: transactions of one lane run one after the other.
            wait: whether to return only when the transaction is durable.
            brief: whether it takes a few milliseconds; any other may run in a thread.
        """

    def size(self) -> int | None:
        """Return the bytes on disk; None if only a query tells them."""

    async def empty_log(self, *, wait: bool) -> bool:
        """Remove deleted rows from the log of changes.

        Args:
            wait: for readers that are in the way, some time.

        Returns:
            Whether it was done.
        """

    async def close(self) -> None:
        """Close all connections."""


AT_ONCE = 500  # keys in one query
COMPILED = 256  # statements, each with the sizes of its lists
Parameters = Mapping[str, Any]


class Rows:
    """Hold the rows that a statement returned, with their columns as attributes.

    Attributes:
        rowcount: how many rows it changed.
    """

    def __init__(self, rows: list[Any], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def all(self) -> list[Any]:
        """Return all rows."""
        return self._rows

    def first(self) -> Any:
        """Return the first row; None if there is none."""
        return self._rows[0] if self._rows else None

    def scalar_one(self) -> Any:
        """Return the first column of the only row."""
        (row,) = self._rows
        return row[0]


class DriverConnection(ABC):
    """Execute statements on a connection of a driver, as SQLAlchemy's connection would.

    It begins and ends no transaction.
    """

    dialect: ClassVar[Dialect]  # with positional parameters

    def execute(
        self, statement: Executable, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> Rows:
        """Execute a statement, once for each of several parameters with equal names; raise the
        driver's errors."""
        if parameters is None or isinstance(parameters, Mapping):
            one = parameters or {}
            prepared = _prepare(self.dialect, statement, one)
            return self._run(statement, prepared.text, prepared.fill(one))
        if not parameters:
            return Rows([], 0)
        if returns_rows(statement):
            names = tuple(parameters[0])
            prepared = _prepare_rows(
                self.dialect, cast("Insert", statement), names, len(parameters)
            )
            values = [row[name] for row in parameters for name in names]
            return self._run(statement, prepared.text, prepared.fill({"rows": values}))
        prepared = _prepare(self.dialect, statement, parameters[0])
        return self._run_many(prepared.text, list(map(prepared.fill, parameters)))

    def scalar(self, statement: Executable, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self.execute(statement, parameters).first()
        return None if row is None else row[0]

    @abstractmethod
    def _run(self, statement: Executable, text: str, values: Sequence[Any]) -> Rows:
        """Execute a statement by its text."""

    @abstractmethod
    def _run_many(self, text: str, rows: Sequence[Sequence[Any]]) -> Rows:
        """Execute a statement that returns no rows, once for each row of values."""


class _Prepared:
    """Hold the text of a statement for lists of some sizes.

    Args:
        order: the names of the values in the order of their places in the text.
        fixed: values that the statement holds itself.
        lists: for each list, the names of its values.
    """

    def __init__(
        self,
        text: str,
        order: Sequence[str],
        fixed: Parameters,
        lists: Mapping[str, Sequence[str]],
    ) -> None:
        self.text = text
        self._order = order
        self._fixed = fixed
        self._lists = lists

    def fill(self, parameters: Parameters) -> list[Any]:
        """Return the values in the order of their places."""
        if self._fixed or self._lists:
            parameters = {**self._fixed, **parameters}
            for name, names in self._lists.items():
                values = parameters.pop(name)
                spare = values[-1:] * (len(names) - len(values))
                parameters.update(zip(names, [*values, *spare], strict=True))
        return [parameters[name] for name in self._order]


def _prepare(dialect: Dialect, statement: Executable, parameters: Parameters) -> _Prepared:
    """Return a statement for parameters of these names, and lists of these sizes or a little
    more: a statement for each size would have to be compiled again and again. The last value
    fills what is left of a list, which changes no IN."""
    lists = tuple([(n, _round_up(len(v))) for n, v in parameters.items() if isinstance(v, list)])
    return _compile(dialect, statement, tuple(parameters), lists)


def _round_up(size: int) -> int:
    """Return a size as large or larger, with two significant bits.

    >>> [_round_up(size) for size in (0, 1, 2, 3, 5, 7, 17, 600)]
    [0, 1, 2, 3, 6, 8, 24, 768]
    """
    unit = 1 << max(size.bit_length() - 2, 0)
    return -(-size // unit) * unit


@lru_cache(maxsize=COMPILED)
def _prepare_rows(
    dialect: Dialect, statement: Insert, names: tuple[str, ...], count: int
) -> _Prepared:
    """Return an INSERT of so many rows, with the values of one after those of another."""
    rows: list[dict[str, Any]] = [
        {name: bindparam(f"{name}__{i}") for name in names} for i in range(count)
    ]
    compiled: Any = statement.values(rows).compile(dialect=dialect)
    wanted = [f"{name}__{i}" for i in range(count) for name in names]
    return _Prepared(str(compiled), compiled.positiontup, {}, {"rows": wanted})


def batches(items: Sequence[T]) -> Iterable[Sequence[T]]:
    """Cut a list of keys or rows into batches that fit one statement."""
    return (items[i : i + AT_ONCE] for i in range(0, len(items), AT_ONCE))


def returns_rows(statement: Executable) -> bool:
    """Tell if a statement returns rows: a query, or a change with RETURNING."""
    return bool(statement.is_select or getattr(statement, "_returning", ()))


def name_rows(columns: Sequence[str], rows: Sequence[Any]) -> list[Any]:
    """Return rows with names for their columns."""
    return list(map(_make_row_type(tuple(columns))._make, rows))


@lru_cache(maxsize=COMPILED)
def _make_row_type(names: tuple[str, ...]) -> Any:
    return namedtuple("Row", names, rename=True)


@lru_cache(maxsize=COMPILED)
def _compile(
    dialect: Dialect,
    statement: Executable,
    names: tuple[str, ...],
    lists: tuple[tuple[str, int], ...],
) -> _Prepared:
    columns = list(names) if isinstance(statement, Insert) else None
    compiled: Any = statement.compile(dialect=dialect, column_keys=columns)  # type: ignore[attr-defined]
    fixed = {name: value for name, value in compiled.params.items() if name not in names}
    state = compiled.construct_expanded_state(
        {**dict.fromkeys(names), **{name: [None] * size for name, size in lists}}
    )
    return _Prepared(state.statement, state.positiontup, fixed, state.parameter_expansion)


SWEEP_SECONDS = 600.0
SIGN_IN_SECONDS = 600.0  # for signing in; a session's row stays as long, so that none begins twice
COUNTED = (
    RELEASES,
    ANSWERS,
    PASSAGES,
    ACCOUNTS,
    SPENDS,
    DISCLOSURES,
    RECORDS,
    KEYS,
    FILES,
    FILE_LINES,
    BATCHES,
    OWNERS,
    CHARGES,
)
NO_CHARACTER = "22021"  # PostgreSQL's SQLSTATE for a NUL in a text, say
BATCH = 200  # rows deleted in one transaction, so that requests run in between


class Store:
    """Run transactions in the database. Use it from one event loop.

    A transaction is a function of a connection. It is run again if another process holds the
    database's lock, so it must have no other effect.

    Args:
        database: runs the transactions.
        secret: the key of all digests.
        name: of the database, for people.
    """

    def __init__(self, database: Database, secret: bytes, name: str) -> None:
        self.secret = secret
        self._database = database
        self._name = name
        self._dirty = True  # the log may hold deleted lines of files, from before a crash, too

    def with_secret(self, secret: bytes) -> Store:
        """Return the same store under another secret."""
        return Store(self._database, secret, self._name)

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for PostgreSQL."""
        return self._database.file

    async def read(self, work: Work[T]) -> T:
        """Read a few rows by their keys; each statement sees what is committed by then.

        Raises:
            ApiError: 503, the database failed, or the file is not the one that was opened.
        """
        with _MAP:
            return await self._database.read(work)

    async def scan(self, work: Scan[T]) -> T:
        """Run a transaction that may read many rows; raise `ApiError` as `read` does."""
        with _MAP:
            return await self._database.scan(work)

    async def migrate(self, work: Scan[T]) -> T:
        """Run a transaction that may change the schema; raise `ApiError` as `read` does."""
        with _MAP:
            return await self._database.migrate(work)

    async def write(
        self, work: Work[T], *, lane: str = "", wait: bool = True, brief: bool = True
    ) -> T:
        """Run a transaction that writes. Nothing of it counts if it raises.

        Args:
            lane: the tenant whose account the transaction locks. Of one lane, one runs at a time.
            wait: whether to return only when all of it is durable. Otherwise it survives the
                process, but not the machine.
            brief: whether it takes a few milliseconds; any other may run in a thread.

        Raises:
            ApiError: as `read` does.
        """
        with _MAP:
            return await self._database.write(work, lane=lane, wait=wait, brief=brief)

    def insert(self, table: Table) -> Any:
        """Return the dialect's INSERT, which has `on_conflict_do_…`."""
        return self._database.insert(table)

    async def sweep(self, ttl: float, rows: int, *, now: float | None = None) -> int:
        """Forget old rows and return their number.

        Days and totals of the ledger stay.

        Args:
            ttl: seconds without use after which a row is forgotten.
            rows: the most texts of one tenant, and the most answers. The ones unused for the
                longest time are forgotten.
            now: seconds since 1970; None for the present.
        """
        now = time.time() if now is None else now
        gone = 0
        for table in (RELEASES, ANSWERS, PASSAGES, ACCOUNTS):
            old = table.c.used < now - ttl
            if table is ACCOUNTS:
                old &= table.c.scope == "conversation"
            gone += await self._delete(table, old)
        await self._delete(RATES, RATES.c.full_at < now)  # a full bucket is the same as none
        await self._delete(SESSIONS, SESSIONS.c.expires < now - SIGN_IN_SECONDS)
        gone += await self.sweep_files(now)
        for table in (RELEASES, ANSWERS, PASSAGES):
            for tenant, limit in await self._beyond(table, rows):
                gone += await self._delete(
                    table, (table.c.tenant == tenant) & (table.c.used <= limit)
                )
        return gone

    async def sweep_files(self, now: float) -> int:
        """Forget files that have expired and batches that ended long ago; return their rows."""
        gone = await self._delete_files(FILES.c.expires < now)
        gone += await self._delete(BATCHES, BATCHES.c.forget < now)
        self._dirty |= bool(gone)
        if self._dirty:
            await self._empty_log(wait=False)
        return gone

    async def _delete_files(self, where: Any) -> int:
        """Delete files, their lines first: one transaction for all of them would take long."""
        some = select(FILES.c.id).where(where)
        gone = await self._delete(FILE_LINES, FILE_LINES.c.file.in_(some))
        return gone + await self._delete(FILES, where)

    async def _beyond(self, table: Table, rows: int) -> list[tuple[str, float]]:
        """Return the tenants with more than `rows` rows, each with the last use of its newest
        excess row.

        The limit is per tenant: one tenant's texts never push out another's, which would be drawn
        afresh.
        """
        many = select(table.c.tenant).group_by(table.c.tenant).having(func.count() > rows)

        def find(connection: sqlalchemy.Connection) -> list[tuple[str, float]]:
            found = []
            for tenant in connection.scalars(many).all():
                newest = select(table.c.used).where(table.c.tenant == tenant)
                query = newest.order_by(table.c.used.desc()).offset(rows).limit(1)
                found.append((tenant, connection.scalars(query).one()))
            return found

        return await self.scan(find)

    async def purge(
        self, *, before: float | None = None, tenant: str | None = None, ledger: bool = False
    ) -> int:
        """Forget texts, answers, files and batches now and return the number of rows.

        Args:
            before: only those last used before this time (seconds since 1970). Files and batches
                count from when they were made.
            tenant: only this tenant's.
            ledger: forget the accounts, too; budgets start anew. Those of the owners of corpora
                belong to no tenant and no time: they go only with all others.
        """

        def choose(table: Table, time: str) -> Any:
            where = true() if before is None else table.c[time] < before
            return where if tenant is None else where & (table.c.tenant == tenant)

        gone = await self._delete(BATCHES, choose(BATCHES, "created"))
        gone += await self._delete_files(choose(FILES, "created"))
        if ledger and before is None and tenant is None:
            gone += await self.write(_delete_owners)
        for table in (RELEASES, ANSWERS, PASSAGES, *((ACCOUNTS,) if ledger else ())):
            gone += await self._delete(table, choose(table, "used"))
        await self._empty_log(wait=True)
        return gone

    async def _empty_log(self, *, wait: bool) -> None:
        """Empty the database's log: deleted rows stay in it until then. If a reader is in the
        way and is not waited for, the next sweep does it."""
        with _MAP:
            self._dirty = not await self._database.empty_log(wait=wait)

    async def _delete(self, table: Table, where: Any) -> int:
        key = tuple_(*table.primary_key)
        some = select(*table.primary_key).where(where).limit(BATCH)
        # `where` again: PostgreSQL re-reads a row that was used meanwhile.
        statement = delete(table).where(key.in_(some), where)
        gone, last = 0, BATCH
        while last == BATCH:
            last = await self.write(lambda connection: connection.execute(statement).rowcount)
            gone += last
        return gone

    async def ping(self) -> None:
        """Check that the database answers; raise `ApiError` if not."""
        await self.scan(lambda connection: connection.scalar(select(1)))

    async def info(self) -> dict[str, int]:
        """Return the number of rows of each table, and the database's size in bytes."""

        def count(connection: sqlalchemy.Connection) -> dict[str, int]:
            out = {}
            for table in COUNTED:
                found = connection.scalar(select(func.count()).select_from(table))
                out[table.name] = int(found or 0)
            size = self._database.size()
            if size is None:
                query = select(func.pg_database_size(func.current_database()))
                size = int(connection.scalar(query) or 0)
            return {**out, "bytes": size}

        return await self.scan(count)

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()

    def __str__(self) -> str:
        return self._name


def _delete_owners(connection: Connection) -> int:
    """Forget the owners of corpora and their charges: in one transaction, or a release could stay
    known, and so be free, whose charge is gone."""
    return sum(connection.execute(delete(table)).rowcount for table in (OWNERS, CHARGES))


class _ErrorMap:
    """Map the database's errors to `ApiError`, in a `with` block."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, exc: BaseException | None, _: object) -> None:
        if isinstance(exc, DRIVER_ERRORS):
            if getattr(getattr(exc, "orig", exc), "sqlstate", None) == NO_CHARACTER:
                message = "An id or a name has a character that the store cannot hold."
                raise bad_request(message, code="invalid_value") from exc
            raise store_unavailable() from exc


_MAP = _ErrorMap()
