"""A recording OpenAI-compatible server on loopback that answers, fails or hangs as told."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import ClientSession, web

from tests.sdk_types import find_faults

Behaviour = Callable[["FakeServer", web.Request, dict[str, Any]], Awaitable[web.StreamResponse]]
WORDS = ("One ", "two ", "three.")


@dataclass
class FakeServer:
    """Keeps every request as bytes (line, headers, body) and answers through `behaviour`."""

    text: str = "".join(WORDS)
    owner: str = "x"  # of its model
    behaviour: Behaviour | None = None
    received: list[bytes] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    disconnects: int = 0
    started: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    base_url: str = ""
    _runner: web.AppRunner | None = None

    async def start(self, port: int = 0) -> None:
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port, reuse_address=True).start()
        self.base_url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    @property
    def port(self) -> int:
        return int(self.base_url.rsplit(":", 1)[1].split("/")[0])

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def find_faults(self, *fields: str) -> list[str]:
        """What in the bodies, or in some fields of them, breaks the types of the SDKs."""
        found: dict[str, None] = {}
        for data in self.received:
            head, _, body = data.partition(b"\n\n")
            method, path = head.partition(b"\n")[0].decode().split(" ", 1)
            if method == "POST":
                told = json.loads(body)
                some = {key: told[key] for key in fields or told if key in told}
                found |= dict.fromkeys(find_faults(path, some))
        return [*found][:8]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        data = await request.read()
        head = f"{request.method} {request.raw_path}\n" + "".join(
            f"{name}: {value}\n" for name, value in request.headers.items()
        )
        self.received.append(head.encode("utf-8", "replace") + b"\n" + data)
        if request.method == "GET":
            model = {"id": "fake", "object": "model", "created": 1, "owned_by": self.owner}
            return web.json_response(
                {"object": "list", "data": [{**model, "max_model_len": 4096}]}
            )
        body = json.loads(data)
        self.bodies.append(body)
        self.started.set()
        try:
            return await (self.behaviour or answer)(self, request, body)
        except asyncio.CancelledError:
            self.disconnects += 1
            raise


@asynccontextmanager
async def fake_server(**settings: Any) -> AsyncIterator[FakeServer]:
    server = FakeServer(**settings)
    await server.start()
    try:
        yield server
    finally:
        server.release.set()
        await server.stop()


def completion(text: str, **message: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
    }


def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


async def open_stream(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    return response


async def send(response: web.StreamResponse, data: dict[str, Any]) -> None:
    await response.write(b"data: " + json.dumps(data).encode() + b"\n\n")


async def begin(request: web.Request) -> web.StreamResponse:
    """A stream's opening and its first word."""
    response = await open_stream(request)
    await send(response, chunk({"role": "assistant", "content": ""}))
    await send(response, chunk({"content": WORDS[0]}))
    return response


async def answer(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """A well-behaved answer, streamed if asked for."""
    if not body.get("stream"):
        return web.json_response(completion(server.text))
    response = await open_stream(request)
    await send(response, chunk({"role": "assistant", "content": ""}))
    for word in re.findall(r"\S+\s*", server.text):
        await send(response, chunk({"content": word}))
    await send(response, chunk({}, "stop"))
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    await send(response, {**chunk({}), "choices": [], "usage": usage})
    await response.write(b"data: [DONE]\n\n")
    return response


def forward(root: str) -> Behaviour:
    """Return a behaviour that passes on what the server at `root` answers, as it comes."""

    async def behave(
        server: FakeServer, request: web.Request, _: dict[str, Any]
    ) -> web.StreamResponse:
        data, headers = await request.read(), {"Content-Type": "application/json"}
        async with (
            ClientSession() as session,
            session.post(root + request.path, data=data, headers=headers) as found,
        ):
            response = web.StreamResponse(
                status=found.status, headers={"Content-Type": found.headers["Content-Type"]}
            )
            await response.prepare(request)
            async for data in found.content.iter_any():
                await response.write(data)
        return response

    return behave


def status(code: int, body: Any = None, headers: dict[str, str] | None = None) -> Behaviour:
    """An error answer."""

    async def behave(
        server: FakeServer, request: web.Request, _: dict[str, Any]
    ) -> web.StreamResponse:
        error = body or {"error": {"message": "upstream-secret", "type": "x", "code": "y"}}
        return web.json_response(error, status=code, headers=headers)

    return behave


async def hang(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Nothing, until released."""
    await server.release.wait()
    return await answer(server, request, body)


async def hang_mid_stream(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """One word, then nothing until released."""
    response = await begin(request)
    await server.release.wait()
    await send(response, chunk({}, "stop"))
    await response.write(b"data: [DONE]\n\n")
    return response


async def die(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """Reset the connection before answering."""
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def die_mid_stream(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """One word, then a reset connection."""
    response = await begin(request)
    await asyncio.sleep(0.3)  # the word is read: what follows a reset is lost
    assert request.transport is not None
    request.transport.abort()
    return response


async def end_mid_stream(
    server: FakeServer, request: web.Request, body: dict[str, Any]
) -> web.StreamResponse:
    """One word, then a clean end that says nothing of a finish."""
    return await begin(request)
