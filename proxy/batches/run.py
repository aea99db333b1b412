"""Find batches that nobody runs, and run some of them at once in this process: check the lines of
each, answer them, end it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from proxy.access.admission import Admission, Hold
from proxy.api.app_keys import (
    ADMISSION,
    BACKGROUND,
    CONFIG,
    CURRENT,
    LEDGER,
    METRICS,
    STORE,
)
from proxy.background import Background
from proxy.batches.files import Files
from proxy.batches.leases import LeaseLost, Leases
from proxy.batches.lines import LineAnswerer, read_line, spell_late
from proxy.batches.store import Batch, BatchStore
from proxy.errors import ApiError
from proxy.metrics import Metrics

__all__ = ["BATCHES", "FILES", "RUNNER", "BatchRun", "BatchRunner", "Tools", "running_batches"]

ERRORS = 20  # the most errors of a file that a batch lists
LATE = 100  # errors that are written in one transaction
RENEWALS = 3  # of a lease, in the time that it holds


@dataclass(frozen=True)
class Tools:
    """Hold what runs batches."""

    files: Files
    leases: Leases
    answerer: LineAnswerer
    admission: Admission
    metrics: Metrics
    background: Background
    lease_seconds: float


class BatchRun:
    """Run a batch until it ends or its lease is lost."""

    def __init__(self, batch: Batch, tools: Tools) -> None:
        self.batch = batch
        self._tools = tools
        self._cancelled = batch.status == "cancelling"
        self._late = False
        self._feeding: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Stop before the next line; the batch ends after those that are being answered."""
        self._cancelled = True
        if self._feeding is not None:
            self._feeding.cancel()

    async def run(self) -> None:
        """Run the batch.

        Raises:
            ExceptionGroup: of `LeaseLost`, or of `ApiError` where the store failed.
        """
        async with asyncio.TaskGroup() as group:
            keeping = group.create_task(self._keep())
            await self._run()
            keeping.cancel()

    async def _run(self) -> None:
        leases = self._tools.leases
        errors = await self._check() if self.batch.status == "validating" else []
        if errors:
            await leases.end(self.batch, "failed", errors)
            return
        if not self._cancelled:
            async with asyncio.TaskGroup() as group:
                self._feeding = group.create_task(self._feed(group))
                if self._cancelled:
                    self._feeding.cancel()
        if self._cancelled:
            await leases.end(self.batch, "cancelled")
        elif self._late:
            await leases.end(self.batch, await self._refuse_late())
        else:
            await leases.end(self.batch, "completed")

    async def _keep(self) -> None:
        """Renew the lease while the batch runs."""
        while True:
            await asyncio.sleep(self._tools.lease_seconds / RENEWALS)
            try:
                await self._tools.leases.renew(self.batch)
            except ApiError as exc:  # there is time for another attempt, or the lease is lost
                self._tools.background.note("lease renewals", exc)

    async def _check(self) -> list[dict[str, object]]:
        """Check that every line can be told from the others, before any is answered.

        Returns:
            An error for each line that cannot; else none, and the batch is in progress.
        """
        errors: list[dict[str, object]] = []
        names: set[str] = set()
        count = 0
        async for page in self._tools.files.read(self.batch.input):
            count += sum(not _is_blank(data) for _, data in page)
            errors += await asyncio.to_thread(self._find_errors, page, names)
            if len(errors) >= ERRORS:
                return errors[:ERRORS]
        if not count:
            return [_describe(1, "empty_file", "The file has no lines.", None)]
        if not errors:
            await self._tools.leases.begin(self.batch, count)
        return errors

    def _find_errors(
        self, page: list[tuple[int, bytes]], names: set[str]
    ) -> list[dict[str, object]]:
        errors = []
        for number, data in page:
            if _is_blank(data):
                continue
            try:
                name = read_line(data, self._tools.answerer.limits).custom_id
            except ApiError as exc:
                errors.append(_describe(number, exc.code, exc.message, exc.param))
                continue
            if name in names:
                message = "'custom_id' is that of an earlier line."
                errors.append(_describe(number, "duplicate_custom_id", message, "custom_id"))
            names.add(name)
        return errors

    async def _feed(self, group: asyncio.TaskGroup) -> None:
        """Begin one line after the other while there is room, until the window is over."""
        left = self.batch.closes - time.time()
        if left <= 0:
            self._late = True
            return
        try:
            async with asyncio.timeout(left):
                async for number, data in self._read_rest():
                    await self._tools.answerer.wait_for_rate(self.batch)
                    hold = await self._tools.admission.admit_line(self.batch.tenant)
                    task = group.create_task(self._answer(number, data))
                    task.add_done_callback(partial(_give_back, hold))
        except TimeoutError:
            self._late = True

    async def _answer(self, number: int, data: bytes) -> None:
        answered, line = await self._tools.answerer.answer(self.batch, data)
        await self._tools.leases.put(self.batch, [(number, line)], answered=answered)

    async def _read_rest(self) -> AsyncIterator[tuple[int, bytes]]:
        """Yield the lines that no process has answered, with their numbers."""
        done = await self._tools.leases.list_done(self.batch)
        async for page in self._tools.files.read(self.batch.input):
            for number, data in page:
                if number not in done and not _is_blank(data):
                    yield number, data

    async def _refuse_late(self) -> str:
        """Write an error for each line that is left, and return the batch's last state."""
        late: list[tuple[int, bytes]] = []
        status = "completed"
        async for number, data in self._read_rest():
            status = "expired"
            late.append((number, spell_late(data, self._tools.answerer.limits)))
            if len(late) == LATE:
                await self._put_late(late)
                late = []
        if late:
            await self._put_late(late)
        return status

    async def _put_late(self, late: list[tuple[int, bytes]]) -> None:
        await self._tools.leases.put(self.batch, late, answered=False)
        self._tools.metrics.batch_lines.labels("late").inc(len(late))


