"""Requests on kept connections: the same bytes, the same limits, a fresh one where one died."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from extraction.http.client import SMALL, HttpClient, Limit, TimedOut, Unreadable
from tests.limits import LIMIT

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
Answer = Callable[[int, asyncio.StreamWriter], Awaitable[bool]]


async def ok(_: int, writer: asyncio.StreamWriter) -> bool:
    writer.write(OK)
    return True


@dataclass
class Peer:
    """A server that keeps connections and writes down what it receives."""

    url: str = ""
    requests: list[tuple[int, bytes]] = field(default_factory=list)  # connection, bytes
    gone: int = 0  # connections that the client has closed
    answer: Answer = ok  # returns whether the connection stays open

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = id(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
                self.requests.append((connection, head + await reader.readexactly(size)))
                if not await self.answer(len(self.requests), writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone += 1
        finally:
            writer.close()


@asynccontextmanager
async def talking(**settings: object) -> AsyncIterator[tuple[Peer, HttpClient]]:
    peer = Peer()
    async with await asyncio.start_server(peer.serve, "127.0.0.1", 0) as server:
        peer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        client = HttpClient(peer.url, key="secret", kept=True, **settings)  # type: ignore[arg-type]
        try:
            yield peer, client
        finally:
            await client.aclose()


async def ask(client: HttpClient, body: bytes = b"{}", limit: Limit = SMALL) -> object:
    async with client.open("/chat", body, seconds=LIMIT) as reply:
        assert reply.ok
        assert reply.is_json
        return await reply.json(limit)


async def drain(client: HttpClient) -> None:
    async with client.open("/chat", b"{}", seconds=LIMIT, streamed=True, total=1.0) as reply:
        async for _ in reply.events(LIMIT):
            pass


async def test_later_requests_are_the_same_bytes_on_the_same_connection() -> None:
    async with talking() as (peer, client):
        for _ in range(4):
            assert await ask(client) == {}
        assert len({connection for connection, _ in peer.requests}) == 1
        assert len({data for _, data in peer.requests}) == 1
        assert b"\r\nAuthorization: Bearer secret\r\n" in peer.requests[-1][1]


async def test_what_the_inspector_refuses_never_reaches_a_kept_connection() -> None:
    async def inspect(body: bytes | None) -> None:
        if body != b"{}":
            raise PermissionError

    async with talking(inspect=inspect) as (peer, client):
        await ask(client)
        await ask(client)
        with pytest.raises(PermissionError):
            await ask(client, b'{"secret": 1}')
        await ask(client)
        assert len(peer.requests) == 3
        assert not any(b"secret" in data.partition(b"\r\n\r\n")[2] for _, data in peer.requests)


async def test_a_connection_that_died_is_replaced_by_a_fresh_one() -> None:
    async def close_second(number: int, writer: asyncio.StreamWriter) -> bool:
        if number == 2:
            return False  # closed without a byte, as a server does that was just about to
        return await ok(number, writer)

    async with talking() as (peer, client):
        peer.answer = close_second
        await ask(client)
        assert await ask(client) == {}
        first, second, third = peer.requests
        assert first[0] == second[0] != third[0]
        assert second[1].endswith(b"\r\n\r\n{}")
        assert third[1].endswith(b"\r\n\r\n{}")


async def test_an_answer_that_began_is_not_asked_for_again() -> None:
    async def break_second(number: int, writer: asyncio.StreamWriter) -> bool:
        writer.write(OK if number == 1 else b"HTTP/1.1 200 OK\r\nContent-Le")
        return number == 1

    async with talking() as (peer, client):
        peer.answer = break_second
        await ask(client)
        with pytest.raises(Exception, match="connection"):
            await ask(client)
        assert len(peer.requests) == 2


async def test_an_answer_that_is_not_http_is_unreadable() -> None:
    async def lie(number: int, writer: asyncio.StreamWriter) -> bool:
        writer.write(OK if number == 1 else b"nobody 200\r\n\r\n")
        return True

    async with talking() as (peer, client):
        peer.answer = lie
        await ask(client)
        with pytest.raises(Unreadable):
            await ask(client)


@pytest.mark.parametrize("head", [b"", OK.replace(b"2\r\n\r\n{}", b"50\r\n\r\n{")])
async def test_silence_on_a_kept_connection_is_late(head: bytes) -> None:
    async def stand_still(number: int, writer: asyncio.StreamWriter) -> bool:
        writer.write(OK if number == 1 else head)
        return True

    async with talking() as (peer, client):
        peer.answer = stand_still
        await ask(client)
        with pytest.raises(TimedOut):
            async with client.open("/chat", b"{}", seconds=1.0) as reply:
                await reply.json(SMALL)
        await _until(lambda: peer.gone == 1)


async def test_a_body_that_trickles_is_late_as_a_whole() -> None:
    """No two of its parts are far apart."""

    async def trickle(number: int, writer: asyncio.StreamWriter) -> bool:
        writer.write(OK if number == 1 else OK.replace(b"2\r\n\r\n{}", b"100000\r\n\r\n"))
        while number > 1:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.05)
        return True

    async with talking() as (peer, client):
        peer.answer = trickle
        await ask(client)
        with pytest.raises(TimedOut):
            async with client.open("/chat", b"{}", seconds=1.0) as reply:
                await reply.json(SMALL)


@pytest.mark.parametrize("kept", [False, True])
async def test_a_stream_that_never_pauses_is_late_as_a_whole(kept: bool) -> None:
    """There is always something to read, so nothing is ever waited for."""

    async def flood(number: int, writer: asyncio.StreamWriter) -> bool:
        if kept and number == 1:
            writer.write(STREAM + b"Content-Length: 14\r\n\r\ndata: [DONE]\n\n")
            return True
        writer.write(STREAM + b"Content-Length: 1000000000\r\n\r\n")
        while True:
            writer.write(b"data: x\n\n" * 1000)
            await writer.drain()

    async with talking() as (peer, client):
        peer.answer = flood
        if kept:
            await drain(client)
        with pytest.raises(TimedOut):
            await drain(client)
        assert len(peer.requests) == 1 + kept


async def test_a_caller_that_leaves_closes_the_connection() -> None:
    async def hang(number: int, writer: asyncio.StreamWriter) -> bool:
        if number == 1:
            writer.write(OK)
        return True

    async with talking() as (peer, client):
        peer.answer = hang
        await ask(client)
        asking = asyncio.create_task(ask(client))
        await _until(lambda: len(peer.requests) == 2)
        asking.cancel()
        await asyncio.wait([asking])
        await _until(lambda: peer.gone == 1)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.01)
