"""Measure a run of a corpus: each part of its work alone, then the pool of processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil
import pyarrow as pa

from benchmarks.scale.simulate import find_rate
from perturb import load_table
from perturb.vocabulary.vocabulary import encode_text
from proxy.config.store import StoreSettings as Settings
from proxy.corpus.engines import Engine, Worker, WorkerSpec, pooled
from proxy.corpus.inputs.records import Block, Columns
from proxy.corpus.inputs.source import find_source
from proxy.corpus.ledger import Accounts, Charged
from proxy.corpus.output import open_output
from proxy.corpus.run import run_blocks
from proxy.corpus.stage import Recipe
from proxy.storage.opening import open_store

__all__ = ["Costs", "PoolRun", "build_job", "measure_costs", "measure_pool"]

DELTA = 1e-6
MEGABYTE = 1e6


@dataclass(frozen=True)
class Costs:
    """Hold the costs of a mechanism. Times are seconds a block, sizes bytes a document.

    Attributes:
        documents: of a block.
        worker: CPU time to read, sanitize and pack each block.
        receive: the driver's median CPU time to unpack a result.
        charge: its median time to charge a block, durable writes included.
        write: its median time to prepare and write one, durable writes included.
        waiting: the part of these two that took no CPU.
        read: of the input.
        moved: from a worker to the driver.
        written: of the output.
        tokens: cl100k tokens of the released text, which a remote would read.
    """

    mechanism: str
    documents: int
    worker: list[float]
    receive: float
    charge: float
    write: float
    waiting: float
    read: float
    moved: float
    written: float
    tokens: float

    @property
    def driver(self) -> float:
        """Return the driver's seconds for a block."""
        return self.receive + self.charge + self.write


@dataclass(frozen=True)
class PoolRun:
    """Hold a run on a pool.

    Attributes:
        rate: documents a second, in the middle half of the run.
        cpu: seconds of the workers for 1,000 documents, after their start.
        driver_mb, worker_mb: memory at the end (proportional set size), of the average worker.
        growth: memory of all of them at the end, over that after a quarter of the run.
        busy: cores that other programs took meanwhile.
    """

    mechanism: str
    workers: int
    documents: int
    rate: float
    cpu: float
    driver_mb: float
    worker_mb: float
    growth: float
    busy: float


def build_job(source: Path, mechanism: str, rows: int) -> WorkerSpec:
    """Return the job of a mechanism at its defaults, in blocks of so many documents."""
    found = find_source(str(source), Columns("text", "id", "owner"), rows)
    return WorkerSpec(found, Recipe(mechanism), bytes(32))  # the noise protects nobody here


class _TimedAccounts(Accounts):
    """Charge blocks and keep the seconds of each."""

    seconds: list[float]

    async def charge(self, documents: Sequence[Charged]) -> frozenset[int]:
        begin = time.perf_counter()
        refused = await super().charge(documents)
        self.seconds.append(time.perf_counter() - begin)
        return refused


def measure_costs(job: WorkerSpec, folder: Path) -> Costs:
    """Run all blocks in this process and time the parts. The first block warms up.

    Args:
        job: at least two blocks.
        folder: a new one, for the output and the store.
    """
    worker, receive, handled, waited, moved, tokens = [], [], [], [], [], []
    encoding = load_table(None, job.recipe.vocabulary).vocabulary.encoding

    def engine(job: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
        run = Worker(job)
        for block in blocks:
            begin = time.process_time()
            packed = pickle.dumps(run(block), pickle.HIGHEST_PROTOCOL)
            middle = time.process_time()
            result = pickle.loads(packed)
            end = time.process_time()
            worker.append(middle - begin)
            receive.append(end - middle)
            moved.append(len(packed))
            released = result["released"].to_pylist()
            tokens.append(sum(len(encode_text(text, encoding)) for text in released if text))
            begin, cpu = time.perf_counter(), time.process_time()
            yield block, result
            handled.append(time.perf_counter() - begin)
            waited.append(max(0.0, handled[-1] - (time.process_time() - cpu)))

    charges, documents = asyncio.run(_run(job, engine, folder))
    parts = folder / "out" / "data"
    size = sum(path.stat().st_size for path in parts.iterdir())
    first = next(iter(job.source.blocks())).count
    charge = median(charges[1:])
    return Costs(
        mechanism=job.recipe.mechanism,
        documents=first,
        worker=worker[1:],
        receive=median(receive[1:]),
        charge=charge,
        write=max(0.0, median(handled[1:]) - charge),
        waiting=median(waited[1:]),
        read=Path(job.source.url.removeprefix("file://")).stat().st_size / documents,
        moved=sum(moved) / documents,
        written=size / documents,
        tokens=sum(tokens) / documents,
    )


def measure_pool(job: WorkerSpec, folder: Path, workers: int) -> PoolRun:
    """Run all blocks on a pool of so many workers. Memory is read twice, since that takes time.

    Args:
        job: at least four blocks.
        folder: as for `measure_costs`.
    """
    written: list[float] = []
    looks: list[_Look] = []
    total = sum(1 for _ in job.source.blocks())

    def engine(job: WorkerSpec, blocks: Iterable[Block]) -> Iterator[tuple[Block, pa.Table]]:
        for number, found in enumerate(pooled(workers)(job, blocks)):
            if number in (total // 4, total - 1):
                looks.append(_look())
            yield found
            written.append(time.monotonic())

    _, documents = asyncio.run(_run(job, engine, folder))
    each = documents / total
    first, last = looks
    seconds = last.time - first.time
    own = last.worker_cpu - first.worker_cpu
    others = last.machine_cpu - first.machine_cpu - own - (last.driver_cpu - first.driver_cpu)
    return PoolRun(
        mechanism=job.recipe.mechanism,
        workers=workers,
        documents=documents,
        rate=find_rate(written) * each,
        cpu=own / ((total - 1 - total // 4) * each) * 1000,
        driver_mb=last.driver_mb,
        worker_mb=last.worker_mb / workers,
        growth=(last.driver_mb + last.worker_mb) / (first.driver_mb + first.worker_mb),
        busy=max(0.0, others / seconds),
    )


async def _run(job: WorkerSpec, engine: Engine, folder: Path) -> tuple[list[float], int]:
    """Run a job from an empty store; return the seconds of each charge, and the documents."""
    blocks = list(job.source.blocks())
    async with open_store(Settings(folder=str(folder / "state"))) as store:
        accounts = _TimedAccounts(store, delta=DELTA)
        accounts.seconds = []
        with open_output(folder / "out", job.source.format, {}) as output:
            await run_blocks(job, engine, blocks, output, accounts, lambda *_: None)
    return accounts.seconds, sum(block.count for block in blocks)


@dataclass(frozen=True)
class _Look:
    """Hold a look at the processes: the time, CPU seconds so far, and memory in MB."""

    time: float
    machine_cpu: float
    driver_cpu: float
    worker_cpu: float
    driver_mb: float
    worker_mb: float


def _look() -> _Look:
    driver = psutil.Process()
    workers = [psutil.Process(child.pid) for child in multiprocessing.active_children()]
    whole = psutil.cpu_times()
    return _Look(
        time.monotonic(),
        whole.user + whole.nice + whole.system + whole.irq + whole.softirq,
        time.process_time(),
        sum(each.user + each.system for each in (one.cpu_times() for one in workers)),
        driver.memory_full_info().pss / MEGABYTE,
        sum(one.memory_full_info().pss for one in workers) / MEGABYTE,
    )
