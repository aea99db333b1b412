"""Streams of the local server that are broken, endless or odd."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile_server.peer import ANSWER, CANARY, MEGABYTE, Mode, Peer, forever

__all__ = ["READ_STREAMS", "STREAM"]


def event(delta: Any, finish: str | None = None, **over: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, **over}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


END = event({}, "stop") + b"data: [DONE]\n\n"


def streams(*parts: bytes, end: bytes = END) -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.head()
        await peer.send(*parts, end)

    return behave


def endless(*parts: bytes, pause: float = 0.0) -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.head()
        await peer.send(*parts[:-1])
        await forever(peer, parts[-1], pause)

    return behave


def call(**fields: Any) -> bytes:
    return event({"tool_calls": [fields]})


FUNCTION = {"name": CANARY, "arguments": "{}"}
STREAM: dict[str, Mode] = {
    "line-of-a-gigabyte": endless(b"data: ", b"a" * MEGABYTE),
    "event-of-many-lines": endless(b"data: {\ndata: \n" * 10_000),
    "comments-forever": endless(b": ping\n\n" * 10_000),
    "comments-trickle": endless(b": ping\n\n", pause=0.05),
    "blank-lines-forever": endless(b"\n" * 100_000),
    "line-trickles": endless(b"data: ", b"a", pause=0.02),
    "empty-objects-forever": endless(b"data: {}\n\n" * 10_000),
    "words-forever": endless(event({"content": "a"}) * 1000),
    "megabytes-of-words-forever": endless(event({"content": "é" * 400_000})),
    "arguments-forever": endless(call(index=0, function={"arguments": "a" * 400_000})),
    "index-of-a-billion": streams(call(index=10**9, id="x", function=FUNCTION)),
    "index-beyond-all-calls": streams(call(index=128, id="x", function=FUNCTION)),
    "index-negative": streams(call(index=-1, id="x", function=FUNCTION)),
    "index-a-boolean": streams(call(index=True, id="x", function=FUNCTION)),
    "index-a-string": streams(call(index="0", id="x", function=FUNCTION)),
    "too-many-calls": streams(event({"tool_calls": [{"function": FUNCTION}] * 200})),
    "function-a-string": streams(call(index=0, function=CANARY)),
    "name-a-list": streams(call(index=0, function={"name": [CANARY]})),
    "delta-a-string": streams(event(CANARY)),
    "delta-null": streams(event(None)),
    "content-a-number-streamed": streams(event({"content": 17})),
    "logprobs-a-string": streams(event({"content": "a"}, logprobs=CANARY)),
    "logprobs-without-token": streams(event({"content": "a"}, logprobs={"content": [[]]})),
    "logprob-a-string": streams(
        event({"content": "a"}, logprobs={"content": [{"token": "a", "logprob": CANARY}]})
    ),
    "usage-a-string": streams(b'data: {"choices": [], "usage": "x"}\n\n'),
    "usage-beyond-all": streams(b'data: {"usage": {"prompt_tokens": 1' + b"0" * 15 + b"}}\n\n"),
    "finish-an-object": streams(event({"content": "a"}, {"a": 1})),  # type: ignore[arg-type]
    "deep-event": streams(b"data: " + b"[" * 100_000 + b"\n\n"),
    "not-json-event": streams(f"data: {CANARY}\n\n".encode()),
    "not-utf8-event": streams(b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n'),
    "error-event": streams(b'data: {"error": {"message": "' + CANARY.encode() + b'"}}\n\n'),
    "error-code-event": streams(b'data: {"text": "x", "error_code": 50001}\n\n'),
    "error-object-event": streams(b'data: {"object": "error", "code": 500}\n\n'),
    "no-finish": streams(event({"content": "a"}), end=b"data: [DONE]\n\n"),
    "cut-in-event": streams(event({"content": "a"}), end=b'data: {"choices": [{"delta"'),
    "reset-in-stream": streams(event({"content": "a"}), end=b""),
}
READ_STREAMS: dict[str, Mode] = {
    "stream-crlf": streams((event({"content": ANSWER}) + END).replace(b"\n", b"\r\n"), end=b""),
    "stream-split": streams(
        b'data: {"choices": [{"delta":\ndata: {"content": "' + ANSWER.encode() + b'"}}]}\n\n'
    ),
    "stream-bom-in-data": streams(event({"content": ANSWER}).replace(b"{", b"\xef\xbb\xbf{", 1)),
    "stream-content-a-list": streams(event({"content": [{"type": "text", "text": ANSWER}]})),
    "stream-other-fields": streams(b"event: x\nid: 1\nretry: 9\n" + event({"content": ANSWER})),
    "stream-lone-surrogate": streams(event({"content": ANSWER + "\ud800"})),
    "stream-nan": streams(
        event({"content": ANSWER}, logprobs={"content": [{"token": "a", "logprob": float("nan")}]})
    ),
    "stream-not-marked-as-one": streams(event({"content": ANSWER})),
}
STREAM |= READ_STREAMS
