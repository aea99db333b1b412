"""Find batches that nobody runs, and run some of them at once in this process."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from proxy.batches.leases import LeaseLost
from proxy.batches.run import BatchRun, Tools
from proxy.batches.store import BatchStore
from proxy.errors import ApiError

__all__ = ["BatchRunner"]

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
