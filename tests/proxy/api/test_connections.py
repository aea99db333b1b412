"""Below the application: what is no HTTP, and how many connections there are."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from tests.limits import LIMIT
from tests.proxy.conftest import Proxy, running_proxy

SECRET = b"secretword"
CHAT = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MALFORMED = {
    "no HTTP": b"HELLO " + SECRET + b"\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00" + SECRET + b"\r\n\r\n",
    "version": b"GET /" + SECRET + b" HTTP/9.9\r\n\r\n",
    "long line": b"GET /" + SECRET * 2000 + b" HTTP/1.1\r\n\r\n",
    "long header": b"GET / HTTP/1.1\r\nX: " + SECRET * 2000 + b"\r\n\r\n",
    "many headers": b"GET / HTTP/1.1\r\n" + (b"X-" + SECRET + b": a\r\n") * 500 + b"\r\n",
    "header name": b"GET / HTTP/1.1\r\nsecret word: x\r\n\r\n",
    "header value": b"GET / HTTP/1.1\r\nX: a\x00" + SECRET + b"\r\n\r\n",
    "no host": b"GET /" + SECRET + b" HTTP/1.1\r\n\r\n",
    "address": b"GET http://[" + SECRET + b"/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "length": CHAT + b"Content-Length: " + SECRET + b"\r\n\r\n",
    "negative length": CHAT + b"Content-Length: -3\r\n\r\n" + SECRET,
    "endless length": CHAT + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + SECRET,
    "two lengths": CHAT + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\n" + SECRET,
    "two framings": CHAT + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + SECRET,
    "chunk": CHAT + b"Transfer-Encoding: chunked\r\n\r\n" + SECRET + b"\r\nxx\r\n",
    "compression": CHAT + b"Content-Encoding: gzip\r\nContent-Length: 10\r\n\r\n" + SECRET,
    "expectation": CHAT + b"Expect: " + SECRET + b"\r\nContent-Length: 2\r\n\r\n{}",
}


async def exchange(proxy: Proxy, sent: bytes) -> bytes:
    """Send bytes and return what comes back, to the end of the first answer."""
    host, port = proxy.root.removeprefix("http://").split(":")
    async with asyncio.timeout(LIMIT):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        await writer.drain()
        answer = await reader.readuntil(b"}}")
        writer.close()
        return answer


@pytest.mark.parametrize("kind", MALFORMED)
async def test_what_is_no_http_is_answered_as_any_error(proxy: Proxy, kind: str) -> None:
    proxy.log.clear()
    answer = await exchange(proxy, MALFORMED[kind])
    head, _, body = answer.partition(b"\r\n\r\n")
    assert int(head.split()[1]) in (400, 417)
    error = json.loads(body)["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["code"] in ("invalid_http", "invalid_body")
    assert b"x-request-id: req_" in head.lower()
    assert b"secret" not in answer
    lines = [json.loads(line) for line in proxy.log]
    (line,) = [line for line in lines if line["message"] == "request"]
    assert line["request_id"].encode() in head
    assert (line["status"], line["error"]) == (int(head.split()[1]), error["code"])
    assert "secret" not in "".join(proxy.log)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{proxy.root}/metrics") as response:
            counted = await response.text()
        assert f'status="{line["status"]}"' in counted


class TestConnections:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"connections_per_address": 3}}

    async def test_more_than_an_address_may_have_are_closed(self, proxy: Proxy) -> None:
        host, port = proxy.root.removeprefix("http://").split(":")
        async with asyncio.timeout(LIMIT):
            opened = [await asyncio.open_connection(host, int(port)) for _ in range(3)]
            for reader, writer in opened:
                writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert b" 200 " in await reader.readline()
            reader, extra = await asyncio.open_connection(host, int(port))
            extra.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                await reader.readexactly(1)
            for _, writer in (*opened, ("", extra)):
                writer.close()
            while True:  # once the server has seen them go, there is room again
                async with aiohttp.ClientSession() as session:
                    try:
                        async with session.get(f"{proxy.root}/health") as response:
                            assert response.status == 200
                            break
                    except aiohttp.ClientError:
                        await asyncio.sleep(0.01)


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: 127.0"])
async def test_a_connection_without_a_whole_request_is_closed(
    table: EmbeddingTable, sent: bytes
) -> None:
    async with running_proxy(table, {"server": {"idle_seconds": 0.05}}) as proxy:
        host, port = proxy.root.removeprefix("http://").split(":")
        async with asyncio.timeout(LIMIT):
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(sent)
            with contextlib.suppress(ConnectionError):  # it may be closed before it is used
                assert await reader.read() == b""
            writer.close()
