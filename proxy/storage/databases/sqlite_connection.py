"""Execute statements on SQLite's driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import Executable, Insert
from sqlalchemy.dialects import sqlite

from proxy.storage.databases.statements import (
    Parameters,
    Rows,
    name_rows,
    prepare,
    prepare_rows,
    returns_rows,
)

__all__ = ["SqliteConnection"]

DIALECT = sqlite.dialect(paramstyle="qmark")


class SqliteConnection:
    """Execute statements on a connection of the driver, as SQLAlchemy's connection would.

    It begins and ends no transaction.
    """

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def execute(
        self, statement: Executable, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> Rows:
        """Execute a statement, once for each of several parameters with equal names; raise
        `sqlite3.Error`."""
        if parameters is None or isinstance(parameters, Mapping):
            one = parameters or {}
            prepared = prepare(DIALECT, statement, one)
            return self._run(prepared.text, prepared.fill(one))
        if not parameters:
            return Rows([], 0)
        if returns_rows(statement):
            names = tuple(parameters[0])
            rows = prepare_rows(DIALECT, cast("Insert", statement), names, len(parameters))
            values = [row[name] for row in parameters for name in names]
            return self._run(rows.text, rows.fill({"rows": values}))
        prepared = prepare(DIALECT, statement, parameters[0])
        cursor = self.raw.executemany(prepared.text, map(prepared.fill, parameters))
        return Rows([], cursor.rowcount)

    def scalar(self, statement: Executable, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self.execute(statement, parameters).first()
        return None if row is None else row[0]

    def _run(self, text: str, values: Sequence[Any]) -> Rows:
        cursor = self.raw.execute(text, values)
        rows = cursor.fetchall()
        if rows:
            rows = name_rows([column[0] for column in cursor.description], rows)
        return Rows(rows, cursor.rowcount)
