"""`/v1/responses` with the official client: answers, events, tools, history, refusals."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from aiohttp import web
from openai.resources.responses import AsyncResponses
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from perturb import EmbeddingTable
from proxy import responses_protocol
from proxy.protocol import Treatment, treatment_of
from proxy.responses_protocol import ResponsesRequest
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import (
    WORDS,
    FakeServer,
    chunk,
    completion,
    die_mid_stream,
    hang,
    open_stream,
    send,
    status,
)

TEXT = "The board met on Monday to discuss the merger with our largest competitor."
ANSWER = "".join(WORDS)
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"q": "x"}'},
}
OTHER = {**CALL, "id": "call_2", "function": {"name": "add", "arguments": "{}"}}
TOOLS: list[Any] = [
    {
        "type": "function",
        "name": name,
        "description": "what it does",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        "strict": True,
    }
    for name in ("look_up", "add")
]
STRICT = TypeAdapter[Any](ResponseStreamEvent)


def whole(message: dict[str, Any], finish: str = "stop", **choice: Any) -> Any:
    """A local server that answers with this message, streamed as one step if asked."""

    async def behave(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        if not body.get("stream"):
            out = completion("")
            out["choices"][0] |= {"message": message, "finish_reason": finish, **choice}
            return web.json_response(out)
        response = await open_stream(request)
        first = chunk(message)
        first["choices"][0] |= choice
        await send(response, first)
        await send(response, chunk({}, finish))
        await response.write(b"data: [DONE]\n\n")
        return response

    return behave


def steps(*deltas: dict[str, Any], finish: str = "stop") -> Any:
    """A local server that streams these deltas."""

    async def behave(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        for delta in deltas:
            await send(response, chunk(delta))
        await send(response, chunk({}, finish))
        await response.write(b"data: [DONE]\n\n")
        return response

    return behave


async def wire(proxy: Proxy, **body: Any) -> list[dict[str, Any]]:
    """The events of a streamed response as they are on the wire, pings left out."""
    async with proxy.client().responses.with_streaming_response.create(
        **{"model": MODEL, "input": TEXT, "stream": True, **body}
    ) as raw:
        data = b"".join([part async for part in raw.iter_bytes()]).decode()
    frames = [frame for frame in data.split("\n\n") if frame and not frame.startswith(":")]
    events = []
    for frame in frames:
        name, line = frame.split("\n")
        event = json.loads(line.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]


# -- answers --------------------------------------------------------------------------------


async def test_a_response_has_the_local_models_words_and_a_receipt(proxy: Proxy) -> None:
    done = await proxy.client().responses.create(model=MODEL, input=TEXT)
    Response.model_validate(done.model_dump())  # every field that the API promises is there
    assert (done.object, done.status, done.model) == ("response", "completed", MODEL)
    assert done.output_text == ANSWER
    assert done.usage is not None
    used = done.usage
    assert (used.input_tokens, used.output_tokens, used.total_tokens) == (11, 3, 14)
    assert done.model_extra is not None
    assert done.model_extra["store"] is False
    receipt = done.model_extra["inferdpt"]
    assert (receipt["mechanism"], receipt["released"]) == ("rantext", 13)
    assert [m["role"] for m in proxy.sent()] == ["user"]
    assert TEXT not in json.dumps(proxy.remote.bodies)


def test_the_synchronous_client_works_too(proxy_in_thread: Proxy) -> None:
    with openai.OpenAI(base_url=proxy_in_thread.base_url, api_key="x") as client:
        assert client.responses.create(model=MODEL, input=TEXT).output_text == ANSWER
        events = list(client.responses.create(model=MODEL, input=TEXT, stream=True))
        assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
        with client.responses.stream(model=MODEL, input=TEXT) as stream:
            assert stream.get_final_response().output_text == ANSWER
        with pytest.raises(openai.NotFoundError):
            client.responses.create(model="other", input=TEXT)


async def test_headers_say_what_was_done(proxy: Proxy) -> None:
    raw = await proxy.client().responses.with_raw_response.create(model=MODEL, input=TEXT)
    assert raw.headers["x-inferdpt-mechanism"] == "rantext"
    assert raw.headers["x-inferdpt-tokens"] == "13"


async def test_options_are_those_of_chat(proxy: Proxy) -> None:
    done = await proxy.client().responses.create(
        model=MODEL,
        input="<public>Summarise:</public> " + TEXT,
        extra_body={"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 8, "receipt": "full"}},
    )
    assert done.model_extra is not None
    receipt = done.model_extra["inferdpt"]
    assert receipt["guarantee"] == "ldp"
    assert receipt["exchanges"][0]["sent"] == proxy.sent()
    assert proxy.sent()[0]["content"].startswith("Summarise: ")
    await proxy.client().responses.create(
        model=MODEL, input="Another text", extra_body={"inferdpt": {"local_only": True}}
    )
    assert len(proxy.remote.bodies) == 1


async def test_a_text_leaves_as_the_bytes_that_chat_sends(proxy: Proxy) -> None:
    client = proxy.client()
    await client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": TEXT}], max_completion_tokens=9
    )
    await client.responses.create(model=MODEL, input=TEXT, max_output_tokens=9)
    assert proxy.remote.bodies[0] == proxy.remote.bodies[1]


async def test_instructions_follow_the_rule_for_system_turns(table: EmbeddingTable) -> None:
    asked: dict[str, Any] = {
        "model": MODEL,
        "instructions": "You work for Zanzibar Ltd.",
        "input": [{"role": "developer", "content": "Mind the Zanzibar."}, *turn(TEXT)],
    }
    for system, seen in (("local", False), ("public", True), ("perturb", False)):
        async with running_proxy(table, {"privacy": {"system": system}}) as proxy:
            await proxy.client().responses.create(**asked)
            assert ("Zanzibar" in json.dumps(proxy.sent())) is seen
            assert len(proxy.sent()) == (1 if system == "local" else 3)
            got = proxy.local.bodies[-1]["messages"]
            assert got[0] == {"role": "system", "content": "You work for Zanzibar Ltd."}
            assert got[1] == {"role": "system", "content": "Mind the Zanzibar."}


def turn(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


async def test_numbers_reach_both_models_and_the_rest_the_local_one_or_nobody(
    proxy: Proxy,
) -> None:
    await proxy.client().responses.create(
        model=MODEL,
        input=TEXT,
        temperature=0.31415,
        top_p=0.8,
        max_output_tokens=33,
        reasoning={"effort": "low", "summary": "auto"},
        parallel_tool_calls=False,
        tools=TOOLS,
        tool_choice={"type": "function", "name": "look_up"},
        include=["message.output_text.logprobs"],
        top_logprobs=2,
        metadata={"secret": "m"},
        user="u",
        safety_identifier="s",
        prompt_cache_key="k",
        service_tier="auto",
        store=True,
        max_tool_calls=3,
        truncation="disabled",
        background=False,
        text={"verbosity": "low"},
    )
    sent = dict(proxy.remote.bodies[-1])
    sent.pop("messages")
    assert sent == {
        "model": "remote-model",
        "temperature": 0.31,
        "top_p": 0.8,
        "max_completion_tokens": 33,
        "reasoning_effort": "low",
        "store": False,
    }
    got = proxy.local.bodies[-1]
    function = {key: TOOLS[0][key] for key in ("name", "description", "parameters", "strict")}
    assert got["tools"][0] == {"type": "function", "function": function}
    assert got["tool_choice"] == {"type": "function", "function": {"name": "look_up"}}
    assert got["parallel_tool_calls"] is False
    assert (got["logprobs"], got["top_logprobs"], got["max_tokens"]) == (True, 2, 33)
    assert got.keys() == {
        *("model", "messages", "temperature", "top_p", "max_tokens", "reasoning_effort"),
        *("tools", "tool_choice", "parallel_tool_calls", "logprobs", "top_logprobs"),
    }


async def test_allowed_tools_are_all_the_local_model_is_told_of(proxy: Proxy) -> None:
    choice: Any = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": "add"}],
    }
    done = await proxy.client().responses.create(
        model=MODEL, input=TEXT, tools=TOOLS, tool_choice=choice
    )
    got = proxy.local.bodies[-1]
    assert [tool["function"]["name"] for tool in got["tools"]] == ["add"]
    assert got["tool_choice"] == "required"
    assert [tool.name for tool in done.tools if tool.type == "function"] == ["look_up", "add"]


async def test_a_choice_without_tools_is_not_passed_on(proxy: Proxy) -> None:
    await proxy.client().responses.create(model=MODEL, input=TEXT, tools=[], tool_choice="auto")
    assert not {"tools", "tool_choice"} & proxy.local.bodies[-1].keys()


class Found(BaseModel):
    """What the schema asks for."""

    title: str
    pages: int


async def test_a_json_schema_reaches_the_local_model_and_its_answer_is_parsed(
    proxy: Proxy,
) -> None:
    proxy.local.behaviour = whole({"role": "assistant", "content": '{"title": "a", "pages": 3}'})
    done = await proxy.client().responses.parse(model=MODEL, input=TEXT, text_format=Found)
    assert done.output_parsed == Found(title="a", pages=3)
    given = proxy.local.bodies[-1]["response_format"]
    assert given["type"] == "json_schema"
    assert (given["json_schema"]["name"], given["json_schema"]["strict"]) == ("Found", True)
    assert given["json_schema"]["schema"]["properties"].keys() == {"title", "pages"}
    assert "response_format" not in proxy.remote.bodies[-1]
    async with proxy.client().responses.stream(
        model=MODEL, input=TEXT, text_format=Found
    ) as stream:
        final = await stream.get_final_response()
    assert final.output_parsed == Found(title="a", pages=3)


@pytest.mark.parametrize(
    ("kind", "given"), [("json_object", {"type": "json_object"}), ("text", None)]
)
async def test_the_other_formats(proxy: Proxy, kind: Any, given: Any) -> None:
    await proxy.client().responses.create(model=MODEL, input=TEXT, text={"format": {"type": kind}})
    assert proxy.local.bodies[-1].get("response_format") == given


LOGPROBS = {
    "content": [
        {
            "token": "é",
            "logprob": -0.5,
            "bytes": None,
            "top_logprobs": [{"token": "e", "logprob": -1.0, "bytes": [101]}],
        }
    ]
}


async def test_logprobs_come_with_the_text_where_they_are_included(proxy: Proxy) -> None:
    proxy.local.behaviour = whole({"role": "assistant", "content": "é"}, logprobs=LOGPROBS)
    expected = [
        {
            "token": "é",
            "logprob": -0.5,
            "bytes": [195, 169],
            "top_logprobs": [{"token": "e", "logprob": -1.0, "bytes": [101]}],
        }
    ]
    asked: Any = {"include": ["message.output_text.logprobs"], "top_logprobs": 1}
    done = await proxy.client().responses.create(model=MODEL, input=TEXT, **asked)
    (message,) = [item.model_dump() for item in done.output]
    assert message["content"][0]["logprobs"] == expected
    events = await wire(proxy, **asked)
    assert [e["logprobs"] for e in events if e["type"].endswith("text.delta")] == [expected]
    plain = await wire(proxy)
    assert [e["logprobs"] for e in plain if e["type"].endswith("text.delta")] == [[]]


# -- events ---------------------------------------------------------------------------------


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


# -- tools ----------------------------------------------------------------------------------


async def test_a_call_comes_back_as_an_item_and_its_result_is_private(proxy: Proxy) -> None:
    client = proxy.client()
    proxy.remote.text = "remote words"
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    proxy.local.behaviour = whole(message, "tool_calls")
    history: list[Any] = turn(TEXT)
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


# -- history --------------------------------------------------------------------------------


async def ask(proxy: Proxy, streamed: bool, history: list[Any]) -> list[Any]:
    """The output of one response, as the SDK's objects."""
    client = proxy.client()
    if not streamed:
        done = await client.responses.create(model=MODEL, input=history, tools=TOOLS)
        return list(done.output)
    async with client.responses.stream(model=MODEL, input=history, tools=TOOLS) as stream:
        return list((await stream.get_final_response()).output)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("dumped", [False, True])
