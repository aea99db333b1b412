"""A scripted HTTP server on bare sockets, on an event loop of its own thread.

It keeps every request as bytes. A script answers each: bytes, sent as they are before the
connection is closed, or a function that writes and says whether the connection is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.hostile.answers import MODELS, chat, embeddings, http, stream_frames

__all__ = ["Call", "Script", "Upstream", "answer"]

HEAD = 1 << 20


@dataclass(frozen=True)
class Call:
    """A request as it arrived."""

    raw: bytes
    method: str
    path: str
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


Script = bytes | Callable[[Call, asyncio.StreamWriter], Awaitable[bool]]


async def answer(call: Call, writer: asyncio.StreamWriter) -> bool:
    """Answer well, streamed if asked for."""
    if call.method == "GET":
        writer.write(MODELS)
        return True
    body = call.json
    if call.path.endswith("/embeddings"):
        writer.write(embeddings(len(body["input"])))
    elif body.get("stream"):
        writer.write(
            http(
                b"".join(stream_frames()),
                content_type="text/event-stream",
            )
        )
    else:
        writer.write(http(chat()))
    return True


class Upstream:
    """The server, to be used as a context. `script` may be set at any time.

    Requests for the list of models are answered well whatever the script, unless it is set with
    `models` too.
    """

    def __init__(self) -> None:
        self.script: Script = answer
        self.models: Script = answer
        self.received: list[bytes] = []
        self.base_url = ""
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Upstream:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD)
        self.base_url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _close(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        broken = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        with contextlib.suppress(*broken, asyncio.CancelledError):
            while await self._exchange(reader, writer):
                pass
        writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        call = await _read(reader)
        self.received.append(call.raw)
        script = self.models if call.method == "GET" else self.script
        if isinstance(script, bytes):
            writer.write(script)
            await writer.drain()
            return False
        kept = await script(call, writer)
        await writer.drain()
        return kept


async def _read(reader: asyncio.StreamReader) -> Call:
    head = await reader.readuntil(b"\r\n\r\n")
    line, *fields = head.decode("latin-1").split("\r\n")
    method, path, _ = line.split(" ", 2)
    headers = {
        name.lower(): value.strip() for name, _, value in (f.partition(":") for f in fields)
    }
    body = b""
    if "content-length" in headers:
        body = await reader.readexactly(int(headers["content-length"]))
    elif "chunked" in headers.get("transfer-encoding", ""):
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
    return Call(head + body, method, path, body)
