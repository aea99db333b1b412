"""Tests of `perturb.work`: brief work runs on the event loop, the rest in a thread."""

from __future__ import annotations

import asyncio
import threading

import pytest

from perturb.work import offload
from tests.limits import LIMIT


@pytest.mark.parametrize("brief", [True, False])
async def test_what_is_brief_runs_here_and_the_rest_in_a_thread(brief: bool) -> None:
    def work(a: int, *, b: int) -> tuple[int, int]:
        return threading.get_ident(), a - b

    thread, result = await offload(brief, work, 3, b=2)
    assert (thread == threading.get_ident()) is brief
    assert result == 1


async def test_the_loop_runs_while_a_thread_works() -> None:
    done = threading.Event()
    job = asyncio.create_task(offload(False, done.wait, LIMIT))
    for _ in range(100):
        await asyncio.sleep(0)
    assert not job.done()
    done.set()
    assert await job is True


@pytest.mark.parametrize("brief", [True, False])
async def test_an_error_reaches_the_caller(brief: bool) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        await offload(brief, int, "x")
