"""Execute statements on asyncpg, the driver of PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

import asyncpg
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql import asyncpg as dialects
from sqlalchemy.util import await_only

from proxy.storage.databases.base import DatabaseFailure
from proxy.storage.databases.statements import DriverConnection, Rows, name_rows, returns_rows

__all__ = ["PostgresConnection"]


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
    """Return the driver's answer. Whatever it raises, on a lost connection even errors of its own,
    is a `DatabaseFailure`."""
    try:
        return await_only(answer)
    except Exception as exc:
        raise DatabaseFailure(getattr(exc, "sqlstate", None)) from exc
