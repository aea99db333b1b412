"""kill -9 of one worker after another under load: the account holds, and the service goes on."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest

from proxy.config.store import StoreSettings as Settings
from tests.databases import postgres_url
from tests.hostile import tally
from tests.hostile.child import Child
from tests.hostile.stage import send
from tests.hostile.test_kills import AT_LEAST, CLIENTS, LDP, TEXTS, body, check_account, sent
from tests.hostile.upstream import Upstream
from tests.limits import LIMIT

__all__ = ["postgres_url"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")

ROUNDS = {"sqlite": 5, "postgresql": 3}
WORKERS = 2


async def load(child: Child, generator: random.Random, served: list[bool]) -> None:
    """Send texts, each over a connection of its own, and note which were answered."""
    while True:
        async with aiohttp.ClientSession() as session:
            url = f"{child.base_url}/chat/completions"
            try:
                answer = await send(session, url, body(generator.randrange(TEXTS)))
            except aiohttp.ClientError:  # its worker was killed
                served.append(False)
            else:
                assert answer.status == 200, answer.body
                served.append(True)


def find_workers(child: Child) -> set[int]:
    return {worker.pid for worker in psutil.Process(child.pid).children()}


async def kill_one_under_load(
    child: Child, remote: Upstream, generator: random.Random, served: list[bool]
) -> None:
    """Kill a worker at a random moment, and wait until another has taken its place."""
    seen = len(remote.received)
    async with asyncio.timeout(LIMIT):
        while len(remote.received) < seen + AT_LEAST:
            await asyncio.sleep(0.01)
        await asyncio.sleep(generator.random())
        before = find_workers(child)
        assert len(before) == WORKERS
        psutil.Process(generator.choice(sorted(before))).kill()
        tally.COUNTS["kills"] += 1
        while find_workers(child) <= before or len(find_workers(child)) < WORKERS:
            await asyncio.sleep(0.01)
        since = len(served)
        while sum(served[since:]) < AT_LEAST:  # the service goes on
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("kind", ROUNDS)
async def test_killed_workers_keep_the_account(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = random.Random(tally.SEED)
    store: dict[str, Any] = {"folder": str(tmp_path / "state")}
    if kind == "postgresql":
        monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
        store = {"url": request.getfixturevalue("postgres_url")}
    settings = {**LDP, "store": store, "server": {"workers": WORKERS}}
    served: list[bool] = []
    with ExitStack() as stack:
        remote, local = stack.enter_context(Upstream()), stack.enter_context(Upstream())
        urls = {"remote": remote.base_url, "local": local.base_url}
        child = Child(tmp_path / "proxy", settings=settings, **urls)
        stack.callback(child.kill)
        await asyncio.to_thread(child.start)
        jobs = [
            asyncio.create_task(load(child, random.Random(generator.random()), served))
            for _ in range(CLIENTS)
        ]
        for _ in range(ROUNDS[kind]):
            await kill_one_under_load(child, remote, generator, served)
            assert not any(job.done() for job in jobs)
        for job in jobs:
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        await asyncio.to_thread(child.kill)
        await check_account(Settings(**store), remote)
    assert served.count(False) <= ROUNDS[kind] * CLIENTS
    assert 2 * len(remote.received) > 3 * len(sent(remote)), "too few texts were sent again"
    assert len(sent(remote)) > TEXTS / 2
