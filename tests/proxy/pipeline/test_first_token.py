"""The local model reads the document while the remote writes, and nobody else sees it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from perturb import EmbeddingTable
from proxy.config.settings import load_config
from tests.limits import LIMIT
from tests.proxy.chats import ANSWER
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import Behaviour, FakeServer, answer, hang, status

TEXT = "The board met on Monday morning to discuss the merger. " * 40
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": TEXT},
]


def after_warming(server: FakeServer) -> Behaviour:
    """Answer when the server on the other side has a request."""

    async def behave(
        remote: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        await server.started.wait()
        return await answer(remote, request, body)

    return behave


async def ask(proxy: Proxy, **more: Any) -> Any:
    async with asyncio.timeout(LIMIT):
        return await proxy.client().chat.completions.create(model=MODEL, messages=CHAT, **more)


async def read_metrics(proxy: Proxy) -> list[str]:
    async with aiohttp.ClientSession() as session, session.get(f"{proxy.root}/metrics") as page:
        text = await page.text()
    name = "inferdpt_prefix_warmed_total"
    return [line for line in text.splitlines() if line.startswith(name)]


@pytest.mark.parametrize("task", ["chat", "continuation"])
async def test_the_prompts_opening_is_read_while_the_remote_writes(
    proxy: Proxy, task: str
) -> None:
    proxy.remote.behaviour = after_warming(proxy.local)
    done = await ask(proxy, max_tokens=300, extra_body={"inferdpt": {"task": task}})
    assert done.choices[0].message.content == ANSWER
    ahead, asked = proxy.local.bodies
    assert (ahead["max_tokens"], asked["max_tokens"]) == (1, 300)
    assert ahead["messages"][:-1] == asked["messages"][:-1]
    opening, prompt = ahead["messages"][-1]["content"], asked["messages"][-1]["content"]
    assert TEXT in opening
    assert prompt.startswith(opening)
    assert ANSWER not in opening
    assert not any(b"merger. The board met on Monday" in sent for sent in proxy.remote.received)
    assert await read_metrics(proxy) == ['inferdpt_prefix_warmed_total{end="done"} 1.0']


async def test_a_request_that_is_answered_here_reads_nothing_ahead(proxy: Proxy) -> None:
    await ask(proxy, extra_body={"inferdpt": {"local_only": True}})
    assert len(proxy.local.bodies) == 1
    assert await read_metrics(proxy) == []


async def test_a_warm_up_that_fails_is_counted_and_the_answer_comes(proxy: Proxy) -> None:
    async def refuse_one(server: FakeServer, request: web.Request, body: Any) -> Any:
        kind = status(500) if body["max_tokens"] == 1 else answer
        return await kind(server, request, body)

    proxy.local.behaviour = refuse_one
    proxy.remote.behaviour = after_warming(proxy.local)
    assert (await ask(proxy)).choices[0].message.content == ANSWER
    assert await read_metrics(proxy) == ['inferdpt_prefix_warmed_total{end="failed"} 1.0']


async def test_a_client_that_leaves_ends_the_warm_up(proxy: Proxy) -> None:
    proxy.local.behaviour = proxy.remote.behaviour = hang
    request = asyncio.create_task(ask(proxy))
    async with asyncio.timeout(LIMIT):
        await proxy.local.started.wait()
        request.cancel()
        await asyncio.wait([request])
        while not (proxy.local.disconnects and proxy.remote.disconnects):
            await asyncio.sleep(0.01)
    assert await read_metrics(proxy) == ['inferdpt_prefix_warmed_total{end="cancelled"} 1.0']


async def test_warm_ups_take_no_place_from_answers(table: EmbeddingTable) -> None:
    """One answer at a time; the warm-up of one request hangs while another is answered."""
    async with running_proxy(table, {"local": {"concurrency": 1}}) as proxy:

        async def hang_ahead(server: FakeServer, request: web.Request, body: Any) -> Any:
            return await (hang if body["max_tokens"] == 1 else answer)(server, request, body)

        proxy.local.behaviour = hang_ahead
        proxy.remote.behaviour = after_warming(proxy.local)
        first = asyncio.create_task(ask(proxy))
        async with asyncio.timeout(LIMIT):
            await proxy.local.started.wait()
        assert (await ask(proxy)).choices[0].message.content == ANSWER
        proxy.local.release.set()
        assert (await first).choices[0].message.content == ANSWER
        assert len(await read_metrics(proxy)) == 1


@pytest.mark.parametrize("when", ["never", "auto"])
async def test_short_prompts_and_those_of_operators_who_say_so_are_not_read_ahead(
    table: EmbeddingTable, when: str
) -> None:
    async with running_proxy(table, {"local": {"warm_prefix": when}}) as proxy:
        text = TEXT if when == "never" else "The board met on Monday."
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}]
        )
        assert [body.get("max_tokens") == 1 for body in proxy.local.bodies] == [False]


@pytest.mark.parametrize(
    ("local", "ends_with_document"),
    [
        ({}, True),
        ({"mode": "external", "model": "inferdpt-bundled"}, True),
        ({"mode": "external"}, False),
        ({"mode": "vllm"}, False),
        ({"embedded": {"model": "other.gguf"}}, False),
    ],
)
def test_only_the_bundled_model_gets_the_document_last(
    local: dict[str, Any], ends_with_document: bool
) -> None:
    template = load_config(None, {"local": local}, {}).templates.local_continuation
    assert template.endswith("{document}") is ends_with_document
    own = {"local_continuation": json.dumps("{generation} {document}")}
    chosen = load_config(None, {"local": local, "prompts": own}, {}).templates
    assert chosen.local_continuation == own["local_continuation"]
