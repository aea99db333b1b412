"""`/v1/responses` with the official client: events, calls of tools, and failures."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai.types.responses import Response

from perturb import EmbeddingTable
from tests.proxy.chats import ANSWER, CALL, TEXT, user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.responses import OTHER, STRICT, TOOLS, kinds, steps, whole, wire
from tests.servers import (
    FakeServer,
    die_mid_stream,
    hang,
    status,
)


async def test_the_events_of_a_text(proxy: Proxy) -> None:
    events = await wire(proxy)
    assert kinds(events) == [
        *("created", "in_progress", "output_item.added", "content_part.added"),
        *("output_text.delta",) * 3,
        *("output_text.done", "content_part.done", "output_item.done", "completed"),
    ]
    for event in events:
        STRICT.validate_python(event)  # against the SDK's own types, field by field
    assert "".join(e["delta"] for e in events if "delta" in e) == ANSWER
    first, last = events[0]["response"], events[-1]["response"]
    assert first["output"] == []
    assert (first["status"], last["status"]) == ("in_progress", "completed")
    assert len({e["response"]["id"] for e in events if "response" in e}) == 1
    assert len({e["item_id"] for e in events if "item_id" in e}) == 1
    assert last["output"] == [events[-2]["item"]]
    assert last["usage"]["total_tokens"] == 14
    assert first["inferdpt"] == last["inferdpt"]
    assert "the remote answered" in last["inferdpt"]["remote"][0]


async def test_a_streamed_response_is_the_one_that_comes_whole(proxy: Proxy) -> None:
    def shape(response: Any) -> Any:
        text = json.dumps(response.model_dump(exclude={"id", "created_at"}))
        for item in response.output:
            text = text.replace(item.id, "ID")
        return json.loads(text)

    client = proxy.client()
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL, OTHER]}
    for answer in ({"role": "assistant", "content": ANSWER}, message, {"role": "assistant"}):
        for finish in ("stop", "length"):
            proxy.local.behaviour = whole(answer, finish)
            asked: Any = {"model": MODEL, "input": TEXT, "tools": TOOLS}
            given = await client.responses.create(**asked)
            streamed = [e async for e in await client.responses.create(**asked, stream=True)]
            final: Any = streamed[-1]
            one, other = shape(given), shape(final.response)
            for found in (one, other):  # drawn and counted once
                found.pop("usage")
                found.pop("inferdpt")
            assert one == other


async def test_the_clients_accumulator_builds_the_response(proxy: Proxy) -> None:
    async with proxy.client().responses.stream(model=MODEL, input=TEXT) as stream:
        snapshots = [e.snapshot async for e in stream if e.type == "response.output_text.delta"]
        final = await stream.get_final_response()
    assert snapshots == ["One ", "One two ", ANSWER]
    assert final.output_text == ANSWER


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_cut_by_the_limit_is_incomplete(proxy: Proxy, streamed: bool) -> None:
    proxy.local.behaviour = whole({"role": "assistant", "content": "One"}, "length")
    if streamed:
        events = await wire(proxy, max_output_tokens=1)
        assert kinds(events)[-1] == "incomplete"
        done = Response.model_validate(events[-1]["response"])
    else:
        done = await proxy.client().responses.create(model=MODEL, input=TEXT, max_output_tokens=1)
    assert done.status == "incomplete"
    assert done.incomplete_details is not None
    assert done.incomplete_details.reason == "max_output_tokens"
    assert [item.model_dump()["status"] for item in done.output] == ["incomplete"]
    assert done.output_text == "One"


async def test_pings_go_out_while_the_remote_is_silent(table: EmbeddingTable) -> None:
    async with running_proxy(table, {"server": {"ping_seconds": 0.05}}) as proxy:
        proxy.remote.behaviour = hang
        async with proxy.client().responses.with_streaming_response.create(
            model=MODEL, input=TEXT, stream=True
        ) as raw:
            lines = raw.iter_lines()
            assert await anext(lines) == ": ping"
            proxy.remote.release.set()
            rest = [line async for line in lines]
        assert "[DONE]" not in "".join(rest)
        assert "event: response.completed" in rest


async def test_a_call_comes_back_as_an_item_and_its_result_is_private(proxy: Proxy) -> None:
    client = proxy.client()
    proxy.remote.text = "remote words"
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    proxy.local.behaviour = whole(message, "tool_calls")
    history: list[Any] = user(TEXT)
    done = await client.responses.create(model=MODEL, input=history, tools=TOOLS)
    (call,) = done.output
    assert call.type == "function_call"
    assert (call.call_id, call.name, call.arguments) == ("call_1", "look_up", '{"q": "x"}')
    assert done.output_text == ""
    proxy.local.behaviour = None
    history += done.output
    result = {"call_id": "call_1", "output": "The result mentions Canarybird."}
    history.append({"type": "function_call_output", **result})
    await client.responses.create(model=MODEL, input=history, tools=TOOLS)
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user"]
    assert proxy.sent()[1]["content"] == "remote words"
    assert "look_up" not in json.dumps(proxy.sent())
    assert "anary" not in json.dumps(proxy.sent())
    told = proxy.local.bodies[-1]["messages"]
    assert told[1]["tool_calls"] == [CALL]
    assert told[2] == {"role": "tool", "tool_call_id": "call_1", "content": result["output"]}


async def test_calls_are_streamed_as_their_own_items(proxy: Proxy) -> None:
    def piece(index: int, arguments: str, **more: Any) -> dict[str, Any]:
        function = {"arguments": arguments, **({"name": "look_up"} if more else {})}
        return {"tool_calls": [{"index": index, "function": function, **more}]}

    start = {"id": "call_1", "type": "function"}
    proxy.local.behaviour = steps(
        {"role": "assistant", "content": "Let me see."},
        piece(0, "", **start),
        piece(0, '{"q": '),
        piece(1, "{}", **{**start, "id": "call_2"}),
        piece(0, '"x"}'),  # late: the next call has begun
        {"content": "\n"},
        finish="tool_calls",
    )
    events = await wire(proxy, tools=TOOLS)
    for event in events:
        STRICT.validate_python(event)
    assert kinds(events)[2:-1] == [
        *("output_item.added", "content_part.added", "output_text.delta"),
        *("output_item.added", "function_call_arguments.delta"),
        *("output_item.added", "function_call_arguments.delta"),
        *("function_call_arguments.delta", "output_text.delta"),
        *("output_text.done", "content_part.done", "output_item.done"),
        *("function_call_arguments.done", "output_item.done") * 2,
    ]
    text, first, second = events[-1]["response"]["output"]
    assert text["content"][0]["text"] == "Let me see.\n"
    assert (first["call_id"], first["arguments"]) == ("call_1", '{"q": "x"}')
    assert (second["call_id"], second["arguments"]) == ("call_2", "{}")
    async with proxy.client().responses.stream(model=MODEL, input=TEXT, tools=TOOLS) as stream:
        final = await stream.get_final_response()
    calls = [item for item in final.output if item.type == "function_call"]
    assert [call.arguments for call in calls] == ['{"q": "x"}', "{}"]
    assert calls[0].parsed_arguments == {"q": "x"}


@pytest.mark.parametrize("streamed", [False, True])
async def test_what_fails_before_the_stream_is_an_ordinary_error(
    proxy: Proxy, streamed: bool
) -> None:
    proxy.remote.behaviour = status(500)
    with pytest.raises(openai.InternalServerError) as info:
        await proxy.client().responses.create(model=MODEL, input=TEXT, stream=streamed)
    assert (info.value.status_code, info.value.code) == (502, "remote_error")


@pytest.fixture
async def pinging(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    async with running_proxy(table, {"server": {"ping_seconds": 0.05}}) as proxy:
        yield proxy


async def fails_late(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
    await server.release.wait()
    return await status(429)(server, request, body)


async def test_what_fails_later_is_an_error_event_and_a_failed_response(pinging: Proxy) -> None:
    secret = "Zanzibar"
    asked: Any = {"instructions": secret, "tools": [{**TOOLS[0], "description": secret}]}
    pinging.local.behaviour = die_mid_stream
    events = await wire(pinging, **asked)
    assert kinds(events)[:2] == ["created", "in_progress"]
    assert kinds(events)[-2:] == ["error", "failed"]
    pinging.local.behaviour = None
    pinging.remote.behaviour = fails_late

    async def accumulated() -> None:
        stream = pinging.client().responses.stream(model=MODEL, input=TEXT, **asked)
        async with stream as events:
            pinging.remote.release.set()
            await events.get_final_response()

    with pytest.raises(openai.APIError) as info:
        await accumulated()
    assert info.value.code == "remote_rate_limited"
    pinging.remote.release.clear()
    async with pinging.client().responses.with_streaming_response.create(
        model=MODEL, input=TEXT, stream=True, **asked
    ) as raw:
        lines = raw.iter_lines()
        assert await anext(lines) == ": ping"
        pinging.remote.release.set()
        data = [json.loads(line[6:]) async for line in lines if line.startswith("data: ")]
    assert kinds(data) == ["created", "in_progress", "error", "failed"]
    for event in data:
        STRICT.validate_python(event)
        assert secret not in json.dumps(event)
    assert (data[2]["code"], data[2]["error"]["type"]) == (
        "remote_rate_limited",
        "rate_limit_error",
    )
    failed = data[3]["response"]
    assert (failed["status"], failed["error"]["code"]) == ("failed", "rate_limit_exceeded")
