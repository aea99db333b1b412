"""What runs beside requests: it survives any failure, and a loop that has ended is shown."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import proxy
from perturb import EmbeddingTable
from proxy.api.app_keys import BACKGROUND, METRICS, STORE
from proxy.background import Background
from proxy.metrics import Metrics
from proxy.metrics_export import MetricsExport, exporting
from proxy.storage.store import Store
from tests.limits import LIMIT
from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.storage.reports import ask, report

LOOPS = {"sweep", "recorder", "pruning", "batches"}
SETTINGS: dict[str, Any] = {"batches": {"enabled": True}, "store": {"records_days": 30}}
HIDDEN = "what was sent"
# Tasks that are no loops: each ends by itself, and whoever started it hears of a failure.
ENDING = {
    "advice/conditions.py": "the tasks of one condition, in a group",
    "api/render.py": "the answer of one request",
    "batches/run.py": "the lines of one batch, in a group; and one batch, whose failure is noted",
    "serve.py": "the process itself, and what warns once",
    "storage/databases/postgres.py": "the transactions of one lane, whose callers get failures",
    "storage/databases/sqlite.py": "one sync or transaction in a thread, and a checkpoint",
    "storage/memo.py": "one draw, whose failure its callers get",
}


def find_task_makers(root: Path) -> set[str]:
    """The modules that start tasks."""
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("create_task", "ensure_future")
    }


def test_every_loop_is_started_by_background() -> None:
    (folder,) = proxy.__path__
    assert find_task_makers(Path(folder)) == {*ENDING, "background.py"}


async def read_health(proxy: Proxy) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as session,
        session.get(proxy.base_url.removesuffix("/v1") + "/health") as response,
    ):
        return response.status, await response.json()


def count_failures(metrics: Metrics, name: str) -> float:
    return sum(
        sample.value
        for sample in metrics.read("inferdpt_background_failures")
        if sample.name.endswith("_total") and sample.labels["loop"] == name
    )


async def wait_for_failures(metrics: Metrics, *names: str) -> None:
    async with asyncio.timeout(LIMIT):
        while not all(count_failures(metrics, name) > 1 for name in names):
            await asyncio.sleep(0.01)


async def test_loops_survive_any_failure(
    table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every transaction raises what nobody expects, for a while."""
    monkeypatch.setattr("proxy.app.SWEEP_SECONDS", 0.01)
    monkeypatch.setattr("proxy.records.chain.SWEEP_SECONDS", 0.01)
    monkeypatch.setattr("proxy.records.chain.WRITE_SECONDS", 0.2)
    monkeypatch.setattr("proxy.batches.run.POLL_SECONDS", 0.01)
    monkeypatch.setattr("proxy.metrics_export.INTERVAL", 0.01)
    async with running_proxy(table, SETTINGS) as proxy:
        metrics = proxy.app[METRICS]

        async def fail(*_: object, **__: object) -> None:
            raise LookupError(HIDDEN)

        export = exporting("http://127.0.0.1:9/v1/metrics", proxy.app[BACKGROUND])
        await ask(proxy, report(1))  # its end waits for the recorder
        async with export:
            with pytest.MonkeyPatch.context() as patch:
                for name in ("read", "scan", "write"):
                    patch.setattr(Store, name, fail)
                patch.setattr(MetricsExport, "export", lambda _: 1 / 0)
                await wait_for_failures(metrics, *LOOPS, "metrics export")
                assert await read_health(proxy) == (200, {"status": "ok"})
        await ask(proxy, report(2))
        async with asyncio.timeout(LIMIT):
            while (await proxy.app[STORE].info())["records"] < 5:  # two charges, two ends
                await asyncio.sleep(0.02)
    assert not any(HIDDEN in line for line in proxy.log)


async def test_a_loop_that_has_ended_is_shown(table: EmbeddingTable) -> None:
    async with running_proxy(table, SETTINGS) as proxy:
        assert await read_health(proxy) == (200, {"status": "ok"})
        for task in asyncio.all_tasks():
            if getattr(task.get_coro(), "__qualname__", "") == "Recorder.run":
                task.cancel()
        await asyncio.sleep(0)
        assert await read_health(proxy) == (503, {"status": "stopped", "loops": ["recorder"]})


async def test_what_fails_is_logged_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    count = Metrics()
    background = Background(count)
    with background.survive("a loop"):
        raise ValueError(HIDDEN)
    assert count_failures(count, "a loop") == 1
    assert "a loop failed (ValueError)" in caplog.text
    assert HIDDEN not in caplog.text
    with pytest.raises(asyncio.CancelledError), background.survive("a loop"):
        raise asyncio.CancelledError
