"""Batches of several tenants, of keys with limits, and beside interactive requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import openai
import pytest
from yarl import URL

from perturb import EmbeddingTable
from proxy.access.admission import Admission
from proxy.access.auth import Grant
from proxy.api.app_keys import ADMISSION, KEYRING
from proxy.batches import run as batch_run
from proxy.config.store import Budget
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


async def make_client(proxy: Proxy, tenant: str, **grant: Any) -> tuple[str, openai.AsyncOpenAI]:
    id_, key = await proxy.app[KEYRING].create(tenant, Grant(**grant))
    return id_, proxy.client(api_key=key)


async def test_another_tenant_finds_nothing(proxy: Proxy) -> None:
    _, alice = await make_client(proxy, "alice")
    _, bob = await make_client(proxy, "bob")
    batch = await run(alice, jsonl(*chats(2), line("bad", {})))
    file = await upload(alice, jsonl(*chats(1)))
    output, errors = str(batch.output_file_id), str(batch.error_file_id)
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: bob.batches.retrieve(batch.id),
        lambda: bob.batches.cancel(batch.id),
        lambda: bob.batches.list(after=batch.id),
        lambda: bob.files.list(after=file),
        lambda: bob.batches.create(input_file_id=file, endpoint=CHATS, completion_window="24h"),
    ]
    for each in (file, output, errors):
        calls += [
            lambda each=each: bob.files.retrieve(each),  # type: ignore[misc]
            lambda each=each: bob.files.content(each),  # type: ignore[misc]
            lambda each=each: bob.files.delete(each),  # type: ignore[misc]
        ]
    for call in calls:
        with pytest.raises(openai.NotFoundError):
            await call()
    assert (await bob.files.list()).data == []
    assert (await bob.batches.list()).data == []
    assert {each.id for each in (await alice.files.list()).data} == {file, output, errors}
    assert len(await download(alice, output)) == 2


async def test_no_tenant_waits_for_anothers_rate_limit(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alice's batches wait for minutes; Bob's runs beside them."""
    count = 10
    _, alice = await make_client(proxy, "alice", requests_per_minute=0.1, burst=2 * count)
    _, bob = await make_client(proxy, "bob")
    with monkeypatch.context() as paused:
        paused.setattr(batch_run, "AT_ONCE", 0)
        made = [await start(alice, jsonl(*chats(2))) for _ in range(count)]
    for batch in made[:2]:
        await follow(alice, batch, ("in_progress",))
    assert (await run(bob, jsonl(*chats(1)))).status == "completed"
    assert "completed" not in [batch.status async for batch in alice.batches.list()]


@pytest.mark.parametrize(
    "name", ["a%00b", "%FF", "%ED%A0%80", "%2e%2e%2fsecret", "'--", "%E2%98%83"]
)
async def test_no_id_is_taken_for_a_failure_of_the_store(
    table: EmbeddingTable, database: dict[str, Any], name: str
) -> None:
    """PostgreSQL holds no NUL, for one."""
    paths = [f"/v1/files/{name}", f"/v1/files?after={name}", f"/v1/batches/{name}"]
    async with (
        running_proxy(table, {**ENABLED, "store": database}) as proxy,
        aiohttp.ClientSession() as session,
    ):
        for path in (*paths, f"/console/batches?after={name}"):
            async with session.get(URL(f"{proxy.root}{path}", encoded=True)) as response:
                assert response.status in (400, 404), path


async def test_an_output_is_no_input(proxy: Proxy) -> None:
    client = proxy.client()
    batch = await run(client, jsonl(*chats(1)))
    with pytest.raises(openai.NotFoundError):
        await client.batches.create(
            input_file_id=str(batch.output_file_id), endpoint=CHATS, completion_window="24h"
        )


