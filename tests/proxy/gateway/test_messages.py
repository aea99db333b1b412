"""The Messages API through a gateway, with the official client."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest
from aiohttp import web

from tests.proxy.agents import CLAUDE_CODE_HEADERS, claude_code
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import (
    CARD,
    MAIL,
    NAME,
    TEXT,
    call,
    chunk,
    cut,
    delta,
    echo,
    leaked,
    received,
)
from tests.proxy.messages import ask, check_order, messages_client, post, read_events
from tests.servers import completion, open_stream, send

TOOL: dict[str, Any] = {
    "name": "write_letter",
    "description": f"Writes to {MAIL}.",
    "input_schema": {"type": "object", "properties": {MAIL: {"type": "string"}}},
    "cache_control": {"type": "ephemeral"},
    "input_examples": [{MAIL: CARD}],
}


async def test_a_message_is_restored(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    async with messages_client(proxy) as client:
        made = await client.messages.create(
            model=MODEL,
            max_tokens=100,
            system=f"Serve {NAME}.",
            messages=[{"role": "user", "content": TEXT}],
            stop_sequences=[CARD],
            metadata={"user_id": NAME},
            extra_body={"temperature": 0.5},  # later models have none, nor has the client
        )
    assert [block.text for block in made.content] == [f"Sure: {TEXT}"]
    assert (made.stop_reason, made.model, made.role) == ("end_turn", MODEL, "assistant")
    assert (made.usage.input_tokens, made.usage.output_tokens) == (11, 3)
    assert made.model_extra["inferdpt"]["restored"] == 3
    assert made._request_id.startswith("req_")
    assert leaked(proxy) == []
    (body,) = proxy.remote.bodies
    assert set(body) == {
        *("model", "messages", "stop", "temperature", "max_completion_tokens", "store")
    }
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert (body["max_completion_tokens"], body["temperature"]) == (100, 0.5)


async def test_a_stream_is_restored_and_in_order(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    async with messages_client(proxy) as client, client.messages.stream(**ask(TEXT)) as stream:
        events = [event async for event in stream]
        made = await stream.get_final_message()
    text = "".join(event.text for event in events if event.type == "text")
    assert text == made.content[0].text == f"Sure: {TEXT}"
    assert (made.stop_reason, made.usage.input_tokens, made.usage.output_tokens) == (
        *("end_turn", 11, 3),
    )
    assert leaked(proxy) == []
    _, _, told = await post(proxy, ask(TEXT, stream=True))
    raw = read_events(told)
    check_order(raw)
    assert raw[0]["message"]["inferdpt"]["restored"] is None
    assert raw[-2]["inferdpt"]["restored"] == 3
    assert len([e for e in raw if e["type"] == "content_block_delta"]) > 5


@pytest.mark.parametrize("stream", [False, True])
async def test_calls_make_a_round_trip(proxy: Proxy, stream: bool) -> None:
    """Two calls that the remote writes by turns become one block after the other."""
    proxy.remote.behaviour = call
    body = ask(TEXT, tools=[TOOL], tool_choice={"type": "any", "disable_parallel_tool_use": False})
    async with messages_client(proxy) as client:
        if stream:
            async with client.messages.stream(**body) as events:
                made = await events.get_final_message()
        else:
            made = await client.messages.create(**body)
        wanted = {"text": TEXT + '\n"é"', TEXT: [1, None]}
        calls = [block for block in made.content if block.type == "tool_use"]
        assert [(c.name, c.input) for c in calls] == [("write_letter", wanted)] * 2
        assert made.stop_reason == "tool_use"
        assert calls[0].id != calls[1].id
        proxy.remote.behaviour = echo
        results = [
            {"type": "tool_result", "tool_use_id": calls[0].id, "content": f"Sent to {MAIL}."},
            {
                "type": "tool_result",
                "tool_use_id": calls[1].id,
                "content": [{"type": "text", "text": f"No {NAME} here."}],
                "is_error": True,
            },
            {"type": "text", "text": f"What about {NAME}?"},
        ]
        answer: Any = {"role": "assistant", "content": made.content}
        messages = [*body["messages"], answer, {"role": "user", "content": results}]
        last = await client.messages.create(**{**body, "messages": messages})
    assert last.content[0].text == f"Sure: What about {NAME}?"
    assert leaked(proxy) == []
    first, second = proxy.remote.bodies
    assert (first["tool_choice"], first["parallel_tool_calls"]) == ("required", True)
    sent = second["messages"]
    assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "user"]
    ids = [each["id"] for each in sent[1]["tool_calls"]]
    assert [m["tool_call_id"] for m in sent[2:4]] == ids == ["call_0", "call_1"]
    assert sent[3]["content"][0]["text"] == "The tool failed:"
    keys = [set(json.loads(each["function"]["arguments"])) for each in sent[1]["tool_calls"]]
    assert keys[0] == keys[1] > {"text"}


async def test_claude_codes_requests_are_served(proxy: Proxy) -> None:
    values = [NAME, MAIL, CARD]
    planted = iter(range(1000))
    body = claude_code(lambda: f"{values[next(planted) % 3]}")
    proxy.remote.behaviour = echo
    status, _, told = await post(proxy, body, "messages?beta=true", **CLAUDE_CODE_HEADERS)
    assert status == 200
    events = read_events(told)
    check_order(events)
    dropped = events[-2]["inferdpt"]["dropped"]
    assert dropped == [
        "context_management",
        "thinking",
        "system[].text (billing header)",
        "messages[].content[] (thinking)",
        "messages[].content[] (redacted_thinking)",
        "tools[].eager_input_streaming",
    ]
    text = "".join(e["delta"].get("text", "") for e in events if "delta" in e)
    assert text.startswith("Sure: <system-reminder>")
    assert leaked(proxy) == []
    sent = received(proxy)
    for name in ("cache_control", "claude-cli", "anthropic", "billing", "Claude-Code-Session"):
        assert name.casefold() not in sent.casefold().replace("anthropic's official", "")
    (made,) = proxy.remote.bodies
    assert set(made) == {
        *("model", "messages", "tools", "stream", "stream_options", "store", "temperature"),
        *("max_completion_tokens", "reasoning_effort"),
    }


async def test_an_error_names_the_place_as_the_client_knows_it(proxy: Proxy) -> None:
    bad = {**TOOL, "name": MAIL}
    status, told, _ = await post(proxy, ask("Hi", system="Be brief.", tools=[TOOL, bad]))
    assert status == 400
    assert told["type"] == "error"
    assert told["error"]["type"] == "invalid_request_error"
    assert "'tools[1].name'" in told["error"]["message"]
    assert proxy.remote.received == []
    answer = {"type": "tool_use", "id": "c", "name": MAIL, "input": {}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": [answer]},
        {"role": "user", "content": "Go on."},
    ]
    status, told, _ = await post(proxy, ask("Hi", system="Be brief.", messages=messages))
    assert (status, proxy.remote.received) == (400, [])
    assert "'messages[1].content[0]'" in told["error"]["message"]


async def test_a_failure_while_streaming_is_an_error_event(proxy: Proxy) -> None:
    async def stop_early(server: Any, request: Any, body: Any) -> Any:
        response = await open_stream(request)
        await send(response, chunk(delta(content="One ")))
        return response

    proxy.remote.behaviour = stop_early
    async with messages_client(proxy) as client:
        with pytest.raises(anthropic.APIStatusError, match="The remote"):
            async with client.messages.stream(**ask("Hi")) as stream:
                await stream.get_final_message()
    _, _, told = await post(proxy, ask("Hi", stream=True))
    last = read_events(told)[-1]
    assert (last["type"], last["error"]["type"]) == ("error", "api_error")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_that_is_cut_off_says_so(proxy: Proxy, stream: bool) -> None:
    async def limited(server: Any, request: Any, body: Any) -> Any:
        arguments = '{"a": "b", "c": "d'
        function = {"name": "write_letter", "arguments": arguments}
        calls = [{"index": 0, "id": "c", "type": "function", "function": function}]
        if not stream:
            made = completion("", content=None, tool_calls=calls)
            made["choices"][0]["finish_reason"] = "length"
            return web.json_response(made)
        response = await open_stream(request)
        await send(response, chunk(delta(tool_calls=calls)))
        await send(response, chunk(delta(0, "length")))
        return response

    proxy.remote.behaviour = limited
    body = ask("Hi", tools=[TOOL])
    async with messages_client(proxy) as client:
        if stream:
            async with client.messages.stream(**body) as events:
                made = await events.get_final_message()
        else:
            made = await client.messages.create(**body)
    assert made.stop_reason == "max_tokens"
    assert made.content[0].input["a"] == "b"


async def test_arguments_that_are_no_json_are_an_error(proxy: Proxy) -> None:
    async def broken(server: Any, request: Any, body: Any) -> Any:
        function = {"name": "write_letter", "arguments": "not JSON"}
        calls = [{"id": "c", "type": "function", "function": function}]
        return web.json_response(completion("", content=None, tool_calls=calls))

    proxy.remote.behaviour = broken
    status, told, _ = await post(proxy, ask("Hi", tools=[TOOL]))
    assert (status, told["error"]["type"]) == (502, "api_error")


async def test_text_after_a_call_is_a_block_of_its_own(proxy: Proxy) -> None:
    async def mixed(server: Any, request: Any, body: Any) -> Any:
        response = await open_stream(request)
        opened = {"index": 0, "id": "c", "function": {"name": "write_letter", "arguments": ""}}
        await send(response, chunk(delta(content="Before.")))
        await send(response, chunk(delta(tool_calls=[opened])))
        await send(response, chunk(delta(content="After.")))
        for piece in cut('{"a": 1}'):
            calls = [{"index": 0, "function": {"arguments": piece}}]
            await send(response, chunk(delta(tool_calls=calls)))
        await send(response, chunk(delta(0, "stop")))
        return response

    proxy.remote.behaviour = mixed
    _, _, told = await post(proxy, ask("Hi", tools=[TOOL], stream=True))
    events = read_events(told)
    check_order(events)
    started = [e["content_block"]["type"] for e in events if e["type"] == "content_block_start"]
    assert started == ["text", "tool_use", "text"]
    assert events[-2]["delta"]["stop_reason"] == "tool_use"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_stop_sequence_is_told_as_the_client_knows_it(proxy: Proxy, stream: bool) -> None:
    """vLLM names the one that ended an answer, as it was sent."""

    async def stop(server: Any, request: Any, body: Any) -> Any:
        assert CARD not in body["stop"]
        if not stream:
            made = completion("Done.")
            made["choices"][0]["stop_reason"] = body["stop"][1]
            return web.json_response(made)
        response = await open_stream(request)
        await send(response, chunk(delta(content="Done.")))
        await send(response, chunk({**delta(0, "stop"), "stop_reason": body["stop"][1]}))
        return response

    proxy.remote.behaviour = stop
    body = ask("Hi", stop_sequences=["END", CARD])
    async with messages_client(proxy) as client:
        if stream:
            async with client.messages.stream(**body) as events:
                made = await events.get_final_message()
        else:
            made = await client.messages.create(**body)
    assert (made.stop_reason, made.stop_sequence) == ("stop_sequence", CARD)


async def test_structured_outputs_are_a_format_of_the_chat(proxy: Proxy) -> None:
    async def write(server: Any, request: Any, body: Any) -> Any:
        schema = body["response_format"]["json_schema"]["schema"]
        name = schema["properties"]["to"]["const"]
        return web.json_response(completion(json.dumps({"to": name})))

    proxy.remote.behaviour = write
    schema = {"type": "object", "properties": {"to": {"const": NAME}}}
    form = {"format": {"type": "json_schema", "schema": schema}}
    async with messages_client(proxy) as client:
        made = await client.messages.create(**ask("Hi", output_config=form))
    assert json.loads(made.content[0].text) == {"to": NAME}
    assert leaked(proxy) == []


async def test_counting_sends_nothing(proxy: Proxy) -> None:
    async with messages_client(proxy) as client:
        short = await client.messages.count_tokens(**count("Hi"))
        long = await client.messages.count_tokens(**count("word " * 1000, tools=[TOOL]))
        with pytest.raises(anthropic.NotFoundError):
            await client.messages.count_tokens(**{**count("Hi"), "model": "other"})
    assert 1 <= short.input_tokens < 20
    assert 1000 <= long.input_tokens < 1200
    assert proxy.remote.received == []


def count(text: str, **body: Any) -> dict[str, Any]:
    asked = ask(text, **body)
    del asked["max_tokens"]
    return asked
