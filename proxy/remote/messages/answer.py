"""Read answers of the Messages API as chat completions, whole and streamed.

The result goes through the readers of chats, which check it; only declared fields are read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from extraction.backends.answers import read_count, read_list, read_object, read_text
from extraction.codec import dump
from extraction.http.client import EVENT, Limit, Reply, Unreadable, parse

__all__ = ["MessagesReply"]

Json = dict[str, Any]
CALLS = 128  # in one answer
DONE = b"[DONE]"  # the end of a stream of chats
FINISH_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesReply(Reply):
    """Read an answer as if it were one to a chat."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.status = reply.status
        self.retry_after = reply.retry_after
        self.is_json = reply.is_json

    async def read(self, limit: Limit) -> bytes:
        return await self._reply.read(limit)

    async def json(self, limit: Limit) -> Any:
        told = await self._reply.json(limit)
        try:
            return _read_message(read_object(told))
        except ValueError:
            raise Unreadable("the answer is not a message") from None

    async def events(self, seconds: float) -> AsyncGenerator[bytes]:
        steps = _Steps()
        async with aclosing(self._reply.events(seconds)) as events:
            async for data in events:
                told = parse(data, EVENT)
                try:
                    event = read_object(told)
                    step = steps.read(event)
                except ValueError:
                    raise Unreadable("an event is not one of a message") from None
                if step is not None:
                    yield dump(step)
                if event.get("type") == "message_stop":
                    yield DONE
                    return


class _Steps:
    """Read the events of one message as the steps of a chat."""

    def __init__(self) -> None:
        self._calls: dict[int, int] = {}  # the numbers of calls, by their blocks
        self._inputs: dict[int, Json] = {}  # of calls of which no arguments have come
        self._usage: Json = {}

    def read(self, event: Json) -> Json | None:
        """Return the step of an event; None if it says nothing. Raises `ValueError`."""
        match event.get("type"):
            case "error":
                return {"error": read_object(event.get("error"))}
            case "message_start":
                message = read_object(event.get("message"))
                self._usage = read_object(message.get("usage") or {})
                return _make_step({"role": "assistant"})
            case "content_block_start":
                return self._open(_read_place(event), read_object(event.get("content_block")))
            case "content_block_delta":
                return self._continue(_read_place(event), read_object(event.get("delta")))
            case "content_block_stop":
                return self._close(_read_place(event))
            case "message_delta":
                told = read_object(event.get("usage") or {})
                self._usage |= {name: item for name, item in told.items() if item is not None}
                ending = _read_ending(read_object(event.get("delta")))
                return _make_step({}, **ending) | {"usage": _read_usage(self._usage)}
        return None

    def _open(self, place: int, block: Json) -> Json | None:
        if block.get("type") == "text":
            return _make_step({"content": read_text(block.get("text"))})
        if block.get("type") != "tool_use":
            return None
        number = self._calls.setdefault(place, len(self._calls))
        if number >= CALLS:
            raise ValueError("too many calls")
        self._inputs[place] = _read_input(block)
        function = {"name": read_text(block.get("name")), "arguments": ""}
        call = {"id": read_text(block.get("id")), "type": "function", "function": function}
        return _make_step({"tool_calls": [{"index": number, **call}]})

    def _continue(self, place: int, delta: Json) -> Json | None:
        if delta.get("type") == "text_delta":
            return _make_step({"content": read_text(delta.get("text"))})
        if delta.get("type") != "input_json_delta" or place not in self._calls:
            return None
        arguments = read_text(delta.get("partial_json"))
        if not arguments:
            return None
        self._inputs.pop(place, None)
        return self._add_arguments(place, arguments)

    def _close(self, place: int) -> Json | None:
        """Some servers send a call's arguments with its beginning, and a call may have none."""
        if place not in self._inputs:
            return None
        return self._add_arguments(place, _dump(self._inputs.pop(place)))

    def _add_arguments(self, place: int, arguments: str) -> Json:
        call = {"index": self._calls[place], "function": {"arguments": arguments}}
        return _make_step({"tool_calls": [call]})


def _read_message(message: Json) -> Json:
    """Read a whole message as a chat completion; an error stays one. Raises `ValueError`."""
    if message.get("type") == "error":
        return message
    texts: list[str] = []
    calls: list[Json] = []
    for item in read_list(message.get("content")):
        block = read_object(item)
        if block.get("type") == "text":
            texts.append(read_text(block.get("text")))
        elif block.get("type") == "tool_use":
            arguments = _dump(_read_input(block))
            function = {"name": read_text(block.get("name")), "arguments": arguments}
            calls.append(
                {"id": read_text(block.get("id")), "type": "function", "function": function}
            )
    answer = {"role": "assistant", "content": "".join(texts), "tool_calls": calls}
    choice = {"index": 0, "message": answer, **_read_ending(message)}
    usage = _read_usage(read_object(message.get("usage") or {}))
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _make_step(delta: Json, **ending: Any) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None, **ending}]}


def _read_ending(told: Json) -> Json:
    """Return the reason of an end, and the stop sequence where that is the reason."""
    reason = told.get("stop_reason")
    if reason is None:
        return {"finish_reason": None}
    return {
        "finish_reason": FINISH_REASONS.get(read_text(reason), "stop"),
        "stop_reason": told.get("stop_sequence"),
    }


def _read_usage(told: Json) -> Json:
    return {
        "prompt_tokens": sum(read_count(told.get(name)) for name in _INPUT),
        "completion_tokens": read_count(told.get("output_tokens")),
    }


def _read_input(block: Json) -> Json:
    given = block.get("input")
    return {} if given is None else read_object(given)


def _read_place(event: Json) -> int:
    place = event.get("index")
    if type(place) is not int:
        raise ValueError("not a place")
    return place


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