async def test_a_longer_conversation_redraws_nothing(
    proxy: Proxy, streamed: bool, dumped: bool
) -> None:
    history: list[Any] = []
    seen: list[list[dict[str, Any]]] = []
    proxy.remote.text = "remote words"
    for i in range(4):
        history += turn(f"Question number {i} about the quarterly figures")
        output = await ask(proxy, streamed, history)
        history += [item.model_dump() for item in output] if dumped else output
        seen.append(proxy.sent())
    for i in range(3):
        assert seen[i + 1][: len(seen[i])] == seen[i]
    assert [m["role"] for m in seen[-1]] == ["user", "assistant"] * 3 + ["user"]
    assert all(m["content"] == "remote words" for m in seen[-1] if m["role"] == "assistant")


@pytest.mark.parametrize("streamed", [False, True])
async def test_text_and_calls_of_one_answer_are_one_turn_again(
    proxy: Proxy, streamed: bool
) -> None:
    proxy.remote.text = "remote words"
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL, OTHER]}
    proxy.local.behaviour = whole(message, "tool_calls")
    output = await ask(proxy, streamed, turn(TEXT))
    assert len(output) == 3
    proxy.local.behaviour = None
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    results = [
        {"type": "function_call_output", "call_id": name, "output": [part]}
        for name, part in (
            ("call_1", {"type": "input_text", "text": "seven geese"}),
            ("call_2", {"type": "input_text", "text": "nine swans"}),
        )
    ]
    await ask(proxy, streamed, [*turn(TEXT), thought, *output, *results])
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user", "user"]
    assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}


