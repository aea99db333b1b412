"""The processor time of streamed answers, through the gateway and straight from the remote.

An answer has 2,000 chunks of a word each, and every eighth word is a replacement that is brought
back. The gateway, its remote and the client run in one process; all of its processor time counts,
and that of the same answers without the gateway is measured beside it.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, web
from tqdm import tqdm

from benchmarks.fidelity.gateway import MODEL, running_gateway, serving
from benchmarks.json_record import JsonRecord, read_json
from benchmarks.load.processes import LoadError
from benchmarks.machine import describe_host
from perturb import load_table

__all__ = ["AT_ONCE", "StreamRow", "Streams", "measure_streams", "read_streams"]

AT_ONCE = (1, 8, 16)
CHUNKS = 2_000
EVERY = 8  # words to a replacement
NAME = "Mira Holzapfel"
WORDS = [
    "we",
    "are",
    "glad",
    "to",
    "say",
    "that",
    "the",
    "tower",
    "is",
    "open",
    "again",
    "this",
    "spring",
]


@dataclass(frozen=True)
class StreamRow:
    """Hold what one round measured of so many streams at once.

    Attributes:
        at_once: streams.
        round: counted from 0.
        chunk_us: microseconds of processor time a chunk, through the gateway.
        direct_us: straight from the remote.
    """

    at_once: int
    round: int
    chunk_us: float
    direct_us: float


@dataclass
class Streams(JsonRecord):
    """Hold what one run measured, and where."""

    machine: dict[str, str | int]
    rows: list[StreamRow] = field(default_factory=list)

    def median(self, at_once: int, of: str) -> float:
        """Return the median of a figure of so many streams over the rounds."""
        return float(statistics.median(getattr(r, of) for r in self.rows if r.at_once == at_once))


def read_streams(path: Path) -> Streams | None:
    """Read what `write` has written; None if there is no file.

    Raises:
        ValueError: it is no record of this version.
    """

    def build(found: Any) -> Streams:
        return Streams(found["machine"], [StreamRow(**row) for row in found["rows"]])

    return read_json(path, build, "streams")


def measure_streams(
    rounds: int,
    report: Callable[[StreamRow], None] = lambda row: None,
    *,
    at_once: Sequence[int] = AT_ONCE,
    chunks: int = CHUNKS,
) -> Streams:
    """Measure streams of `chunks` chunks, so many at once."""
    record = Streams(describe_host())
    bar = tqdm(total=rounds * len(at_once), desc="streams", disable=not sys.stderr.isatty())

    def add(row: StreamRow) -> None:
        record.rows.append(row)
        report(row)
        bar.update()

    with bar:
        asyncio.run(_measure(rounds, at_once, chunks, add))
    return record


async def _measure(
    rounds: int, at_once: Sequence[int], chunks: int, report: Callable[[StreamRow], None]
) -> None:
    async def write(request: web.Request) -> web.StreamResponse:
        return await _write_answer(request, chunks)

    remote = web.Application()
    remote.router.add_post("/v1/chat/completions", write)
    direct = web.Application()
    direct.router.add_post("/v1/chat/completions", write)
    async with (
        serving(direct) as straight,
        running_gateway(load_table(), {"policy": "regex"}, remote) as gateway,
    ):
        session = gateway.session
        for url in (gateway.url, straight):  # what is loaded once
            await _read(session, url, 1, chunks)
        for round_ in range(rounds):
            for number in at_once:
                through = await _read(session, gateway.url, number, chunks)
                alone = await _read(session, straight, number, chunks)
                report(StreamRow(number, round_, through, alone))


async def _write_answer(request: web.Request, chunks: int) -> web.StreamResponse:
    """Write an answer, each chunk by itself, that repeats the name as it was received."""
    name = (await request.json())["messages"][-1]["content"].removeprefix("Write about ")
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for number in range(chunks):
        word = name if number % EVERY == 0 else WORDS[number % len(WORDS)]
        await response.write(_write_event({"content": f"{word} "}, None))
        await asyncio.sleep(0)
    await response.write(_write_event({}, "stop") + b"data: [DONE]\n\n")
    return response


def _write_event(delta: dict[str, str], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


async def _read(session: ClientSession, url: str, number: int, chunks: int) -> float:
    """Read so many streams at once; return the microseconds of processor time a chunk."""
    body = {
        "model": MODEL,
        "stream": True,
        "messages": [{"role": "user", "content": f"Write about {NAME}"}],
    }

    async def read_one() -> None:
        async with session.post(f"{url}/chat/completions", json=body) as reply:
            told = await reply.text()
        names = told.count(NAME)
        if reply.status != 200 or names != -(-chunks // EVERY):
            raise LoadError(f"a stream with {reply.status} brought back {names} names")

    begun = time.process_time()
    await asyncio.gather(*(read_one() for _ in range(number)))
    return round(1e6 * (time.process_time() - begun) / (number * chunks), 1)
