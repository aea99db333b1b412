"""Simulate a run of a corpus on any number of workers, event by event.

The rules are those of `proxy.corpus.engines.pooled`. Workers take blocks from one queue. The
driver keeps a few blocks in flight for each worker, takes the results in the order of the blocks,
and charges and writes one at a time. It fills the queue only between two results. Nothing is
random: the same costs give the same times.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from proxy.corpus.engines import AHEAD

__all__ = ["Bounds", "Simulated", "bound_rate", "find_rate", "simulate"]

DRIVER = -1  # in the place of a block's number: the driver's own work


@dataclass(frozen=True)
class Simulated:
    """Hold the times of a simulated run.

    Attributes:
        written: seconds from the start until each block is written.
        worker_share: of the time, how much the average worker works.
        driver_share: of the time, how much the driver works or waits for the disk.
    """

    written: tuple[float, ...]
    worker_share: float
    driver_share: float

    @property
    def rate(self) -> float:
        """Return the blocks a second, see `find_rate`."""
        return find_rate(self.written)


@dataclass(frozen=True)
class Bounds:
    """Hold the most blocks a second that each part allows: workers, driver and cores."""

    workers: float
    driver: float
    cores: float

    @property
    def least(self) -> float:
        """Return the bound of the whole."""
        return min(self.workers, self.driver, self.cores)


def simulate(
    blocks: int,
    workers: int,
    *,
    worker_seconds: Sequence[float],
    driver_seconds: float,
    waiting_seconds: float = 0.0,
    cores: float = math.inf,
    ahead: int = AHEAD,
) -> Simulated:
    """Run so many blocks.

    Args:
        blocks: their number, at least 1.
        workers: processes that sanitize, at least 1.
        worker_seconds: a worker's time for each block, on a core of its own; begun again at its
            end.
        driver_seconds: the driver's time for each block, on a core of its own.
        waiting_seconds: its time for each block without a core, such as until the disk has it.
        cores: what all processes share, in equal parts; infinite if each has one of its own.
        ahead: blocks in flight for each worker.
    """
    clock = shared = 0.0  # `shared` is the work that each busy process has done since the start
    running: list[tuple[float, int]] = []  # the value of `shared` at the end, and the block
    queue: deque[int] = deque()
    finished: set[int] = set()
    written: list[float] = []
    submitted, idle, driving = 0, workers, False
    waiting = math.inf  # until when the driver waits
    worked = drove = 0.0
    while len(written) < blocks:
        if not driving and waiting == math.inf:
            head = len(written)
            more = range(submitted, min(blocks, head + workers * ahead))
            queue.extend(more)
            submitted += len(more)
            if head in finished:
                finished.remove(head)
                heapq.heappush(running, (shared + driver_seconds, DRIVER))
                driving = True
        while queue and idle:
            block = queue.popleft()
            seconds = worker_seconds[block % len(worker_seconds)]
            heapq.heappush(running, (shared + seconds, block))
            idle -= 1
        stretch = max(1.0, len(running) / cores)
        next_end = clock + (running[0][0] - shared) * stretch if running else math.inf
        now = min(next_end, waiting)
        worked += (now - clock) * (len(running) - driving)
        drove += (now - clock) * (driving or waiting < math.inf)
        shared = running[0][0] if next_end == now else shared + (now - clock) / stretch
        clock = now
        if waiting == now:
            waiting = math.inf
            written.append(clock)
            continue
        _, block = heapq.heappop(running)
        if block == DRIVER:
            driving, waiting = False, clock + waiting_seconds
        else:
            idle += 1
            finished.add(block)
    total = clock or 1.0
    return Simulated(tuple(written), worked / (workers * total), drove / total)


def bound_rate(
    workers: int,
    *,
    worker_seconds: Sequence[float],
    driver_seconds: float,
    waiting_seconds: float = 0.0,
    cores: float = math.inf,
) -> Bounds:
    """Return the most blocks a second that workers, driver and cores allow, each for itself."""
    each, whole = fmean(worker_seconds), driver_seconds + waiting_seconds
    return Bounds(
        workers=workers / each if each else math.inf,
        driver=1 / whole if whole else math.inf,
        cores=cores / (each + driver_seconds) if each + driver_seconds else math.inf,
    )


def find_rate(written: Sequence[float]) -> float:
    """Return the blocks a second between the first and the last quarter of a run.

    At the start workers are built, and at the end some have nothing left to do.

    Args:
        written: seconds at which each of at least two blocks was written, in order.
    """
    first, last = len(written) // 4, max(len(written) // 4 + 1, 3 * len(written) // 4)
    seconds = written[last] - written[first]
    return (last - first) / seconds if seconds else math.inf
