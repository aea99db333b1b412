"""Completions, responses and previews through a gateway, with the official client."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web

from tests.absence import find_leaks
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import CARD, MAIL, NAME, SECRETS, TEXT, call, cut, echo, leaked
from tests.servers import FakeServer, open_stream, send


async def complete(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Continue a text with itself, once for each choice."""
    assert request.path == "/v1/completions"
    n, text = body.get("n", 1), body["prompt"] + " and on"
    found = {"tokens": ["Hi"], "token_logprobs": [-1.0], "top_logprobs": [{"Hi": -1.0}]}
    logprobs = found if body.get("logprobs") is not None else None
    if not body.get("stream"):
        choices = [
            {"index": i, "text": text, "finish_reason": "stop", "logprobs": logprobs}
            for i in range(n)
        ]
        return web.json_response({"object": "text_completion", "choices": choices})
    response = await open_stream(request)
    for piece in cut(text):
        for i in range(n):
            await send(response, {"choices": [{"index": i, "text": piece}]})
    for i in range(n):
        await send(response, {"choices": [{"index": i, "text": "", "finish_reason": "length"}]})
    return response


@pytest.mark.parametrize("stream", [False, True])
async def test_completions_are_restored(proxy: Proxy, stream: bool) -> None:
    proxy.remote.behaviour = complete
    made = await proxy.client().completions.create(
        model=MODEL, prompt=[TEXT, f"{MAIL} is"], n=2, stream=stream, stop=[CARD], user=NAME
    )
    texts = {0: "", 1: "", 2: "", 3: ""}
    for step in [step async for step in made] if stream else [made]:
        for choice in step.choices:
            texts[choice.index] += choice.text
    assert list(texts.values()) == [f"{TEXT} and on"] * 2 + [f"{MAIL} is and on"] * 2
    assert leaked(proxy) == []
    assert len(proxy.remote.bodies) == 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_text_is_inserted_before_a_suffix(proxy: Proxy, stream: bool) -> None:
    proxy.remote.behaviour = complete
    made: Any = await proxy.client().completions.create(
        model=MODEL, prompt=f"Dear {NAME},", suffix=f"Yours, {MAIL}\n{NAME}", stream=stream
    )
    steps = [step async for step in made] if stream else [made]
    assert "".join(c.text for s in steps for c in s.choices) == f"Dear {NAME}, and on"
    assert leaked(proxy) == []
    (body,) = proxy.remote.bodies
    hidden = body["prompt"].removeprefix("Dear ").removesuffix(",")
    assert body["suffix"].endswith(f"\n{hidden}")  # one text's replacements are the other's


@pytest.mark.parametrize("asked", [None, 0, 1])
async def test_completions_have_log_probabilities(proxy: Proxy, asked: int | None) -> None:
    proxy.remote.behaviour = complete
    more: dict[str, Any] = {} if asked is None else {"logprobs": asked}
    made = await proxy.client().completions.create(model=MODEL, prompt="Hi", **more)
    found = made.choices[0].logprobs
    assert (None if found is None else found.tokens) == (None if asked is None else ["Hi"])
    assert ("logprobs" in made.model_extra["inferdpt"]) is (asked is not None)


@pytest.mark.parametrize("stream", [False, True])
async def test_responses_are_restored(proxy: Proxy, stream: bool) -> None:
    proxy.remote.behaviour = echo
    made: Any = await proxy.client().responses.create(
        model=MODEL, input=TEXT, instructions=f"Serve {NAME}.", stream=stream
    )
    text = ""
    if stream:
        async for event in made:
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.completed":
                made = event.response
        assert text == made.output_text
    assert made.output_text == f"Sure: {TEXT}"
    assert made.model_extra["inferdpt"]["restored"] == 3
    assert leaked(proxy) == []


async def test_calls_of_responses_are_restored(proxy: Proxy) -> None:
    proxy.remote.behaviour = call
    tool: Any = {
        "type": "function",
        "name": "write_letter",
        "parameters": {"type": "object", "properties": {MAIL: {"type": "string"}}},
        "strict": False,
    }
    made = await proxy.client().responses.create(model=MODEL, input=NAME, tools=[tool])
    calls = [item for item in made.output if item.type == "function_call"]
    assert [json.loads(item.arguments)[NAME] for item in calls] == [[1, None]] * 2
    assert leaked(proxy) == []


async def test_a_preview_shows_what_a_request_sends(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    async with aiohttp.ClientSession() as session:
        url = f"{proxy.base_url}/privacy/perturb"
        async with session.post(url, json={"text": TEXT}) as reply:
            shown = (await reply.json())["text"]
        assert proxy.remote.received == []
        async with session.get(f"{proxy.root}/ready") as reply:
            assert reply.status == 200
    await proxy.client().chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": TEXT}]
    )
    assert proxy.sent()[0]["content"] == shown


async def test_embeddings_are_not_served(proxy: Proxy) -> None:
    with pytest.raises(openai.NotFoundError):
        await proxy.client().embeddings.create(model=MODEL, input="x")


async def test_keys_that_would_become_alike_stay_apart(proxy: Proxy) -> None:
    """One of them would be lost. It has a tag, which tells them apart."""
    name = NAME.replace("Kowa", "Kowa\u200b")  # of no width: it is dropped
    function = {"name": "f", "arguments": json.dumps({NAME: 1, name: 2})}
    asked: Any = {"id": "c", "type": "function", "function": function}
    messages: list[Any] = [{"role": "assistant", "tool_calls": [asked]}]
    await proxy.client().chat.completions.create(model=MODEL, messages=messages)
    (message,) = proxy.sent()
    sent = json.loads(message["tool_calls"][0]["function"]["arguments"])
    assert sorted(sent.values()) == [1, 2]
    assert find_leaks(SECRETS, *proxy.remote.received) == []


async def test_a_conversation_keeps_its_replacements(proxy: Proxy) -> None:
    """A turn is sent again as the same bytes, and the ledger charges it once."""
    proxy.remote.behaviour = echo
    create = proxy.client().chat.completions.create
    history: list[Any] = [{"role": "user", "content": TEXT}]
    first = await create(model=MODEL, messages=history)
    history += [
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": f"Thank {NAME}."},
    ]
    second = await create(model=MODEL, messages=history)
    assert proxy.sent(1)[0] == proxy.sent(0)[0]
    assert proxy.sent(1)[1]["content"] == "Sure: " + proxy.sent(0)[0]["content"]
    third = await create(model=MODEL, messages=history)
    assert proxy.remote.bodies[2] == proxy.remote.bodies[1]
    assert second.model_extra["inferdpt"]["released_before"] > 0
    assert third.model_extra["inferdpt"]["budget"]["charged"]["tokens"] == 0
