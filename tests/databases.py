"""Databases for tests: a SQLite file, and PostgreSQL where a server runs on this machine.

The marker `postgres` of what needs one is set in tests/conftest.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, MetaData, select

from benchmarks.load.databases import create_database
from benchmarks.load.processes import LoadError
from proxy.storage.store import Store

__all__ = ["database", "database_of_commands", "dump", "postgres_url"]


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database of the test's own."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(create_database())
        except LoadError as exc:
            if "PGHOST" in os.environ:  # somebody started one for these tests
                raise
            pytest.skip(str(exc))
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """`store` settings that several proxies may share."""
    if request.param == "sqlite":
        return {"folder": str(tmp_path / "shared")}
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    return {"url": request.getfixturevalue("postgres_url")}


@pytest.fixture
def database_of_commands(
    database: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """`database`, for the commands of this process and for proxies that it starts."""
    monkeypatch.chdir(tmp_path)
    if "url" in database:
        monkeypatch.setenv("INFERDPT_STORE__URL", database["url"])
    else:
        monkeypatch.setenv("INFERDPT_STATE_DIR", database["folder"])
    return database


async def dump(store: Store) -> bytes:
    """Return every byte of the database and of its log: of PostgreSQL, every value."""
    if store.file is not None:
        return b"".join(path.read_bytes() for path in sorted(store.file.parent.iterdir()))

    def read(connection: Connection) -> bytes:
        found = MetaData()
        found.reflect(connection)
        out = b""
        for table in found.sorted_tables:
            for row in connection.execute(select(table)):
                for value in row:
                    out += value if isinstance(value, bytes) else str(value).encode()
        return out

    return await store.scan(read)