async def test_an_answer_to_a_chat_is_recognised_here(proxy: Proxy) -> None:
    proxy.remote.text = "remote words"
    client = proxy.client()
    await client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": TEXT}])
    history: list[Any] = [*turn(TEXT), {"role": "assistant", "content": ANSWER}, *turn("Go on")]
    await client.responses.create(model=MODEL, input=history)
    assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}


async def test_an_edited_answer_is_new_private_text(proxy: Proxy) -> None:
    proxy.remote.text = "remote words"
    await ask(proxy, False, turn(TEXT))
    edited = {"role": "assistant", "content": ANSWER + " Zanzibar"}
    await ask(proxy, False, [*turn(TEXT), edited, *turn("Go on then please")])
    assert proxy.sent()[1]["content"] not in ("remote words", edited["content"])
    assert "Zanzibar" not in json.dumps(proxy.sent())


# -- refusals -------------------------------------------------------------------------------

PARAMETER, CONTENT = "unsupported_parameter", "unsupported_content"
IMAGE = {"type": "input_image", "image_url": "https://example.org/x"}
BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"previous_response_id": "x"}, PARAMETER, "previous_response_id"),
    ({"conversation": "x"}, PARAMETER, "conversation"),
    ({"conversation": {"id": "x"}}, PARAMETER, "conversation"),
    ({"background": True}, PARAMETER, "background"),
    ({"prompt": {"id": "x"}}, PARAMETER, "prompt"),
    ({"context_management": [{"type": "compaction"}]}, PARAMETER, "context_management"),
    ({"prompt_cache_retention": "24h"}, PARAMETER, "prompt_cache_retention"),
    ({"prompt_cache_options": {"prewarm": True}}, PARAMETER, "prompt_cache_options"),
    ({"moderation": {"model": "x"}}, PARAMETER, "moderation"),
    ({"truncation": "auto"}, PARAMETER, "truncation"),
    ({"include": ["reasoning.encrypted_content"]}, PARAMETER, "include[0]"),
    ({"tools": [{"type": "web_search"}]}, PARAMETER, "tools[0].type"),
    ({"tools": [TOOLS[0], {"type": "mcp", "server_url": "x"}]}, PARAMETER, "tools[1].type"),
    ({"tools": [{"type": "custom", "name": "x"}]}, PARAMETER, "tools[0].type"),
    ({"tool_choice": {"type": "mcp", "server_label": "x"}}, PARAMETER, "tool_choice.type"),
    (
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}]}},
        PARAMETER,
        "tool_choice.tools[0].type",
    ),
    ({"input": [{"type": "item_reference", "id": "x"}]}, PARAMETER, "input[0]"),
    ({"input": [*turn("x"), {"id": "x"}]}, PARAMETER, "input[1]"),
    ({"input": [{"type": "computer_call_output", "call_id": "x"}]}, CONTENT, "input[0]"),
    ({"input": [{"type": "mcp_call", "id": "x"}]}, CONTENT, "input[0]"),
    ({"input": [{"role": "user", "content": [IMAGE]}]}, CONTENT, "input[0].content[0]"),
    (
        {"input": [{"type": "function_call_output", "call_id": "x", "output": [IMAGE]}]},
        CONTENT,
        "input[0].output[0]",
    ),
    ({"bogus": 1}, "unknown_parameter", ""),
    ({"n": 2}, "unknown_parameter", ""),
    ({"text": {"bogus": 1}}, "unknown_parameter", "text"),
    ({"reasoning": {"bogus": 1}}, "unknown_parameter", "reasoning"),
    ({"input": [{"role": "user", "content": "x", "bogus": 1}]}, "unknown_parameter", "input[0]"),
    ({"input": [{"role": "robot", "content": "x"}]}, "invalid_value", "input[0].role"),
    ({"input": []}, "invalid_value", "input"),
    ({"input": None}, "invalid_value", "input"),
    ({"input": 3}, "invalid_value", "input"),
    ({"input": [3]}, "invalid_value", "input[0]"),
    ({"input": [{"type": "reasoning"}]}, "", "input"),
    ({"input": [{"role": "system", "content": "x"}]}, "", "input"),
    ({"text": {"format": {"type": "json_schema"}}}, "invalid_value", "text.format"),
    ({"text": {"format": {"type": "xml"}}}, "invalid_value", "text.format.type"),
    ({"tool_choice": "any"}, "invalid_value", "tool_choice"),
    ({"max_output_tokens": 0}, "invalid_value", "max_output_tokens"),
    ({"temperature": "hot"}, "invalid_value", "temperature"),
    ({"top_logprobs": 21}, "invalid_value", "top_logprobs"),
    ({"inferdpt": {"epsilon": -1}}, "invalid_value", "inferdpt.epsilon"),
]