def _give_back(hold: Hold, _: object) -> None:
    hold.shrink(0)


def _is_blank(data: bytes) -> bool:
    return not data.strip()


def _describe(line: int, code: str | None, message: str, param: str | None) -> dict[str, object]:
    return {"line": line, "code": code, "message": message, "param": param}


logger = logging.getLogger("inferdpt.batches")
# Batches of one tenant that one process runs. Their lines may all wait for a rate limit, so other
# tenants do not wait for their ends. The lines of all batches share the process's places.
AT_ONCE = 2
POLL_SECONDS = 1.0


class BatchRunner:
    """Run batches, those of other processes that died included. Use it from one event loop."""

    def __init__(self, batches: BatchStore, tools: Tools) -> None:
        self._batches = batches
        self._tools = tools
        self._background = tools.background
        self._runs: dict[str, tuple[BatchRun, asyncio.Task[None]]] = {}
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Look for batches now."""
        self._wake.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run batches during the block. What is not finished then is left to the next process."""
        try:
            async with self._background.running("batches", self._look()):
                yield
        finally:
            tasks = [task for _, task in self._runs.values()]
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _look(self) -> None:
        while True:
            self._wake.clear()
            with self._background.survive("batches"):
                await self._start_some()
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._wake.wait()

    async def _start_some(self) -> None:
        """Start batches that nobody runs, and stop those of ours that were cancelled."""
        active = await self._batches.list_active()
        for batch, _ in active:
            if batch.status == "cancelling" and batch.id in self._runs:
                self._runs[batch.id][0].cancel()
        now = time.time()
        ours = Counter(run.batch.tenant for run, _ in self._runs.values())
        for batch, lease in active:
            free = batch.id not in self._runs and (not lease or lease <= now)
            if not free or ours[batch.tenant] >= AT_ONCE:
                continue
            if await self._tools.leases.claim(batch):
                ours[batch.tenant] += 1
                run = BatchRun(batch, self._tools)
                self._runs[batch.id] = run, asyncio.create_task(self._follow(run))

    async def _follow(self, run: BatchRun) -> None:
        """Run a batch that was claimed. One that fails is continued once its lease is over."""
        try:
            await self._try(run)
        except asyncio.CancelledError:
            with suppress(ApiError, LeaseLost):
                await self._tools.leases.release(run.batch)
            raise
        finally:
            del self._runs[run.batch.id]
            self.wake()

    async def _try(self, run: BatchRun) -> None:
        batch = run.batch
        try:
            await run.run()
        except* LeaseLost:
            logger.warning("batch %s is run by another process, or is gone", batch.id)
        except* Exception as group:
            logger.warning("batch %s waits until its lease is over", batch.id)
            self._background.note("batches", group.exceptions[0])


FILES = web.AppKey("files", Files)
BATCHES = web.AppKey("batches", BatchStore)
RUNNER = web.AppKey("runner", BatchRunner)


@asynccontextmanager
async def running_batches(app: web.Application) -> AsyncIterator[None]:
    """Serve and run batches during the block, if the operator wants them."""
    settings, store, ledger = app[CONFIG].batches, app[STORE], app[LEDGER]
    if not settings.enabled:
        yield
        return
    app[FILES] = files = Files(store, ledger, settings)
    app[BATCHES] = batches = BatchStore(store, ledger, files, settings)
    tools = Tools(
        files=files,
        leases=Leases(store, settings.lease_seconds),
        answerer=LineAnswerer(app[CURRENT]),
        admission=app[ADMISSION],
        metrics=app[METRICS],
        background=app[BACKGROUND],
        lease_seconds=settings.lease_seconds,
    )
    app[RUNNER] = runner = BatchRunner(batches, tools)
    async with runner.running():
        yield
