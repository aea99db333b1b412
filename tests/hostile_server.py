"""A server in a process of its own that speaks HTTP as wrongly as it is told.

`python -m tests.hostile_server` prints its port. `GET /mode/NAME` chooses what every POST ends in
from then on; `GET …/models` is always answered well. Every text it sends holds `CANARY`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import sys
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

CANARY = "upstream-canary"
ANSWER = "One two three."
MEGABYTE = 10**6


class Peer:
    """The connection on which one request came."""

    def __init__(self, writer: asyncio.StreamWriter, streamed: bool) -> None:
        self.writer = writer
        self.streamed = streamed

    async def send(self, *parts: str | bytes) -> None:
        for part in parts:
            self.writer.write(part.encode() if isinstance(part, str) else part)
            await self.writer.drain()

    async def head(self, *headers: str, status: str = "200 OK", kind: str = "") -> None:
        kind = kind or ("text/event-stream" if self.streamed else "application/json")
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close", *headers]
        await self.send("\r\n".join(lines) + "\r\n\r\n")

    async def whole(self, body: str | bytes, *headers: str, **head: str) -> None:
        data = body.encode() if isinstance(body, str) else body
        await self.head(f"Content-Length: {len(data)}", *headers, **head)
        await self.send(data)

    async def chunk(self, data: str | bytes) -> None:
        data = data.encode() if isinstance(data, str) else data
        await self.send(b"%x\r\n" % len(data) + data + b"\r\n")

    def reset(self) -> None:
        self.writer.transport.abort()


Mode = Callable[[Peer], Awaitable[None]]
WHOLE: dict[str, Mode] = {}  # for any answer
STREAM: dict[str, Mode] = {}  # for a stream of the local server


def mode(table: dict[str, Mode]) -> Callable[[Mode], Mode]:
    def add(function: Mode) -> Mode:
        table[function.__name__.replace("_", "-")] = function
        return function

    return add


def completion(content: Any = CANARY, **over: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice], **over}


def bodies(table: dict[str, str | bytes], **head: str) -> None:
    """Modes that answer with these bodies, well formed as HTTP."""
    for name, body in table.items():

        async def behave(peer: Peer, body: str | bytes = body) -> None:
            await peer.whole(body, **head)

        WHOLE[name] = behave


async def forever(peer: Peer, data: bytes, pause: float = 0.0) -> None:
    while True:
        await peer.send(data)
        await asyncio.sleep(pause)


# -- connections ----------------------------------------------------------------------------


@mode(WHOLE)
async def hangs_up(peer: Peer) -> None:
    pass


@mode(WHOLE)
async def resets(peer: Peer) -> None:
    peer.reset()


@mode(WHOLE)
async def resets_in_head(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nContent-Le")
    peer.reset()


@mode(WHOLE)
async def cut_in_head(peer: Peer) -> None:
    await peer.send(f"HTTP/1.1 200 OK\r\nX-Canary: {CANARY}")


@mode(WHOLE)
async def cut_in_body(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await peer.send(json.dumps(completion()))


@mode(WHOLE)
async def resets_in_body(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await peer.send(json.dumps(completion()))
    peer.reset()


@mode(WHOLE)
async def cut_between_chunks(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk('{"choices": [')


@mode(WHOLE)
async def cut_in_chunk(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send('500\r\n{"choices": [')


@mode(WHOLE)
async def silent(peer: Peer) -> None:
    await asyncio.sleep(60)


@mode(WHOLE)
async def silent_after_head(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await asyncio.sleep(60)


@mode(WHOLE)
async def trickles_head(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nX: ")
    await forever(peer, b"a", 0.02)


@mode(WHOLE)
async def trickles_body(peer: Peer) -> None:
    await peer.head()
    await forever(peer, b" ", 0.02)


# -- HTTP -----------------------------------------------------------------------------------


@mode(WHOLE)
async def not_http(peer: Peer) -> None:
    await peer.send(f"SSH-2.0-{CANARY}\r\n" * 10)


@mode(WHOLE)
async def bad_status_line(peer: Peer) -> None:
    await peer.send(f"HTTP/1.1 {CANARY}\r\n\r\n")


@mode(WHOLE)
async def odd_status(peer: Peer) -> None:
    await peer.whole(CANARY, status="799 Odd")


@mode(WHOLE)
async def informs_forever(peer: Peer) -> None:
    await forever(peer, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@mode(WHOLE)
async def switches_protocols(peer: Peer) -> None:
    await peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    )
    await forever(peer, b"x" * 1000)


@mode(WHOLE)
async def no_content(peer: Peer) -> None:
    await peer.send("HTTP/1.1 204 No Content\r\n\r\n")


@mode(WHOLE)
async def not_modified(peer: Peer) -> None:
    await peer.send("HTTP/1.1 304 Not Modified\r\n\r\n")


def redirects(status: str) -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.whole(CANARY, "Location: http://127.0.0.1:9/v1/x", status=status)

    return behave


WHOLE |= {f"redirects-{code}": redirects(f"{code} Moved") for code in (301, 302, 303, 307, 308)}


@mode(WHOLE)
async def header_of_megabytes(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nX: ", b"a" * 10 * MEGABYTE, "\r\n\r\n")


@mode(WHOLE)
async def headers_forever(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\n")
    await forever(peer, b"X-Header: some value\r\n" * 1000)


@mode(WHOLE)
async def trailers_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk("{}")
    await peer.send("0\r\n")
    await forever(peer, b"X-Trailer: some value\r\n" * 1000)


@mode(WHOLE)
async def trailer_of_megabytes(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk("{}")
    await peer.send("0\r\nX: ")
    await forever(peer, b"a" * MEGABYTE)


@mode(WHOLE)
async def chunk_extension_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send("5;x=")
    await forever(peer, b"a" * MEGABYTE)


@mode(WHOLE)
async def chunk_size_of_nonsense(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send(f"zz\r\n{CANARY}\r\n0\r\n\r\n")


@mode(WHOLE)
async def nonsense_after_a_chunk(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk('{"choices"')
    await peer.send(f"{CANARY}\r\n")
    await asyncio.sleep(60)


@mode(WHOLE)
async def chunk_size_beyond_all(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send("f" * 40 + "\r\n" + CANARY)


@mode(WHOLE)
async def negative_length(peer: Peer) -> None:
    await peer.head("Content-Length: -5")
    await peer.send(CANARY)


@mode(WHOLE)
async def two_lengths(peer: Peer) -> None:
    await peer.head("Content-Length: 5", "Content-Length: 50")
    await peer.send(CANARY)


@mode(WHOLE)
async def length_too_short(peer: Peer) -> None:
    body = json.dumps(completion())
    await peer.head(f"Content-Length: {len(body) // 2}")
    await peer.send(body)


@mode(WHOLE)
async def unknown_transfer_encoding(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: rot13")
    await peer.send(CANARY)


@mode(WHOLE)
async def unknown_content_encoding(peer: Peer) -> None:
    await peer.whole(b"\x00\xff" + CANARY.encode(), "Content-Encoding: rot13")


@mode(WHOLE)
async def no_gzip(peer: Peer) -> None:
    await peer.whole(CANARY, "Content-Encoding: gzip")


@mode(WHOLE)
async def half_a_gzip(peer: Peer) -> None:
    await peer.whole(gzip.compress(CANARY.encode() * 50)[:30], "Content-Encoding: gzip")


@mode(WHOLE)
async def gzip_members(peer: Peer) -> None:
    await peer.whole(gzip.compress(b"") * 50_000, "Content-Encoding: gzip")


async def bomb(peer: Peer, encoding: str, bits: int, megabytes: int = 600) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    await peer.head(f"Content-Encoding: {encoding}")
    await peer.send(packer.compress(b'{"choices": "'))
    for _ in range(megabytes):
        await peer.send(packer.compress(b"a" * MEGABYTE))
    await peer.send(packer.flush())


@mode(WHOLE)
async def gzip_bomb(peer: Peer) -> None:
    await bomb(peer, "gzip", 31)


@mode(WHOLE)
async def deflate_bomb(peer: Peer) -> None:
    await bomb(peer, "deflate", 15)


@mode(WHOLE)
async def gzip_bomb_in_one_piece(peer: Peer) -> None:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    data = packer.compress(b'["') + packer.compress(b"a" * 100 * MEGABYTE) + packer.flush()
    await peer.whole(data, "Content-Encoding: gzip")


@mode(WHOLE)
async def body_forever(peer: Peer) -> None:
    await peer.head()
    await forever(peer, b"a" * MEGABYTE)


@mode(WHOLE)
async def chunks_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    while True:
        await peer.chunk(b"[" * MEGABYTE)


@mode(WHOLE)
async def tiny_chunks_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await forever(peer, b"1\r\n[\r\n" * 10_000)


@mode(WHOLE)
async def length_of_a_gigabyte(peer: Peer) -> None:
    await peer.head(f"Content-Length: {1000 * MEGABYTE}")
    for _ in range(1000):
        await peer.send(b"a" * MEGABYTE)


# -- statuses -------------------------------------------------------------------------------


def fails(status: str, body: str | bytes, *headers: str, kind: str = "") -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.whole(body, *headers, status=status, kind=kind)

    return behave


ERROR = json.dumps({"error": {"message": CANARY, "type": CANARY, "code": CANARY, "param": CANARY}})
LONG_NUMBER = "9" * 7000
DELAYS = ("nan", "inf", "-inf", "-1", "1e309", "Wed, 21 Oct 2037 07:28:00 GMT", "", LONG_NUMBER)
WHOLE |= {
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


@mode(WHOLE)
async def error_forever(peer: Peer) -> None:
    await peer.head(status="500 Oh")
    await forever(peer, b"a" * MEGABYTE)


# -- JSON -----------------------------------------------------------------------------------


def choices(count: int) -> str:
    return '{"choices": [' + ",".join(['{"index":0,"message":{}}'] * count) + "]}"


def text_of(escaped: str) -> str:
    return json.dumps(completion()).replace(CANARY, escaped)


bodies(
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
READ: dict[str, str | bytes] = {
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
bodies(READ)


@mode(WHOLE)
async def well_gzipped(peer: Peer) -> None:
    await peer.whole(gzip.compress(text_of(ANSWER).encode()), "Content-Encoding: gzip")


READ["well-gzipped"] = ""


# -- streams --------------------------------------------------------------------------------


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
STREAM |= {
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
MODES = {**WHOLE, **STREAM}


# -- the server -----------------------------------------------------------------------------


class Server:
    """Answers one request on each connection, as the chosen mode says."""

    def __init__(self) -> None:
        self.mode = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            sent = head.split("content-length: ")[1].split("\r")[0] if "content-l" in head else "0"
            body = await reader.readexactly(int(sent))
            await self.answer(head.split()[1], Peer(writer, b'"stream":true' in body))
        with contextlib.suppress(ConnectionError):
            writer.close()

    async def answer(self, path: str, peer: Peer) -> None:
        if path.startswith("/mode/"):
            self.mode = path.removeprefix("/mode/")
        if path.startswith("/mode/") or path.endswith("/models"):
            peer.streamed = False
            await peer.whole(json.dumps({"data": [{"id": "m", "max_model_len": 4096}]}))
        else:
            await MODES[self.mode](peer)


async def main() -> None:
    server = await asyncio.start_server(Server().handle, "127.0.0.1", 0, limit=2**26)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
