"""Define what the store needs of a database: transactions, each one function of a connection."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from sqlalchemy import Connection

__all__ = ["Database", "Work"]

T = TypeVar("T")
Work: TypeAlias = Callable[[Connection], T]


class Database(Protocol):
    """Run transactions. Every call raises SQLAlchemy's errors, `OSError` or `ApiError`."""

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for a server."""

    async def read(self, work: Work[T]) -> T:
        """Run statements that read a few rows by their keys, each for itself."""

    async def scan(self, work: Work[T]) -> T:
        """Run a transaction that may read many rows."""

    async def write(self, work: Work[T], *, lane: str, wait: bool) -> T:
        """Run a transaction that writes.

        Args:
            work: is run alone, or not at all.
            lane: transactions of one lane run one after the other.
            wait: whether to return only when the transaction is durable.
        """

    def size(self) -> int | None:
        """Return the bytes on disk; None if only a query tells them."""

    async def empty_log(self) -> None:
        """Remove deleted rows from the log of changes."""

    async def close(self) -> None:
        """Close all connections."""