@pytest.mark.parametrize(("change", "code", "param"), BAD)
async def test_what_is_not_served_is_refused_by_name(
    proxy: Proxy, change: dict[str, Any], code: str, param: str
) -> None:
    body = {"model": MODEL, "input": TEXT, **change}
    with pytest.raises(openai.BadRequestError) as info:
        await proxy.client(max_retries=2).post("/responses", cast_to=object, body=body)
    assert (info.value.code or "", info.value.param or "") == (code, param)
    assert info.value.response.headers["x-should-retry"] == "false"
    assert proxy.remote.received == []
    assert [line for line in proxy.local.received if line.startswith(b"POST")] == []


async def test_null_is_not_set(proxy: Proxy) -> None:
    everything = dict.fromkeys([*ResponsesRequest.model_fields, *responses_protocol._REJECTED])
    body = {**everything, "model": MODEL, "input": TEXT}
    done: Any = await proxy.client().post("/responses", cast_to=object, body=body)
    assert done["status"] == "completed"


async def test_paths_that_read_or_change_stored_responses_are_404(proxy: Proxy) -> None:
    client = proxy.client()
    calls = (
        client.responses.retrieve("resp_x"),
        client.responses.delete("resp_x"),
        client.responses.cancel("resp_x"),
        client.responses.compact(model=MODEL, input=TEXT),
        client.conversations.create(),
    )
    for call in calls:
        with pytest.raises(openai.NotFoundError):
            await call


async def test_too_many_items_are_413(table: EmbeddingTable) -> None:
    async with running_proxy(table, {"limits": {"messages": 3}}) as proxy:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().responses.create(model=MODEL, input=turn("x") * 4)
        assert (info.value.status_code, info.value.param) == (413, "input")


def test_every_field_of_the_sdk_is_served_or_refused_by_name() -> None:
    ours = {"self", "extra_headers", "extra_query", "extra_body", "timeout"}
    known = set(inspect.signature(AsyncResponses.create).parameters) - ours
    served, refused = set(ResponsesRequest.model_fields), set(responses_protocol._REJECTED)
    assert known <= served | refused
    assert not served & refused


def test_every_field_has_one_treatment_and_only_numbers_are_remote() -> None:
    treatments = treatment_of(ResponsesRequest)
    assert set(treatments) == set(ResponsesRequest.model_fields)
    remote = {name for name, mark in treatments.items() if mark is Treatment.REMOTE}
    assert remote == {"temperature", "top_p", "max_output_tokens", "reasoning"}


# -- failures -------------------------------------------------------------------------------


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
