"""Databases for tests: a SQLite file, and PostgreSQL where a server runs on this machine."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.limits import LIMIT

__all__ = ["database", "postgres_url"]

HOST = os.environ.get("PGHOST", "127.0.0.1")
PORT = os.environ.get("PGPORT", "5432")
USER = os.environ.get("PGUSER", "postgres")


def _run(statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(
            host=HOST, port=int(PORT), user=USER, database="postgres", timeout=LIMIT
        )
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:  # the test's own event loop is left alone
        thread.submit(asyncio.run, run()).result()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """A database of the test's own."""
    name = f"inferdpt_test_{secrets.token_hex(6)}"
    try:
        _run(f"CREATE DATABASE {name}")
    except (OSError, TimeoutError, asyncpg.PostgresError) as exc:
        pytest.skip(f"no PostgreSQL at {HOST}:{PORT} for user {USER}: {type(exc).__name__}")
    try:
        yield f"postgresql+asyncpg://{USER}@{HOST}:{PORT}/{name}"
    finally:
        _run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """`store` settings that several proxies may share."""
    if request.param == "sqlite":
        return {"folder": str(tmp_path / "shared")}
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    return {"url": request.getfixturevalue("postgres_url")}
