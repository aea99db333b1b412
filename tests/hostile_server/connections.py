"""Connections that end, stand still or trickle."""

from __future__ import annotations

import asyncio
import json

from tests.hostile_server.peer import CANARY, Mode, Peer, completion, forever, mode

__all__ = ["CONNECTIONS"]

CONNECTIONS: dict[str, Mode] = {}


@mode(CONNECTIONS)
async def hangs_up(peer: Peer) -> None:
    pass


@mode(CONNECTIONS)
async def resets(peer: Peer) -> None:
    peer.reset()


@mode(CONNECTIONS)
async def resets_in_head(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nContent-Le")
    peer.reset()


@mode(CONNECTIONS)
async def cut_in_head(peer: Peer) -> None:
    await peer.send(f"HTTP/1.1 200 OK\r\nX-Canary: {CANARY}")


@mode(CONNECTIONS)
async def cut_in_body(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await peer.send(json.dumps(completion()))


@mode(CONNECTIONS)
async def resets_in_body(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await peer.send(json.dumps(completion()))
    peer.reset()


@mode(CONNECTIONS)
async def cut_between_chunks(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.chunk('{"choices": [')


@mode(CONNECTIONS)
async def cut_in_chunk(peer: Peer) -> None:
    await peer.head("Transfer-Encoding: chunked")
    await peer.send('500\r\n{"choices": [')


@mode(CONNECTIONS)
async def silent(peer: Peer) -> None:
    await asyncio.sleep(60)


@mode(CONNECTIONS)
async def silent_after_head(peer: Peer) -> None:
    await peer.head("Content-Length: 5000")
    await asyncio.sleep(60)


@mode(CONNECTIONS)
async def trickles_head(peer: Peer) -> None:
    await peer.send("HTTP/1.1 200 OK\r\nX: ")
    await forever(peer, b"a", 0.02)


@mode(CONNECTIONS)
async def trickles_body(peer: Peer) -> None:
    await peer.head()
    await forever(peer, b" ", 0.02)
