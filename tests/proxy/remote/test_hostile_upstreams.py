"""Upstreams that answer as wrongly as they can, on either side.

Each ends in the mapped error within the limits of time and memory, everybody else is served
meanwhile, and nothing of what it said is told.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import psutil
import pytest
import pytest_asyncio

from extraction.http import client as http
from perturb import EmbeddingTable
from tests.hostile_server import ANSWER, CANARY, READ, READ_STREAMS, STREAM, WHOLE
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, running_proxy

pytestmark = pytest.mark.asyncio(loop_scope="module")

HASTY, PATIENT = 0.5, LIMIT  # seconds, the time-outs of the hostile upstream
ROOMY, NARROW = 100_000, 2048  # tokens of the local model's context
BLOCKED = 0.7  # seconds for which the event loop may stand still
ENDS = 2 * LIMIT
MEMORY = 150e6  # bytes more than before
MESSAGES = [{"role": "user", "content": "The board met on Monday morning."}]
SLOW = {"silent", "silent-after-head", "trickles-head", "trickles-body", "comments-trickle"}
SLOW |= {"line-trickles"}
# At which limit they end first, that of time or that of bytes, depends on the machine.
EITHER = {
    *("arguments-forever", "blank-lines-forever", "body-forever", "chunk-extension-forever"),
    *("chunks-forever", "comments-forever", "empty-objects-forever", "error-forever"),
    *("headers-forever", "informs-forever", "megabytes-of-words-forever"),
    *("tiny-chunks-forever", "trailers-forever", "words-forever"),
    *("deflate-bomb", "gzip-bomb", "gzip-bomb-in-one-piece"),
    *("event-of-many-lines", "length-of-a-gigabyte", "line-of-a-gigabyte"),
}
# A generation ends where the local model would see no more of it.
CUT = ("words-forever",)
# Nothing but its text is read of a generation.
IGNORED = {
    *("finish-an-object", "function-a-string", "index-a-boolean", "index-a-string"),
    *("index-beyond-all-calls", "index-negative", "index-of-a-billion", "logprob-a-string"),
    *("logprobs-a-string", "logprobs-without-token", "name-a-list", "no-finish"),
    *("too-many-calls", "usage-a-string", "usage-beyond-all"),
}
# One reader of HTTP serves both sides and streams: the whole list is tried on the remote's answer,
# and elsewhere a mode of each family: connections, framing, lengths, errors and bodies.
ANYWHERE = (
    *("hangs-up", "resets-in-head", "cut-in-body", "silent", "trickles-body"),
    *("bad-status-line", "redirects-307", "header-of-megabytes", "headers-forever"),
    *("chunk-size-of-nonsense", "two-lengths", "half-a-gzip", "gzip-bomb", "chunks-forever"),
    *("nested-500", "error-400", "types-400", "retry-after-0", "error-forever"),
    *("74-megabytes-of-choices", "integer-too-long", "deep", "empty", "html", "not-utf8"),
    *("string-choices", "choice-a-list", "content-a-number", "error-with-200"),
)
FAILING_STREAMS = (*ANYWHERE, *(name for name in STREAM if name not in READ_STREAMS))


@dataclass
class Strain:
    """Hold what a mode did to the process: the longest the loop stood still, in its own CPU time
    (the machine may have others to serve), and the memory."""

    blocked: float = 0.0
    memory: int = 0
    health: list[int] = field(default_factory=list)


@contextmanager
def memory(found: Strain) -> Iterator[None]:
    process, stop = psutil.Process(), threading.Event()
    before = process.memory_info().rss

    def watch() -> None:
        while not stop.wait(0.005):
            found.memory = max(found.memory, process.memory_info().rss - before)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@asynccontextmanager
async def strain(root: str) -> AsyncIterator[Strain]:
    """Measure while the block runs, and ask for `/health` all the time."""
    found = Strain()

    async def beat() -> None:
        while True:
            start = time.thread_time()
            await asyncio.sleep(0.01)
            found.blocked = max(found.blocked, time.thread_time() - start)

    async def ask() -> None:
        async with aiohttp.ClientSession() as session:
            while True:
                async with session.get(f"{root}/health") as response:
                    found.health.append(response.status)
                await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(beat()), asyncio.create_task(ask())]
    try:
        with memory(found):
            yield found
            while not found.health:
                await asyncio.sleep(0.01)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def hostile() -> AsyncIterator[str]:
    """The address of the hostile server."""
    # What earlier tests left in memory is not the proxy's: a collection of it takes a second.
    gc.collect()
    gc.freeze()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.hostile_server"), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    port = int(await asyncio.wait_for(process.stdout.readline(), LIMIT))
    yield f"http://127.0.0.1:{port}"
    process.kill()
    await process.wait()


Proxies = dict[float, Proxy]


@asynccontextmanager
async def proxies(
    table: EmbeddingTable, side: str, hostile: str, context: int = ROOMY
) -> AsyncIterator[Proxies]:
    """A hasty proxy and a patient one, both with the hostile server on one side. In a roomy
    context the local model has a place for all of a generation, which is not streamed then."""
    async with AsyncExitStack() as stack:
        found = {}
        for seconds in (HASTY, PATIENT):
            upstream = {"base_url": f"{hostile}/v1", "timeout_seconds": seconds}
            settings: dict[str, Any] = {"local": {"context_tokens": context}}
            settings[side] = {**settings.get(side, {}), **upstream}
            running = running_proxy(table, settings)
            found[seconds] = await stack.enter_async_context(running)
        yield found


def fitting(found: Proxies, mode: str) -> Proxy:
    """The hasty proxy where only the time-out may end a mode, else the patient one, whose
    time-out no busy machine reaches."""
    return found[HASTY if mode in SLOW | EITHER else PATIENT]


@asynccontextmanager
async def warm_proxies(table: EmbeddingTable, side: str, hostile: str) -> AsyncIterator[Proxies]:
    """Proxies in which what is made once is there before memory is measured."""
    async with proxies(table, side, hostile) as found:
        for proxy in found.values():
            await ask(proxy)
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def before_remote(hostile: str, table: EmbeddingTable) -> AsyncIterator[Proxies]:
    """Proxies whose remote is hostile."""
    async with warm_proxies(table, "remote", hostile) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def before_local(hostile: str, table: EmbeddingTable) -> AsyncIterator[Proxies]:
    """Proxies whose local server is hostile."""
    async with warm_proxies(table, "local", hostile) as found:
        yield found


async def choose(hostile: str, mode: str) -> None:
    async with aiohttp.ClientSession() as session, session.get(f"{hostile}/mode/{mode}"):
        pass


async def ask(proxy: Proxy, *, stream: bool = False) -> tuple[int, Mapping[str, str], str]:
    body = {"model": MODEL, "messages": MESSAGES, "stream": stream}
    async with (
        asyncio.timeout(ENDS),
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/chat/completions", json=body) as response,
    ):
        data = await response.read()
        return response.status, response.headers, data.decode()


def expected(side: str, mode: str) -> set[tuple[int, str]]:
    """The status and code that a mode may end in."""
    if side == "remote":
        late, failed = (504, "remote_timeout"), (502, "remote_error")
        if mode.startswith("retry-after"):
            failed = (429, "remote_rate_limited")
    else:
        late, failed = (504, "local_model_timeout"), (503, "local_model_unavailable")
        if mode in ("types-400", "list-400", "error-400"):
            failed = (400, "local_model_refused")
    if mode in SLOW:
        return {late}
    return {late, failed} if mode in EITHER else {failed}


async def check_answer(side: str, proxy: Proxy, hostile: str, mode: str) -> None:
    await choose(hostile, mode)
    proxy.log.clear()
    async with strain(proxy.root) as found:
        status, headers, text = await ask(proxy)
    told = json.loads(text)["error"]
    assert (status, told["code"]) in expected(side, mode)
    if side == "remote":
        assert headers["x-should-retry"] == "false"
    if status == 429:
        assert 0 <= int(headers["retry-after"]) <= 3600
    assert CANARY not in text
    assert CANARY not in "\n".join(proxy.log)
    check(found)


@pytest.mark.parametrize("mode", [name for name in WHOLE if name not in READ])
async def test_a_remotes_answer_ends_in_the_mapped_error(
    before_remote: Proxies, hostile: str, mode: str
) -> None:
    await check_answer("remote", fitting(before_remote, mode), hostile, mode)


@pytest.mark.parametrize("mode", ANYWHERE)
async def test_a_local_answer_ends_in_the_mapped_error(
    before_local: Proxies, hostile: str, mode: str
) -> None:
    await check_answer("local", fitting(before_local, mode), hostile, mode)


@pytest.mark.parametrize("mode", READ)
async def test_an_answer_that_is_merely_odd_is_read(
    before_remote: Proxies, before_local: Proxies, hostile: str, mode: str
) -> None:
    await choose(hostile, mode)
    for proxies in (before_remote, before_local):
        status, _, text = await ask(fitting(proxies, mode))
        assert status == 200
        assert ANSWER in json.loads(text)["choices"][0]["message"]["content"]
        text.encode()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def streaming(hostile: str, table: EmbeddingTable) -> AsyncIterator[Proxies]:
    """Proxies whose local server is hostile."""
    await choose(hostile, "stream-crlf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(http, "STREAM_TIMES", 3)
        async with proxies(table, "local", hostile) as found:
            for proxy in found.values():
                await ask(proxy, stream=True)
            yield found


@pytest.mark.parametrize("mode", FAILING_STREAMS)
async def test_a_stream_ends_in_the_mapped_error(
    streaming: Proxies, hostile: str, mode: str
) -> None:
    proxy = fitting(streaming, mode)
    await choose(hostile, mode)
    proxy.log.clear()
    async with strain(proxy.root) as found:
        status, _, text = await ask(proxy, stream=True)
    if status == 200:  # it was well until then
        *_, last, done = text.strip().split("\n\n")
        assert done == "data: [DONE]"
        text = last.removeprefix("data: ")
    code = json.loads(text)["error"]["code"]
    assert code in {code for _, code in expected("local", mode)}
    assert CANARY not in text
    assert CANARY not in "\n".join(proxy.log)
    check(found)


@pytest.mark.parametrize("mode", READ_STREAMS)
async def test_a_stream_that_is_merely_odd_is_read(
    streaming: Proxies, hostile: str, mode: str
) -> None:
    proxy = fitting(streaming, mode)
    await choose(hostile, mode)
    status, _, text = await ask(proxy, stream=True)
    assert status == 200
    assert "error" not in text
    assert ANSWER in text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def writing(hostile: str, table: EmbeddingTable) -> AsyncIterator[Proxies]:
    """Proxies whose remote is hostile, and is asked for a stream."""
    await choose(hostile, "stream-crlf")
    async with proxies(table, "remote", hostile, NARROW) as found:
        for proxy in found.values():
            await ask(proxy)
        yield found


@pytest.mark.parametrize("mode", [name for name in FAILING_STREAMS if name not in CUT])
async def test_a_streamed_generation_ends_in_the_mapped_error(
    writing: Proxies, hostile: str, mode: str
) -> None:
    proxy = fitting(writing, mode)
    await choose(hostile, mode)
    proxy.log.clear()
    async with strain(proxy.root) as found:
        status, _, text = await ask(proxy)
    if mode in IGNORED:
        assert status == 200
    else:
        assert (status, json.loads(text)["error"]["code"]) in expected("remote", mode)
    assert CANARY not in text
    assert CANARY not in "\n".join(proxy.log)
    check(found)


@pytest.mark.parametrize("mode", CUT)
async def test_a_streamed_generation_without_end_is_cut(
    writing: Proxies, hostile: str, mode: str
) -> None:
    proxy = fitting(writing, mode)
    await choose(hostile, mode)
    proxy.log.clear()
    async with strain(proxy.root) as found:
        status, _, text = await ask(proxy)
    assert status == 200
    assert "connection was closed" in json.loads(text)["inferdpt"]["remote"][0]
    assert '"remote_endings":["cut"]' in "\n".join(proxy.log)
    check(found)


@pytest.mark.parametrize("mode", READ_STREAMS)
async def test_a_streamed_generation_that_is_merely_odd_is_read(
    writing: Proxies, hostile: str, mode: str
) -> None:
    proxy = fitting(writing, mode)
    await choose(hostile, mode)
    status, _, text = await ask(proxy)
    assert status == 200
    assert "error" not in text


def check(found: Strain) -> None:
    assert set(found.health) == {200}
    assert found.blocked < BLOCKED
    assert found.memory < MEMORY


async def test_the_modes_that_are_named_are_among_many() -> None:
    assert len(WHOLE) >= 60
    assert len(STREAM) >= 40
    assert {*ANYWHERE} <= {*WHOLE} - {*READ}
    assert {*SLOW, *EITHER, *CUT, *IGNORED} <= {*WHOLE, *STREAM} - {*READ, *READ_STREAMS}
