"""The texts of one request share a bound on their processor time."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from perturb.errors import OutOfTime
from perturb.work import charge_work, check_work, limit_work, offload


def spend(seconds: float) -> float:
    begun = time.thread_time()
    while time.thread_time() < begun + seconds:
        pass
    return seconds


def spend_and_look() -> None:
    while True:
        check_work()


def spend_and_fail() -> None:
    spend(0.1)
    raise ZeroDivisionError


@pytest.mark.parametrize("brief", [True, False])
async def test_stages_share_the_time_and_none_begins_after_it(brief: bool) -> None:
    done: list[float] = []
    with limit_work(0.2):
        done.append(await offload(brief, spend, 0.05))
        with pytest.raises(OutOfTime):
            done.append(await offload(brief, spend, 0.2))
        with pytest.raises(OutOfTime):
            await offload(brief, done.append, 1.0)
    assert done == [0.05]
    assert await offload(brief, spend, 0.01) == 0.01  # outside of a request there is no bound


async def test_a_request_has_the_threads_that_it_is_given() -> None:
    def find_thread() -> str:
        return threading.current_thread().name

    with ThreadPoolExecutor(1, "own") as executor:
        with limit_work(1.0, executor):
            assert (await offload(False, find_thread)).startswith("own")
            assert await offload(True, find_thread) == find_thread()
        with limit_work(1.0):
            assert not (await offload(False, find_thread)).startswith("own")


async def test_requests_do_not_share_it_and_waiting_is_free() -> None:
    async def request(seconds: float) -> float:
        with limit_work(0.2):
            await asyncio.sleep(0.3)
            return await offload(False, spend, seconds)

    assert await asyncio.gather(*(request(0.1) for _ in range(4))) == [0.1] * 4


async def test_concurrent_stages_of_a_request_share_it() -> None:
    with limit_work(0.2):
        jobs = [offload(False, spend, 0.05) for _ in range(12)]
        found = await asyncio.gather(*jobs, return_exceptions=True)
    assert sum(isinstance(each, OutOfTime) for each in found) >= 1


def test_a_stage_can_look_at_the_time() -> None:
    check_work()
    with limit_work(0.05), pytest.raises(OutOfTime, match=r"0\.05 s"), charge_work():
        spend_and_look()


def test_an_error_is_not_covered_up() -> None:
    with limit_work(0.0), pytest.raises(OutOfTime), charge_work():
        pytest.fail("it began")
    with limit_work(0.05), pytest.raises(ZeroDivisionError), charge_work():
        spend_and_fail()
