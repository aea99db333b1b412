"""Batches that are cancelled, expire or end: what is answered, what is kept, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest
from sqlalchemy import select

from perturb import EmbeddingTable
from proxy.api.app_keys import ADMISSION, STORE
from proxy.batches import run as batch_run
from proxy.batches import store as batch_store
from proxy.storage.schema import FILE_LINES
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.batches.jobs import (
    CHATS,
    ENABLED,
    chat,
    chats,
    download,
    follow,
    jsonl,
    line,
    run,
    start,
    upload,
)
from tests.proxy.conftest import Proxy, running_proxy
from tests.servers import hang

__all__ = ["database", "postgres_url"]


@pytest.fixture
def settings() -> dict[str, Any]:
    return ENABLED


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(LIMIT):
        while not await holds():
            await asyncio.sleep(0.02)


async def is_gone(client: openai.AsyncOpenAI, file: str) -> bool:
    try:
        await client.files.retrieve(file)
    except openai.NotFoundError:
        return True
    return False


async def count_lines(proxy: Proxy) -> int:
    return (await proxy.app[STORE].info())["file_lines"]


async def until_lines(proxy: Proxy, count: int) -> None:
    """Wait for so many lines: clients may see the end of a batch before they are deleted."""

    async def holds() -> bool:
        return await count_lines(proxy) == count

    await until(holds)


@asynccontextmanager
async def no_room(proxy: Proxy) -> AsyncIterator[None]:
    """Let no line begin during the block: another tenant has all places for lines."""
    hold = await proxy.app[ADMISSION]._lines.take("another", 2)
    yield
    hold.shrink(0)


async def test_cancelled_before_it_is_looked_at(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_run, "AT_ONCE", 0)
    client = proxy.client()
    batch = await start(client, jsonl(*chats(3)))
    cancelling = await client.batches.cancel(batch.id)
    assert (batch.status, cancelling.status) == ("validating", "cancelling")
    again = await client.batches.cancel(batch.id)
    assert again.cancelling_at == cancelling.cancelling_at
    monkeypatch.setattr(batch_run, "AT_ONCE", 1)
    batch = await follow(client, batch)
    assert batch.status == "cancelled"
    assert batch.cancelled_at is not None
    assert proxy.remote.bodies == []
    await until_lines(proxy, 0)


async def test_cancelled_while_lines_wait(proxy: Proxy) -> None:
    client = proxy.client()
    async with no_room(proxy):
        batch = await start(client, jsonl(*chats(3)))
        await follow(client, batch, ("in_progress",))
        await client.batches.cancel(batch.id)
        batch = await follow(client, batch)
    assert batch.status == "cancelled"
    assert proxy.remote.bodies == []
    done = await run(client, jsonl(*chats(3)))  # the places came back
    assert done.status == "completed"


async def test_cancelled_with_lines_in_flight(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """Answer those, and begin no more."""
    async with running_proxy(table, {**ENABLED, "store": database}) as proxy:
        proxy.remote.behaviour = hang
        client = proxy.client()
        batch = await start(client, jsonl(*chats(20)))
        await until(lambda: asyncio.sleep(0, len(proxy.remote.bodies) == 2))
        await client.batches.cancel(batch.id)
        proxy.remote.behaviour = None
        proxy.remote.release.set()
        batch = await follow(client, batch)
        assert batch.status == "cancelled"
        counts = batch.request_counts
        assert counts is not None
        assert counts.total == 20
        assert len(proxy.remote.bodies) == counts.completed + counts.failed == 2
        assert await is_gone(client, batch.input_file_id)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
async def test_what_has_ended_cannot_be_cancelled(proxy: Proxy, status: str) -> None:
    client = proxy.client()
    batch = await start(client, b"{\n" if status == "failed" else jsonl(*chats(1)))
    if status == "cancelled":
        await client.batches.cancel(batch.id)
    batch = await follow(client, batch)
    assert batch.status == status
    with pytest.raises(openai.ConflictError) as refused:
        await client.batches.cancel(batch.id)
    assert refused.value.code == "batch_ended"
    assert (await client.batches.retrieve(batch.id)) == batch


async def test_lines_beyond_the_window_expire(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_store, "WINDOW_SECONDS", 1.5)
    client = proxy.client()
    async with no_room(proxy):
        batch = await follow(client, await start(client, jsonl(*chats(250))))
    assert batch.status == "expired"
    assert batch.expired_at is not None
    assert batch.request_counts is not None
    assert batch.request_counts.model_dump() == {"total": 250, "completed": 0, "failed": 250}
    errors = await download(client, batch.error_file_id)
    assert [each["custom_id"] for each in errors] == [f"line-{i}" for i in range(250)]
    assert {each["error"]["code"] for each in errors} == {"batch_expired"}
    assert {each["response"] for each in errors} == {None}
    assert proxy.remote.bodies == []
    with pytest.raises(openai.ConflictError):
        await client.batches.cancel(batch.id)


async def test_a_file_is_removed_with_the_last_batch_that_uses_it(proxy: Proxy) -> None:
    client = proxy.client()
    file = await upload(client, jsonl(*chats(3)))
    async with no_room(proxy):
        first, second = [
            await client.batches.create(
                input_file_id=file, endpoint=CHATS, completion_window="24h"
            )
            for _ in range(2)
        ]
        with pytest.raises(openai.ConflictError) as refused:
            await client.files.delete(file)
        assert refused.value.code == "file_in_use"
        assert ((await client.files.retrieve(file)).expires_at or 0) > int(second.expires_at or 0)
        await client.batches.cancel(first.id)
        await follow(client, first)
        assert not await is_gone(client, file)
        assert await count_lines(proxy) == 3
    assert (await follow(client, second)).status == "completed"
    assert await is_gone(client, file)
    await until_lines(proxy, 3)  # of the answers


async def test_nothing_of_a_file_is_in_the_databases_files_after_its_batch(proxy: Proxy) -> None:
    """Not encrypted either: who gets the secret later opens none of it. Nor of a deleted file."""
    client, store = proxy.client(), proxy.app[STORE]
    files = [await upload(client, jsonl(*chats(3))) for _ in range(2)]
    query = select(FILE_LINES.c.value).where(FILE_LINES.c.file.in_(files))
    values = await store.scan(lambda connection: connection.scalars(query).all())
    assert store.file is not None
    paths = [store.file, store.file.with_name(f"{store.file.name}-wal")]

    async def count() -> int:
        held = [await asyncio.to_thread(path.read_bytes) for path in paths]
        return sum(value[:80] in data for value in values for data in held)

    assert await count() >= len(values) == 6  # the search finds them
    batch = await client.batches.create(
        input_file_id=files[0], endpoint=CHATS, completion_window="24h"
    )
    assert (await follow(client, batch)).status == "completed"
    await client.files.delete(files[1])

    async def is_empty() -> bool:
        return await count() == 0

    await until(is_empty)


async def test_a_batch_that_nobody_runs_any_more_is_forgotten(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its raw lines do not stay, though batches were turned off."""
    monkeypatch.setattr(batch_run, "AT_ONCE", 0)
    batch = await start(proxy.client(), jsonl(*chats(3)))
    store, day = proxy.app[STORE], 86_400.0
    await store.sweep(day, 1000, now=batch.created_at + 1.9 * day)
    assert await count_lines(proxy) == 3
    await store.sweep(day, 1000, now=batch.created_at + 2.1 * day)
    info = await store.info()
    assert (info["files"], info["file_lines"], info["batches"]) == (0, 0, 0)


