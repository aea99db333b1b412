"""Statements on SQLite's driver do what they do on SQLAlchemy's own connection."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import bindparam, create_engine, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from proxy.storage.databases.sqlite import SqliteConnection
from proxy.storage.schema import METADATA, RELEASES

ROWS = [
    {"key": bytes([i]) * 32, "tenant": f"t{i % 2}", "value": "{}", "used": i} for i in range(6)
]
KEYS = RELEASES.c.key.in_(bindparam("keys", expanding=True))
FIND = select(RELEASES.c.key, RELEASES.c.used).where(KEYS).order_by(RELEASES.c.key)
LATEST = select(RELEASES.c.used).order_by(RELEASES.c.used.desc()).limit(2)
USE = update(RELEASES).where(KEYS).values(used=bindparam("now"))
_MORE = insert(RELEASES)
PUT = _MORE.on_conflict_do_update(
    index_elements=["key"], set_={"used": RELEASES.c.used + _MORE.excluded.used}
).returning(RELEASES.c.tenant, RELEASES.c.used)
NAMED = delete(RELEASES).where(RELEASES.c.tenant.in_(["t1", "t7"]), RELEASES.c.used > 1)


@pytest.fixture(params=["ours", "sqlalchemy"])
def connection(request: pytest.FixtureRequest) -> Iterator[Any]:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        METADATA.create_all(connection)
        raw = connection.connection.driver_connection
        assert isinstance(raw, sqlite3.Connection)
        yield SqliteConnection(raw) if request.param == "ours" else connection


def keys(*places: int) -> dict[str, list[bytes]]:
    return {"keys": [ROWS[place]["key"] for place in places]}


def test_rows_come_back_by_name_and_by_place(connection: Any) -> None:
    connection.execute(RELEASES.insert(), ROWS)
    for places in ([1], [0, 2, 5], [3], []):  # one text of the statement for each size
        rows = connection.execute(FIND, keys(*places)).all()
        assert [(row.key, row.used) for row in rows] == [
            (ROWS[place]["key"], float(place)) for place in places
        ]
        assert [tuple(row) for row in rows] == [(row.key, row.used) for row in rows]
    assert connection.execute(FIND, keys()).first() is None
    assert connection.scalar(FIND, keys()) is None
    assert connection.scalar(FIND, keys(4)) == ROWS[4]["key"]


def test_a_constant_of_the_statement_stays(connection: Any) -> None:
    connection.execute(RELEASES.insert(), ROWS)
    assert [row.used for row in connection.execute(LATEST)] == [5, 4]


def test_changed_rows_are_counted(connection: Any) -> None:
    connection.execute(RELEASES.insert(), ROWS)
    assert connection.execute(USE, {**keys(0, 1, 2), "now": 9.0}).rowcount == 3
    assert connection.execute(NAMED).rowcount == 3
    assert connection.execute(NAMED).rowcount == 0


def test_several_parameters_return_the_rows_of_all(connection: Any) -> None:
    connection.execute(RELEASES.insert(), ROWS)
    rows = connection.execute(PUT, ROWS[4:]).all()
    assert sorted((row.tenant, row.used) for row in rows) == [("t0", 8), ("t1", 10)]
    assert connection.execute(PUT, ROWS[4]).scalar_one() == "t0"


def test_a_value_that_breaks_a_rule_is_refused(connection: Any) -> None:
    with pytest.raises((sqlite3.IntegrityError, sa.exc.IntegrityError)):
        connection.execute(RELEASES.insert(), {**ROWS[0], "tenant": None})


def test_no_type_of_the_schema_needs_a_conversion() -> None:
    """SQLite itself makes whole numbers of booleans, and fractions of a `Double`."""
    plain = (sa.Text, sa.LargeBinary, sa.BigInteger, sa.Double, sa.Boolean)
    for table in METADATA.sorted_tables:
        for column in table.columns:
            assert isinstance(column.type, plain)
