"""Compare the answers through the proxy with those of the local server itself."""

from __future__ import annotations

import json
from typing import Any

from openai import AsyncOpenAI

from tests.proxy.conftest import MODEL, Proxy

__all__ = ["FORM", "TOOLS", "called", "formed", "said", "same_answer", "weighed"]

SCHEMA = {
    "type": "object",
    "properties": {"frozen": {"type": "boolean"}, "kind": {"enum": ["ice", "snow"]}},
    "required": ["frozen", "kind"],
    "additionalProperties": False,
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": SCHEMA, "strict": True},
    }
    for name, text in (("freeze", "Freeze the river."), ("thaw", "Thaw the river."))
]
FORM = {
    "type": "json_schema",
    "json_schema": {"name": "river", "schema": SCHEMA, "strict": True},
}


def called(choice: Any, *, many: bool = False, finish: str = "tool_calls") -> None:
    """One call, or many; whole ones, but for the last of an answer that was cut."""
    assert choice["finish_reason"] == finish
    calls = [call["function"] for call in choice["message"]["tool_calls"]]
    assert (len(calls) > 1) == many
    for call in calls[: -1 if finish == "length" else None]:
        assert call["name"] in ("freeze", "thaw")
        in_form(call["arguments"])


def in_form(text: str) -> None:
    """A whole JSON object of the schema."""
    found = json.loads(text)
    assert found.keys() == {"frozen", "kind"}
    assert isinstance(found["frozen"], bool)
    assert found["kind"] in ("ice", "snow")


def formed(choice: Any) -> None:
    in_form(choice["message"]["content"])


def said(choice: Any, without: str = "", finish: str | None = None) -> None:
    """Words, and no call."""
    assert choice["message"].keys() == {"role", "content"}
    assert not without or without not in choice["message"]["content"]
    assert finish is None or choice["finish_reason"] == finish


def weighed(choice: Any) -> None:
    """Each token with three that could have stood there."""
    assert choice["tokens"]
    assert all(len(token["top_logprobs"]) >= 3 for token in choice["tokens"])


async def same_answer(
    proxy: Proxy, direct: AsyncOpenAI, messages: list[Any], options: dict[str, Any]
) -> Any:
    """The choice that `messages` give with `options`: whole and streamed, through the proxy and
    by `direct`, the local server behind it; they must be the same.

    The proxy's `local` passes requests on to that server and records them: the server is asked
    directly with the messages the proxy composes, and with the client's own options.
    """
    through = proxy.client()
    await _whole(through, MODEL, messages, options)  # now the server's cache holds the prompt
    sent = proxy.local.bodies[-1]
    fields = {**options, **options.get("extra_body", {})}
    fields.pop("extra_body", None)
    assert {name: sent[name] for name in fields} == fields
    sides = [(through, MODEL, messages), (direct, sent["model"], sent["messages"])]
    whole, other = [await _whole(*side, options) for side in sides]
    assert whole == other
    streamed, other = [await _streamed(*side, options) for side in sides]
    assert streamed == other
    assert _gist(streamed) == _gist(whole)
    assert proxy.local.bodies[-1]["messages"] == sent["messages"]
    return whole


async def _whole(
    client: AsyncOpenAI, model: str, messages: list[Any], options: dict[str, Any]
) -> Any:
    done = await client.chat.completions.create(model=model, messages=messages, **options)
    return _normal(done.choices[0].model_dump(exclude_none=True))


async def _streamed(
    client: AsyncOpenAI, model: str, messages: list[Any], options: dict[str, Any]
) -> Any:
    """The same, put together from the deltas as the SDK's users do."""
    message: dict[str, Any] = {"role": "", "content": ""}
    calls: dict[int, Any] = {}
    tokens: list[Any] = []
    finished: list[str] = []
    stream: Any = await client.chat.completions.create(
        model=model, messages=messages, stream=True, **options
    )
    async for chunk in stream:
        for choice in chunk.model_dump(exclude_none=True)["choices"]:
            delta = choice["delta"]
            message["role"] = delta.get("role", message["role"])
            message["content"] += delta.get("content", "")
            tokens += choice.get("logprobs", {}).get("content", [])
            finished += filter(None, [choice.get("finish_reason")])
            for part in delta.get("tool_calls", ()):
                call = calls.setdefault(part["index"], {"id": "", "name": "", "arguments": ""})
                call["type"] = part.get("type", call.get("type"))
                call["id"] += part.get("id", "")
                for name, text in part.get("function", {}).items():
                    call[name] += text
    (finish,) = finished
    for _, call in sorted(calls.items()):
        function = {name: call.pop(name) for name in ("name", "arguments")}
        message.setdefault("tool_calls", []).append({**call, "function": function})
    return _normal({"message": message, "finish_reason": finish, "logprobs": {"content": tokens}})


def _normal(choice: dict[str, Any]) -> Any:
    """Message, finish reason and tokens; ids and what is empty aside (null, "", or left out)."""
    message = {name: part for name, part in choice["message"].items() if part not in ("", [])}
    for call in message.get("tool_calls", ()):
        assert call.pop("id")
        call.pop("index", None)
    tokens = choice.get("logprobs", {}).get("content", [])
    return {"message": message, "finish_reason": choice["finish_reason"], "tokens": tokens}


def _gist(choice: Any) -> Any:
    """Return what the servers' own whole answers and streams have in common: vLLM writes a whole
    call's arguments anew, and llama.cpp lists fewer tokens in a stream (no end, no fence around
    an object)."""
    calls = [call["function"] for call in choice["message"].get("tool_calls", ())]
    return (
        choice["message"].get("content"),
        choice["finish_reason"],
        [(call["name"], "".join(call["arguments"].split())) for call in calls],
    )
