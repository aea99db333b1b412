"""The simulator against closed forms, its bounds, and a real pool's rules."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scale.simulate import Simulated, bound_rate, find_rate, simulate

TIMES = st.floats(0.001, 5)


@given(st.integers(1, 40), TIMES, TIMES)
def test_one_worker_with_one_block_in_flight_is_serial(blocks: int, w: float, d: float) -> None:
    found = simulate(blocks, 1, worker_seconds=[w], driver_seconds=d, ahead=1)
    assert found.written[-1] == pytest.approx(blocks * (w + d))
    assert found.worker_share + found.driver_share == pytest.approx(1)


@given(st.integers(1, 40), TIMES)
def test_one_worker_and_a_driver_that_takes_no_time_are_serial(blocks: int, w: float) -> None:
    found = simulate(blocks, 1, worker_seconds=[w], driver_seconds=0.0)
    assert found.written == pytest.approx([w * (i + 1) for i in range(blocks)])


@given(st.integers(1, 40), TIMES, st.integers(1, 9), TIMES)
def test_on_one_core_nothing_is_gained(blocks: int, w: float, workers: int, d: float) -> None:
    found = simulate(blocks, workers, worker_seconds=[w], driver_seconds=d, cores=1)
    assert found.written[-1] == pytest.approx(blocks * (w + d))


@given(st.integers(1, 60), TIMES, st.integers(1, 9))
def test_workers_take_equal_blocks_in_rounds(blocks: int, w: float, workers: int) -> None:
    found = simulate(blocks, workers, worker_seconds=[w], driver_seconds=0.0)
    assert found.written[-1] == pytest.approx(math.ceil(blocks / workers) * w)


@given(st.integers(1, 60), TIMES, st.integers(1, 9), st.floats(1, 4))
def test_a_slow_driver_is_the_whole_time(
    blocks: int, w: float, workers: int, factor: float
) -> None:
    d = w * factor  # no worker, however alone, is slower
    found = simulate(blocks, workers, worker_seconds=[w], driver_seconds=d)
    assert found.written[-1] == pytest.approx(w + blocks * d)


def test_a_fast_driver_hides_behind_the_workers() -> None:
    found = simulate(100, 1, worker_seconds=[1.0], driver_seconds=0.25)
    assert found.written[-1] == pytest.approx(100.25)


def test_results_are_taken_in_the_order_of_the_blocks() -> None:
    """The first block takes long: the second worker runs out of blocks in flight and waits."""
    found = simulate(8, 2, worker_seconds=[10.0] + [1.0] * 7, driver_seconds=0.0)
    assert found.written == pytest.approx([10, 10, 10, 10, 11, 11, 12, 12])
    more = simulate(8, 2, worker_seconds=[10.0] + [1.0] * 7, driver_seconds=0.0, ahead=4)
    assert more.written == pytest.approx([10] * 8)


@given(
    st.integers(2, 60),
    st.integers(1, 12),
    st.lists(TIMES, min_size=1, max_size=7),
    st.floats(0, 3),
    st.floats(0, 3),
    st.one_of(st.just(math.inf), st.floats(0.5, 8)),
    st.integers(1, 4),
)
def test_it_is_never_faster_than_its_bounds(
    blocks: int,
    workers: int,
    seconds: list[float],
    d: float,
    wait: float,
    cores: float,
    ahead: int,
) -> None:
    def run() -> Simulated:
        return simulate(
            blocks,
            workers,
            worker_seconds=seconds,
            driver_seconds=d,
            waiting_seconds=wait,
            cores=cores,
            ahead=ahead,
        )

    found = run()
    given_ = [seconds[i % len(seconds)] for i in range(blocks)]
    whole = bound_rate(
        workers, worker_seconds=given_, driver_seconds=d, waiting_seconds=wait, cores=cores
    )
    assert len(found.written) == blocks
    assert list(found.written) == sorted(found.written)
    assert blocks / found.written[-1] <= whole.least * (1 + 1e-9)
    assert 0 <= found.worker_share <= 1 + 1e-9
    assert 0 <= found.driver_share <= 1 + 1e-9
    assert run() == found


@given(st.integers(1, 40), TIMES, TIMES, st.integers(1, 3))
def test_waiting_takes_no_core(blocks: int, w: float, wait: float, cores: int) -> None:
    """One worker on one core, and a driver that only waits: each block waits beside the next."""
    found = simulate(
        blocks, 1, worker_seconds=[w], driver_seconds=0.0, waiting_seconds=wait, cores=cores
    )
    assert found.written[-1] == pytest.approx(max(blocks * w + wait, w + blocks * wait))


def test_a_simulator_without_the_driver_would_be_caught() -> None:
    """The bound holds for the driver, too: a run that forgets it is faster than that."""
    forgot = simulate(50, 8, worker_seconds=[1.0], driver_seconds=0.0)
    whole = bound_rate(8, worker_seconds=[1.0], driver_seconds=0.5)
    assert 50 / forgot.written[-1] > whole.least == 2


@pytest.mark.parametrize("workers", [1, 3, 10, 100, 1000])
def test_throughput_saturates_at_the_driver(workers: int) -> None:
    w, d = 1.0, 0.1  # ten workers are as many as the driver can serve
    rate = simulate(20 * workers, workers, worker_seconds=[w], driver_seconds=d).rate
    assert rate == pytest.approx(min(workers / w, 1 / d), rel=0.1)


def test_the_rate_leaves_out_both_ends() -> None:
    steady = [100.0 + i for i in range(8)]
    assert find_rate(steady) == pytest.approx(1)
    assert find_rate([0, *steady[1:7], 500]) == pytest.approx(1)
    assert find_rate([1.0, 3.0]) == pytest.approx(0.5)
