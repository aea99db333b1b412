"""Requests and their charges: nothing leaves over the limit, and a crash never under-charges."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.api.app_keys import METRICS, STORE
from proxy.config.store import StoreSettings as Settings
from proxy.records.lines import read_lines
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.records.rows import faults
from tests.proxy.served import serve
from tests.proxy.storage.reports import SETTINGS, WORDS, account, ask, report

__all__ = ["database", "postgres_url"]

KILLS = int(os.environ.get("INFERDPT_TEST_KILLS", "2"))


@pytest.fixture
def settings() -> dict[str, Any]:
    return SETTINGS


async def test_only_the_first_release_is_charged(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"day": 500}}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        first = await ask(proxy, report(1))
        again = await ask(proxy, report(1))
        other = await ask(proxy, report(2))
        figures = await account(proxy)
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{proxy.root}/metrics") as response,
        ):
            metrics = await response.text()
    epsilon = 6.0 * WORDS
    cost = {"tokens": 8, "unbounded": 0, "epsilon": epsilon, "epsilon_nominal": 0.0}
    assert first["budget"]["charged"] == first["budget"]["disclosed"] == cost
    assert first["budget"]["remaining"]["epsilon"] == {"day": 500 - epsilon}
    assert again["budget"]["charged"]["epsilon"] == 0
    assert again["budget"]["disclosed"] == cost
    assert again["released_before"] == again["released"]
    assert other["budget"]["remaining"]["epsilon"] == {"day": 500 - 2 * epsilon}
    assert figures["object"] == "privacy.ledger"
    assert figures["total"]["requests"] == 3
    assert figures["total"]["epsilon"]["charged"] == 2 * epsilon
    assert sorted(c["requests"] for c in figures["conversations"].values()) == [1, 2]
    assert f'inferdpt_ledger_proved{{tenant="anonymous"}} {2 * epsilon}' in metrics


async def test_the_gauges_know_what_was_charged_before_a_restart(
    table: EmbeddingTable, settings: dict[str, Any], tmp_path: Path
) -> None:
    over = merge(settings, {"store": {"folder": str(tmp_path / "state")}})
    async with running_proxy(table, over) as proxy:
        await ask(proxy, report(1))
    async with running_proxy(table, over) as proxy:
        metrics = proxy.app[METRICS].render().decode()
    assert f'inferdpt_ledger_tokens{{tenant="anonymous"}} {WORDS}.0' in metrics


async def test_over_the_limit_nothing_leaves_and_nothing_is_kept(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"total": 6.0 * WORDS}}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        await ask(proxy, report(1))
        with pytest.raises(openai.PermissionDeniedError) as info:
            await ask(proxy, report(2))
        assert info.value.code == "privacy_budget_exceeded"
        assert info.value.response.headers["x-should-retry"] == "false"
        assert "Report" not in info.value.response.text
        await ask(proxy, report(1))  # an earlier release costs nothing
        await ask(proxy, report(3), local_only=True)
        assert len(proxy.remote.bodies) == 2
        assert (await account(proxy))["total"]["tokens"] == 8
        figures = await proxy.app[STORE].info()
        assert figures["releases"] == 1


async def test_the_local_model_may_go_on_alone(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    over = {"limits": {"budget": {"request": 10}, "on_budget": "local_only"}}
    async with running_proxy(table, merge(settings, over)) as proxy:
        receipt = await ask(proxy, report(1))
        assert receipt["budget"]["exceeded"] == "request"
        assert "not called" in receipt["remote"][0]
        assert receipt["released"] == 0
        assert proxy.remote.received == []
        assert (await account(proxy))["total"]["tokens"] == 0


async def test_a_request_without_private_text_is_counted(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    async with running_proxy(table, settings) as proxy:
        for text in ("<public>Write a poem.</public>", " \n "):
            await ask(proxy, text)
        total = (await account(proxy))["total"]
        assert (total["requests"], total["tokens"]) == (len(proxy.remote.bodies), 0) == (2, 0)
        await ask(proxy, report(1), local_only=True)
        assert (await account(proxy))["total"]["requests"] == 2


@pytest.mark.parametrize("requests", [60, pytest.param(200, marks=pytest.mark.hostile)])
async def test_concurrent_requests_stay_within_the_budget(
    table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any], requests: int
) -> None:
    """Two replicas, many requests at once, a budget for a quarter of them."""
    paid = requests // 4
    over = {
        "store": database,
        "limits": {
            "budget": {"total": paid * 6.0 * WORDS},
            "concurrent_requests": 500,
            "queue_seconds": 10 * LIMIT,  # nobody is refused for having waited
        },
    }
    async with AsyncExitStack() as stack:
        proxies = [
            await stack.enter_async_context(running_proxy(table, merge(settings, over)))
            for _ in range(2)
        ]
        outcomes = await asyncio.gather(
            *(ask(proxies[i % 2], report(i)) for i in range(requests)), return_exceptions=True
        )
        refused = [o for o in outcomes if isinstance(o, openai.PermissionDeniedError)]
        assert len(refused) == requests - paid
        assert sum(len(proxy.remote.bodies) for proxy in proxies) == paid
        total = (await account(proxies[0]))["total"]
        assert (total["requests"], total["tokens"]) == (paid, paid * WORDS)


async def test_clients_that_go_away_leave_the_account_whole(
    table: EmbeddingTable, settings: dict[str, Any], database: dict[str, Any]
) -> None:
    generator = random.Random(1)
    async with running_proxy(table, merge(settings, {"store": database})) as proxy:
        jobs = [asyncio.create_task(ask(proxy, report(i))) for i in range(60)]
        for job in generator.sample(jobs, 40):
            await asyncio.sleep(generator.random() / 100)
            job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        assert sum(job.cancelled() for job in jobs) > 10
        await ask(proxy, report(1000))
        total = (await account(proxy))["total"]
        info = await proxy.app[STORE].info()
        sent = {body["messages"][0]["content"] for body in proxy.remote.bodies}
        assert total["tokens"] == WORDS * info["releases"] >= WORDS * len(sent)


async def test_a_crash_never_undercharges(tmp_path: Path) -> None:
    """kill -9 at random moments under load: what the remote received is in the ledger."""
    generator = random.Random()
    received: set[str] = set()
    for attempt in range(KILLS):
        async with serve(
            "--mechanism", "rantext_ldp", "--epsilon", "6", INFERDPT_STATE_DIR=str(tmp_path / "s")
        ) as served:

            async def load(served: Any = served, attempt: int = attempt) -> None:
                async with aiohttp.ClientSession() as session:
                    for i in range(1000):
                        number = generator.randrange(10**6) * KILLS + attempt
                        turns = [{"role": "user", "content": report(number)}]
                        body = {"model": MODEL, "messages": turns}
                        url = f"{served.base_url}/chat/completions"
                        async with session.post(url, json=body) as response:
                            await response.read()
                        assert i < 999

            jobs = [asyncio.create_task(load()) for _ in range(8)]
            await served.remote.started.wait()
            await asyncio.sleep(generator.random())
            served.process.send_signal(signal.SIGKILL)
            await served.process.wait()
            await asyncio.gather(*jobs, return_exceptions=True)
            received |= {body["messages"][0]["content"] for body in served.remote.bodies}
    async with open_store(Settings(folder=str(tmp_path / "s"))) as store:
        total = (await Ledger(store, delta=1e-6).figures("anonymous"))["total"]
        info = await store.info()
        rows = [line async for line in read_lines(store) if line["charged"]]
        assert await faults(store) == {}
    assert received
    assert total["requests"] == len(rows) >= len(received)
    assert any(line["status"] is None for line in rows)  # those that were running
    assert total["tokens"] >= WORDS * len(received)
    assert total["tokens"] == WORDS * info["releases"]
    assert info["disclosures"] == info["releases"]  # each text in a conversation of its own


@pytest.mark.parametrize(
    ("mechanisms", "delta"),
    [
        (("rantext_ldp",), 1e-9),
        (("surrogate",), 0.0),
        (("surrogate", "rantext_ldp"), 1e-9),
        ((), 1e-9),
    ],
)
async def test_an_account_names_the_guards_share_of_delta(
    proxy: Proxy, mechanisms: tuple[str, ...], delta: float
) -> None:
    for mechanism in mechanisms:
        await ask(proxy, report(1), mechanism=mechanism)
    assert (await account(proxy))["guard_delta_per_text"] == delta
