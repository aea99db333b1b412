"""Measure how the store grows: bytes and rows of each table, by requests and blocks.

A real proxy answers requests with new texts between servers that answer at once, and a corpus
charges blocks of new owners. SQLite tells the bytes of each table and of its indexes.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from aiohttp import ClientSession, web

from proxy.app import build_app, build_runner
from proxy.config.settings import load_config
from proxy.config.store import StoreSettings as Settings
from proxy.corpus.ledger import Accounts, Charged
from proxy.serve import start_runner
from proxy.storage.ledger import Channel, Price
from proxy.storage.opening import open_store

__all__ = ["GROUPS", "Growth", "Line", "fit_line", "measure_corpus", "measure_requests"]

GROUPS = {
    "ledger": ("accounts", "spends", "disclosures"),
    "memo": ("releases", "passages", "answers"),
    "records": ("records",),
    "corpus": ("owners", "owner_spends", "charges"),
}
POINTS = 8
AT_ONCE = 8
MODEL = "model"
ANSWER = "An answer of the remote that is as short as a sentence."
SIZES = """\
SELECT m.tbl_name, sum(s.pgsize) FROM dbstat s JOIN sqlite_master m ON m.name = s.name
GROUP BY m.tbl_name"""


@dataclass(frozen=True)
class Line:
    """Hold a straight line through points: its slope, and the largest distance of a point from
    it, as a share of the last point's value."""

    slope: float
    residual: float


@dataclass(frozen=True)
class Growth:
    """Hold the size of a store at some points.

    Attributes:
        unit: what is counted: requests or blocks.
        count: of them, at each point.
        tokens: released until then.
        rows, size: rows and bytes by table.
    """

    unit: str
    count: list[int]
    tokens: list[int]
    rows: dict[str, list[int]]
    size: dict[str, list[int]]

    def of_rows(self, table: str) -> Line:
        """Return the bytes of a row of a table, indexes included."""
        return fit_line(self.rows[table], self.size[table])

    def of_tokens(self, table: str) -> Line:
        """Return the bytes of a table for each released token."""
        return fit_line(self.tokens, self.size[table])


def fit_line(x: Sequence[float], y: Sequence[float]) -> Line:
    """Fit a line by least squares; one that has no slope if all x are equal."""
    if len(set(x)) < 2:
        return Line(0.0, 0.0)
    slope, start = np.polyfit(x, y, 1)
    apart = np.abs(np.polyval([slope, start], x) - np.asarray(y))
    return Line(float(slope), float(apart.max() / y[-1]) if y[-1] else 0.0)


def measure_requests(texts: Sequence[str], mechanism: str) -> Growth:
    """Send each text once, a conversation each, and look at the store at some points.

    Args:
        texts: different ones, at least twice as many as there are points.
        mechanism: sanitizes them, at its defaults.
    """
    return asyncio.run(_measure_requests(texts, mechanism))


async def _measure_requests(texts: Sequence[str], mechanism: str) -> Growth:
    growth = _begin("requests", "ledger", "memo", "records")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="inferdpt-scale-")))
        url = await stack.enter_async_context(_proxy(folder, mechanism))
        session = await stack.enter_async_context(ClientSession())
        slots = asyncio.Semaphore(AT_ONCE)

        async def send(text: str) -> None:
            body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
            async with slots, session.post(f"{url}/chat/completions", json=body) as answer:
                answer.raise_for_status()

        sent = 0
        for end in (len(texts) * (i + 1) // POINTS for i in range(POINTS)):
            async with asyncio.TaskGroup() as group:
                for text in texts[sent:end]:
                    group.create_task(send(text))
            sent = end
            async with session.get(f"{url}/privacy/ledger") as answer:
                tokens = (await answer.json())["total"]["tokens"]
            await _note(growth, folder, sent, tokens)
    return growth


def measure_corpus(blocks: int, documents: int, tokens: int) -> Growth:
    """Charge blocks of documents with so many tokens each, all of new owners.

    Args:
        blocks: at least as many as there are points.
        documents: of a block.
        tokens: of a document.
    """
    return asyncio.run(_measure_corpus(blocks, documents, tokens))


async def _measure_corpus(blocks: int, documents: int, tokens: int) -> Growth:
    growth = _begin("blocks", "corpus")
    each = Price(
        tokens,
        proved=6.0 * tokens,
        channel=Channel("rantext_ldp", 6.0, False, "token"),
        count=tokens,
    )
    with TemporaryDirectory(prefix="inferdpt-scale-") as folder:
        async with open_store(Settings(folder=folder)) as store:
            accounts = Accounts(store, delta=1e-6)
            points = {blocks * (i + 1) // POINTS for i in range(POINTS)}
            for number in range(blocks):
                await accounts.charge(
                    [
                        Charged(f"{number} {i}".encode().ljust(32), f"{number} {i}", "", each)
                        for i in range(documents)
                    ]
                )
                if number + 1 in points:
                    done = (number + 1) * documents * tokens
                    await _note(growth, Path(folder), number + 1, done)
    return growth


def _begin(unit: str, *groups: str) -> Growth:
    tables = [table for group in groups for table in GROUPS[group]]
    return Growth(unit, [], [], {name: [] for name in tables}, {name: [] for name in tables})


async def _note(growth: Growth, folder: Path, count: int, tokens: int) -> None:
    rows, size = await asyncio.to_thread(_look, folder, list(growth.rows))
    growth.count.append(count)
    growth.tokens.append(tokens)
    for table in growth.rows:
        growth.rows[table].append(rows[table])
        growth.size[table].append(size[table])


def _look(folder: Path, tables: Sequence[str]) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Return the rows and the bytes of tables."""
    (file,) = folder.glob("*.db")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        size = dict(connection.execute(SIZES).fetchall())
        rows = {
            table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in tables
        }
    connection.close()
    return rows, size


@asynccontextmanager
async def _proxy(folder: Path, mechanism: str) -> AsyncIterator[str]:
    """Run a proxy whose remote and local model give a fixed answer; yield its base_url."""

    async def answer(request: web.Request) -> web.Response:
        return web.json_response(_completion())

    upstream = web.Application()
    upstream.router.add_post("/v1/chat/completions", answer)
    serving = web.AppRunner(upstream, access_log=None)
    await serving.setup()
    await web.TCPSite(serving, "127.0.0.1", 0).start()
    base_url = f"http://127.0.0.1:{serving.addresses[0][1]}/v1"
    config = load_config(
        None,
        {
            "store": {"folder": str(folder)},
            "server": {"port": 0},
            "privacy": {"mechanism": mechanism},
            "remote": {"base_url": base_url, "api_key": "none", "models": {MODEL: MODEL}},
            "local": {"mode": "external", "base_url": base_url, "model": MODEL},
        },
    )
    runner = build_runner(build_app(config))
    try:
        yield await start_runner(runner, config)
    finally:
        await runner.cleanup()
        await serving.cleanup()


def _completion() -> dict[str, Any]:
    message = {"role": "assistant", "content": ANSWER}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 11, "completion_tokens": 11, "total_tokens": 22}
    common = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL}
    return {**common, "choices": [choice], "usage": usage}
