"""Run SQLAlchemy's statements on SQLite's driver.

A statement is compiled once, and its text is what the driver keeps prepared. Values pass as they
are: no type of the schema needs a conversion.
"""

from __future__ import annotations

import sqlite3
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Executable, Insert
from sqlalchemy.dialects import sqlite

__all__ = ["Rows", "SqliteConnection"]

DIALECT = sqlite.dialect(paramstyle="named")
COMPILED = 256  # statements, each with the sizes of its lists
Parameters = Mapping[str, Any]


class SqliteConnection:
    """Execute statements on a connection of the driver, as SQLAlchemy's connection would.

    It begins and ends no transaction.
    """

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def execute(
        self, statement: Executable, parameters: Parameters | Sequence[Parameters] | None = None
    ) -> Rows:
        """Execute a statement, once for each of several parameters; raise `sqlite3.Error`."""
        if parameters is None or isinstance(parameters, Mapping):
            return self._execute(statement, parameters or {})
        if not getattr(statement, "_returning", ()):
            return self._execute_many(statement, parameters)
        found = [self._execute(statement, one) for one in parameters]
        changed = sum(rows.rowcount for rows in found)
        return Rows([row for rows in found for row in rows], changed)

    def scalar(self, statement: Executable, parameters: Parameters | None = None) -> Any:
        """Return the first column of the first row; None if there is none."""
        row = self.execute(statement, parameters).first()
        return None if row is None else row[0]

    def _execute(self, statement: Executable, parameters: Parameters) -> Rows:
        prepared = _find(statement, parameters)
        cursor = self.raw.execute(prepared.text, prepared.fill(parameters))
        rows = cursor.fetchall()
        return Rows(prepared.name(cursor, rows) if rows else rows, cursor.rowcount)

    def _execute_many(self, statement: Executable, parameters: Sequence[Parameters]) -> Rows:
        """Execute a statement that returns no rows for each of parameters with equal names."""
        if not parameters:
            return Rows([], 0)
        prepared = _find(statement, parameters[0])
        cursor = self.raw.executemany(prepared.text, map(prepared.fill, parameters))
        return Rows([], cursor.rowcount)


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


class _Prepared:
    """Hold the text of a statement for lists of some sizes."""

    def __init__(
        self, text: str, fixed: dict[str, Any], lists: Mapping[str, Sequence[str]]
    ) -> None:
        self.text = text
        self._fixed = fixed
        self._lists = lists
        self._make: Callable[[Any], Any] | None = None

    def fill(self, parameters: Parameters) -> Parameters:
        """Return the values of the text's own parameters."""
        if not self._fixed and not self._lists:
            return parameters
        filled = {**self._fixed, **parameters}
        for name, names in self._lists.items():
            filled.update(zip(names, filled.pop(name), strict=True))
        return filled

    def name(self, cursor: sqlite3.Cursor, rows: list[Any]) -> list[Any]:
        """Return rows with names for their columns."""
        if self._make is None:
            self._make = _make_row_type([column[0] for column in cursor.description])._make
        return list(map(self._make, rows))


def _make_row_type(names: list[str]) -> Any:
    return namedtuple("Row", names, rename=True)


def _find(statement: Executable, parameters: Parameters) -> _Prepared:
    lists = tuple([(n, len(v)) for n, v in parameters.items() if isinstance(v, list)])
    return _prepare(statement, tuple(parameters), lists)


@lru_cache(maxsize=COMPILED)
def _prepare(
    statement: Executable, names: tuple[str, ...], lists: tuple[tuple[str, int], ...]
) -> _Prepared:
    """Compile a statement for parameters of these names, and lists of these sizes."""
    columns = list(names) if isinstance(statement, Insert) else None
    compiled: Any = statement.compile(dialect=DIALECT, column_keys=columns)  # type: ignore[attr-defined]
    fixed = {name: value for name, value in compiled.params.items() if name not in names}
    state = compiled.construct_expanded_state(
        {**dict.fromkeys(names), **{name: [None] * size for name, size in lists}}
    )
    return _Prepared(state.statement, fixed, state.parameter_expansion)
