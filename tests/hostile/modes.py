"""Ways in which either upstream may misbehave on the wire, whatever its answer is about.

A mode is a script and what the proxy has to make of it. Texts of an upstream hold `PLANTED`:
no error may repeat it.
"""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from tests.hostile.answers import chat, http
from tests.hostile.upstream import Call, Script

__all__ = ["PLANTED", "Mode", "bodies", "cuts", "flood", "statuses", "told", "wires"]

PLANTED = "plantedxqzkvword"
BLOCK = 1 << 16
MANY = 1 << 30  # bytes of what never seems to end
Expected = Literal["served", "error", "either"]


@dataclass(frozen=True)
class Mode:
    """`script` is made anew for every use: some hold megabytes.

    Attributes:
        expected: whether the request is served all the same.
        statuses: of the error, where it is one.
        final: a retry cannot cure it, and clients are told so.
        stream: whether the client asks for a stream.
    """

    name: str
    script: Callable[[], Script]
    expected: Expected = "error"
    statuses: frozenset[int] = frozenset({502, 503, 504})
    final: bool = False
    stream: bool = False


def told(name: str, data: bytes, expected: Expected = "error", **how: Any) -> Mode:
    """Return the mode of an upstream that always sends the same bytes."""
    return Mode(name, lambda: data, expected, **how)


