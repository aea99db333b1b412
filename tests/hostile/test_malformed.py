"""Many malformed bodies and requests: each refused in OpenAI's shape, none quoted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections import Counter
from typing import Any

import aiohttp
import pytest

from tests.hostile import tally
from tests.hostile.big_bodies import BIG
from tests.hostile.canary_words import HostileCanaries
from tests.hostile.malformed import WAYS, malformed
from tests.hostile.raw_http import RAW
from tests.hostile.stage import Stage, chat_body, send

BODIES = 1800  # of which each way has thirty
ROUNDS = 4  # of all broken HTTP
AT_ONCE = 8
SECONDS = 60.0
BIG_SECONDS = 15.0  # in which 8 MB are refused
PATIENCE = 0.5  # after which the client says that it has no more to send
SILENT_SECONDS = 60.0  # after which a connection that went quiet counts as hung


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Let the proxy wait for longer than the client: no time-out of its own ends what hangs."""
    return {"server": {"body_seconds": 2 * SILENT_SECONDS, "idle_seconds": 2 * SILENT_SECONDS}}


async def test_bodies(stage: Stage) -> None:
    c = HostileCanaries(tally.SEED + 10)
    ways: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    waiting = iter(malformed(c, BODIES))
    stage.remote.received.clear()

    async def work(session: aiohttp.ClientSession) -> None:
        for case in waiting:
            ways[case.way] += 1
            try:
                url = f"{stage.child.base_url}/{case.path}"
                answer = await send(session, url, case.body, headers=case.headers)
                assert 400 <= answer.status < 500, answer.status
                answer.check_shape()
                assert not c.found_in(answer.body + str(answer.headers).encode()), answer.body
            except (AssertionError, aiohttp.ClientError) as exc:
                wrong.setdefault(case.way, repr(exc)[:300])

    with stage.bounded():
        # A connection each: one that a broken body ended is no place for the next.
        connector = aiohttp.TCPConnector(force_close=True)
        timeout = aiohttp.ClientTimeout(total=SECONDS)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            await asyncio.gather(*(work(session) for _ in range(AT_ONCE)))
    tally.COUNTS["malformed bodies"] += sum(ways.values())
    assert set(ways) == set(WAYS)
    assert wrong == {}
    assert not any(raw.startswith(b"POST") for raw in stage.remote.received)
    assert c.found_in(stage.child.written()) == set()


@pytest.mark.parametrize("name", BIG)
async def test_big_bodies(stage: Stage, name: str) -> None:
    """Check that one client's body of 8 MB is refused soon, and stops nobody."""
    path, body = BIG[name]()
    headers = {"Content-Encoding": "gzip"} if body.startswith(b"\x1f\x8b") else {}
    with stage.bounded():
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=BIG_SECONDS)
        ) as session:
            answer = await send(session, f"{stage.child.base_url}/{path}", body, headers=headers)
    tally.COUNTS["malformed bodies"] += 1
    assert 400 <= answer.status < 500, (answer.status, answer.body[:500])
    answer.check_shape()
    assert len(answer.body) < 1000


@pytest.mark.parametrize("name", RAW)
async def test_broken_http(stage: Stage, name: str) -> None:
    """Check for an answer in OpenAI's shape, or a closed connection."""
    c = HostileCanaries(tally.SEED + 11)
    with stage.bounded():
        jobs = (_converse(stage.child.port, RAW[name](c)) for _ in range(ROUNDS))
        conversations = await asyncio.gather(*jobs)
    tally.COUNTS["malformed bodies"] += ROUNDS
    for answers in conversations:
        assert not c.found_in(answers)
        for status, body in _responses(answers):
            assert 400 <= status < 500, (status, body[:300])
            error = json.loads(body)["error"]
            assert set(error) == {"message", "type", "param", "code"}
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session:
        url = f"{stage.child.base_url}/chat/completions"
        assert (await send(session, url, chat_body())).served
    assert c.found_in(stage.child.written()) == set()


def test_enough_is_malformed() -> None:
    assert BODIES + len(BIG) + ROUNDS * len(RAW) >= 1900


async def _converse(port: int, data: bytes) -> bytes:
    """Send bytes and no more, and read to the end, also what came before a reset."""
    loop, answers = asyncio.get_running_loop(), b""
    with socket.socket() as made:
        made.setblocking(False)
        async with asyncio.timeout(SILENT_SECONDS):
            await loop.sock_connect(made, ("127.0.0.1", port))
            with contextlib.suppress(ConnectionError):
                await loop.sock_sendall(made, data)
            end = loop.call_later(PATIENCE, _half_close, made)
            with contextlib.suppress(ConnectionError):
                while piece := await loop.sock_recv(made, 1 << 16):
                    answers += piece
            end.cancel()
    return answers


def _half_close(made: socket.socket) -> None:
    with contextlib.suppress(OSError):
        made.shutdown(socket.SHUT_WR)


def _responses(data: bytes) -> list[tuple[int, bytes]]:
    """Take the answers of a connection apart."""
    out = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        line, *fields = head.decode("latin-1").split("\r\n")
        assert line.startswith("HTTP/"), line[:100]
        headers = {k.lower(): v.strip() for k, _, v in (f.partition(":") for f in fields)}
        length = int(headers.get("content-length", "0"))
        out.append((int(line.split()[1]), rest[:length]))
        data = rest[length:]
    return out
