"""Batches over restarts, kill -9 and a worker's death: nothing is lost, doubled or redrawn."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openai
import psutil
import pytest
from aiohttp import web
from openai.types import Batch

from perturb import EmbeddingTable
from proxy.config.store import StoreSettings as Settings
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.batches.jobs import chat, download, follow, jsonl, line, start
from tests.proxy.conftest import running_proxy
from tests.proxy.records.rows import faults
from tests.proxy.served import Served, serve
from tests.proxy.storage.reports import WORDS, report
from tests.servers import FakeServer, answer

__all__ = ["database", "postgres_url"]

LINES = 40
LETTERS = "bcdfghjklm"
LEASE = {"enabled": True, "lease_seconds": 1.0, "concurrency": 4}


def lines() -> list[Any]:
    """Lines whose public part tells which private text stands beside it."""

    def name(number: int) -> str:
        return "".join(LETTERS[int(digit)] for digit in f"{number:04d}")

    return [
        line(f"line-{i}", chat(f"<public>note {name(i)}</public> {report(i)}"))
        for i in range(LINES)
    ]


def collect(remotes: Sequence[FakeServer]) -> dict[str, set[str]]:
    """Return what the remotes received for each line, by its public part."""
    out: dict[str, set[str]] = defaultdict(set)
    for remote in remotes:
        for body in remote.bodies:
            _, name, private = body["messages"][-1]["content"].split(" ", 2)
            out[name].add(private)
    return out


async def check(client: openai.AsyncOpenAI, batch: Batch, remotes: Sequence[FakeServer]) -> None:
    """Fail unless each line was answered once, in order, and drawn once."""
    assert batch.status == "completed"
    assert batch.request_counts is not None
    assert batch.request_counts.completed == batch.request_counts.total == LINES
    found = await download(client, batch.output_file_id)
    assert [each["custom_id"] for each in found] == [f"line-{i}" for i in range(LINES)]
    texts = collect(remotes)
    assert len(texts) == LINES
    assert all(len(drawn) == 1 for drawn in texts.values()), "a line was drawn twice"


async def check_account(settings: Settings) -> None:
    """Fail unless each line's text was charged once."""
    async with open_store(settings) as store:
        total = (await Ledger(store, delta=1e-6).figures("anonymous"))["total"]
        assert total["tokens"] == WORDS * LINES
        assert await faults(store) == {}


async def slowly(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Answer after a while, so that there are always lines in flight."""
    await asyncio.sleep(0.05)
    return await answer(server, request, body)


async def wait_for_requests(remote: FakeServer, count: int) -> None:
    async with asyncio.timeout(LIMIT):
        while len(remote.bodies) < count:
            await asyncio.sleep(0.005)


def arguments(database: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a proxy on a database."""
    over = {"store": database, "batches": LEASE, "prompts": {"remote_words": ""}}
    over["privacy"] = {"mechanism": "rantext_ldp", "epsilon": 6}
    out = {
        f"INFERDPT_{section}__{name}".upper(): str(value)
        for section, values in over.items()
        for name, value in values.items()
        if section != "prompts"
    }
    return out | {"INFERDPT_PROMPTS": json.dumps(over["prompts"])}


async def test_a_batch_goes_on_after_a_stop(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """A proxy that is stopped leaves its batch to the next one at once."""
    batches = {"enabled": True, "lease_seconds": 2 * LIMIT}
    settings = {
        "store": database,
        "batches": batches,
        "prompts": {"remote_words": ""},
        "privacy": {"mechanism": "rantext_ldp", "epsilon": 6},
    }
    remotes = []
    async with running_proxy(table, settings) as proxy:
        remotes.append(proxy.remote)
        proxy.remote.behaviour = slowly
        batch = await start(proxy.client(), jsonl(*lines()))
        await wait_for_requests(proxy.remote, LINES // 3)
    async with running_proxy(table, settings) as proxy:
        remotes.append(proxy.remote)
        client = proxy.client()
        half = await client.batches.retrieve(batch.id)
        assert half.request_counts is not None
        assert 0 < half.request_counts.completed < LINES
        await check(client, await follow(client, batch), remotes)
    await check_account(Settings(**database))


@pytest.mark.hostile
async def test_a_batch_goes_on_after_every_kill(database: dict[str, Any]) -> None:
    remotes, batch = [], None
    for stop in (3, 14, None):
        async with serve(**arguments(database)) as served:
            remotes.append(served.remote)
            served.remote.behaviour = slowly
            client = openai.AsyncOpenAI(base_url=served.base_url, api_key="x", max_retries=0)
            if batch is None:
                batch = await start(client, jsonl(*lines()))
            if stop is None:
                await check(client, await follow(client, batch), remotes)
            else:
                await wait_for_requests(served.remote, stop)
                served.process.kill()
                await served.process.wait()
            await client.close()
    await check_account(Settings(**database))
    assert sum(len(remote.bodies) for remote in remotes) > LINES, "no line was in flight"


@pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")
@pytest.mark.hostile
async def test_one_worker_runs_a_batch_and_another_takes_it_over(
    database: dict[str, Any], tmp_path: Path
) -> None:
    found = {**arguments(database), "TMPDIR": str(tmp_path)}
    async with serve("--workers", "2", **found) as served:
        served.remote.behaviour = slowly
        client = openai.AsyncOpenAI(base_url=served.base_url, api_key="x", max_retries=2)
        batch = await start(client, jsonl(*lines()))
        for count in (LINES // 4, LINES // 2):
            await wait_for_requests(served.remote, count)
            assert len(served.remote.bodies) <= count + LINES // 4
            await kill_the_worker_that_sends(served)
        await check(client, await follow(client, batch), [served.remote])
        await client.close()
    await check_account(Settings(**database))


async def kill_the_worker_that_sends(served: Served) -> None:
    """Kill the worker with open connections to the remote: the one that runs the batch."""
    port = served.remote.port
    for worker in psutil.Process(served.process.pid).children():
        there = [c for c in worker.net_connections() if c.raddr and c.raddr.port == port]
        if there:
            os.kill(worker.pid, signal.SIGKILL)
            return
    raise AssertionError("no worker runs the batch")


async def test_two_proxies_on_one_database_run_a_batch_once(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """Each line is sent once, and the other proxy shows the batch and its answers."""
    settings = {"store": database, "batches": LEASE, "prompts": {"remote_words": ""}}
    async with (
        running_proxy(table, settings) as one,
        running_proxy(table, settings) as two,
    ):
        batches = [await start(one.client(), jsonl(*lines())) for _ in range(3)]
        for batch in batches:
            done = await follow(two.client(), batch)
            assert done.request_counts is not None
            assert done.request_counts.completed == LINES
            found = await download(two.client(), done.output_file_id)
            assert [each["custom_id"] for each in found] == [f"line-{i}" for i in range(LINES)]
        assert len(one.remote.bodies) + len(two.remote.bodies) == 3 * LINES
        assert len(collect([one.remote, two.remote])) == LINES
