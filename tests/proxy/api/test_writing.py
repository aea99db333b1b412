"""Clients that do not read: they keep neither their answers nor their connections."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from perturb import EmbeddingTable
from proxy.api import render
from proxy.api.app_keys import METRICS
from proxy.errors import ApiError
from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer, chunk, open_stream, send

SIZE = 800_000  # bytes of an answer, more than the system takes off the proxy
BIG = "/v1/big"
TRANSPORTS: web.AppKey[list[asyncio.Transport]] = web.AppKey("transports", list)


@asynccontextmanager
async def asking(proxy: Proxy, path: str, body: Any) -> AsyncIterator[socket.socket]:
    """A client that sends a request and reads nothing of the answer yet."""
    host, port = proxy.root.removeprefix("http://").split(":")
    data = json.dumps(body).encode()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(client, (host, int(port)))
        head = f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(data)}\r\n\r\n"
        await loop.sock_sendall(client, head.encode() + data)
        yield client


async def read(client: socket.socket) -> int:
    """Count what still comes; the connection ends."""
    found = 0
    try:
        while data := await asyncio.get_running_loop().sock_recv(client, 1 << 20):
            found += len(data)
    except ConnectionError:
        pass
    return found


async def big(request: web.Request) -> web.Response:
    return web.Response(body=b"x" * SIZE)


@web.middleware
async def narrow(request: web.Request, handler: Any) -> web.StreamResponse:
    assert request.transport is not None
    connection = request.transport.get_extra_info("socket")
    request.app[TRANSPORTS].append(request.transport)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    answer: web.StreamResponse = await handler(request)
    return answer


def prepare(app: web.Application) -> None:
    app.router.add_post(BIG, big)
    app.middlewares.append(narrow)
    app[TRANSPORTS] = []


async def stream(server: FakeServer, request: web.Request, body: Any) -> web.StreamResponse:
    response = await open_stream(request)
    for _ in range(SIZE // 10_000):
        await send(response, chunk({"content": "x" * 10_000}))
    await send(response, chunk({}, "stop"))
    return response


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_that_reads_nothing_is_cut_off(
    table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    monkeypatch.setattr(render, "WRITE_SECONDS", 2.0)
    path = "/v1/chat/completions" if streamed else BIG
    chat = {"model": MODEL, "messages": user(), "stream": True}
    async with asyncio.timeout(LIMIT), running_proxy(table, {}, prepare) as proxy:
        proxy.local.behaviour = stream
        async with asking(proxy, path, chat) as client:
            while not any('"client_disconnected"' in line for line in proxy.log):
                await asyncio.sleep(0.05)
            assert proxy.app[TRANSPORTS][0].get_write_buffer_size() == 0
            assert await read(client) < SIZE
        assert proxy.app[METRICS].busy == 0
        (line,) = [json.loads(line) for line in proxy.log if '"message":"request"' in line]
        assert line["status"] == 499
        proxy.local.behaviour = None
        await proxy.client().chat.completions.create(model=MODEL, messages=user())


async def test_generations_end_when_a_client_that_reads_nothing_leaves(
    table: EmbeddingTable,
) -> None:
    """At once: steps that are left open would end with the next garbage collection."""
    open_streams: list[int] = []  # the steps of each so far

    async def flood(server: FakeServer, request: web.Request, body: Any) -> web.StreamResponse:
        response = await open_stream(request)
        place = len(open_streams)
        open_streams.append(0)
        try:
            while True:
                await send(response, chunk({"content": "x" * 10_000}))
                open_streams[place] += 1
        finally:
            open_streams[place] = 0

    async def settle() -> None:
        before: list[int] = []
        while len(before) < 2 or before != open_streams:
            before = [*open_streams]
            await asyncio.sleep(0.2)

    chat = {"model": MODEL, "messages": user(), "stream": True, "n": 2}
    async with asyncio.timeout(LIMIT), running_proxy(table, {}, prepare) as proxy:
        proxy.local.behaviour = flood
        gc.disable()
        try:
            async with asking(proxy, "/v1/chat/completions", chat):
                await settle()
                assert all(open_streams)
            while any(open_streams):
                await asyncio.sleep(0.05)
        finally:
            gc.enable()


async def test_an_answer_holds_its_place_until_it_is_out(table: EmbeddingTable) -> None:
    settings = {"limits": {"concurrent_requests": 1}}
    async with (
        asyncio.timeout(LIMIT),
        running_proxy(table, settings, prepare) as proxy,
        asking(proxy, BIG, {}) as client,
    ):
        while not proxy.app[TRANSPORTS]:  # its handler runs: it has its place
            await asyncio.sleep(0.01)
        chat = proxy.client().chat.completions.create(model=MODEL, messages=user())
        waiting = asyncio.create_task(chat)
        await asyncio.sleep(0.5)
        assert not waiting.done()
        reading = asyncio.create_task(read(client))
        await waiting
        reading.cancel()


class Gone(web.StreamResponse):
    """An answer whose client goes while its second event is written."""

    async def prepare(self, request: web.BaseRequest) -> None:
        self._payload_writer = object()  # type: ignore[assignment]

    async def write(self, data: Any) -> None:
        if b"error" in data:
            raise ConnectionResetError


async def test_an_error_that_cannot_be_told_is_a_client_that_went(caplog: Any) -> None:
    class Failing:
        async def stream(self, plan: Any, announce: Any, emit: Any) -> None:
            await announce(None)
            await emit(0, None)
            raise ApiError(502, "broken")

    class Text:
        def start(self, receipt: Any) -> bytes:
            return b"start"

        def step(self, *item: Any) -> bytes:
            return b"step"

        def fail(self, error: ApiError) -> bytes:
            return b"error"

    made: Any = (object(), Gone(), Failing(), object(), Text())
    error = await render.stream_answer(*made, ping_seconds=LIMIT)
    assert error is not None
    assert (error.status, error.code) == (499, "client_disconnected")
    assert "internal error" not in caplog.text