async def test_lines_have_the_limits_of_the_key_that_made_the_batch(proxy: Proxy) -> None:
    limits = {"epsilon_max": 2.0, "budget_tokens": Budget(total=20)}
    _, client = await make_client(proxy, "alice", mechanisms=("rantext_ldp",), **limits)
    allowed = {"mechanism": "rantext_ldp", "epsilon": 1}
    lines = [
        line("mechanism", chat("One two", inferdpt={**allowed, "mechanism": "rantext"})),
        line("epsilon", chat("One two", inferdpt={**allowed, "epsilon": 3})),
        line("good", chat("One two", inferdpt=allowed)),
        line("budget", chat("One two three " * 10, inferdpt=allowed)),
    ]
    batch = await run(client, jsonl(*lines))
    errors = await download(client, batch.error_file_id)
    assert {each["custom_id"]: each["error"]["code"] for each in errors} == {
        "mechanism": "not_permitted",
        "epsilon": "not_permitted",
        "budget": "privacy_budget_exceeded",
    }
    assert [each["custom_id"] for each in await download(client, batch.output_file_id)] == ["good"]


async def test_lines_of_a_revoked_key_are_refused(proxy: Proxy) -> None:
    id_, client = await make_client(proxy, "alice")
    _, other = await make_client(proxy, "alice")
    proxy.remote.behaviour = hang
    batch = await start(client, jsonl(*chats(10)))
    await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
    await proxy.app[KEYRING].revoke(id_)
    proxy.remote.behaviour = None
    proxy.remote.release.set()
    batch = await follow(other, batch)
    errors = await download(other, batch.error_file_id)
    assert {each["error"]["code"] for each in errors} == {"invalid_api_key"}
    assert len(errors) >= 8
    assert len(proxy.remote.bodies) == 10 - len(errors)


async def test_lines_wait_for_the_rate_limit_of_the_key(proxy: Proxy) -> None:
    """The upload and the batch are two requests; every line is one more."""
    _, client = await make_client(proxy, "alice", requests_per_minute=60.0, burst=4)
    batch = await run(client, jsonl(*chats(4)))
    assert batch.request_counts is not None
    assert batch.request_counts.completed == 4
    with pytest.raises(openai.RateLimitError):
        await asyncio.gather(*(upload(client, b"a\n") for _ in range(8)))


async def test_no_line_begins_while_requests_wait(table: EmbeddingTable) -> None:
    """One place: while a request holds it, lines wait; requests never wait for lines."""
    settings = {**ENABLED, "limits": {"concurrent_requests": 1, "concurrent_per_client": 1}}
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        file = await upload(client, jsonl(*chats(3)))
        proxy.remote.behaviour = hang
        asked = asyncio.create_task(
            client.post("/chat/completions", body=chat("x"), cast_to=object)
        )
        await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
        making = asyncio.create_task(
            client.batches.create(input_file_id=file, endpoint=CHATS, completion_window="24h")
        )
        admission: Admission = proxy.app[ADMISSION]
        async with asyncio.timeout(LIMIT):
            while not admission._places.waiting:
                await asyncio.sleep(0.01)
        hold = asyncio.create_task(admission.admit_line("anonymous"))
        await asyncio.sleep(0.1)
        assert not hold.done()
        proxy.remote.behaviour = None
        proxy.remote.release.set()
        await asked
        (await hold).shrink(0)
        assert (await follow(client, await making)).status == "completed"


async def test_requests_are_served_while_all_lines_hang(table: EmbeddingTable) -> None:
    settings = {
        "batches": {"enabled": True, "concurrency": 4},
        "limits": {"concurrent_requests": 1, "concurrent_per_client": 1},
    }
    async with running_proxy(table, settings) as proxy:
        client = proxy.client()
        proxy.remote.behaviour = hang
        batch = await start(client, jsonl(*chats(8)))
        async with asyncio.timeout(LIMIT):
            while len(proxy.remote.bodies) < 4:
                await asyncio.sleep(0.01)
        proxy.remote.behaviour = None
        await client.post("/chat/completions", body=chat("x"), cast_to=object)
        assert len(proxy.remote.bodies) == 5  # no fifth line began
        proxy.remote.release.set()
        assert (await follow(client, batch)).status == "completed"


async def test_tenants_take_turns(proxy: Proxy) -> None:
    """A small batch does not wait for the end of another tenant's large one."""
    _, alice = await make_client(proxy, "alice")
    _, bob = await make_client(proxy, "bob")
    large = await start(alice, jsonl(*chats(300)))
    await follow(alice, large, ("in_progress",))
    small = await follow(bob, await start(bob, jsonl(*chats(3, first=300))))
    assert small.status == "completed"
    assert (await alice.batches.retrieve(large.id)).status == "in_progress"
    await alice.batches.cancel(large.id)
    await follow(alice, large)
