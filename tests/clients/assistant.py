"""A scripted model that repeats the address it reads: in a text, in a call or as JSON.

It stands in for the remote and for the local model. Streams come in pieces of three characters.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.hostile.answers import MODELS, frame, http
from tests.hostile.upstream import Call
from tests.servers import chunk, completion

__all__ = ["BROKEN", "NUMBER", "answer"]

BROKEN = "broken-model"  # the model that always fails
NUMBER = 7  # every number in a call or in JSON
PIECE = 3  # characters of one event
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# DSPy asks for answers in fields with markers of its own.
FIELD = re.compile(r"`\[\[ ## (\w+) ## \]\]`")
FAILED = {"error": {"message": "upstream-secret", "type": "server_error", "code": "x"}}
USAGE = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}


async def answer(call: Call, writer: asyncio.StreamWriter) -> bool:
    """Answer a request for a chat or a completion, streamed if asked for."""
    if call.method == "GET":
        writer.write(MODELS)
        return True
    body = call.json
    if body.get("model") == BROKEN:
        writer.write(http(json.dumps(FAILED).encode(), status="500 Internal Server Error"))
        return True
    chat = "messages" in body
    message = _reply(body) if chat else {"text": _say(_find_address([body["prompt"]]))}
    if body.get("stream"):
        events = b"".join(map(frame, _stream(message, chat=chat))) + b"data: [DONE]\n\n"
        writer.write(http(events, content_type="text/event-stream"))
    else:
        writer.write(http(json.dumps(_whole(message, chat=chat)).encode()))
    return True


def _reply(body: dict[str, Any]) -> dict[str, Any]:
    """Return the message that answers a chat."""
    texts = [text for message in body["messages"] for text in _read_texts(message)]
    address = _find_address(texts)
    if (tool := _choose_tool(body)) is not None:
        arguments = json.dumps(_fill(tool["parameters"], address, tool["parameters"]))
        function = {"name": tool["name"], "arguments": arguments}
        call = {"id": "call_1", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is not None:
        return {"role": "assistant", "content": json.dumps(_fill(schema, address, schema))}
    fields = [name for name in FIELD.findall(texts[-1]) if name != "completed"]
    marked = "".join(f"[[ ## {name} ## ]]\n{_say(address)}\n\n" for name in fields)
    text = f"{marked}[[ ## completed ## ]]" if fields else _say(address)
    return {"role": "assistant", "content": text}


def _say(address: str) -> str:
    return f"The contact is {address} as far as we know."


def _find_address(texts: list[str]) -> str:
    """Return the last address in texts, or a word that says that there is none."""
    return next((found[-1] for text in reversed(texts) if (found := ADDRESS.findall(text))), "?")


def _read_texts(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content") or ""
    if isinstance(content, str):
        yield content
    else:
        yield from (part["text"] for part in content if part.get("type") == "text")


def _choose_tool(body: dict[str, Any]) -> dict[str, Any] | None:
    """Return the function to call: the chosen one, or else the first until it has answered."""
    tools, choice = body.get("tools") or [], body.get("tool_choice")
    if not tools or choice == "none" or any(m["role"] == "tool" for m in body["messages"]):
        return None
    name = choice["function"]["name"] if isinstance(choice, dict) else None
    functions: list[dict[str, Any]] = [tool["function"] for tool in tools]
    return next(each for each in functions if name in (None, each["name"]))


def _fill(schema: dict[str, Any], text: str, root: dict[str, Any]) -> Any:
    """Return JSON of a schema whose strings are all `text`."""
    if "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].split("/")[1:]:
            found = found[part]
        return _fill(found, text, root)
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _fill(inner, text, root) for name, inner in properties.items()}
        case "array":
            return [_fill(schema["items"], text, root)]
        case "integer" | "number":
            return NUMBER
    return text


def _whole(message: dict[str, Any], *, chat: bool) -> dict[str, Any]:
    if not chat:
        choice = {"index": 0, "finish_reason": "stop", "logprobs": None, **message}
        return {**completion(""), "object": "text_completion", "choices": [choice]}
    made = completion("", **message)
    if message.get("tool_calls"):
        made["choices"][0]["finish_reason"] = "tool_calls"
    return made


def _stream(message: dict[str, Any], *, chat: bool) -> Iterator[dict[str, Any]]:
    if not chat:
        head = {**chunk({}), "object": "text_completion"}
        for piece in _cut(message["text"]):
            yield {**head, "choices": [{"index": 0, "text": piece, "finish_reason": None}]}
        yield {**head, "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
        return
    yield chunk({"role": "assistant", "content": ""})
    for piece in _cut(message["content"] or ""):
        yield chunk({"content": piece})
    calls = message.get("tool_calls", ())
    for call in calls:
        opened = {**call["function"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": 0, "function": opened}]})
        for piece in _cut(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield {**chunk({}), "choices": [], "usage": USAGE}


def _cut(text: str) -> Iterator[str]:
    return (text[i : i + PIECE] for i in range(0, len(text), PIECE))