def flood(begin: bytes, block: bytes, *, chunked: bool = False, total: int = MANY) -> Script:
    """Return a script that sends a block over and over, as long as somebody reads."""

    async def script(_: Call, writer: asyncio.StreamWriter) -> bool:
        piece = b"%x\r\n%s\r\n" % (len(block), block) if chunked else block
        writer.write(begin)
        for _ in range(total // len(block)):
            writer.write(piece)
            await writer.drain()
        return False

    return script


def _trickle(data: bytes, pause: float) -> Script:
    async def script(_: Call, writer: asyncio.StreamWriter) -> bool:
        for i in range(len(data)):
            writer.write(data[i : i + 1])
            await writer.drain()
            await asyncio.sleep(pause)
        return False

    return script


async def _reset(_: Call, writer: asyncio.StreamWriter) -> bool:
    writer.transport.abort()
    return False


async def _reset_in_the_body(_: Call, writer: asyncio.StreamWriter) -> bool:
    writer.write(http(chat())[:-40])
    await writer.drain()
    writer.transport.abort()
    return False


async def _silent(_: Call, writer: asyncio.StreamWriter) -> bool:
    await asyncio.sleep(60)
    return False


def _packed(head: bytes, unit: bytes, count: int, tail: bytes, wbits: int) -> bytes:
    packer = zlib.compressobj(1, wbits=wbits)
    block = unit * (2**20 // len(unit))
    parts = [packer.compress(head), *(packer.compress(block) for _ in range(count))]
    return b"".join((*parts, packer.compress(tail), packer.flush()))


def _bomb(wbits: int, coding: str) -> bytes:
    before, after = json.dumps(json.loads(chat("SPLIT"))).encode().split(b"SPLIT")
    body = _packed(before, b"a", 600, after, wbits)
    return http(body, f"content-encoding: {coding}")


def _twice(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return http(zlib.compress(packed), "content-encoding: deflate, deflate")


def wires(good: bytes) -> list[Mode]:
    """Return what may go wrong in HTTP itself; `good` is a good body."""
    fits = http(good)
    head, _, body = fits.partition(b"\r\n\r\n")
    chunk = b"%x\r\n%s\r\n" % (len(body), body)
    coded = (
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    return [
        told(
            "early hints first", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + fits, "served"
        ),
        told("continue first", b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + fits, "either"),
        told("endless continues", b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "error"),
        told("switching protocols", b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"),
        told("closed at once", b""),
        Mode("reset at once", lambda: _reset),
        Mode("reset in the body", lambda: _reset_in_the_body),
        Mode("silent", lambda: _silent),
        Mode("trickled head", lambda: _trickle(fits, 0.05)),
        Mode("trickled body", lambda: _trickle(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * 1000, 0.05)),
        told("no HTTP", PLANTED.encode() + b"\r\n\r\n"),
        told("HTTP/0.9", body),
        told("garbage before", b"\x00\xff" * 50 + fits),
        told("status not a number", b"HTTP/1.1 abc OK\r\n\r\n" + body),
        told("no length", http(good, length=False), "served"),
        told("length too long", head.replace(b"length: ", b"length: 9") + b"\r\n\r\n" + body),
        told(
            "length too short",
            head.replace(b"length: ", b"x: \r\ncontent-length: 9\r\ny: ") + b"\r\n\r\n" + body,
        ),
        told("length not a number", head.replace(b"length: ", b"length: x") + b"\r\n\r\n" + body),
        told("two lengths", head + b"\r\ncontent-length: 7\r\n\r\n" + body),
        told("chunked", coded + chunk + b"0\r\n\r\n", "served"),
        told(
            "chunked with extension",
            coded + chunk.replace(b"\r\n", b";a=b\r\n", 1) + b"0\r\n\r\n",
            "either",
        ),
        told("chunk not a number", coded + b"zz\r\n" + body),
        told("chunks cut off", coded + chunk),
        Mode("endless chunks", lambda: flood(coded + chunk, b" " * BLOCK, chunked=True)),
        Mode("endless body", lambda: flood(b"HTTP/1.1 200 OK\r\n\r\n" + body[:-1], b" " * BLOCK)),
        Mode("endless header", lambda: flood(b"HTTP/1.1 200 OK\r\nx-a: ", b"a" * BLOCK)),
        Mode("endless headers", lambda: flood(b"HTTP/1.1 200 OK\r\n", b"x-a: a\r\n" * 8192)),
        told(
            "10,000 headers", http(good, *(f"x-{i}: {PLANTED}" for i in range(10_000))), "either"
        ),
        Mode("gzip of 600 MB", lambda: _bomb(31, "gzip")),
        Mode("deflate of 600 MB", lambda: _bomb(15, "deflate")),
        told("deflate twice", _twice(good), "either"),
        told("no gzip", http(good, "content-encoding: gzip")),
        told("unknown coding", http(good, "content-encoding: snappy"), "either"),
        told("an HTML page", http(f"<html>{PLANTED}</html>".encode(), content_type="text/html")),
        told("HTML said to be JSON", http(f"<html>{PLANTED}</html>".encode())),
        told("JSON said to be text", http(good, content_type="text/plain"), "either"),
        told("content type of no sense", http(good, content_type="; charset=\x7f"), "either"),
        told(
            "content type in UTF-16",
            http(good, content_type="application/json; charset=utf-16"),
            "either",
        ),
        told("empty body", http()),
        told("redirect", http(status="302 Found\r\nlocation: http://127.0.0.1:9/" + PLANTED)),
        told("redirect to itself", http(status="307 Temporary Redirect\r\nlocation: /v1/models")),
    ]


def cuts(
    data: bytes, places: dict[str, int], expected: dict[str, Expected], **how: Any
) -> list[Mode]:
    """Return the modes of an answer that ends at each of the places."""
    return [
        told(f"cut {name}", data[:place], expected.get(name, "error"), **how)
        for name, place in places.items()
    ]


def statuses(codes: dict[int, frozenset[int]], **how: Any) -> list[Mode]:
    """Return a mode for each status, with the ones that clients may be shown for it."""
    error = {"message": PLANTED, "type": PLANTED, "param": PLANTED, "code": PLANTED}
    body = json.dumps({"error": error}).encode()
    return [
        told(f"status {code}", http(body, status=f"{code} {PLANTED}"), statuses=shown, **how)
        for code, shown in codes.items()
    ]


def bodies(kinds: dict[str, tuple[bytes, Expected]], **how: Any) -> list[Mode]:
    """Return the modes of JSON bodies that are not, or not quite, what they should be."""
    return [told(name, http(body), expected, **how) for name, (body, expected) in kinds.items()]
