"""A lookup of a request costs the same however many rows its tenant has."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Table, bindparam, create_engine, select

from proxy.storage.databases.sqlite import SqliteConnection
from proxy.storage.memo import _FIND as FIND_RELEASES
from proxy.storage.memo import _FIND_ANSWER as FIND_ANSWER
from proxy.storage.memo import _FIND_PASSAGES as FIND_PASSAGES
from proxy.storage.schema import ANSWERS, METADATA, PASSAGES, RELEASES

KEYS = [os.urandom(32) for _ in range(20)]
BY_TENANT = select(PASSAGES).where(
    PASSAGES.c.anchor.in_(bindparam("anchors", expanding=True)),
    PASSAGES.c.tenant == bindparam("tenant"),
)


@pytest.fixture
def raw() -> Iterator[sqlite3.Connection]:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        found = connection.connection.driver_connection
        assert isinstance(found, sqlite3.Connection)
        yield found


def fill(raw: sqlite3.Connection, table: Table, rows: int) -> None:
    made: list[dict[str, Any]] = []
    for _ in range(rows):
        row: dict[str, Any] = {}
        for column in table.columns:
            kind = column.type.python_type
            row[column.name] = os.urandom(32) if kind is bytes else 1 if kind is float else "alice"
        made.append(row)
    SqliteConnection(raw).execute(table.insert(), made)


def count_steps(raw: sqlite3.Connection, statement: Any, **values: Any) -> int:
    """Return about how many steps of SQLite's machine a statement takes."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    raw.set_progress_handler(count, 1)
    assert SqliteConnection(raw).execute(statement, values).all() == []
    raw.set_progress_handler(None, 1)
    return steps


def grows(raw: sqlite3.Connection, table: Table, statement: Any, **values: Any) -> bool:
    counts = []
    for rows in (50, 2000):
        fill(raw, table, rows)
        counts.append(count_steps(raw, statement, **values))
    return counts[1] > 2 * counts[0]


@pytest.mark.parametrize(
    ("table", "statement", "values"),
    [
        (RELEASES, FIND_RELEASES, {"keys": KEYS[:1]}),
        (RELEASES, FIND_RELEASES, {"keys": KEYS}),
        (ANSWERS, FIND_ANSWER, {"key": KEYS[0]}),
        (PASSAGES, FIND_PASSAGES, {"anchors": KEYS[:1]}),
        (PASSAGES, FIND_PASSAGES, {"anchors": KEYS}),
    ],
)
def test_a_lookup_does_not_grow_with_the_tenants_rows(
    raw: sqlite3.Connection, table: Table, statement: Any, values: dict[str, Any]
) -> None:
    assert not grows(raw, table, statement, **values)


def test_one_that_names_the_tenant_would(raw: sqlite3.Connection) -> None:
    """SQLite expects ten rows of a tenant, and more of several anchors."""
    assert grows(raw, PASSAGES, BY_TENANT, anchors=KEYS, tenant="alice")
