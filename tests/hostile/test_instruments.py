"""The tier's own instruments: a proxy that stands still is noticed, and so is its memory."""

from __future__ import annotations

import asyncio
import time

import aiohttp
import psutil
import pytest

from tests.hostile import tally
from tests.hostile.stage import Stage, Unfit, chat_body, send

STANDSTILL = 2.5


async def test_a_standstill_is_noticed_and_the_proxy_replaced(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tally, "note", lambda *_: None)  # ours is none of the proxy's
    child = stage.child
    process = psutil.Process(child.pid)
    with pytest.raises(Unfit, match="/health took"), stage.bounded():
        await _hold(process)
    assert not process.is_running()
    async with aiohttp.ClientSession() as session:
        url = f"{stage.child.base_url}/chat/completions"
        assert (await send(session, url, chat_body())).served


async def test_a_death_is_noticed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "note", lambda *_: None)
    process = psutil.Process(stage.child.pid)
    with pytest.raises(Unfit, match="died"), stage.bounded():
        _end(process)


def test_memory_is_measured(stage: Stage) -> None:
    watch = stage.child.watch
    assert watch is not None
    watch.worst(time.monotonic())
    assert watch.peak >= psutil.Process(stage.child.pid).memory_info().rss / 2 > 10 * 2**20


def _end(process: psutil.Process) -> None:
    process.kill()
    process.wait(60)  # a busy machine takes its time


async def _hold(process: psutil.Process) -> None:
    process.suspend()
    await asyncio.sleep(STANDSTILL)
    process.resume()
