"""Answers of the local model for `/v1/responses`, and its events on the wire."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.proxy.chats import CALL, TEXT
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import (
    FakeServer,
    chunk,
    completion,
    open_stream,
    send,
)

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
