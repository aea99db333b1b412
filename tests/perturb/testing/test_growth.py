"""The measure of growth tells linear work from quadratic work."""

from __future__ import annotations

import time

import pytest

from perturb.testing.growth import grows_linearly


def spend(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.mark.parametrize(("power", "passes"), [(1.0, True), (1.2, True), (1.8, False), (2, False)])
def test_work_above_the_limit_is_judged_by_its_growth(power: float, passes: bool) -> None:
    assert grows_linearly(lambda n: spend((n / 1000) ** power / 25), 1000, seconds=0.02) is passes


def test_work_within_the_limit_is_done_once() -> None:
    done: list[int] = []
    assert grows_linearly(done.append, 1000, seconds=60)
    assert done == [1000]
