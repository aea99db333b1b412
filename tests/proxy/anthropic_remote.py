"""A remote that speaks the Messages API: it takes what the official types take, and streams as
they are streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from aiohttp import web
from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming,
    MessageCreateParamsStreaming,
)
from pydantic import TypeAdapter, ValidationError

from tests.servers import FakeServer

KEY = "sk-ant-secret"
WHOLE = TypeAdapter[Any](MessageCreateParamsNonStreaming)
STREAMED = TypeAdapter[Any](MessageCreateParamsStreaming)
EVENT = TypeAdapter[Any](RawMessageStreamEvent)
SAMPLING = {"temperature", "top_p", "top_k"}  # later models have none, nor have the types
USAGE = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 4}


def unroll(value: Any) -> Any:
    """Run the validators of a type, which are lazy for lists."""
    if isinstance(value, dict):
        return {key: unroll(item) for key, item in value.items()}
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return value
    return [unroll(item) for item in value]


def find_fault(request: web.Request, body: dict[str, Any]) -> str | None:
    """Return the first thing that the API would refuse in a request."""
    headers = request.headers
    if request.path != "/v1/messages" or "Authorization" in headers:
        return "the path, or a key of another API"
    if (headers.get("x-api-key"), headers.get("anthropic-version")) != (KEY, "2023-06-01"):
        return "the key or the version"
    known = {name: item for name, item in body.items() if name not in SAMPLING}
    try:
        adapter = STREAMED if body.get("stream") else WHOLE
        if unroll(adapter.validate_python(known)) != known:  # it leaves unknown fields out
            return "an unknown field"
    except ValidationError as exc:
        return f"the type: {exc.error_count()}"
    if not 0 <= body.get("temperature", 0) <= 1:
        return "the temperature"
    return find_wrong_turn(body)


def find_wrong_turn(body: dict[str, Any]) -> str | None:
    blocks = [(m["role"], block) for m in body["messages"] for block in m["content"]]
    texts = [block for _, block in blocks if block["type"] == "text"] + body.get("system", [])
    if any(not block["text"].strip() for block in texts):
        return "a blank text"
    roles = [message["role"] for message in body["messages"]]
    if roles[0] != "user" or any(a == b for a, b in pairwise(roles)):
        return "the roles"
    called = [block["id"] for _, block in blocks if block["type"] == "tool_use"]
    if len(set(called)) < len(called):
        return "an id twice"
    return None


def make_message(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude"}
    made = {**head, "content": list(content), "stop_reason": stop, "stop_sequence": None}
    made |= {"usage": USAGE, **more}
    Message.model_validate(made)
    return made


def cut(text: str, size: int) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


def make_events(message: dict[str, Any], size: int = 3) -> Iterator[dict[str, Any]]:
    """The events of a message, as the API streams it."""
    opened = {
        **message,
        "content": [],
        "stop_reason": None,
        "usage": {**USAGE, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": opened}
    yield {"type": "ping"}
    for i, block in enumerate(message["content"]):
        kind = block["type"]
        start: dict[str, Any] = {**block}
        if kind == "tool_use":
            start["input"] = {}
            text = json.dumps(block["input"]) if block["input"] else ""
            pieces = [
                {"type": "input_json_delta", "partial_json": p} for p in ("", *cut(text, size))
            ]
        elif kind == "thinking":
            start |= {"thinking": "", "signature": ""}
            pieces = [{"type": "thinking_delta", "thinking": block["thinking"]}]
            pieces += [{"type": "signature_delta", "signature": block["signature"]}]
        else:
            start["text"] = ""
            pieces = [{"type": "text_delta", "text": p} for p in cut(block["text"], size)]
        yield {"type": "content_block_start", "index": i, "content_block": start}
        for piece in pieces:
            yield {"type": "content_block_delta", "index": i, "delta": piece}
        yield {"type": "content_block_stop", "index": i}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": message["stop_sequence"]}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 3}}
    yield {"type": "message_stop"}


async def stream(request: web.Request, events: Iterator[dict[str, Any]]) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    for event in events:
        if event["type"] not in ("ping", "error"):
            EVENT.validate_python(event)
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        await response.write(data.encode())
    return response


async def answer(
    request: web.Request, body: dict[str, Any], message: dict[str, Any]
) -> web.StreamResponse:
    if body.get("stream"):
        return await stream(request, make_events(message))
    return web.json_response(message)


def refuse(why: str) -> web.Response:
    error = {"type": "invalid_request_error", "message": why}
    return web.json_response({"type": "error", "error": error}, status=400)


def last_text(body: dict[str, Any]) -> str:
    """The last text of a conversation, in a result or not."""
    texts = [
        part["text"]
        for message in body["messages"]
        for block in message["content"]
        for part in (block.get("content", ()) if block["type"] == "tool_result" else [block])
        if "text" in part
    ]
    return str(texts[-1])


async def echo(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Think, then answer with the last text."""
    if (fault := find_fault(request, body)) is not None:
        return refuse(fault)
    thought = {"type": "thinking", "thinking": last_text(body), "signature": "c2ln"}
    text = {"type": "text", "text": "Sure: " + last_text(body)}
    return await answer(request, body, make_message(thought, text))


async def call(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Say something, then call the first tool twice, once without arguments."""
    if (fault := find_fault(request, body)) is not None:
        return refuse(fault)
    text, name = last_text(body), body["tools"][0]["name"]
    arguments = {"text": text + '\n"é"', text: [1, None]}
    made = make_message(
        {"type": "text", "text": f"For {text}"},
        {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments},
        {"type": "tool_use", "id": "toolu_2", "name": name, "input": {}},
        stop="tool_use",
    )
    return await answer(request, body, made)
