"""Define what the store needs of a database: transactions, each one function of a connection.

Statements are SQLAlchemy's, and run on the driver itself. One is compiled once, and its text is
what the driver keeps prepared. Values pass as they are: no type of the schema needs a conversion.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar, cast

import sqlalchemy
from sqlalchemy import Dialect, Executable, Insert, Table, bindparam
from sqlalchemy.exc import EmulatedDBAPIException, SQLAlchemyError

__all__ = [
    "DRIVER_ERRORS",
    "Connection",
    "ConnectionLost",
    "Database",
    "DatabaseFailure",
    "DriverConnection",
    "Parameters",
    "Result",
    "Rows",
    "Scan",
    "Work",
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

    async def write(self, work: Work[T], *, lane: str, wait: bool) -> T:
        """Run a transaction that writes.

        Args:
            work: is run alone, or not at all; again if its first run surely changed nothing.
            lane: transactions of one lane run one after the other.
            wait: whether to return only when the transaction is durable.
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
