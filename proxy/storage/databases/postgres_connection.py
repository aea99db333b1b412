"""Execute statements on asyncpg, the driver of PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import asyncpg
from sqlalchemy import Executable, Insert
from sqlalchemy.dialects.postgresql import asyncpg as dialects
from sqlalchemy.util import await_only

from proxy.storage.databases.statements import (
    Parameters,
    Rows,
    name_rows,
    prepare,
    prepare_rows,
    returns_rows,
)

__all__ = ["DIALECT", "PostgresConnection"]

DIALECT = dialects.dialect()  # type: ignore[no-untyped-call]


class PostgresConnection:
    """Execute statements on a connection of the driver, as SQLAlchemy's connection would.

    Use it in a function that runs inside of `sqlalchemy.util.greenlet_spawn`. It begins and ends
    no transaction.
    """

    def __init__(self, raw: asyncpg.Connection) -> None:
        self._raw = raw

    def execute(
        self, statement: Executable, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> Rows:
        """Execute a statement, once for each of several parameters with equal names; raise
        asyncpg's errors."""
        if parameters is None or isinstance(parameters, Mapping):
            one = parameters or {}
            prepared = prepare(DIALECT, statement, one)
            return self._run(statement, prepared.text, prepared.fill(one))
        if not parameters:
            return Rows([], 0)
        if returns_rows(statement):
            names = tuple(parameters[0])
            rows = prepare_rows(DIALECT, cast("Insert", statement), names, len(parameters))
            values = [row[name] for row in parameters for name in names]
            return self._run(statement, rows.text, rows.fill({"rows": values}))
        prepared = prepare(DIALECT, statement, parameters[0])
        await_only(self._raw.executemany(prepared.text, list(map(prepared.fill, parameters))))
        return Rows([], len(parameters))

    def scalar(self, statement: Executable, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self.execute(statement, parameters).first()
        return None if row is None else row[0]

    def _run(self, statement: Executable, text: str, values: Sequence[Any]) -> Rows:
        if statement.is_dml and not returns_rows(statement):
            status: str = await_only(self._raw.execute(text, *values))
            return Rows([], int(status.rpartition(" ")[2]))  # "UPDATE 3", "INSERT 0 3"
        found = await_only(self._raw.fetch(text, *values))
        return Rows(name_rows(list(found[0].keys()), found) if found else [], len(found))
