"""End connections to PostgreSQL and Redis as a restart of the server would: only a test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

__all__ = ["end_backends", "ending_backends"]

OTHERS = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
PAUSE = 0.2  # seconds between two rounds


async def end_backends(url: str) -> int:
    """End all connections to a test's own database; return their number."""
    admin = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        return await _end(admin)
    finally:
        await admin.close()


@asynccontextmanager
async def ending_backends(url: str) -> AsyncIterator[list[int]]:
    """End connections again and again during the block, in use or not; yield their numbers."""
    admin = await asyncpg.connect(url.replace("+asyncpg", ""))
    ended: list[int] = []

    async def repeat() -> None:
        while True:
            ended.append(await _end(admin))
            await asyncio.sleep(PAUSE)

    task = asyncio.create_task(repeat())
    try:
        yield ended
    finally:
        task.cancel()
        await asyncio.wait([task])
        await admin.close()


async def _end(admin: asyncpg.Connection) -> int:
    return int(await admin.fetchval(f"SELECT count(pg_terminate_backend(pid)) {OTHERS}"))