async def test_answers_are_forgotten_by_housekeeping(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    settings = {"batches": {"enabled": True, "retention_hours": 2}, "store": database}
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        batch = await run(client, jsonl(*chats(3)))
        assert batch.completed_at is not None
        file = await client.files.retrieve(str(batch.output_file_id))
        assert file.expires_at is not None
        assert abs(file.expires_at - batch.completed_at - 7200) <= 1
        store, day = proxy.app[STORE], 86_400.0
        await store.sweep(day, 1000, now=batch.completed_at + 7100)
        assert len(await download(client, file.id)) == 3
        await store.sweep(day, 1000, now=batch.completed_at + 7300)
        info = await store.info()
        assert (info["files"], info["file_lines"], info["batches"]) == (0, 0, 0)
        with pytest.raises(openai.NotFoundError):
            await client.batches.retrieve(batch.id)


async def test_clients_may_ask_for_less_time_but_not_for_more(table: EmbeddingTable) -> None:
    settings = {"batches": {"enabled": True, "retention_hours": 2}}
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        for seconds, kept in ((3600, 3600), (86_400, 7200)):
            anchor: Any = {"anchor": "created_at", "seconds": seconds}
            data = jsonl(line("a", chat("x")))
            made = await client.files.create(
                file=("a", data), purpose="batch", expires_after=anchor
            )
            assert made.expires_at == pytest.approx(made.created_at + kept, abs=1)
            batch = await run(client, data, output_expires_after=anchor)
            output = await client.files.retrieve(str(batch.output_file_id))
            assert output.expires_at == pytest.approx(int(batch.completed_at or 0) + kept, abs=1)


async def test_a_purge_removes_a_tenants_files_and_stops_its_batches(proxy: Proxy) -> None:
    client = proxy.client()
    await upload(client, jsonl(*chats(3)))
    async with no_room(proxy):
        batch = await start(client, jsonl(*chats(3)))
        await follow(client, batch, ("in_progress",))
        await proxy.app[STORE].purge(tenant="anonymous")
    info = await proxy.app[STORE].info()
    assert (info["files"], info["file_lines"], info["batches"]) == (0, 0, 0)
    assert (await run(client, jsonl(*chats(1)))).status == "completed"
