"""Open WebUI's filter, called as Open WebUI calls filters.
`tests/clients/test_open_webui.py` runs it there."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from proxy.access.auth import Grant, Terms
from proxy.api.app_keys import KEYRING
from tests.integrations.standalone import load
from tests.proxy.conftest import MODEL, Proxy

ADDRESS = "prtkslmnbvcx@example.com"
METADATA = {"chat_id": "c", "message_id": "m"}
BODY = {"model": "any", "stream": True, "metadata": METADATA}


@pytest.fixture
def own(proxy: Proxy) -> Any:
    with load("inferdpt_filter") as module:
        made = module.Filter()
    made.valves = made.Valves(base_url=proxy.base_url, model=MODEL)
    return made


@pytest.fixture
def how() -> dict[str, Any]:
    """Return what Open WebUI passes with each call for one answer."""
    return {"__metadata__": METADATA, "__request__": SimpleNamespace(state=SimpleNamespace())}


def ask(*texts: str, **more: Any) -> dict[str, Any]:
    return {**BODY, "messages": [{"role": "user", "content": text} for text in texts], **more}


async def test_a_chat_is_sanitized_and_restored(own: Any, how: dict[str, Any]) -> None:
    events: list[dict[str, Any]] = []

    async def emit(event: dict[str, Any]) -> None:
        events.append(event)

    assert own.toggle  # Open WebUI shows the switch
    sent = await own.request(ask(ADDRESS), **how, __event_emitter__=emit)
    assert ADDRESS not in json.dumps(sent) + json.dumps(events)
    assert (sent["model"], sent["stream"], sent["metadata"]) == ("any", True, METADATA)
    told, left = events
    assert told["data"]["description"] == "InferDPT replaced 1 × EMAIL_ADDRESS"
    released = sent["messages"][0]["content"]
    assert left["data"]["document"] == [released]

    text, seen = f"Yes: {released}.", ""
    for i in range(0, len(text), 3):
        step = {"choices": [{"index": 0, "delta": {"content": text[i : i + 3]}}]}
        seen += own.stream(step, **how)["choices"][0]["delta"]["content"]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    seen += own.stream(end, **how)["choices"][0]["delta"].get("content", "")
    assert seen == f"Yes: {ADDRESS}."


async def test_each_user_is_named_to_the_proxy(
    own: Any, how: dict[str, Any], proxy: Proxy
) -> None:
    """Equal values of two users are replaced each in its own way, with the key of a front end."""
    keyring = proxy.app[KEYRING]
    _, own.valves.api_key = await keyring.create("webui", Grant(), Terms(on_behalf=True))
    sent = [
        (await own.request(ask(ADDRESS), **how, __user__={"id": user}))["messages"]
        for user in ("ann", "ben", "ann")
    ]
    assert sent[0] == sent[2] != sent[1]
    with pytest.raises(RuntimeError, match="must name the user"):
        await own.request(ask(ADDRESS), **how)


async def test_an_answer_that_did_not_stream_is_restored(own: Any, how: dict[str, Any]) -> None:
    sent = await own.request(ask(ADDRESS), **how)
    text = f"Yes: {sent['messages'][0]['content']}."
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
    answer = {"role": "assistant", "content": text, "output": output}
    done = await own.outlet({"messages": [*sent["messages"], answer]}, **how)
    assert done["messages"][-1]["content"] == f"Yes: {ADDRESS}."
    assert done["messages"][-1]["output"][0]["content"][0]["text"] == f"Yes: {ADDRESS}."


async def test_answers_of_two_requests_do_not_mix(own: Any, how: dict[str, Any]) -> None:
    """Callers of Open WebUI's API have no ids: their answers have the same name."""
    sent = await own.request(ask(ADDRESS), **how)
    other = {**how, "__request__": SimpleNamespace(state=SimpleNamespace())}
    released = sent["messages"][0]["content"]
    step = {"choices": [{"index": 0, "delta": {"content": f"{released} "}}]}
    assert own.stream(step, **other)["choices"][0]["delta"]["content"] == f"{released} "


async def test_the_round_after_a_tool_is_sanitized(own: Any, how: dict[str, Any]) -> None:
    """The turns so far come back sanitized, the call and its result raw."""
    first = await own.request(ask(ADDRESS), **how)
    call = {"id": "x", "type": "function"}
    call["function"] = {"name": "look_up", "arguments": json.dumps({"to": ADDRESS})}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "x", "content": f"{ADDRESS} is known"}
    body = {**BODY, "messages": [*first["messages"], answer, result]}
    second = await own.request(body, **how)
    released = first["messages"][0]["content"]
    assert second["messages"][0]["content"] == released  # not replaced twice
    assert second["messages"][2]["content"] == f"{released} is known"
    assert ADDRESS not in json.dumps(second)


async def test_unknown_fields_do_not_leave(own: Any, how: dict[str, Any]) -> None:
    with pytest.raises(RuntimeError, match="unknown fields are refused") as info:
        await own.request(ask("Hello", note=ADDRESS), **how)
    assert ADDRESS not in str(info.value)


async def test_nothing_is_sent_if_the_proxy_cannot_be_reached(
    own: Any, how: dict[str, Any]
) -> None:
    own.valves.base_url = "http://127.0.0.1:9/v1"
    with pytest.raises(RuntimeError, match="nothing was sent"):
        await own.request(ask(ADDRESS), **how)


async def test_what_cannot_be_read_is_refused(own: Any, how: dict[str, Any]) -> None:
    image = {"type": "image_url", "image_url": {"url": f"https://example.com/{ADDRESS}"}}
    with pytest.raises(RuntimeError) as info:
        await own.request({**BODY, "messages": [{"role": "user", "content": [image]}]}, **how)
    assert ADDRESS not in str(info.value)


async def test_an_unknown_open_webui_is_refused(own: Any) -> None:
    with pytest.raises(RuntimeError, match="does not know this version"):
        await own.inlet(ask(ADDRESS))
