"""Record the ends of requests, many in one transaction, so that no answer waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial

from proxy.background import Background
from proxy.errors import ConfigError
from proxy.records.chain import Chain, find_head, find_values
from proxy.records.entries import Entry, write_loss
from proxy.records.retention import prune
from proxy.storage.databases.base import Connection
from proxy.storage.ledger import Ledger
from proxy.storage.store import SWEEP_SECONDS, Store

__all__ = ["Recorder", "recording"]

logger = logging.getLogger("inferdpt.records")
WRITE_SECONDS = 0.5  # for which ends are gathered
AT_ONCE = 100  # ends in one transaction
WAITING = 20_000  # ends that are kept while the store fails


class Recorder:
    """Write the ends of requests a moment after their answers. Use it from one event loop.

    A process that is killed loses the last moment's ends. The charges of those requests are in the
    record nevertheless. Ends that wait while the store fails are kept, `WAITING` of them; a row
    says how many were not.
    """

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._chain = Chain(store)
        self._waiting: defaultdict[str, list[Entry]] = defaultdict(list)
        self._count = 0  # of all that wait
        self._lost: Counter[str] = Counter()  # ends of each tenant for which there was no room
        self._tried: dict[str, int] = {}  # each tenant's last row before a write that failed
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._writing = asyncio.Lock()

    def end(self, tenant: str, entry: Entry) -> None:
        """Record the end of a tenant's request soon."""
        if self._count < WAITING:
            self._waiting[tenant].append(entry)
            self._count += 1
        else:
            self._lost[tenant] += 1
        self._wake.set()

    async def check(self) -> None:
        """Check that the store was begun under its secret.

        Raises:
            ApiError: the store failed.
            ConfigError: the store was begun under another secret. No release in it would be found
                again, and texts would be drawn afresh.
        """
        if not await self._store.scan(self._chain.began):
            raise ConfigError(
                f"the store's secret is not the one under which {self._store} was begun, or the "
                "first row of its record was changed or removed: give the proxy the secret that "
                "belongs to this database ($INFERDPT_SECRET, store.secret_file)"
            )

    async def flush(self) -> None:
        """Write what waits. What cannot be written waits on, whatever the reason; the first
        failure is raised after all tenants had their turn."""
        failures: list[Exception] = []
        async with self._writing:
            for tenant in [*self._waiting, *self._lost]:
                try:
                    while self._waiting[tenant] or self._lost[tenant]:
                        await self._write(tenant)
                except Exception as exc:
                    failures.append(exc)
                else:
                    del self._waiting[tenant], self._lost[tenant]
        if failures:
            logger.warning("the ends of %d requests wait", self._count)
            raise failures[0]

    async def _write(self, tenant: str) -> None:
        """Write a tenant's first ends, and forget them once they are written."""
        ends, lost = self._waiting[tenant][:AT_ONCE], self._lost[tenant]
        entries = [*ends, *([write_loss(lost)] if lost else ())]

        def work(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            new = entries
            if tenant in self._tried:  # what failed may have been committed all the same
                values = [entry.value for entry in entries]
                known = find_values(connection, tenant, self._tried[tenant], values)
                new = [entry for entry in entries if entry.value not in known]
            else:
                self._tried[tenant] = find_head(connection, tenant)
            if new:
                self._chain.append(connection, tenant, new)

        await self._store.write(work, lane=tenant, wait=False)
        self._tried.pop(tenant, None)
        del self._waiting[tenant][: len(ends)]
        self._lost[tenant] -= lost
        self._count -= len(ends)

    async def run(self, background: Background) -> None:
        """Write what waits, until `close`."""
        while not self._closing.is_set():
            await self._wake.wait()
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), WRITE_SECONDS)
            with background.survive("recorder"):
                await self.flush()
            if self._count:  # the store failed
                self._wake.set()
        if self._count:  # what came while the last ends were written
            with background.survive("recorder"):
                await self.flush()
        if lost := self._count + self._lost.total():
            logger.warning("the ends of %d requests are not in the record", lost)

    def close(self) -> None:
        """Let `run` write what waits and return."""
        self._closing.set()
        self._wake.set()


@asynccontextmanager
async def recording(
    store: Store, ledger: Ledger, days: float | None, background: Background
) -> AsyncIterator[Recorder]:
    """Yield the recorder of a store, and prune old rows while the block runs.

    Args:
        days: for which rows are kept; None is for ever.
    """
    recorder = Recorder(store, ledger)
    await recorder.check()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            background.running("recorder", recorder.run(background), stop=recorder.close)
        )
        if days is not None:
            step = partial(prune, store, ledger, days)
            await stack.enter_async_context(background.repeating("pruning", SWEEP_SECONDS, step))
        yield recorder
