"""Several remotes: a model's name picks one, and nothing of one reaches another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from proxy.api.app_keys import STORE
from proxy.records.lines import read_lines
from tests.perturb.marking import WORDS
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, merge, running_proxy
from tests.proxy.gateway.remotes import SETTINGS, echo
from tests.proxy.messages import ask, messages_client
from tests.servers import FakeServer, completion, die, fake_server, hang, status

OTHER = "fine-model"
KEYS = {"default": "operator-secret", "other": "sk-other-secret"}
GATEWAY = {**SETTINGS, "privacy": {"mechanism": "selective", "parameters": WORDS}}
PIPELINE: dict[str, Any] = {"privacy": {"mechanism": "rantext_ldp"}}


@pytest.fixture
async def other() -> AsyncIterator[FakeServer]:
    async with fake_server() as server:
        yield server


@pytest.fixture(params=["gateway", "pipeline"])
def settings(request: pytest.FixtureRequest, other: FakeServer) -> dict[str, Any]:
    return configure(GATEWAY if request.param == "gateway" else PIPELINE, other)


def configure(base: dict[str, Any], other: FakeServer, **more: Any) -> dict[str, Any]:
    own = {
        "base_url": other.base_url,
        "api_key": KEYS["other"],
        "models": {OTHER: "their-model"},
        "retries": 0,
    }
    return merge(base, {"remotes": {"other": {**own, **more}}})


async def chat(proxy: Proxy, model: str, **options: Any) -> Any:
    text = user(f"A letter to Jane Doe about {model}.")
    return await proxy.client().chat.completions.create(model=model, messages=text, **options)


def heads(server: FakeServer) -> list[str]:
    return [data.partition(b"\n\n")[0].decode() for data in server.received]


async def test_a_models_name_picks_its_remote(proxy: Proxy, other: FakeServer) -> None:
    for model, server, own in (
        (MODEL, proxy.remote, "remote-model"),
        (OTHER, other, "their-model"),
    ):
        before = len(other.received), len(proxy.remote.received)
        done = await chat(proxy, model)
        assert server.bodies[-1]["model"] == own
        assert (len(other.received), len(proxy.remote.received)) == (
            before[0] + (server is other),
            before[1] + (server is proxy.remote),
        )
        alias = "other" if server is other else "default"
        assert done.model_extra["inferdpt"]["sent_to"] == alias
        assert f'"sent_to":"{alias}"' in "\n".join(proxy.log)


async def test_keys_never_go_to_the_wrong_remote(proxy: Proxy, other: FakeServer) -> None:
    """Every endpoint, streamed or whole, answered, failed or cut, for both remotes."""
    servers = {MODEL: (proxy.remote, "default"), OTHER: (other, "other")}
    for model, (server, _) in servers.items():
        for behaviour in (None, status(500), status(401), die):
            server.behaviour = behaviour
            for stream in (False, True):
                for path, body in (
                    ("chat/completions", {"messages": user("Hi Ann.")}),
                    ("completions", {"prompt": "Hi Ann."}),
                    ("responses", {"input": "Hi Ann."}),
                    ("messages", {"messages": user("Hi Ann."), "max_tokens": 5}),
                ):
                    url = f"{proxy.base_url}/{path}"
                    asked = {"model": model, "stream": stream, **body}
                    async with (
                        aiohttp.ClientSession() as session,
                        session.post(url, json=asked) as reply,
                    ):
                        await reply.read()
    for server, alias in servers.values():
        (wrong,) = (key for name, key in KEYS.items() if name != alias)
        assert len(server.received) >= 8
        assert all(f"Authorization: Bearer {KEYS[alias]}" in head for head in heads(server))
        assert wrong.encode() not in b"\n".join(server.received)
    assert not any(key in line for key in KEYS.values() for line in proxy.log)


async def test_the_models_of_all_remotes_are_listed(proxy: Proxy) -> None:
    client = proxy.client()
    assert [m.id async for m in client.models.list()] == [MODEL, "org/other", OTHER]
    assert (await client.models.retrieve(OTHER)).id == OTHER
    with pytest.raises(openai.NotFoundError):
        await chat(proxy, "their-model")  # the remote's own name is not the client's


async def test_a_failure_names_its_remote(proxy: Proxy, other: FakeServer) -> None:
    other.behaviour = status(500)
    with pytest.raises(openai.InternalServerError):
        await chat(proxy, OTHER)
    await chat(proxy, MODEL)
    async with aiohttp.ClientSession() as session, session.get(f"{proxy.root}/metrics") as reply:
        told = await reply.text()
    name = 'inferdpt_upstream_errors_total{code="remote_error",remote="other",side="remote"} 1.0'
    assert name in told
    assert 'remote="default"' not in told
    lines = [line async for line in read_lines(proxy.app[STORE])]
    assert {line["model"]: line["sent_to"] for line in lines} == {OTHER: "other", MODEL: "default"}


async def test_a_remote_that_hangs_holds_up_no_other(
    table: EmbeddingTable, other: FakeServer
) -> None:
    other.behaviour = hang
    async with running_proxy(table, configure(GATEWAY, other, concurrency=1)) as proxy:
        waiting = [asyncio.create_task(chat(proxy, OTHER)) for _ in range(3)]
        await other.started.wait()
        await chat(proxy, MODEL)
        assert len(other.bodies) == 1
        other.release.set()
        await asyncio.gather(*waiting)
        assert len(other.bodies) == 3


async def test_each_remote_has_its_own_rules(table: EmbeddingTable, other: FakeServer) -> None:
    settings = configure(PIPELINE, other, on_remote_failure="local_only", send_seed=True)
    async with running_proxy(table, settings) as proxy:
        for server in (proxy.remote, other):
            server.behaviour = status(500)
        with pytest.raises(openai.InternalServerError):
            await chat(proxy, MODEL, seed=7)
        done = await chat(proxy, OTHER, seed=7)
        assert "the remote failed" in done.model_extra["inferdpt"]["remote"][0]
        assert other.bodies[-1]["seed"] == 7
        assert "seed" not in proxy.remote.bodies[-1]


async def test_a_pseudonym_is_sent_where_its_remote_wants_one(
    table: EmbeddingTable, other: FakeServer
) -> None:
    async with running_proxy(table, configure(GATEWAY, other, identifiers="pseudonym")) as proxy:
        for model in (MODEL, OTHER):
            await chat(proxy, model, user="anna")
        assert "user" not in proxy.remote.bodies[-1]
        assert len(other.bodies[-1]["user"]) == 64


async def test_two_remotes_get_the_same_release(proxy: Proxy, other: FakeServer) -> None:
    """They may compare what they got: a second draw would tell them more."""
    for model in (MODEL, OTHER):
        await proxy.client().chat.completions.create(
            model=model, messages=user("A letter to Jane Doe in Springfield.")
        )
    assert proxy.remote.bodies[-1]["messages"] == other.bodies[-1]["messages"]


async def test_answers_come_from_the_remote_that_was_asked(
    table: EmbeddingTable, other: FakeServer
) -> None:
    async with running_proxy(table, configure(GATEWAY, other)) as proxy:

        async def say(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            return aiohttp.web.json_response(completion("I am the other."))

        other.behaviour, proxy.remote.behaviour = say, echo
        assert (await chat(proxy, OTHER)).choices[0].message.content == "I am the other."
        made = await chat(proxy, MODEL)
        assert made.choices[0].message.content == f"Sure: A letter to Jane Doe about {MODEL}."
        async with messages_client(proxy) as client:
            message = await client.messages.create(**{**ask("Hi"), "model": OTHER})
        assert message.content[0].text == "I am the other."


async def test_a_remote_without_models_is_never_called(
    table: EmbeddingTable, other: FakeServer
) -> None:
    settings = merge(configure(GATEWAY, other), {"remote": {"models": {}}})
    async with running_proxy(table, settings) as proxy:
        assert [m.id async for m in proxy.client().models.list()] == [OTHER]
        with pytest.raises(openai.NotFoundError):
            await chat(proxy, MODEL)
        await chat(proxy, OTHER)
        assert proxy.remote.received == []
