"""The connection that a mode writes to, and what modes are made of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

__all__ = ["ANSWER", "CANARY", "MEGABYTE", "Mode", "Peer", "completion", "forever", "mode"]

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


def mode(table: dict[str, Mode]) -> Callable[[Mode], Mode]:
    """Add a function to a table of modes, under its name with hyphens."""

    def add(function: Mode) -> Mode:
        table[function.__name__.replace("_", "-")] = function
        return function

    return add


def completion(content: Any = CANARY, **over: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice], **over}


async def forever(peer: Peer, data: bytes, pause: float = 0.0) -> None:
    while True:
        await peer.send(data)
        await asyncio.sleep(pause)
