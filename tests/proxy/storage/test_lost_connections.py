"""Connections that end in use: requests and batches go on, and every end is recorded."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING, METRICS, RECORDER, STORE
from proxy.records.check import check_records
from proxy.records.lines import read_lines
from tests.backends import end_backends, ending_backends
from tests.databases import postgres_url
from tests.limits import LIMIT
from tests.proxy.batches.jobs import chats, download, follow, jsonl, start
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.records.rows import faults
from tests.proxy.storage.reports import SETTINGS as LDP
from tests.proxy.storage.reports import report
from tests.redis_server import redis_url

__all__ = ["postgres_url", "redis_url"]

ROUNDS, AT_ONCE = 12, 8


@pytest.fixture
def settings(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    batches = {"enabled": True, "lease_seconds": 1.0}
    return {"store": {"url": postgres_url}, "batches": batches, **LDP}


async def get(session: aiohttp.ClientSession, proxy: Proxy, path: str) -> tuple[int, Any]:
    async with session.get(proxy.base_url.removesuffix("/v1") + path) as response:
        return response.status, await response.json()


async def post(
    session: aiohttp.ClientSession, proxy: Proxy, text: str, model: str = MODEL, **headers: str
) -> tuple[int, str]:
    """Return the status of a chat, and the request's id."""
    body = {"model": model, "messages": user(text)}
    url = f"{proxy.base_url}/chat/completions"
    async with session.post(url, json=body, headers=headers) as response:
        await response.read()
        return response.status, response.headers["x-request-id"]


async def count_ends(proxy: Proxy) -> Counter[str]:
    """How many ends the record has of each request, once nothing waits any more."""
    async with asyncio.timeout(LIMIT):
        while proxy.app[METRICS].busy:
            await asyncio.sleep(0.01)
    await proxy.app[RECORDER].flush()
    found: Counter[str] = Counter()
    async for line in read_lines(proxy.app[STORE]):
        found[line["request"]] += line["status"] is not None
    return found


async def test_after_a_restart_nobody_notices(
    table: EmbeddingTable, settings: dict[str, Any], postgres_url: str
) -> None:
    async with running_proxy(table, settings) as proxy, aiohttp.ClientSession() as session:
        for number in range(3):
            assert (await post(session, proxy, report(number)))[0] == 200
            for path in ("/ready", "/v1/privacy/ledger"):
                assert await end_backends(postgres_url) >= 1
                assert (await get(session, proxy, path))[0] == 200
            await end_backends(postgres_url)


async def test_requests_go_on_and_have_ends(
    table: EmbeddingTable, settings: dict[str, Any], postgres_url: str
) -> None:
    statuses: dict[str, int] = {}
    async with running_proxy(table, settings) as proxy, aiohttp.ClientSession() as session:

        async def ask(number: int) -> None:
            some = [post(session, proxy, report(AT_ONCE * number + i)) for i in range(AT_ONCE)]
            some.append(post(session, proxy, "One text.", "another"))
            for status, id_ in await asyncio.gather(*some):
                statuses[id_] = status

        async with ending_backends(postgres_url) as ended:
            for number in range(ROUNDS):
                await ask(number)
        assert sum(ended) > 0
        assert set(statuses.values()) <= {200, 404, 503}
        refused = [id_ for id_, status in statuses.items() if status == 503]
        await ask(ROUNDS)
        assert list(statuses.values())[-AT_ONCE - 1 :] == [200] * AT_ONCE + [404]
        ends = await count_ends(proxy)
        # Some were refused before their tenant was known.
        assert all(ends[id_] <= 1 for id_ in refused)
        assert {ends[id_] for id_ in statuses if id_ not in refused} == {1}
        for verdict in await check_records(proxy.app[STORE]):
            assert (verdict.fault, verdict.unfinished, verdict.lost) == (None, 0, 0)
        assert await get(session, proxy, "/health") == (200, {"status": "ok"})


async def test_a_batch_goes_on(
    table: EmbeddingTable, settings: dict[str, Any], postgres_url: str
) -> None:
    lines = 40
    async with running_proxy(table, settings) as proxy:
        batch = await start(proxy.client(), jsonl(*chats(lines)))
        async with ending_backends(postgres_url) as ended:
            await asyncio.sleep(1.0)  # of the batch, at most
        assert sum(ended) > 0
        done = await follow(proxy.client(), batch)
        assert done.request_counts is not None
        assert (done.status, done.request_counts.completed) == ("completed", lines)
        found = await download(proxy.client(), done.output_file_id)
        assert [each["custom_id"] for each in found] == [f"line-{i}" for i in range(lines)]
        sent: Counter[str] = Counter(
            body["messages"][-1]["content"] for body in proxy.remote.bodies
        )
        assert len(sent) == lines, "a line was drawn twice"
        assert await faults(proxy.app[STORE]) == {}


async def test_a_limited_key_does_not_notice_that_redis_ends_its_connection(
    table: EmbeddingTable, redis_url: str
) -> None:
    from redis.asyncio import Redis

    name = f"test-{secrets.token_hex(8)}"  # other tests use the server, too
    async with (
        Redis.from_url(redis_url) as admin,
        running_proxy(table, {"limits": {"shared": f"{redis_url}?client_name={name}"}}) as proxy,
        aiohttp.ClientSession() as session,
    ):
        _, key = await proxy.app[KEYRING].create("alice", Grant(requests_per_minute=1000))
        headers = {"Authorization": f"Bearer {key}"}
        for _ in range(4):
            some = [post(session, proxy, "One text.", **headers) for _ in range(4)]
            assert [status for status, _ in await asyncio.gather(*some)] == [200] * 4
            ended = 0
            for client in await admin.client_list():
                if client["name"] == name:
                    ended += await admin.client_kill_filter(_id=client["id"])
            assert ended
