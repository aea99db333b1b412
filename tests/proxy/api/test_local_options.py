"""Options for the local model only: tools, formats, seeds and the like."""

from __future__ import annotations

import json
from typing import Any

from tests.proxy.chats import ANSWER, CALL, user
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import FakeServer, chunk, completion, open_stream, send


async def test_tool_calls_come_back_in_openais_form(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        from aiohttp import web

        assert body["tools"]
        assert body["tool_choice"] == "auto"
        out = completion("", tool_calls=[CALL])
        out["choices"][0]["message"]["content"] = None
        out["choices"][0]["finish_reason"] = "tool_calls"
        return web.json_response(out)

    proxy.local.behaviour = calls
    tools = [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]
    done = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), tools=tools, tool_choice="auto"
    )
    assert done.choices[0].finish_reason == "tool_calls"
    assert done.choices[0].message.content is None
    assert done.choices[0].message.tool_calls[0].model_dump() == CALL
    assert "tools" not in proxy.remote.bodies[-1]
    # … and the conversation goes on: the remote sees its own words and a perturbed result
    turns = [
        *user(),
        done.choices[0].message.model_dump(),
        {"role": "tool", "tool_call_id": "call_1", "content": "The result mentions Canarybird."},
    ]
    await proxy.client().chat.completions.create(
        model=MODEL, messages=turns, tools=tools, tool_choice="auto"
    )
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user"]
    assert proxy.sent()[1]["content"] == ANSWER
    assert "look_up" not in json.dumps(proxy.sent())
    assert "anary" not in json.dumps(proxy.sent())


async def test_streamed_tool_calls_keep_their_index(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        first = {**CALL, "index": 0, "function": {"name": "look_up", "arguments": ""}}
        await send(response, chunk({"role": "assistant", "tool_calls": [first]}))
        for part in ('{"q": ', '"x"}'):
            await send(
                response, chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
            )
        await send(response, chunk({}, "tool_calls"))
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.local.behaviour = calls
    stream = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), stream=True, tools=[{"type": "function"}]
    )
    deltas = [c.choices[0].delta.tool_calls async for c in stream]
    pieces = [call for delta in deltas for call in delta or ()]
    assert {piece.index for piece in pieces} == {0}
    assert [piece.id for piece in pieces] == ["call_1", None, None]
    assert "".join(p.function.arguments or "" for p in pieces) == '{"q": "x"}'


async def test_local_options_reach_only_the_local_model(proxy: Proxy) -> None:
    local = {
        "stop": ["END"],
        "seed": 7,
        "presence_penalty": 0.5,
        "frequency_penalty": 0.25,
        "logit_bias": {"50": 1.0},
        "logprobs": True,
        "top_logprobs": 2,
        "response_format": {"type": "json_object"},
        "parallel_tool_calls": False,
        "top_k": 5,
        "min_p": 0.1,
        "guided_regex": "a+",
        "structured_outputs": {"regex": "a+"},
        "chat_template_kwargs": {"enable_thinking": False},
    }
    numbers = {"temperature": 0.3, "top_p": 0.8, "max_completion_tokens": 33}
    dropped = {
        "user": "u",
        "metadata": {"a": "b"},
        "store": True,
        "service_tier": "auto",
        "prompt_cache_key": "k",
        "safety_identifier": "s",
        "prediction": {"type": "content", "content": "p"},
        "web_search_options": {},
    }
    body = {"model": MODEL, "messages": user(), **local, **numbers, **dropped}
    await proxy.client().post("/chat/completions", cast_to=object, body=body)
    got = proxy.local.bodies[-1]
    assert {k: got[k] for k in local} == local
    assert (got["temperature"], got["top_p"], got["max_tokens"]) == (0.3, 0.8, 33)
    assert not dropped.keys() & got.keys()
    assert proxy.remote.bodies[-1].keys() == {
        "model",
        "messages",
        "temperature",
        "top_p",
        "max_completion_tokens",
        "store",
    }
    assert proxy.remote.bodies[-1]["store"] is False
    assert proxy.remote.bodies[-1]["model"] == "remote-model"


async def test_streamed_tool_calls_without_an_index_get_one(proxy: Proxy) -> None:
    async def calls(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        response = await open_stream(request)
        function = {"name": "look_up", "arguments": "{}", "extra": 1}
        await send(response, chunk({"tool_calls": [{**CALL, "function": function}]}, "tool_calls"))
        await response.write(b"data: [DONE]\n\n")
        return response

    proxy.local.behaviour = calls
    stream = await proxy.client().chat.completions.create(
        model=MODEL, messages=user(), stream=True, tools=[{"type": "function"}]
    )
    found = [c.choices[0].delta.tool_calls async for c in stream]
    assert [call.index for calls in found for call in calls or ()] == [0]


async def test_choices_with_a_seed_get_their_own(proxy: Proxy) -> None:
    await proxy.client().chat.completions.create(model=MODEL, messages=user(), n=3, seed=10)
    assert sorted(body["seed"] for body in proxy.local.bodies) == [10, 11, 12]
