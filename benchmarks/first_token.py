"""The time to the first token of a streamed answer, with and without reading the prompt ahead.

The whole path runs over HTTP: the `openai` client, the proxy, a remote that takes a fixed time,
and llama.cpp with the bundled model on one core.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import struct
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from aiohttp import web
from openai import AsyncOpenAI

from benchmarks.harness.stack import build_completion
from benchmarks.json_record import JsonRecord, read_json
from benchmarks.run import read_commit
from benchmarks.samplers import write_article
from perturb import load_table
from perturb.rng import seeded_generator
from perturb.vocabulary.vocabulary import encode_text
from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.local import BUNDLED_MODEL, HOST
from proxy.serve import start_runner

__all__ = ["FirstToken", "Row", "lengthen_context", "measure_first_token", "read_first_token"]

MODEL = "gpt-4o"
ANSWER = "Work on the first of three bridges begins in spring. Residents may comment until May."
DOCUMENTS = (1_000, 3_000)  # tokens of cl100k_base
REMOTE_SECONDS = (2.0, 6.0)
WORDS = 4_000  # to draw documents from
ANSWER_TOKENS = 16
CONTEXT = 8_192  # tokens: the longer document fits with the largest generation
CONTEXT_KEY = b"llama.context_length"
UINT32 = 4  # in GGUF


@dataclass(frozen=True)
class Row:
    """Hold the seconds from a request to the first token of its answer, once a round."""

    document_tokens: int
    remote_seconds: float
    warmed: bool
    seconds: list[float]

    @property
    def median(self) -> float:
        """Return the median."""
        return statistics.median(self.seconds)


@dataclass
class FirstToken(JsonRecord):
    """Hold what one run measured, and where."""

    machine: dict[str, str | int]
    rows: list[Row] = field(default_factory=list)


def read_first_token(path: Path) -> FirstToken | None:
    """Read what `write` has written; None if there is no file.

    Raises:
        ValueError: it is no record of this version.
    """

    def build(found: Any) -> FirstToken:
        return FirstToken(found["machine"], [Row(**row) for row in found["rows"]])

    return read_json(path, build, "first tokens")


def measure_first_token(
    rounds: int,
    report: Callable[[Row], None] = lambda row: None,
    *,
    documents: Sequence[int] = DOCUMENTS,
    remote_seconds: Sequence[float] = REMOTE_SECONDS,
) -> FirstToken:
    """Measure every case with and without reading ahead, by turns, with new words each time."""
    cores = len(os.sched_getaffinity(0))
    record = FirstToken({"cores": cores, "commit": read_commit()})
    for tokens, seconds in product(documents, remote_seconds):
        for row in asyncio.run(_measure(rounds, tokens, seconds)):
            record.rows.append(row)
            report(row)
    return record


async def _measure(rounds: int, tokens: int, seconds: float) -> list[Row]:
    rng = seeded_generator(tokens)
    found: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="inferdpt-first-") as name:
        model = lengthen_context(BUNDLED_MODEL, Path(name) / "model.gguf", CONTEXT)
        async with AsyncExitStack() as stack:
            remote = await stack.enter_async_context(_slow_remote(seconds))
            clients = {
                warmed: await stack.enter_async_context(_proxy(Path(name), remote, model, warmed))
                for warmed in found
            }
            for client in clients.values():
                await _time_first_token(client, _write_document(rng, 50))
            for _ in range(rounds):
                for warmed, client in clients.items():
                    text = _write_document(rng, tokens)
                    found[warmed].append(round(await _time_first_token(client, text), 3))
    return [Row(tokens, seconds, warmed, times) for warmed, times in found.items()]


async def _time_first_token(client: AsyncOpenAI, document: str) -> float:
    begin = time.perf_counter()
    stream = await client.chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": document}],
        max_tokens=ANSWER_TOKENS,
        stream=True,
    )
    first = None
    async for chunk in stream:
        if first is None and chunk.choices and chunk.choices[0].delta.content:
            first = time.perf_counter() - begin
    if first is None:
        raise ValueError("an answer without a token")
    return first


def _write_document(rng: np.random.Generator, tokens: int) -> str:
    """Return a text of so many tokens that begins like no other."""
    encoding = load_table().vocabulary.encoding
    words = rng.permutation(write_article(WORDS).split())
    return encoding.decode(encode_text(" ".join(words), encoding)[:tokens].tolist())


def lengthen_context(model: Path, copy: Path, tokens: int) -> Path:
    """Copy a GGUF file, with a longer context in its header.

    llama.cpp refuses prompts beyond the context that a model was trained with. The bundled model
    writes nonsense there, but as fast as within it.

    Raises:
        ValueError: the header has no such entry.
    """
    data = bytearray(model.read_bytes())
    place = data.find(CONTEXT_KEY) + len(CONTEXT_KEY)
    if place < len(CONTEXT_KEY) or struct.unpack_from("<I", data, place)[0] != UINT32:
        raise ValueError(f"{model.name} does not name its context")
    struct.pack_into("<I", data, place + struct.calcsize("<I"), tokens)
    copy.write_bytes(data)
    return copy


@asynccontextmanager
async def _slow_remote(seconds: float) -> AsyncIterator[str]:
    """Run a remote that answers after so many seconds; yield its base_url."""

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(seconds)
        return web.json_response(build_completion(ANSWER))

    app = web.Application()
    app.router.add_post("/v1/chat/completions", answer)
    run = web.AppRunner(app, access_log=None)
    try:
        await run.setup()
        await web.TCPSite(run, HOST, 0).start()
        yield f"http://{HOST}:{run.addresses[0][1]}/v1"
    finally:
        await run.cleanup()


@asynccontextmanager
async def _proxy(
    folder: Path, remote: str, model: Path, warmed: bool
) -> AsyncIterator[AsyncOpenAI]:
    """Run a proxy and its own llama.cpp; yield a client of it."""
    settings: dict[str, Any] = {
        "store": {"folder": str(folder / f"state-{warmed}")},
        "server": {"port": 0},
        "privacy": {"mechanism": "rantext_ldp"},
        "remote": {"base_url": remote, "api_key": "none", "models": {MODEL: MODEL}},
        "local": {
            "mode": "embedded",
            "context_tokens": CONTEXT,
            "extraction": "all",
            "warm_prefix": "auto" if warmed else "never",
            "embedded": {"model": str(model), "context": CONTEXT, "parallel": 1},
        },
    }
    config = load_config(None, settings, {})
    run = build_runner(build_app(config))
    try:
        base_url = await start_runner(run, config)
        async with AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as client:
            yield client
    finally:
        await run.cleanup()
