"""A PostgreSQL database for one measurement or one test."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.load.processes import LoadError

__all__ = ["create_database"]

HOST = os.environ.get("PGHOST", "127.0.0.1")
PORT = os.environ.get("PGPORT", "5432")
USER = os.environ.get("PGUSER", "postgres")
CONNECT_SECONDS = 60.0  # a busy server is slow


@contextmanager
def create_database() -> Iterator[str]:
    """Make an empty database on the server that PGHOST, PGPORT and PGUSER name; drop it after.

    Yields:
        its address for `store.url`.

    Raises:
        LoadError: no server answers.
    """
    name = f"inferdpt_{secrets.token_hex(6)}"
    _execute(f"CREATE DATABASE {name}")
    try:
        yield f"postgresql+asyncpg://{USER}@{HOST}:{PORT}/{name}"
    finally:
        _execute(f"DROP DATABASE {name} WITH (FORCE)")


def _execute(statement: str) -> None:
    import asyncpg

    async def run() -> None:
        connection = await asyncpg.connect(
            host=HOST, port=int(PORT), user=USER, database="postgres", timeout=CONNECT_SECONDS
        )
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's own event loop is left alone
            thread.submit(asyncio.run, run()).result()
    except (OSError, TimeoutError, asyncpg.PostgresError) as exc:
        where = f"{HOST}:{PORT} for user {USER}"
        raise LoadError(f"no PostgreSQL at {where}: {type(exc).__name__}") from exc
