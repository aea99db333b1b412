"""Answers of the Messages API read as chats: streamed as whole, and whatever a remote sends."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, Iterable
from typing import Any

import pytest

from extraction.http.client import SMALL, HttpError, Limit, Reply, Unreadable, parse
from proxy.gateway.relaying import CHAT
from proxy.remote.upstream import CALLS, MessagesReply
from tests.proxy.anthropic_remote import make_events, make_message

REASONS = ("end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "pause_turn")


class Told(Reply):
    """An answer that is here already."""

    def __init__(self, whole: Any = None, events: Iterable[Any] = ()) -> None:
        self.status, self.retry_after, self.is_json = 200, None, whole is not None
        self._whole, self._events = whole, events

    async def json(self, limit: Limit) -> Any:
        return self._whole

    async def events(self, seconds: float) -> AsyncGenerator[bytes]:
        for event in self._events:
            yield json.dumps(event).encode()


async def read_whole(message: Any) -> dict[str, Any]:
    """Read a whole answer as a chat."""
    told = await MessagesReply(Told(message)).json(SMALL)
    made = CHAT.read(told["choices"][0], streamed=False)
    return {
        "message": made.message,
        "end": (made.finish_reason, made.stop),
        "usage": told["usage"],
    }


async def read_stream(events: Iterable[Any]) -> tuple[dict[str, Any], bool]:
    """Read a stream as a chat, put together; tell if it was ended properly."""
    message: dict[str, Any] = {}
    out: dict[str, Any] = {"message": message, "end": (None, None), "usage": None}
    async for data in MessagesReply(Told(events=events)).events(1.0):
        if data == b"[DONE]":
            return out, True
        told = parse(data, SMALL)
        if "error" in told:
            raise Unreadable("an error")
        step = CHAT.read(told["choices"][0], streamed=True)
        if "content" in step.message:
            message["content"] = message.get("content", "") + step.message["content"]
        for call in step.message.get("tool_calls", ()):
            calls = message.setdefault("tool_calls", [])
            if call["index"] == len(calls):
                calls.append({"function": {"name": "", "arguments": ""}})
            own = calls[call["index"]]
            own |= {name: call[name] for name in ("id", "type") if name in call}
            for part, text in call["function"].items():
                own["function"][part] += text
        if step.finish_reason:
            out |= {"end": (step.finish_reason, step.stop), "usage": told["usage"]}
    return out, False


def make_any(made: random.Random) -> dict[str, Any]:
    """A message of random blocks."""
    word = lambda: "".join(made.choices('ab "\\é\n😀', k=made.randrange(1, 9)))  # noqa: E731
    blocks: list[dict[str, Any]] = []
    for i in range(made.randrange(5)):
        kind = made.choice(("text", "thinking", "tool_use"))
        own: dict[str, Any] = {"type": kind}
        if kind == "text":
            own["text"] = word()
        elif kind == "thinking":
            own |= {"thinking": word(), "signature": word()}
        else:
            own |= {"id": f"toolu_{i}", "name": "f", "input": {word(): [word(), 1.5]}}
            own["input"] = made.choice(({}, own["input"]))
        blocks.append(own)
    reason = made.choice(REASONS)
    stop = word() if reason == "stop_sequence" else None
    return make_message(*blocks, stop=reason, stop_sequence=stop)


async def test_a_stream_reads_like_the_whole_answer() -> None:
    made = random.Random(11)
    kinds = set()
    for _ in range(300):
        message = make_any(made)
        whole = await read_whole(message)
        streamed, ended = await read_stream(make_events(message, made.randrange(1, 6)))
        assert ended
        for each in (streamed, whole):  # JSON has several spellings
            for call in each["message"].get("tool_calls", ()):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
        assert streamed == whole
        assert "thinking" not in json.dumps(whole)
        kinds |= {block["type"] for block in message["content"]}
    assert kinds == {"text", "thinking", "tool_use"}


async def test_arguments_may_come_with_the_beginning_of_a_call() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    events = [
        {"type": "content_block_start", "index": 3, "content_block": call},
        {"type": "content_block_stop", "index": 3},
    ]
    read, ended = await read_stream(events)
    assert read["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert not ended


async def test_calls_are_bounded() -> None:
    call = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    events = [
        {"type": "content_block_start", "index": i, "content_block": call}
        for i in range(CALLS + 1)
    ]
    await read_stream(events[:-1])
    with pytest.raises(Unreadable):
        await read_stream(events)


def damage(value: Any, made: random.Random) -> Any:
    """Replace or drop something at a random place."""
    if isinstance(value, dict) and value and made.random() < 0.8:
        key = made.choice(list(value))
        if made.random() < 0.2:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: damage(value[key], made)}
    if isinstance(value, list) and value and made.random() < 0.8:
        place = made.randrange(len(value))
        return [*value[:place], damage(value[place], made), *value[place + 1 :]]
    return made.choice((None, 5, -1, 1e300, "x", [], {}, [[]], True, {"type": "text"}, "\ud800"))


async def test_whatever_is_sent_is_read_or_refused() -> None:
    """No other error than those that the readers of chats expect."""
    made = random.Random(12)
    refused = read = 0
    for _ in range(3_000):
        message = make_any(made)
        events = list(make_events(message))
        place = made.randrange(len(events))
        events[place] = damage(events[place], made)
        for job in (read_whole(damage(message, made)), read_stream(events)):
            try:
                await job
                read += 1
            except (HttpError, ValueError, KeyError):  # an error stays one, without choices
                refused += 1
    assert min(refused, read) > 500
