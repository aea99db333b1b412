"""Record the ends of requests, many in one transaction, so that no answer waits for them."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from proxy.errors import ApiError, ConfigError
from proxy.records.chain import Chain
from proxy.records.entries import Entry
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
    record nevertheless.
    """

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._chain = Chain(store)
        self._waiting: list[tuple[str, Entry]] = []
        self._lost = 0
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._writing = asyncio.Lock()

    def end(self, tenant: str, entry: Entry) -> None:
        """Record the end of a tenant's request soon."""
        if len(self._waiting) < WAITING:
            self._waiting.append((tenant, entry))
        else:
            self._lost += 1
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
        """Write what waits. What cannot be written waits on."""
        async with self._writing:
            waiting, self._waiting = self._waiting, []
            ends: defaultdict[str, list[Entry]] = defaultdict(list)
            for tenant, entry in waiting:
                ends[tenant].append(entry)
            for tenant, entries in ends.items():
                for first in range(0, len(entries), AT_ONCE):
                    await self._write(tenant, entries[first : first + AT_ONCE])

    async def _write(self, tenant: str, entries: Sequence[Entry]) -> None:
        def work(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            self._chain.append(connection, tenant, entries)

        try:
            await self._store.write(work, lane=tenant, wait=False)
        except ApiError:
            self._waiting += [(tenant, entry) for entry in entries]
            logger.warning("the ends of %d requests wait: the store failed", len(self._waiting))

    async def run(self) -> None:
        """Write what waits, until `close`."""
        while not self._closing.is_set():
            await self._wake.wait()
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), WRITE_SECONDS)
            await self.flush()
            if self._waiting:  # the store failed
                self._wake.set()
        if lost := self._lost + len(self._waiting):
            logger.warning("the ends of %d requests are not in the record", lost)

    def close(self) -> None:
        """Let `run` write what waits and return."""
        self._closing.set()
        self._wake.set()


@asynccontextmanager
async def recording(store: Store, ledger: Ledger, days: float | None) -> AsyncIterator[Recorder]:
    """Yield the recorder of a store, and prune old rows while the block runs.

    Args:
        days: for which rows are kept; None is for ever.
    """
    recorder = Recorder(store, ledger)
    await recorder.check()
    writing = asyncio.create_task(recorder.run())
    pruning = asyncio.create_task(_keep_pruned(store, ledger, days))
    try:
        yield recorder
    finally:
        pruning.cancel()
        recorder.close()
        await asyncio.wait([pruning, writing])


async def _keep_pruned(store: Store, ledger: Ledger, days: float | None) -> None:
    while days is not None:
        try:
            await prune(store, ledger, days)
        except ApiError:
            logger.warning("old rows could not be pruned: the store failed")
        await asyncio.sleep(SWEEP_SECONDS)
