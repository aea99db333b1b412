"""The local server's misbehaviours: whole answers, and streams."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.answers import MODELS, chat, frame, http, sse, stream_frames
from tests.hostile.chat_bodies import BODIES, tiny_choices
from tests.hostile.modes import (
    BLOCK,
    PLANTED,
    Expected,
    Mode,
    bodies,
    cuts,
    flood,
    statuses,
    told,
    wires,
)
from tests.servers import chunk

__all__ = ["LISTS", "modes"]

# For `GET /models`.
LISTS: dict[str, bytes] = {
    "not JSON": http(PLANTED.encode()),
    "null": http(b"null"),
    "without data": http(b"{}"),
    "empty": http(b'{"data": []}'),
    "of text": http(json.dumps({"data": [PLANTED]}).encode()),
    "without id": http(json.dumps({"data": [{"object": "model"}]}).encode()),
    "context of text": MODELS.replace(b"4096", b'"a"'),
    "nested": http(b'{"data":' * 50_000),
}
REFUSED = frozenset({400, 413, 422, 502, 503})
FAILED = frozenset({502, 503, 504})


def _frames(*frames: Any, end: bool = True) -> bytes:
    """Return a stream that is good but for its middle."""
    first, *_, last, _, done = stream_frames()
    made = [item if isinstance(item, bytes) else frame(item) for item in frames]
    return sse(first, *made, *((last, done) if end else ()))


def _call(**over: Any) -> dict[str, Any]:
    function = {"name": "f", "arguments": "{}"}
    call = {"index": 0, "id": "a", "type": "function", "function": function, **over}
    return chunk({"tool_calls": [call]})


def _streams() -> dict[str, tuple[bytes, Expected]]:
    text = chunk({"content": PLANTED})
    good = stream_frames()
    whole = b"".join(good)
    error = {"message": PLANTED, "type": PLANTED, "code": 500}
    deep: Any = b'{"choices":' * 50_000
    return {
        "good": (sse(*good), "served"),
        "no [DONE]": (sse(*good[:-1]), "either"),
        "[DONE] first": (sse(good[-1], *good), "either"),
        "[DONE] twice": (sse(*good, good[-1], good[-1]), "served"),
        "words after [DONE]": (sse(*good, frame(text)), "served"),
        "no finish": (sse(*good[:4], good[-1]), "error"),
        "finish twice": (sse(*good[:-1], *good[-3:]), "either"),
        "nothing but [DONE]": (sse(good[-1]), "error"),
        "no frames": (sse(), "error"),
        "CRLF": (sse(whole.replace(b"\n", b"\r\n")), "served"),
        "CR": (sse(whole.replace(b"\n", b"\r")), "either"),
        "no blank after data:": (sse(whole.replace(b"data: ", b"data:")), "served"),
        "comments": (sse(b": ping\n\n", *good), "served"),
        "event names": (sse(*(b"event: x\nid: 7\nretry: 1\n" + item for item in good)), "either"),
        "data in many lines": (sse(whole.replace(b', "', b',\ndata: "')), "either"),
        "a mark before": (sse(b"\xef\xbb\xbf", *good), "either"),
        "one line for two": (sse(whole.replace(b"\n\n", b"\n", 1)), "either"),
        "invalid UTF-8": (
            _frames(b'data: {"choices":[{"delta":{"content":"\xff"}}]}\n\n'),
            "either",
        ),
        "lone surrogate": (_frames(chunk({"content": "a\ud800b"})), "either"),
        "NUL": (_frames(chunk({"content": "\x00"})), "either"),
        "not JSON": (_frames(b"data: " + PLANTED.encode() + b"\n\n"), "error"),
        "NaN": (_frames({**text, "created": float("nan")}), "either"),
        "nested deep": (_frames(b"data: " + deep + b"\n\n"), "error"),
        "a list": (_frames([PLANTED]), "error"),
        "a number": (_frames(7), "error"),
        "null": (_frames(b"data: null\n\n"), "error"),
        "no choices": (_frames({"id": "x"}), "either"),
        "choices of text": (_frames({**text, "choices": [PLANTED]}), "error"),
        "choices null": (_frames({**text, "choices": None}), "either"),
        "delta null": (_frames({**text, "choices": [{"index": 0, "delta": None}]}), "either"),
        "delta of text": (_frames({**text, "choices": [{"index": 0, "delta": PLANTED}]}), "error"),
        "content a list": (_frames(chunk({"content": [{"text": PLANTED}]})), "either"),
        "content a number": (_frames(chunk({"content": 7})), "either"),
        "content an object": (_frames(chunk({"content": {"a": 1}})), "either"),
        "refusal": (_frames(chunk({"refusal": PLANTED})), "either"),
        "role odd": (_frames(chunk({"role": PLANTED, "content": "a"})), "either"),
        "finish odd": (_frames(chunk({}, PLANTED)), "either"),
        "finish a list": (
            _frames({**text, "choices": [{"index": 0, "delta": {}, "finish_reason": [1]}]}),
            "either",
        ),
        "usage of text": (_frames({**text, "usage": PLANTED}), "either"),
        "usage of lists": (_frames({**text, "usage": {"prompt_tokens": [1]}}), "either"),
        "tool call": (_frames(_call()), "served"),
        "tool call without index": (_frames(_call(index=None)), "either"),
        "tool call at 1,000,000,000": (_frames(_call(index=10**9)), "either"),
        "tool call at -1": (_frames(_call(index=-1)), "either"),
        "tool call at a fraction": (_frames(_call(index=0.5)), "either"),
        "tool call at 10^30": (_frames(_call(index=10**30)), "either"),
        "tool call of text": (_frames(chunk({"tool_calls": [PLANTED]})), "either"),
        "tool call of null": (_frames(chunk({"tool_calls": [None]})), "either"),
        "tool calls an object": (_frames(chunk({"tool_calls": {"a": 1}})), "either"),
        "tool call's function a list": (_frames(_call(function=[1])), "either"),
        "tool call's arguments an object": (
            _frames(_call(function={"name": 1, "arguments": {}})),
            "either",
        ),
        "logprobs of text": (
            _frames(
                {**text, "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": PLANTED}]}
            ),
            "either",
        ),
        "choice at 1,000,000,000": (
            _frames({**text, "choices": [{"index": 10**9, "delta": {"content": "a"}}]}),
            "either",
        ),
        "an error frame": (_frames({"error": error}, end=False), "error"),
        "an error event": (
            _frames(b"event: error\n" + frame({"error": error}), end=False),
            "error",
        ),
        "FastChat's error": (_frames({"text": PLANTED, "error_code": 50002}, end=False), "error"),
        "an error of text": (_frames({"error": PLANTED}, end=False), "error"),
        "whole JSON for a stream": (http(chat(PLANTED)), "error"),
        "HTML for a stream": (http(PLANTED.encode(), content_type="text/html"), "error"),
        "10,000 words": (sse(good[0], *([good[1]] * 10_000), *good[-3:]), "served"),
    }


def modes() -> list[Mode]:
    """Return every mode."""
    begin = sse(stream_frames()[0])
    whole = sse(*stream_frames())
    places = {
        "after the headers": whole.index(b"\r\n\r\n") + 4,
        "in the first event": whole.index(b"data:") + 3,
        "in an event's JSON": whole.index(b"data:") + 40,
        "between events": whole.index(b"\n\n") + 2,
        "in a word": whole.index(b"two") + 1,
        "before the finish": whole.index(b'"stop"') - 30,
    }
    return [
        *wires(chat(PLANTED)),
        *bodies(BODIES, statuses=FAILED),
        *statuses(dict.fromkeys((400, 413, 422), REFUSED)),
        *statuses(
            dict.fromkeys((300, 308, 401, 403, 404, 408, 409, 418, 429, 500, 503, 599), FAILED)
        ),
        Mode("7.4 MB of tiny choices", lambda: http(tiny_choices(7.4)), "either"),
        Mode("74 MB of tiny choices", lambda: http(tiny_choices(74)), "either"),
        *(
            told(f"stream: {name}", data, expected, stream=True)
            for name, (data, expected) in _streams().items()
        ),
        *cuts(whole, {f"stream {name}": place for name, place in places.items()}, {}, stream=True),
        Mode(
            "stream: line of 1 GB",
            lambda: flood(begin + b'data: {"choices": [{"delta": {"content": "', b"a" * BLOCK),
            stream=True,
        ),
        Mode("stream: comment of 1 GB", lambda: flood(begin + b": ", b"a" * BLOCK), stream=True),
        Mode("stream: lines of 1 GB", lambda: flood(begin, b"data: 7\n" * 8192), stream=True),
        Mode(
            "stream: word of 5 MB",
            lambda: _frames(chunk({"content": "word " * 10**6})),
            "either",
            stream=True,
        ),
    ]
