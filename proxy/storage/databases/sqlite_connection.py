"""Execute statements on SQLite's driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import sqlite

from proxy.storage.databases.statements import DriverConnection, Rows, name_rows

__all__ = ["SqliteConnection"]


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
