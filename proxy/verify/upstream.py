"""Stand in for the remote: record every byte that arrives, and answer with what was sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from proxy.verify.forms import find_faults

__all__ = ["Upstream", "find_echo", "list_strings"]

HOST = "127.0.0.1"
PIECE = 3  # characters of an event: replacements, and escapes, are cut
LARGEST = 1 << 26  # bytes of a request


class Upstream:
    """Serve chats, completions, responses and messages on loopback.

    Attributes:
        texts: the head of each request, and every string, key and number of its body.
        faults: the places of bodies that break the form of their endpoint, as often as they did.
        base_url: its address, once it is started.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.faults: Counter[str] = Counter()
        self.base_url = ""
        app = web.Application(client_max_size=LARGEST)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self, port: int = 0) -> None:
        """Listen on loopback. Raises `OSError`: the port is taken."""
        await self._runner.setup()
        await web.TCPSite(self._runner, HOST, port).start()
        self.base_url = f"http://{HOST}:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        if request.method == "GET":
            return web.json_response({"object": "list", "data": []})
        head = [request.raw_path, *(f"{name}: {value}" for name, value in request.headers.items())]
        self.texts += head
        try:
            body = json.loads(data)
        except ValueError:
            self.texts.append(data.decode("utf-8", "replace"))
            self.faults[f"{request.path}: no JSON"] += 1
            return web.json_response({}, status=400)
        self.texts += [data.decode("utf-8", "replace"), *list_strings(body)]
        self.faults.update(f"{request.path}: {each}" for each in find_faults(request.path, body))
        return await _write(request, body)


def list_strings(value: Any) -> Iterator[str]:
    """List the strings, keys and numbers of JSON, and of JSON inside its strings."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from list_strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from list_strings(item)
    elif isinstance(value, str):
        yield value
        try:
            inner = json.loads(value)
        except ValueError:
            return
        if isinstance(inner, dict | list):
            yield from list_strings(inner)
    elif isinstance(value, int | float):
        yield json.dumps(value)


def find_echo(body: dict[str, Any]) -> str:
    """Return the longest string of a request, also of those in the arguments of a call."""
    texts = _list_texts({key: value for key, value in body.items() if key != "model"})
    return max(texts, key=len, default="")


def _list_texts(value: Any, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _list_texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _list_texts(item)
    elif isinstance(value, str):
        try:
            arguments = json.loads(value) if key == "arguments" else None
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            yield from _list_texts(arguments)
        else:
            yield value


async def _write(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
    """Answer with the longest text of a request, or with a call of its first tool."""
    chat, responds = "messages" in body, "input" in body
    text = find_echo(body)
    if request.path.endswith("/messages"):
        return await _write_message(request, body, text)
    tools = body.get("tools") if chat else None
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tools and not body.get("response_format"):
        arguments = json.dumps({"to": text}, ensure_ascii=True)
        function = {"name": tools[0]["function"]["name"], "arguments": arguments}
        call = {"id": "call_1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if responds:
        return web.json_response(_make_response(text))
    if not body.get("stream"):
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice |= {"message": message} if chat else {"text": text}
        kind = "chat.completion" if chat else "text_completion"
        return web.json_response({**_HEAD, "object": kind, "choices": [choice]})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for step in _cut(message) if chat else ({"text": piece} for piece in _pieces(text)):
        choice = {"index": 0, "finish_reason": None, **({"delta": step} if chat else step)}
        await _send(response, [choice])
    last: dict[str, Any] = {"delta": {}} if chat else {"text": ""}
    await _send(response, [{"index": 0, "finish_reason": "stop", **last}])
    await response.write(b"data: [DONE]\n\n")
    return response


async def _write_message(
    request: web.Request, body: dict[str, Any], text: str
) -> web.StreamResponse:
    """Answer in the form of the Messages API."""
    block: dict[str, Any] = {"type": "text", "text": text}
    if (tools := body.get("tools")) and "output_config" not in body:
        block = {"type": "tool_use", "id": "t", "name": tools[0]["name"], "input": {"to": text}}
    if not body.get("stream"):
        return web.json_response({**_MESSAGE, "content": [block], "stop_reason": "end_turn"})
    arguments = json.dumps(block.get("input"))
    deltas = [
        {"type": "input_json_delta", "partial_json": piece}
        if "input" in block
        else {"type": "text_delta", "text": piece}
        for piece in _pieces(arguments if "input" in block else text)
    ]
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    empty: dict[str, Any] = {"input": {}} if "input" in block else {"text": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**_MESSAGE, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    for event in events:
        await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")
    return response


_MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "x", "usage": {}}
_HEAD = {"id": "x", "created": 1, "model": "x"}


async def _send(response: web.StreamResponse, choices: list[dict[str, Any]]) -> None:
    event = {**_HEAD, "object": "chat.completion.chunk", "choices": choices}
    await response.write(b"data: " + json.dumps(event).encode() + b"\n\n")


def _pieces(text: str) -> Iterator[str]:
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))


def _cut(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut a message into the steps of a stream."""
    yield {"role": "assistant"}
    for piece in _pieces(message["content"] or ""):
        yield {"content": piece}
    for call in message.get("tool_calls", ()):
        opened = {**call["function"], "arguments": ""}
        yield {"tool_calls": [{**call, "index": 0, "function": opened}]}
        for piece in _pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _make_response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    output = [{**item, "content": [part]}]
    return {
        **_HEAD,
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "output": output,
    }
