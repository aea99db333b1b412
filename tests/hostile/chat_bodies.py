"""Bodies of chat completions that are not, or not quite, in OpenAI's form."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.answers import chat
from tests.hostile.modes import PLANTED, Expected
from tests.servers import completion

__all__ = ["BODIES", "tiny_choices"]


def _over(**over: Any) -> bytes:
    return chat(PLANTED, **over)


def _choice(**over: Any) -> bytes:
    return chat(choices=[{**completion(PLANTED)["choices"][0], **over}])


def _message(**over: Any) -> bytes:
    return json.dumps(completion(PLANTED, **over)).encode()


def _content(value: bytes) -> bytes:
    return chat("SPLIT").replace(b'"SPLIT"', value)


def _without(name: str) -> bytes:
    body = completion(PLANTED)
    del body[name]
    return json.dumps(body).encode()


def tiny_choices(megabytes: float) -> bytes:
    """Return a good first choice and as many empty ones as fit."""
    unit = b',{"index":1,"message":{"content":""}}'
    first = json.dumps(completion(PLANTED)["choices"][0]).encode()
    return b'{"choices":[' + first + unit * int(megabytes * 1e6 / len(unit)) + b"]}"


_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
BODIES: dict[str, tuple[bytes, Expected]] = {
    "not an object": (b'["%s"]' % PLANTED.encode(), "error"),
    "a string": (b'"%s"' % PLANTED.encode(), "error"),
    "null": (b"null", "error"),
    "JSON cut": (chat(PLANTED)[:-30], "error"),
    "two objects": (chat(PLANTED) * 2, "error"),
    "a mark before": (b"\xef\xbb\xbf" + chat(PLANTED), "either"),
    "NaN": (chat(PLANTED, created=float("nan")), "either"),
    "number of 5,000 digits": (
        _over(created=1).replace(b'd": 1', b'd": ' + b"7" * 4999),
        "either",
    ),
    "invalid UTF-8": (_content(b'"\xff\xfe\xc0"'), "either"),
    "lone surrogate": (_content(b'"One \\ud800 two"'), "either"),
    "lone surrogate in a key": (chat(PLANTED, **{"\ud800": 1}), "either"),
    "NUL in the text": (_content(b'"One \\u0000 two"'), "either"),
    "nested 100,000 deep": (_content(b"[" * 100_000 + b"]" * 100_000), "error"),
    "nested objects": (b'{"choices":' * 50_000, "error"),
    "no choices": (_without("choices"), "error"),
    "choices null": (_over(choices=None), "error"),
    "choices empty": (_over(choices=[]), "error"),
    "choices an object": (_over(choices={"0": PLANTED}), "error"),
    "choices of text": (_over(choices=[PLANTED]), "error"),
    "choices of null": (_over(choices=[None]), "error"),
    "index 1,000,000,000": (_choice(index=10**9), "either"),
    "index of text": (_choice(index=PLANTED), "either"),
    "no message": (_over(choices=[{"index": 0}]), "error"),
    "message null": (_choice(message=None), "error"),
    "message of text": (_choice(message=PLANTED), "error"),
    "content null": (_message(content=None), "either"),
    "content empty": (_content(b'""'), "served"),
    "content a number": (_content(b"7"), "either"),
    "content a list": (
        _content(b'[{"type":"text","text":"' + PLANTED.encode() + b'"}]'),
        "either",
    ),
    "content an object": (_content(b'{"a":"' + PLANTED.encode() + b'"}'), "either"),
    "content of 5 MB": (_content(b'"' + b"word " * 1_000_000 + b'"'), "either"),
    "refusal": (_message(content=None, refusal=PLANTED), "either"),
    "refusal an object": (_message(refusal={"a": 1}), "either"),
    "tool calls null": (_message(tool_calls=None), "served"),
    "tool calls of text": (_message(tool_calls=[PLANTED]), "either"),
    "tool calls an object": (_message(tool_calls={"a": PLANTED}), "either"),
    "tool call without function": (_message(tool_calls=[{"id": "a"}]), "either"),
    "tool call of numbers": (_message(tool_calls=[{**_CALL, "function": 7}]), "either"),
    "tool call with index": (_message(tool_calls=[{**_CALL, "index": 10**9}]), "either"),
    "function call of text": (_message(function_call=PLANTED), "either"),
    "no usage": (_without("usage"), "served"),
    "usage of text": (_over(usage=PLANTED), "either"),
    "usage of null": (_over(usage={"prompt_tokens": None, "completion_tokens": None}), "served"),
    "usage of lists": (_over(usage={"prompt_tokens": [1], "completion_tokens": {}}), "either"),
    "usage negative": (
        _over(usage={"prompt_tokens": -5, "completion_tokens": -(10**30)}),
        "either",
    ),
    "usage of a million digits": (
        _over(usage={"prompt_tokens": 1, "completion_tokens": 1}).replace(
            b": 1}", b": " + b"9" * 10**6 + b"}"
        ),
        "either",
    ),
    "finish reason odd": (_choice(finish_reason=PLANTED), "either"),
    "finish reason null": (_choice(finish_reason=None), "either"),
    "finish reason a list": (_choice(finish_reason=[PLANTED]), "either"),
    "role odd": (_message(role=PLANTED), "either"),
    "logprobs of text": (_choice(logprobs=PLANTED), "either"),
    "unknown fields": (_over(**{PLANTED: {"a": [1, 2]}, "service_tier": 7}), "served"),
    "duplicate keys": (chat(PLANTED)[:-1] + b',"choices":[]}', "either"),
    "an error with 200": (json.dumps({"error": {"message": PLANTED}}).encode(), "error"),
    "a text completion": (_over(choices=[{"index": 0, "text": PLANTED}]), "error"),
    "an event stream": (b'data: {"choices":[]}\n\ndata: [DONE]\n\n', "error"),
}
