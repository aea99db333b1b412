"""Many at once, and slow ones among them: everybody is answered."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import openai
import pytest

from tests.hostile import tally
from tests.hostile.answers import frame, http, stream_frames
from tests.hostile.stage import Stage, chat_body, send
from tests.hostile.upstream import Call, Script, answer
from tests.proxy.conftest import MODEL
from tests.servers import chunk

SECONDS = 300.0  # for one of many answers at once; only a hang reaches it
SLOW = 80  # sockets that never finish a request: more than may be served at once
OTHERS = 60
BURST = 100
STREAMS = 200
READERS = 24
HEAD = (
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
)


def after(seconds: float) -> Script:
    """Return a script that answers well, but not at once."""

    async def script(call: Call, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(seconds)
        return await answer(call, writer)

    return script


def streamed(word: bytes, count: int, pause: float) -> Script:
    """Return a script that streams a word so many times, as fast as it is read."""

    async def script(call: Call, writer: asyncio.StreamWriter) -> bool:
        frames = stream_frames()
        begin = http(frames[0], content_type="text/event-stream", length=False)
        writer.write(begin)
        for _ in range(count):
            writer.write(word)
            await writer.drain()
            await asyncio.sleep(pause)
        writer.write(b"".join(frames[-3:]))
        return False

    return script


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return {"limits": {"queue_seconds": SECONDS}}


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as made:
        yield made


@pytest.fixture(autouse=True)
def well_behaved(stage: Stage) -> Any:
    yield
    stage.remote.script = stage.local.script = answer


async def _trickle(port: int, generator: random.Random) -> None:
    """Say that a body comes, send some of it byte by byte, and never all of it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        head = HEAD + b"Content-Length: 100000\r\n\r\n"
        writer.write(head[: generator.choice((60, len(head), len(head)))])
        while not reader.at_eof():
            writer.write(b" ")
            await asyncio.sleep(0.2 + generator.random())
    writer.close()


async def test_slow_bodies_stand_in_nobodys_way(
    stage: Stage, session: aiohttp.ClientSession
) -> None:
    generator = random.Random(tally.SEED)
    url = f"{stage.child.base_url}/chat/completions"
    with stage.bounded():
        slow = [asyncio.create_task(_trickle(stage.child.port, generator)) for _ in range(SLOW)]
        try:
            await asyncio.sleep(1.0)
            answers = [await send(session, url, chat_body()) for _ in range(OTHERS // 2)]
            jobs = (send(session, url, chat_body()) for _ in range(OTHERS // 2))
            answers += await asyncio.gather(*jobs)
        finally:
            for job in slow:
                job.cancel()
            await asyncio.gather(*slow, return_exceptions=True)
    tally.COUNTS["slow sockets"] += SLOW
    assert [a.status for a in answers if not a.served] == []


async def test_a_burst_of_one_client_is_answered(stage: Stage) -> None:
    stage.remote.script = after(0.5)
    turns: Any = [{"role": "user", "content": "The board met on Monday."}]
    with stage.bounded():
        async with openai.AsyncOpenAI(
            base_url=stage.child.base_url, api_key="x", max_retries=0, timeout=SECONDS
        ) as client:
            done = await asyncio.gather(
                *(
                    client.chat.completions.create(model=MODEL, messages=turns)
                    for _ in range(BURST)
                ),
                return_exceptions=True,
            )
    tally.COUNTS["requests in a burst"] += BURST
    assert [repr(d)[:80] for d in done if isinstance(d, BaseException)] == []


async def test_streams(stage: Stage, session: aiohttp.ClientSession) -> None:
    stage.local.script = streamed(frame(chunk({"content": "word "})), 10, 0.1)
    url = f"{stage.child.base_url}/chat/completions"
    with stage.bounded():
        jobs = (send(session, url, chat_body(stream=True)) for _ in range(STREAMS))
        answers = await asyncio.gather(*jobs)
    tally.COUNTS["streams at once"] += STREAMS
    assert [a.status for a in answers if not a.served] == []
    assert all(a.body.endswith(b"data: [DONE]\n\n") for a in answers)


async def test_slow_readers_swell_nothing(stage: Stage, session: aiohttp.ClientSession) -> None:
    """Ask for long streams, and read none of them."""
    word = frame(chunk({"content": "word " * 4000}))
    stage.local.script = streamed(word, 2000, 0.0)  # 40 MB for each
    child, body = stage.child, b'{"stream":true,' + _plain()[1:]
    request = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    with stage.bounded(), contextlib.ExitStack() as stack:
        for _ in range(READERS):
            made = stack.enter_context(socket.socket())
            made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            made.connect(("127.0.0.1", child.port))
            made.sendall(request)
        await asyncio.sleep(3.0)
        stage.local.script = answer
        url = f"{child.base_url}/chat/completions"
        answers = [await send(session, url, chat_body()) for _ in range(20)]
    tally.COUNTS["slow readers"] += READERS
    assert [a.status for a in answers if not a.served] == []
    async with asyncio.timeout(SECONDS):  # those that went away are let go of
        while await _in_flight(session, child.root) > 1:
            await asyncio.sleep(0.1)


def _plain() -> bytes:
    return b'{"model": "%s", "messages": [{"role": "user", "content": "Hello"}]}' % MODEL.encode()


async def _in_flight(session: aiohttp.ClientSession, root: str) -> float:
    text = (await send(session, f"{root}/metrics", method="GET")).body.decode()
    found = re.search(r"^inferdpt_requests_in_flight (\S+)", text, re.MULTILINE)
    assert found is not None
    return float(found[1])
