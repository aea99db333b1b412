"""Define what the store needs of a database: transactions, each one function of a connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import sqlalchemy
from sqlalchemy import Executable, Table
from sqlalchemy.exc import EmulatedDBAPIException, SQLAlchemyError

__all__ = [
    "DRIVER_ERRORS",
    "Connection",
    "ConnectionLost",
    "Database",
    "DatabaseFailure",
    "Rows",
    "Scan",
    "Work",
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


class Rows(Protocol):
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
    ) -> Rows:
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
