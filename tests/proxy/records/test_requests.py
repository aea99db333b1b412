"""Requests and their rows: every one that is admitted has some, and no row holds text."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.access.auth import Grant
from proxy.api.app_keys import KEYRING, METRICS, RECORDER, STORE
from proxy.records.chain import list_tenants, read_rows
from proxy.records.lines import COLUMNS, read_lines
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.perturb.marking import words
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.gateway.everywhere import MAKERS
from tests.proxy.gateway.remotes import SETTINGS, TEXT
from tests.proxy.gateway.test_canaries import PATTERN, Planter
from tests.proxy.records.rows import faults
from tests.proxy.storage.reports import SETTINGS as LDP
from tests.proxy.storage.reports import WORDS, ask, report

__all__ = ["database", "postgres_url"]


@pytest.fixture
def settings() -> dict[str, Any]:
    privacy = {**SETTINGS["privacy"], "parameters": words(patterns={"PROJECT": PATTERN})}
    return {**SETTINGS, "privacy": privacy}


async def read(proxy: Proxy) -> list[dict[str, Any]]:
    """The lines of all requests so far."""
    async with asyncio.timeout(LIMIT):
        while proxy.app[METRICS].busy:
            await asyncio.sleep(0.01)
    await proxy.app[RECORDER].flush()
    return [line async for line in read_lines(proxy.app[STORE])]


async def read_values(proxy: Proxy) -> list[str]:
    """Return the contents of the rows, as the database has them."""
    return await proxy.app[STORE].scan(
        lambda c: [row.value for tenant in list_tenants(c) for row in read_rows(c, tenant)]
    )


async def test_a_line_states_what_was_done(proxy: Proxy) -> None:
    id_, key = await proxy.app[KEYRING].create("alice", Grant())
    client = proxy.client(api_key=key)
    for _ in range(2):
        reply = await client.chat.completions.with_raw_response.create(
            model=MODEL,
            messages=user(TEXT),  # type: ignore[arg-type]
        )
    with pytest.raises(openai.NotFoundError):
        await client.chat.completions.create(model="another", messages=user(TEXT))  # type: ignore[arg-type]
    first, again, refused = await read(proxy)
    for line in (first, again, refused):
        assert tuple(line) == COLUMNS
        assert (line["tenant"], line["key"]) == ("alice", id_)
        assert line["endpoint"] == "/v1/chat/completions"
        assert line["microseconds"] > 0
    assert again["request"] == reply.headers["x-request-id"]
    for line in (first, again):
        assert (line["model"], line["mechanism"], line["epsilon"]) == (MODEL, "selective", 6)
        assert (line["unit"], line["status"], line["remote"]) == ("marked part", 200, ["relayed"])
        assert line["entities"] == line["positions"]["messages[].content"]
        assert line["entities"].keys() > {"EMAIL_ADDRESS", "PERSON"}
    assert first["charged"]["nominal"] == 6 * first["tokens"] > 0 == again["charged"]["nominal"]
    assert (refused["status"], refused["error"]) == (404, "model_not_found")
    assert refused["charged"] is refused["mechanism"] is refused["model"] is None
    assert await faults(proxy.app[STORE]) == {}


@pytest.mark.usefixtures("seeded_draws")  # two keys that are drawn alike are refused
@pytest.mark.parametrize("path", MAKERS)
async def test_no_row_holds_text(proxy: Proxy, path: str) -> None:
    plant = Planter()
    async with aiohttp.ClientSession() as session:
        for extra in ({}, {"stream": True}, {plant(): plant()}, {"model": plant()}):
            body = {**MAKERS[path](plant), **extra}
            headers = {"x-request-id": plant(), "User-Agent": plant()}
            url = f"{proxy.base_url}/{path}?{plant()}={plant()}"
            async with session.post(url, json=body, headers=headers) as response:
                await response.read()
    lines = await read(proxy)
    assert sorted(line["status"] for line in lines) == [200, 200, 400, 404]
    assert sum(len(line["positions"] or ()) for line in lines) > 1
    values = await read_values(proxy)
    assert len(values) == 7
    assert plant.found_in("".join(values) + json.dumps(lines)) == []
    assert len(plant.found_in(json.dumps(body))) > 1  # the control


NOTHING: dict[str, Any] = {}
REFUSALS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("chat/completions", {"store": False}, NOTHING),
    ("chat/completions", {"inferdpt": {"receipt": "none"}}, NOTHING),
    ("chat/completions", {"metadata": {"record": "false"}}, NOTHING),
    ("chat/completions", {"stream": True}, {"X-No-Record": "1", "DNT": "1"}),
    ("chat/completions", {"inferdpt": {"record": False}}, NOTHING),
    ("chat/completions", {"record": False}, NOTHING),
    ("chat/completions", {"messages": []}, NOTHING),
    ("chat/completions", {"messages": user("<public>Write a poem.</public>")}, NOTHING),
    ("responses", {"messages": None, "input": TEXT, "store": False}, NOTHING),
    ("completions", {"messages": None, "prompt": TEXT}, NOTHING),
    ("embeddings", {"messages": None, "input": TEXT}, NOTHING),
    ("privacy/perturb", {"messages": None, "model": None, "text": TEXT}, NOTHING),
]


@pytest.mark.parametrize("mode", ["gateway", "extraction"])
async def test_no_client_can_turn_it_off(
    table: EmbeddingTable, settings: dict[str, Any], mode: str
) -> None:
    over = settings if mode == "gateway" else LDP
    async with running_proxy(table, over) as proxy, aiohttp.ClientSession() as session:
        more = [("chat/completions", {"inferdpt": {"local_only": True}}, NOTHING)]
        served = set()
        for path, changes, headers in REFUSALS + more:
            body = {"model": MODEL, "messages": user(TEXT), **changes}
            body = {name: value for name, value in body.items() if value is not None}
            url = f"{proxy.base_url}/{path}"
            async with session.post(url, json=body, headers=headers) as response:
                await response.read()
                served.add((response.headers["x-request-id"], response.status))
        lines = await read(proxy)
        assert {(line["request"], line["status"]) for line in lines} == served
        assert len(lines) == len(REFUSALS + more)
        sent = [line for line in lines if line["charged"]]
        assert len(sent) == len(proxy.remote.bodies) > 4
        async with session.get(f"{proxy.base_url}/models") as response:  # no text, no row
            await response.read()
        assert len(await read(proxy)) == len(lines)
        assert await faults(proxy.app[STORE]) == {}


async def test_a_client_that_goes_away_leaves_a_line(proxy: Proxy) -> None:
    proxy.remote.behaviour = hang
    job = asyncio.create_task(
        proxy.client().chat.completions.create(model=MODEL, messages=user(TEXT))  # type: ignore[arg-type]
    )
    await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
    (running,) = [line async for line in read_lines(proxy.app[STORE])]
    assert (running["status"], running["charged"]["tokens"] > 0) == (None, True)
    job.cancel()
    (line,) = await read(proxy)
    assert (line["status"], line["error"]) == (499, "client_disconnected")


async def hang(server: Any, request: Any, body: Any) -> Any:
    await server.release.wait()
    raise ConnectionError


async def test_many_requests_of_two_replicas(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    """Every charge has its row, whichever replica made it, and refused requests have one, too."""
    requests, paid = 40, 10
    budget = {"limits": {"budget": {"total": paid * 6.0 * WORDS}, "concurrent_requests": 500}}
    over = merge(LDP, {"store": database, **budget})
    async with AsyncExitStack() as stack:
        proxies = [await stack.enter_async_context(running_proxy(table, over)) for _ in range(2)]
        await asyncio.gather(
            *(ask(proxies[i % 2], report(i)) for i in range(requests)), return_exceptions=True
        )
        await read(proxies[0])
        lines = await read(proxies[1])
        assert await faults(proxies[0].app[STORE]) == {}
        states = sorted(line["status"] for line in lines)
        assert states == [200] * paid + [403] * (requests - paid)
        assert sum(line["charged"] is not None for line in lines) == paid


async def test_a_tenant_that_was_never_charged_is_in_no_metrics(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    for attempt in (1, 2):
        async with running_proxy(table, merge(LDP, {"store": database})) as proxy:
            with pytest.raises(openai.BadRequestError):
                await proxy.client().chat.completions.create(model=MODEL, messages=[])
            assert len(await read(proxy)) == attempt
            assert b'tenant="anonymous"' not in proxy.app[METRICS].render()
