"""`/v1/messages` with the official client, answered by a local model."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest
from aiohttp import web

from proxy.access.auth import new_key
from tests.proxy.agents import CLAUDE_CODE_HEADERS, claude_code
from tests.proxy.chats import ANSWER, TEXT
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.messages import ask, check_order, messages_client, post, read_events
from tests.servers import chunk, completion, open_stream, send

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"q":"x",  "n": 1}'},
}
TOOL: dict[str, Any] = {"name": "look_up", "input_schema": {"type": "object"}}


def whole(message: dict[str, Any], finish: str) -> Any:
    """A local model that answers with this message."""

    async def behave(server: Any, request: Any, body: dict[str, Any]) -> Any:
        if not body.get("stream"):
            made = completion("", **message)
            made["choices"][0]["finish_reason"] = finish
            return web.json_response(made)
        response = await open_stream(request)
        calls = [{**call, "index": i} for i, call in enumerate(message.get("tool_calls", ()))]
        await send(response, chunk({"role": "assistant", "content": message.get("content") or ""}))
        await send(response, chunk({"tool_calls": calls} if calls else {}, finish))
        await response.write(b"data: [DONE]\n\n")
        return response

    return behave


async def answer(proxy: Proxy, stream: bool, **body: Any) -> Any:
    async with messages_client(proxy) as client:
        if not stream:
            return await client.messages.create(**body)
        async with client.messages.stream(**body) as events:
            return await events.get_final_message()


@pytest.mark.parametrize("stream", [False, True])
async def test_the_local_model_answers(proxy: Proxy, stream: bool) -> None:
    more = {"stop_sequences": ["END"], "extra_body": {"top_p": 0.9, "inferdpt": {"epsilon": 3}}}
    made = await answer(proxy, stream, **ask(TEXT), system="Be brief.", **more)
    assert [block.text for block in made.content] == [ANSWER]
    assert made.stop_reason == "end_turn"
    if not stream:
        assert made.usage.input_tokens == 11
        assert made.model_extra["inferdpt"]["epsilon"]["nominal"] == 3
        assert made.model_extra["inferdpt"]["dropped"] == []
    assert TEXT.encode() not in b"".join(proxy.remote.received)
    (remote,), (local,) = proxy.remote.bodies, proxy.local.bodies
    assert [m["role"] for m in remote["messages"]] == ["user"]
    assert (remote["max_completion_tokens"], remote["top_p"]) == (100, 0.9)
    assert local["messages"][0] == {"role": "system", "content": "Be brief."}
    assert local["stop"] == ["END"]


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("tool_calls", "tool_use"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_reasons_to_stop(proxy: Proxy, finish: str, reason: str, stream: bool) -> None:
    message: dict[str, Any] = {"content": "Let me see."}
    if finish == "tool_calls":
        message["tool_calls"] = [CALL]
    proxy.local.behaviour = whole(message, finish)
    made = await answer(proxy, stream, **ask(TEXT, tools=[TOOL]))
    assert made.stop_reason == reason
    assert made.content[0].text == "Let me see."
    assert [block.input for block in made.content[1:]] == (
        [{"q": "x", "n": 1}] if finish == "tool_calls" else []
    )


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_with_calls_is_recognised_when_it_comes_back(
    proxy: Proxy, stream: bool
) -> None:
    """The client parses arguments and writes them anew; the remote sees its own words for them."""
    proxy.remote.text = "remote words"
    proxy.local.behaviour = whole({"content": "Let me see.", "tool_calls": [CALL]}, "tool_calls")
    made = await answer(proxy, stream, **ask(TEXT, tools=[TOOL]))
    (call,) = [block for block in made.content if block.type == "tool_use"]
    proxy.local.behaviour = None
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "seven geese"}
    thought = {"type": "thinking", "thinking": "x", "signature": "y"}
    history: list[Any] = [
        {"role": "user", "content": TEXT},
        {"role": "assistant", "content": [thought, *made.content]},
        {"role": "user", "content": [result]},
    ]
    await answer(proxy, stream, **ask("", tools=[TOOL]) | {"messages": history})
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user"]
    assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}
    assert "seven geese" not in json.dumps(proxy.sent())
    local = proxy.local.bodies[-1]["messages"]
    assert {"role": "tool", "tool_call_id": call.id, "content": "seven geese"} in local


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("told", ["END", "other", 128009, None])
async def test_a_local_server_may_name_the_stop_sequence(
    proxy: Proxy, stream: bool, told: Any
) -> None:
    async def behave(server: Any, request: Any, body: Any) -> Any:
        if not body.get("stream"):
            made = completion("Done.")
            made["choices"][0]["stop_reason"] = told
            return web.json_response(made)
        response = await open_stream(request)
        last = chunk({"content": "Done."}, "stop")
        last["choices"][0]["stop_reason"] = told
        await send(response, last)
        return response

    proxy.local.behaviour = behave
    made = await answer(proxy, stream, **ask(TEXT, stop_sequences=["END"]))
    known = ("stop_sequence", "END") if told == "END" else ("end_turn", None)
    assert (made.stop_reason, made.stop_sequence) == known


async def test_events_of_a_stream(proxy: Proxy) -> None:
    _, _, told = await post(proxy, ask(TEXT, stream=True))
    events = read_events(told)
    check_order(events)
    start, *_, delta, _ = events
    assert start["message"] | {"id": "", "inferdpt": {}} == {
        "id": "",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
        "inferdpt": {},
    }
    assert delta["delta"] == {"stop_reason": "end_turn", "stop_sequence": None}
    assert (delta["usage"]["input_tokens"], delta["usage"]["output_tokens"]) == (11, 3)


class TestPings:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"ping_seconds": 0.05}}

    async def test_pings_are_events_of_the_api(self, proxy: Proxy) -> None:
        async def slow(server: Any, request: Any, body: Any) -> Any:
            await server.release.wait()
            return web.json_response(completion("remote words"))

        proxy.remote.behaviour = slow
        async with (
            messages_client(proxy) as client,
            client.messages.with_streaming_response.create(**ask(TEXT, stream=True)) as raw,
        ):
            text = ""
            async for piece in raw.iter_text():
                text += piece
                if "ping" in text:
                    proxy.remote.release.set()
        events = read_events(text)
        assert events[0] == {"type": "ping"}
        check_order([event for event in events if event["type"] != "ping"])


async def test_claude_codes_requests_are_served(proxy: Proxy) -> None:
    words = iter(f"zebra{i}" for i in range(1000))
    body = claude_code(lambda: next(words))
    status, _, told = await post(proxy, body, "messages?beta=true", **CLAUDE_CODE_HEADERS)
    assert status == 200
    check_order(read_events(told))
    assert b"zebra" not in b"".join(proxy.remote.received)
    local = proxy.local.bodies[-1]
    assert [m["role"] for m in local["messages"]] == [
        *("system", "user", "system", "assistant", "tool", "tool", "user")
    ]
    assert "billing" not in local["messages"][0]["content"]
    assert "The tool failed:" in local["messages"][4]["content"]


KEY, DIGEST = new_key()


class TestKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"keys": [{"tenant": "a", "sha256": DIGEST}]}}

    @pytest.mark.parametrize("header", ["x-api-key", "Authorization"])
    async def test_a_key_is_in_either_header(self, proxy: Proxy, header: str) -> None:
        value = KEY if header == "x-api-key" else f"Bearer {KEY}"
        status, _, _ = await post(proxy, ask(TEXT), **{header: value})
        assert status == 200
        received = b"".join([*proxy.remote.received, *proxy.local.received])
        assert KEY.encode() not in received

    async def test_a_wrong_key_is_refused_in_the_shape_of_the_api(self, proxy: Proxy) -> None:
        async with messages_client(proxy, api_key="wrong") as client:
            with pytest.raises(anthropic.AuthenticationError) as info:
                await client.messages.create(**ask(TEXT))
        body: Any = info.value.body
        assert set(body) == {"type", "error", "request_id"}
        assert body["error"]["type"] == "authentication_error"
        for headers in ({"x-api-key": "wrong"}, {"x-api-key": KEY, "Authorization": "Bearer x"}):
            assert (await post(proxy, ask(TEXT), **headers))[0] == 401
        assert proxy.remote.received == []


@pytest.mark.parametrize(
    ("body", "path", "status", "kind"),
    [
        (ask(TEXT, model="other"), "messages", 404, "not_found_error"),
        (ask(TEXT, bogus=1), "messages", 400, "invalid_request_error"),
        (ask(TEXT), "messages/batches", 404, "not_found_error"),
        ({"messages": ["x"] * 3000}, "messages", 413, "request_too_large"),
    ],
)
async def test_errors_have_the_shape_of_the_api(
    proxy: Proxy, body: Any, path: str, status: int, kind: str
) -> None:
    found, told, _ = await post(proxy, body, path)
    assert (found, told["type"], told["error"]["type"]) == (status, "error", kind)
    assert set(told) == {"type", "error", "request_id"}
    assert set(told["error"]) == {"type", "message"}


async def test_upstream_failures_have_their_types(proxy: Proxy) -> None:
    async def fail(server: Any, request: Any, body: Any) -> Any:
        return web.json_response({}, status=500)

    proxy.local.behaviour = fail
    status, told, _ = await post(proxy, ask(TEXT))
    assert (status, told["error"]["type"]) == (503, "overloaded_error")
    proxy.local.behaviour, proxy.remote.behaviour = None, fail
    status, told, _ = await post(proxy, ask(TEXT))
    assert (status, told["error"]["type"]) == (502, "api_error")
