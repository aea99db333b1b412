"""The pipeline before a remote that speaks the Messages API."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import openai
import pytest
from aiohttp import web

from perturb import EmbeddingTable, Perturber
from tests.perturb.marking import WORDS
from tests.proxy import anthropic_remote
from tests.proxy.anthropic_remote import KEY, find_fault, make_events, make_message, stream
from tests.proxy.canaries import Canaries, check_none_left, fire
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy, sanitizing
from tests.proxy.gateway.test_start import MissesOne, PassesThrough
from tests.proxy.pipeline.test_canaries import request
from tests.servers import FakeServer

REMOTE = {"api": "messages", "api_key": KEY}
TEXT = "The river rose after three days of rain; write to anna@example.org."


@pytest.fixture
def settings() -> dict[str, Any]:
    privacy = {"mechanism": "rantext_ldp", "system": "perturb"}
    return {"remote": REMOTE, "privacy": privacy, "prompts": {"remote_words": "Words are noisy."}}


async def say(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Answer alike, whatever is asked."""
    if (fault := find_fault(request, body)) is not None and fault != "the roles":
        return anthropic_remote.refuse(fault)  # histories of tests may begin anywhere
    text = {"type": "text", "text": "One two three. " * 40}
    thought = {"type": "thinking", "thinking": "hidden thoughts", "signature": "c2ln"}
    return await anthropic_remote.answer(request, body, make_message(thought, text))


async def test_texts_leave_as_blocks_in_their_order(proxy: Proxy) -> None:
    proxy.remote.behaviour = say
    messages: list[Any] = [
        {"role": "system", "content": "Serve the mayor of the village."},
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": "An answer that nobody here gave."},
        {"role": "system", "content": "Answer the question in a few words."},
        {"role": "user", "content": "<public>Summarise:</public> the rain went on for a week."},
    ]
    done = await proxy.client().chat.completions.create(
        model=MODEL,
        messages=messages,
        temperature=1.7,
        max_tokens=50,
        extra_body={"inferdpt": {"receipt": "full"}},
    )
    (body,) = proxy.remote.bodies
    assert (body["temperature"], body["max_tokens"]) == (1.0, 50)
    assert body["system"][0] == {"type": "text", "text": "Words are noisy."}
    assert len(body["system"]) == 2
    assert [m["role"] for m in body["messages"]] == ["user", "assistant", "user"]
    assert body["messages"][2]["content"][1]["text"].startswith("Summarise: ")
    receipt = done.model_extra["inferdpt"]
    assert receipt["exchanges"][0]["sent"][1:] == body["messages"]
    assert receipt["exchanges"][0]["generation"] == "One two three. " * 40
    assert "hidden thoughts" not in json.dumps(receipt)
    told = b"\n".join(proxy.local.received).decode()
    assert "One two three." in told
    assert "hidden thoughts" not in told


async def test_a_conversation_is_sent_as_the_same_bytes(proxy: Proxy) -> None:
    proxy.remote.behaviour = say
    client = proxy.client()
    first: Any = await client.chat.completions.create(model=MODEL, messages=user(TEXT))
    said = first.choices[0].message.content
    later = [*user(TEXT), {"role": "assistant", "content": said}, *user("And the village?")]
    await client.chat.completions.create(model=MODEL, messages=later)  # type: ignore[arg-type]
    one, two = (body["messages"] for body in proxy.remote.bodies)
    assert two[0] == one[0]
    # the remote gets its own words back
    assert two[1]["content"][0]["text"].split() == ("One two three. " * 40).split()


@pytest.mark.parametrize("path", ["completions", "responses", "messages"])
async def test_other_endpoints_are_sent_alike(proxy: Proxy, path: str) -> None:
    proxy.remote.behaviour = say
    client = proxy.client()
    if path == "completions":
        await client.completions.create(model=MODEL, prompt=TEXT)
    elif path == "responses":
        await client.responses.create(model=MODEL, input=TEXT)
    else:
        await client.post(
            "/messages",
            body={"model": MODEL, "max_tokens": 20, "messages": user(TEXT)},
            cast_to=object,
        )
    (body,) = proxy.remote.bodies
    assert [m["role"] for m in body["messages"]] == ["user"]


async def test_no_canary_leaves_or_is_logged(table: EmbeddingTable) -> None:
    async with running_proxy(table, {"remote": REMOTE}) as proxy:
        proxy.remote.behaviour = say
        canaries = Canaries(seed=3)
        seen = await fire(proxy, canaries, 150, partial(request, canaries))
        assert seen[200] > 75
        assert set(seen) <= {200, 400, 404}, seen
        assert len(proxy.remote.bodies) > 75
        check_none_left(proxy, canaries, 150)


async def test_the_search_finds_a_proxy_that_leaks(table: EmbeddingTable) -> None:
    settings = {"remote": REMOTE, "privacy": {"system": "public", "public_findings": "allow"}}
    async with running_proxy(table, settings) as proxy:
        proxy.remote.behaviour = say
        canaries = Canaries(seed=4)
        await fire(proxy, canaries, 60, partial(request, canaries))
        assert canaries.found_in(b"\n".join(proxy.remote.received))


@pytest.mark.parametrize("broken", [PassesThrough, MissesOne])
async def test_a_broken_mechanism_sends_nothing(
    table: EmbeddingTable, broken: type[Perturber]
) -> None:
    settings = {"remote": REMOTE, "privacy": {"mechanism": "selective", "parameters": WORDS}}
    async with running_proxy(table, settings, sanitizing(broken)) as proxy:
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL,
                messages=user("Jane Doe wrote from jane.doe@example.com, 555-013-2479."),
            )
        assert info.value.code == "guard_refused"
        assert proxy.remote.received == []


class TestCut:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {
            "remote": REMOTE,
            "local": {"context_tokens": 512, "default_max_tokens": 128, "extraction": "all"},
        }

    async def test_a_long_generation_is_streamed_and_cut(self, proxy: Proxy) -> None:
        async def go_on(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
            assert body["stream"] is True
            long = make_message({"type": "text", "text": "One two three. " * 400})
            return await stream(request, make_events(long, 15))

        proxy.remote.behaviour = go_on
        done = await proxy.client().chat.completions.create(
            model=MODEL, messages=user(TEXT), max_tokens=300
        )
        assert "the connection was closed" in done.model_extra["inferdpt"]["remote"][0]
