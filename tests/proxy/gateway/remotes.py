"""Remotes that answer with what they were sent, cut into small pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from tests.absence import find_leaks
from tests.perturb.marking import WORDS
from tests.proxy.conftest import Proxy
from tests.servers import FakeServer, completion, open_stream, send

SETTINGS: dict[str, Any] = {
    "privacy": {"mechanism": "selective", "parameters": WORDS, "epsilon": 6},
    "local": {"mode": "none"},
}
NAME, MAIL, CARD = "Xylophonist Kowalewski", "xylo.k82@example.com", "4095-2609-9393-4932"
TEXT = f"Please write a letter to {NAME}, who wrote from {MAIL}, about card {CARD}."
SECRETS = ("Xylophonist", "Kowalewski", "xylo.k82", CARD)


def cut(text: str, size: int = 3) -> Iterator[str]:
    return (text[i : i + size] for i in range(0, len(text), size))


def chunk(*choices: dict[str, Any], **more: Any) -> dict[str, Any]:
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    return {**head, "choices": [{"finish_reason": None, **choice} for choice in choices], **more}


def delta(index: int = 0, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"index": index, "delta": fields, "finish_reason": finish}


def last_text(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


async def echo(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Answer with the last message, once for each choice; streamed choices take turns."""
    n, text = body.get("n", 1), "Sure: " + last_text(body)
    if not body.get("stream"):
        made = completion(text)
        made["choices"] = [{**made["choices"][0], "index": i} for i in range(n)]
        return web.json_response(made)
    response = await open_stream(request)
    for i in range(n):
        await send(response, chunk(delta(i, role="assistant", content="")))
    for piece in cut(text):
        for i in range(n):
            await send(response, chunk(delta(i, content=piece)))
    for i in range(n):
        await send(response, chunk(delta(i, "stop")))
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    await send(response, chunk(usage=usage))
    await response.write(b"data: [DONE]\n\n")
    return response


async def call(server: FakeServer, request: web.Request, body: dict[str, Any]) -> Any:
    """Call the first tool twice, with the last message as an argument and as a key."""
    name, text = body["tools"][0]["function"]["name"], last_text(body)
    arguments = json.dumps({"text": text + '\n"é"', text: [1, None]})
    if not body.get("stream"):
        calls = [
            {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i in range(2)
        ]
        made = completion("", content=None, tool_calls=calls)
        return web.json_response(made)
    response = await open_stream(request)
    for i in range(2):
        first = {"name": name, "arguments": ""}
        opened = {"index": i, "id": f"c{i}", "type": "function", "function": first}
        await send(response, chunk(delta(tool_calls=[opened])))
    for piece in cut(arguments, 2):  # escapes are cut, and the calls take turns
        calls = [{"index": i, "function": {"arguments": piece}} for i in range(2)]
        await send(response, chunk(delta(tool_calls=calls[:1])))
        await send(response, chunk(delta(tool_calls=calls[1:])))
    await send(response, chunk(delta(0, "tool_calls")))
    await response.write(b"data: [DONE]\n\n")
    return response


def received(proxy: Proxy) -> str:
    return b"\n".join(proxy.remote.received).decode()


def leaked(proxy: Proxy, secrets: tuple[str, ...] = SECRETS) -> list[str]:
    """The secrets that the remote received, or that the log holds."""
    return find_leaks(secrets, received(proxy), *proxy.log)
