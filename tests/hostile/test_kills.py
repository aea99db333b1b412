"""kill -9 under load: the ledger never charges less than has left, and no text is drawn twice."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from proxy.config.store import StoreSettings as Settings
from proxy.records.lines import read_lines
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store
from proxy.storage.store import Store
from tests.databases import postgres_url
from tests.hostile import tally
from tests.hostile.child import Child
from tests.hostile.stage import chat_body
from tests.hostile.upstream import Upstream
from tests.limits import LIMIT
from tests.proxy.records.rows import faults
from tests.proxy.storage.reports import WORDS, report

__all__ = ["postgres_url"]

ROUNDS = {"sqlite": 6, "postgresql": 3}
CLIENTS = 8
AT_LEAST = 25  # requests that reach the remote before a kill
TEXTS = 40  # few enough to be sent again and again, also after a kill
LETTERS = "bcdfghjklm"
LDP = {
    "privacy": {"mechanism": "rantext_ldp", "epsilon": 6},
    "prompts": {"remote_words": ""},  # the releases are the whole bodies
}


def body(number: int) -> dict[str, Any]:
    """Return a request whose public part tells which private text stands beside it."""
    public = "".join(LETTERS[int(digit)] for digit in f"{number:04d}")
    return chat_body(f"<public>note {public}</public> {report(number)}")


async def load(child: Child, generator: random.Random) -> None:
    """Send texts one after the other until the proxy is gone."""
    async with aiohttp.ClientSession() as session:
        while True:
            url = f"{child.base_url}/chat/completions"
            async with session.post(url, json=body(generator.randrange(TEXTS))) as response:
                await response.read()
                assert response.status == 200


async def kill_under_load(
    children: Sequence[Child], remote: Upstream, generator: random.Random
) -> None:
    """Start what does not run, put load on all, and kill one at a random moment."""
    await asyncio.gather(*(asyncio.to_thread(c.start) for c in children if not c.alive))
    seen = len(remote.received)
    jobs = [
        asyncio.create_task(load(child, random.Random(generator.random())))
        for child in children
        for _ in range(CLIENTS)
    ]
    while len(remote.received) < seen + AT_LEAST:
        assert not any(job.done() for job in jobs)
        await asyncio.sleep(0.01)
    await asyncio.sleep(generator.random())
    victim = generator.choice(children)
    watch = victim.watch
    assert watch is not None
    peak = watch.peak
    await asyncio.to_thread(victim.kill)
    for i, job in enumerate(jobs):
        if children[i // CLIENTS] is not victim:
            job.cancel()
    for outcome in await asyncio.gather(*jobs, return_exceptions=True):
        assert isinstance(outcome, aiohttp.ClientError | asyncio.CancelledError), outcome
    assert peak <= tally.MEMORY
    tally.COUNTS["kills"] += 1


def sent(remote: Upstream) -> dict[str, set[str]]:
    """Return what the remote received for each text, by its public part."""
    out: dict[str, set[str]] = defaultdict(set)
    for raw in remote.received:
        head, _, data = raw.partition(b"\r\n\r\n")
        if head.startswith(b"POST"):
            _, name, private = json.loads(data)["messages"][0]["content"].split(" ", 2)
            out[name].add(private)
    return out


async def check_account(settings: Settings, remote: Upstream) -> None:
    """Fail unless every text that left was charged once, and left as one text; and unless every
    charge has its row in the record."""
    texts = sent(remote)
    assert all(len(drawn) == 1 for drawn in texts.values()), "a text was drawn twice"
    asked = sum(raw.startswith(b"POST") for raw in remote.received)
    async with open_store(settings) as store:
        total, releases, rows = await read_account(store)
        assert await faults(store) == {}
    assert total["requests"] == rows >= asked > 0
    assert total["tokens"] == WORDS * releases >= WORDS * len(texts)


async def read_account(store: Store) -> tuple[dict[str, Any], int, int]:
    """Return the ledger's total, the number of releases and that of charged rows, all of one
    moment. Requests that are on their way, also in the database, may still be charged."""

    async def read() -> tuple[dict[str, Any], int, int]:
        total = (await Ledger(store, delta=1e-6).figures("anonymous"))["total"]
        rows = [line async for line in read_lines(store) if line["charged"]]
        return total, (await store.info())["releases"], len(rows)

    async with asyncio.timeout(LIMIT):
        before = await read()
        while (after := await read()) != before:
            before = after
        return after


@pytest.mark.parametrize("kind", ROUNDS)
async def test_killed_proxies_keep_their_account(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = random.Random(tally.SEED)
    store: dict[str, Any] = {"folder": str(tmp_path / "state")}
    names = ["only"]
    if kind == "postgresql":
        monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
        store, names = {"url": request.getfixturevalue("postgres_url")}, ["one", "two"]
    with ExitStack() as stack:
        remote, local = stack.enter_context(Upstream()), stack.enter_context(Upstream())
        urls = {"remote": remote.base_url, "local": local.base_url}
        children = [Child(tmp_path / n, settings={**LDP, "store": store}, **urls) for n in names]
        for child in children:
            stack.callback(child.kill)
        for _ in range(ROUNDS[kind]):
            await kill_under_load(children, remote, generator)
            await check_account(Settings(**store), remote)
    assert 2 * len(remote.received) > 3 * len(sent(remote)), "too few texts were sent again"
    assert len(sent(remote)) > TEXTS / 2
