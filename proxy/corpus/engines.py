"""Run a stage over blocks: in this process, in several, or on a Ray cluster.

Every engine yields the results in the order of the blocks, and holds few of them at a time.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa

from proxy.corpus.inputs.records import Block
from proxy.corpus.inputs.source import InputFiles
from proxy.corpus.stage import Recipe, Stage
from proxy.errors import ConfigError

__all__ = ["Engine", "Worker", "WorkerSpec", "in_process", "pooled"]

AHEAD = 2  # blocks in flight for each worker
LIVES = 5  # deaths of workers in a row, without a finished block, after which a run gives up


@dataclass(frozen=True)
class WorkerSpec:
    """Hold what a worker is built from.

    Attributes:
        source: the input.
        recipe: the sanitizer.
        key: the key of all draws.
    """

    source: InputFiles
    recipe: Recipe
    key: bytes = field(repr=False)


Engine = Callable[[WorkerSpec, Iterable[Block]], Iterator[tuple[Block, pa.Table]]]


class Worker:
    """Read and sanitize blocks. Built once in a process: its table and mechanism stay warm."""

    def __init__(self, job: WorkerSpec) -> None:
        self._source = job.source
        self._stage = Stage(job.recipe.build(), job.key)

    def __call__(self, block: Block) -> pa.Table:
        """Return the result of a block."""
        return self._stage(self._source.read(block))


def in_process(job: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
    """Run all blocks in this process."""
    worker = Worker(job)
    for block in blocks:
        yield block, worker(block)


def pooled(workers: int) -> Engine:
    """Return the engine that runs blocks in so many processes.

    A worker that dies, of a kill or a lack of memory, takes the pool with it; another is started,
    and the blocks in flight are run again, with the same releases.
    """

    def run(job: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
        source = iter(blocks)
        flying: deque[tuple[Block, Future[pa.Table]]] = deque()
        waiting: deque[Block] = deque()
        deaths = 0
        while True:
            pool = _start(job, workers)
            try:
                while True:
                    while len(flying) < workers * AHEAD:
                        waiting.extend(islice(source, not waiting))
                        if not waiting:
                            break
                        future = pool.submit(_run, waiting[0])
                        flying.append((waiting.popleft(), future))
                    if not flying:
                        return
                    block, future = flying[0]
                    result = future.result()
                    flying.popleft()
                    deaths = 0
                    yield block, result
            except BrokenProcessPool:
                waiting.extendleft(block for block, _ in reversed(flying))
                flying.clear()
                deaths += 1
                if deaths >= LIVES:
                    raise ConfigError(
                        f"workers died {deaths} times at or after block {waiting[0].number}: is "
                        "there enough memory for --workers?"
                    ) from None
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    return run


def _start(job: WorkerSpec, workers: int) -> ProcessPoolExecutor:
    # A fresh interpreter: a fork would copy the locks of the store's threads.
    return ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=_build, initargs=(job,)
    )


_worker: Worker | None = None  # of this process, in a pool


def _build(job: WorkerSpec) -> None:
    global _worker
    threading.Thread(target=_follow_parent, daemon=True).start()
    _worker = Worker(job)


def _follow_parent() -> None:
    """End with the parent, however it ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _run(block: Block) -> pa.Table:
    assert _worker is not None
    return _worker(block)
