"""The client of the local server, and servers on loopback for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.errors import (
    LocalModelError,
)
from tests.limits import LIMIT
from tests.servers import (
    FakeServer,
    completion,
    open_stream,
    send,
)

SENT = "sent-canary"
RECEIVED = "received-canary"
MESSAGES = [{"role": "user", "content": SENT}]


@asynccontextmanager
async def backend(server: FakeServer | str, **settings: Any) -> AsyncIterator[OpenAIServer]:
    base_url = server if isinstance(server, str) else server.base_url
    made = OpenAIServer(base_url, **{"timeout": LIMIT, **settings})
    try:
        yield made
    finally:
        await made.aclose()


@asynccontextmanager
async def listing(answer: Callable[[], web.Response]) -> AsyncIterator[str]:
    """A server that answers every GET with this, and every POST with a completion."""

    async def handle(request: web.Request) -> web.Response:
        if request.method == "GET":
            return answer()
        body = await request.json()
        return web.json_response({**completion("ok"), "model": body["model"]})

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def telling(**pages: Any) -> AsyncIterator[str]:
    """A server with these pages at its root, as JSON or as a handler; every other is not found."""
    app = web.Application()
    for name, page in pages.items():
        handle = page if callable(page) else _showing(page)
        app.router.add_get(f"/{name}", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


def _showing(page: Any) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def show(request: web.Request) -> web.Response:
        return web.json_response(page)

    return show


def models(*listed: dict[str, Any]) -> Callable[[], web.Response]:
    return lambda: web.json_response({"object": "list", "data": list(listed)})


def frames(*lines: str | dict[str, Any], done: bool = True) -> Any:
    """A stream of these events, exactly."""

    async def behave(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        response = await open_stream(request)
        for line in lines:
            if isinstance(line, str):
                await response.write(line.encode())
            else:
                await send(response, line)
        if done:
            await response.write(b"data: [DONE]\n\n")
        return response

    return behave


def plain(body: str | bytes, content_type: str = "application/json", code: int = 200) -> Any:
    """A whole answer of these bytes."""

    async def behave(server: FakeServer, request: web.Request, _: dict[str, Any]) -> web.Response:
        data = body.encode() if isinstance(body, str) else body
        return web.Response(body=data, content_type=content_type, status=code)

    return behave


async def whole(made: OpenAIServer, options: dict[str, Any] | None = None) -> Any:
    return await made.complete(MESSAGES, options or {})


async def streamed(made: OpenAIServer, options: dict[str, Any] | None = None) -> Any:
    return [step async for step in made.stream(MESSAGES, options or {})]


BOTH = pytest.mark.parametrize("run", [whole, streamed])
Run = Callable[[OpenAIServer], Awaitable[Any]]


async def failure(run: Run, server: FakeServer | str, **settings: Any) -> LocalModelError:
    """The error a call ends in; whatever it is, it shows no text of either side."""
    async with backend(server, **settings) as made:
        with pytest.raises(LocalModelError) as raised:
            await asyncio.wait_for(run(made), LIMIT)
    for text in (str(raised.value), repr(raised.value)):
        assert SENT not in text
        assert RECEIVED not in text
    return raised.value


_TAKEN: list[socket.socket] = []


def unused_port() -> int:
    """A port nobody listens on. It stays taken, so that no server of another test gets it."""
    probe = socket.socket()
    probe.bind(("127.0.0.1", 0))
    _TAKEN.append(probe)
    return int(probe.getsockname()[1])
