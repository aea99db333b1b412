"""The HTTP client: each way a connection or an answer fails is told as the one it is."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from extraction.http.client import (
    SMALL,
    Blocked,
    HttpClient,
    HttpError,
    TimedOut,
    Unreachable,
    Unreadable,
)
from tests.limits import LIMIT

# Self-signed, for 127.0.0.1, until 2126; it opens nothing.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgM0sshnXahFsAEFD8
3uZpl8cJMJ/g87EeHzcf+PIGPk6hRANCAAQhX9nDz+lS8vb6Rh9doSUGhDK1My38
wDMap5K1fzKlsUGJjEU7zmC79Zr2OUkJc3Dk9HkcWzC6gyItZq4KHBdA
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBjzCCATagAwIBAgIURuuy4GGE972HhAMYh0jAJQKd0+cwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMjEwMDEwM1oYDzIxMjYxMDI5
MTAwMTAzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQhX9nDz+lS8vb6Rh9doSUGhDK1My38wDMap5K1fzKlsUGJjEU7zmC7
9Zr2OUkJc3Dk9HkcWzC6gyItZq4KHBdAo2QwYjAdBgNVHQ4EFgQUcukrk4SQOusF
ARsWxc4DSZsy5kkwHwYDVR0jBBgwFoAUcukrk4SQOusFARsWxc4DSZsy5kkwDwYD
VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQC
IATcrEiaFnQnOvrbKwiBYk6q+WWpvIhCyqg9H8/3NXX0AiAZI3FSnnIhq+mP2ZXy
AqpfrrLpXcF0bamJ5AmXXqfWig==
-----END CERTIFICATE-----
"""
OK = b"HTTP/1.1 200 OK\r\n"
GZIP = gzip.compress(b'"' + b"x" * 1000)


@asynccontextmanager
async def answering(answer: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """A server that writes these bytes on every connection and closes it; yields its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def failure(url: str, *, key: str = "k", proxied: bool = False) -> HttpError:
    client = HttpClient(url, key=key, proxied=proxied)
    try:
        with pytest.raises(HttpError) as info:
            async with client.open("/models", seconds=LIMIT) as reply:
                await reply.json(SMALL)
    finally:
        await client.aclose()
    return info.value


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + b"Content-Length: 50\r\n\r\n{", "cut short"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", "cut short"),
        (OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "encoding"),
        (OK + b"Content-Encoding: br\r\nContent-Length: 5\r\n\r\nhello", "encoding"),
        (b"nobody 200\r\n\r\n", "not HTTP"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{", "not HTTP"),
    ],
)
async def test_an_answer_that_began_is_unreadable_and_said_why(answer: bytes, words: str) -> None:
    async with answering(answer) as port:
        found = await failure(f"http://127.0.0.1:{port}")
    assert isinstance(found, Unreadable)
    assert words in str(found)


async def test_a_body_that_stands_still_is_late_whoever_notices_first() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK + b"Content-Length: 50\r\n\r\n")
        await reader.read()  # until the client goes
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        client = HttpClient(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", key="k")
        async with client.open("/models", seconds=2.0, streamed=True) as reply:
            with pytest.raises(TimedOut):
                async for _ in reply.events(LIMIT):  # the socket's own limit ends first
                    pass
        await client.aclose()


async def test_a_certificate_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    (tmp_path / "both.pem").write_text(CERTIFICATE)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(tmp_path / "both.pem")
    async with answering(OK + b"Content-Length: 2\r\n\r\n{}", tls) as port:
        found = await failure(f"https://127.0.0.1:{port}")
    assert isinstance(found, Blocked)
    assert "certificate is not trusted" in str(found)
    assert "SSL_CERT_FILE" in str(found)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no proxy."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


async def test_a_proxy_that_refuses_to_connect_is_named(environment: Any) -> None:
    async with answering(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") as port:
        environment.setenv("https_proxy", f"http://127.0.0.1:{port}")
        found = await failure("https://192.0.2.1/v1", proxied=True)
    assert isinstance(found, Blocked)
    assert "HTTP proxy refused" in str(found)


@pytest.mark.parametrize("named", ["http://[::1", "[::1", "http://127.0.0.1:port", "http://"])
async def test_a_proxy_that_is_no_address_is_unreachable(environment: Any, named: str) -> None:
    environment.setenv("http_proxy", named)
    assert isinstance(await failure("http://192.0.2.1/v1", proxied=True), Unreachable)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://[::1", "k"),
        ("http://[::1]:x", "k"),
        ("http://127.0.0.1:9", "a\nb"),
        ("http://127.0.0.1:9", "a\0b"),
    ],
)
async def test_an_address_or_a_key_that_is_none_is_unreachable(url: str, key: str) -> None:
    assert isinstance(await failure(url, key=key), Unreachable)
