"""Answers that break the rules of HTTP, or keep to them without end."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib

from tests.hostile_server.peer import CANARY, MEGABYTE, Mode, Peer, completion, forever, mode

__all__ = ["FRAMING"]

FRAMING: dict[str, Mode] = {}


@mode(FRAMING)
async def not_http(peer: Peer) -> None:
    await peer.send(f"SSH-2.0-{CANARY}\r\n" * 10)


@mode(FRAMING)
async def bad_status_line(peer: Peer) -> None:
    await peer.send(f"HTTP/1.1 {CANARY}\r\n\r\n")


@mode(FRAMING)
async def odd_status(peer: Peer) -> None:
    await peer.whole(CANARY, status="799 Odd")


@mode(FRAMING)
async def informs_forever(peer: Peer) -> None:
    await forever(peer, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@mode(FRAMING)
async def switches_protocols(peer: Peer) -> None:
    await peer.send(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
    )
    await forever(peer, b"x" * 1000)


@mode(FRAMING)
async def no_content(peer: Peer) -> None:
    await peer.send("HTTP/1.1 204 No Content\r\n\r\n")


@mode(FRAMING)
async def not_modified(peer: Peer) -> None:
    await peer.send("HTTP/1.1 304 Not Modified\r\n\r\n")


def redirects(status: str) -> Mode:
    async def behave(peer: Peer) -> None:
        await peer.whole(CANARY, "Location: http://127.0.0.1:9/v1/x", status=status)

    return behave


FRAMING |= {f"redirects-{code}": redirects(f"{code} Moved") for code in (301, 302, 303, 307, 308)}


@mode(FRAMING)
async def header_of_megabytes(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nX: ", b"a" * 10 * MEGABYTE, "\r\n\r\n")


@mode(FRAMING)
async def headers_forever(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\n")
    await forever(peer, b"X-Header: some value\r\n" * 1000)


@mode(FRAMING)
async def trailers_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk("{}")
    await peer.send("0\r\n")
    await forever(peer, b"X-Trailer: some value\r\n" * 1000)


@mode(FRAMING)
async def trailer_of_megabytes(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk("{}")
    await peer.send("0\r\nX: ")
    await forever(peer, b"a" * MEGABYTE)


@mode(FRAMING)
async def chunk_extension_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send("5;x=")
    await forever(peer, b"a" * MEGABYTE)


@mode(FRAMING)
async def chunk_size_of_nonsense(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send(f"zz\r\n{CANARY}\r\n0\r\n\r\n")


@mode(FRAMING)
async def nonsense_after_a_chunk(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk('{"choices"')
    await peer.send(f"{CANARY}\r\n")
    await asyncio.sleep(60)


@mode(FRAMING)
async def chunk_size_beyond_all(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send("f" * 40 + "\r\n" + CANARY)


@mode(FRAMING)
async def negative_length(peer: Peer) -> None:
    await peer.head("Content-Length: -5")
    await peer.send(CANARY)


@mode(FRAMING)
async def two_lengths(peer: Peer) -> None:
    await peer.head("Content-Length: 5", "Content-Length: 50")
    await peer.send(CANARY)


@mode(FRAMING)
async def length_too_short(peer: Peer) -> None:
    body = json.dumps(completion())
    await peer.head(f"Content-Length: {len(body) // 2}")
    await peer.send(body)


@mode(FRAMING)
async def unknown_transfer_encoding(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: rot13")
    await peer.send(CANARY)


@mode(FRAMING)
async def unknown_content_encoding(peer: Peer) -> None:
    await peer.whole(b"\x00\xff" + CANARY.encode(), "Content-Encoding: rot13")


@mode(FRAMING)
async def no_gzip(peer: Peer) -> None:
    await peer.whole(CANARY, "Content-Encoding: gzip")


@mode(FRAMING)
async def half_a_gzip(peer: Peer) -> None:
    await peer.whole(gzip.compress(CANARY.encode() * 50)[:30], "Content-Encoding: gzip")


@mode(FRAMING)
async def gzip_members(peer: Peer) -> None:
    await peer.whole(gzip.compress(b"") * 50_000, "Content-Encoding: gzip")


async def bomb(peer: Peer, encoding: str, bits: int, megabytes: int = 600) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    await peer.head(f"Content-Encoding: {encoding}")
    await peer.send(packer.compress(b'{"choices": "'))
    for _ in range(megabytes):
        await peer.send(packer.compress(b"a" * MEGABYTE))
    await peer.send(packer.flush())


@mode(FRAMING)
async def gzip_bomb(peer: Peer) -> None:
    await bomb(peer, "gzip", 31)


@mode(FRAMING)
async def deflate_bomb(peer: Peer) -> None:
    await bomb(peer, "deflate", 15)


@mode(FRAMING)
async def gzip_bomb_in_one_piece(peer: Peer) -> None:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    data = packer.compress(b'["') + packer.compress(b"a" * 100 * MEGABYTE) + packer.flush()
    await peer.whole(data, "Content-Encoding: gzip")


@mode(FRAMING)
async def body_forever(peer: Peer) -> None:
    await peer.head()
    await forever(peer, b"a" * MEGABYTE)


@mode(FRAMING)
async def chunks_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    while True:
        await peer.chunk(b"[" * MEGABYTE)


@mode(FRAMING)
async def tiny_chunks_forever(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await forever(peer, b"1\r\n[\r\n" * 10_000)


@mode(FRAMING)
async def length_of_a_gigabyte(peer: Peer) -> None:
    await peer.head(f"Content-Length: {1000 * MEGABYTE}")
    for _ in range(1000):
        await peer.send(b"a" * MEGABYTE)
