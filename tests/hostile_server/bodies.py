"""Errors in any form, and JSON that is broken, large, deep or of the wrong types."""

from __future__ import annotations

import gzip
import json

from tests.hostile_server.peer import (
    ANSWER,
    CANARY,
    MEGABYTE,
    Mode,
    Peer,
    completion,
    forever,
    mode,
)

__all__ = ["BODIES", "READ", "STATUSES"]


def fails(status: str, body: str | bytes, *headers: str, kind: str = "") -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.whole(body, *headers, status=status, kind=kind)

    return behave


ERROR = json.dumps({"error": {"message": CANARY, "type": CANARY, "code": CANARY, "param": CANARY}})
LONG_NUMBER = "9" * 7000
DELAYS = ("nan", "inf", "-inf", "-1", "1e309", "Wed, 21 Oct 2037 07:28:00 GMT", "", LONG_NUMBER)
STATUSES: dict[str, Mode] = {
    "html-500": fails("500 Oh", f"<html>{CANARY}</html>", kind="text/html"),
    "nested-500": fails("500 Oh", "[" * 200_000),
    "long-400": fails("400 No", json.dumps({"error": {"message": CANARY * MEGABYTE}})),
    "types-400": fails("400 No", json.dumps({"error": {"type": [], "code": {}, "param": 1}})),
    "list-400": fails("400 No", json.dumps([CANARY])),
    "error-400": fails("400 No", ERROR),
    "error-401": fails("401 No", ERROR),
    "error-404": fails("404 No", ERROR),
} | {
    f"retry-after-{i}": fails("429 Slow", ERROR, f"Retry-After: {delay}")
    for i, delay in enumerate(DELAYS)
}


@mode(STATUSES)
async def error_forever(peer: Peer) -> None:
    await peer.head(status="500 Oh")
    await forever(peer, b"a" * MEGABYTE)


def bodies(table: dict[str, str | bytes]) -> dict[str, Mode]:
    """Return modes that answer with these bodies, well formed as HTTP."""

    def answering(body: str | bytes) -> Mode:
        async def behave(peer: Peer) -> None:
            await peer.whole(body)

        return behave

    return {name: answering(body) for name, body in table.items()}


def choices(count: int) -> str:
    return '{"choices": [' + ",".join(['{"index":0,"message":{}}'] * count) + "]}"


def text_of(escaped: str) -> str:
    return json.dumps(completion()).replace(CANARY, escaped)


BODIES = bodies(
    {
        "200,000-choices": choices(200_000),
        "40,000-choices": choices(40_000),
        "74-megabytes-of-choices": choices(2_000_000),
        "lists-up-to-the-limit": '{"choices": [' + "[]," * 1_300_000 + "0]}",
        "keys-up-to-the-limit": "{" + ",".join(f'"{i:x}":0' for i in range(400_000)) + "}",
        "long-integers": '{"choices": [' + ("1" * 4300 + ",") * 900 + "0]}",
        "integer-too-long": '{"choices": ' + "1" * 10_000 + "}",
        "deep": '{"choices": ' + "[" * 100_000 + "]" * 100_000 + "}",
        "deep-and-open": "[" * 3_000_000,
        "deep-content": text_of(CANARY).replace(f'"{CANARY}"', "[" * 900 + "]" * 900),
        "empty": "",
        "null": "null",
        "number": "1",
        "string": f'"{CANARY}"',
        "list": f'["{CANARY}"]',
        "html": f"<html>{CANARY}</html>",
        "cut": '{"choices": [{"message": {"content": "' + CANARY,
        "not-utf8": b'{"choices": [{"message": {"content": "\xff\xfe"}}]}',
        "utf-16": json.dumps(completion()).encode("utf-16"),
        "no-choices": json.dumps({"id": CANARY}),
        "null-choices": json.dumps({"choices": None}),
        "empty-choices": json.dumps({"choices": []}),
        "string-choices": json.dumps({"choices": CANARY}),
        "object-choices": json.dumps({"choices": {"0": CANARY}}),
        "choice-a-list": json.dumps({"choices": [[CANARY]]}),
        "message-a-string": json.dumps({"choices": [{"message": CANARY}]}),
        "content-a-number": json.dumps(completion(17)),
        "content-an-object": json.dumps(completion({"text": CANARY})),
        "content-a-boolean": json.dumps(completion(True)),
        "content-of-strings": json.dumps(completion([CANARY])),
        "content-parts-nested": json.dumps(completion([{"type": "text", "text": [CANARY]}])),
        "error-with-200": ERROR,
    }
)
# What is read all the same.
READ = bodies(
    {
        "content-a-list": json.dumps(
            completion([{"type": "thinking", "x": 1}, {"type": "text", "text": ANSWER}])
        ),
        "lone-surrogates": text_of(ANSWER + "\\ud800, \\udc00\\ud83d\\ude00"),
        "bom": b"\xef\xbb\xbf" + text_of(ANSWER).encode(),
        "nan": text_of(ANSWER)[:-1] + ', "x": NaN, "y": -Infinity, "z": 1e999}',
        "integer-of-4000-digits": text_of(ANSWER)[:-1] + ', "x": ' + "9" * 4000 + "}",
        "own-finish-reason": text_of(ANSWER).replace('"stop"', f'"{CANARY}"'),
        "deep-where-nobody-looks": text_of(ANSWER)[:-1] + ', "x": ' + "[" * 500 + "]" * 500 + "}",
        "twice-the-same-key": text_of(CANARY)[:-1] + ", " + text_of(ANSWER)[1:],
    }
)


@mode(READ)
async def well_gzipped(peer: Peer) -> None:
    await peer.whole(gzip.compress(text_of(ANSWER).encode()), "Content-Encoding: gzip")
