"""Let one process at a time run a batch, and write what it answers.

A process holds a batch by a lease in its row and renews it while it lives. Every write checks the
lease, so a process that lost it, however late it notices, changes nothing any more.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, or_, select, update

from proxy.batches.files import ACTIVE, seal_line
from proxy.batches.store import Batch
from proxy.storage.digests import Digests
from proxy.storage.schema import BATCHES, FILE_LINES, FILES
from proxy.storage.store import Connection, Store

__all__ = ["LeaseLost", "Leases"]

_HELD = (BATCHES.c.id == bindparam("of")) & (BATCHES.c.owner == bindparam("me"))
_COUNT = (
    update(BATCHES)
    .where(_HELD)
    .values(
        completed=BATCHES.c.completed + bindparam("more"),
        failed=BATCHES.c.failed + bindparam("less"),
    )
)
_GROW = (
    update(FILES)
    .where(FILES.c.id == bindparam("of"))
    .values(bytes=FILES.c.bytes + bindparam("more"))
)
_DONE = select(FILE_LINES.c.number).where(
    FILE_LINES.c.file.in_(bindparam("files", expanding=True))
)
_ADD = FILE_LINES.insert()


class LeaseLost(Exception):
    """Report that another process runs the batch, or that it was purged."""


class Leases:
    """Hold the batches that this process runs. Use it from the event loop.

    Args:
        seconds: for which a lease holds.
    """

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._digests = Digests(store)
        self._me = secrets.token_hex(8)

    async def claim(self, batch: Batch) -> bool:
        """Take the lease of a batch, unless a process holds it. Raise `ApiError` 503."""
        now = time.time()
        free = or_(BATCHES.c.lease.is_(None), BATCHES.c.lease < now)
        mine = (BATCHES.c.id == batch.id) & free & BATCHES.c.status.in_(ACTIVE)
        change = update(BATCHES).where(mine)
        change = change.values(owner=self._me, lease=now + self._seconds)
        return bool(await self._store.write(lambda c: c.execute(change).rowcount, lane=batch.id))

    async def renew(self, batch: Batch) -> None:
        """Hold on to a lease.

        Raises:
            LeaseLost: it is another's.
            ApiError: 503, the store failed.
        """
        await self._change(batch, {"lease": time.time() + self._seconds})

    async def release(self, batch: Batch) -> None:
        """Give a lease back, so that another process may take it at once; raise as `renew`."""
        await self._change(batch, {"owner": None, "lease": None})

    async def begin(self, batch: Batch, lines: int) -> None:
        """Write that a batch is in progress, unless it is cancelled; raise as `renew`."""
        begin = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.status == "validating")
        begin = begin.values(status="in_progress", began=time.time())
        await self._change(batch, {"total": lines}, lambda c: c.execute(begin))

    async def list_done(self, batch: Batch) -> set[int]:
        """Return the numbers of the lines that were answered or refused; raise `ApiError` 503."""
        return set(
            await self._store.scan(
                lambda c: c.scalars(_DONE, {"files": [batch.output, batch.refused]}).all()
            )
        )

    async def put(
        self, batch: Batch, lines: Sequence[tuple[int, bytes]], *, answered: bool
    ) -> None:
        """Write lines of the output, or of the errors, under the numbers of the input's lines.

        Raises:
            LeaseLost: as `renew`.
            ApiError: 503, the store failed.
        """
        file, count = batch.output if answered else batch.refused, len(lines)
        rows = [seal_line(self._digests, file, *line) for line in lines]
        more = count if answered else 0
        counts = {"of": batch.id, "me": self._me, "more": more, "less": count - more}
        size = sum(len(line) for _, line in lines)

        def work(connection: Connection) -> None:
            if not connection.execute(_COUNT, counts).rowcount:
                raise LeaseLost
            connection.execute(_ADD, rows)
            connection.execute(_GROW, {"of": file, "more": size})

        await self._store.write(work, lane=batch.id)

    async def end(
        self, batch: Batch, status: str, errors: Sequence[dict[str, Any]] | None = None
    ) -> None:
        """Write that a batch has ended, open its answers to clients and remove its input.

        A batch that was cancelled meanwhile ends as cancelled.

        Raises:
            LeaseLost: as `renew`.
            ApiError: 503, the store failed.
        """
        now = time.time()
        one = BATCHES.c.id == batch.id
        said = None if errors is None else json.dumps(errors)
        last = update(BATCHES).where(one, BATCHES.c.status != "cancelling").values(status=status)
        cancelled = update(BATCHES).where(one, BATCHES.c.status == "cancelling")
        cancelled = cancelled.values(status="cancelled")
        answers = FILES.c.id.in_([batch.output, batch.refused])
        until = now + select(BATCHES.c.retention).where(one).scalar_subquery()
        others = select(func.count()).where(
            BATCHES.c.input == batch.input, BATCHES.c.status.in_(ACTIVE)
        )

        def work(connection: Connection) -> None:
            connection.execute(cancelled)
            connection.execute(last.where(BATCHES.c.status != "cancelled"))
            connection.execute(update(FILES).where(answers).values(ready=True, expires=until))
            connection.execute(delete(FILES).where(answers, FILES.c.bytes == 0))
            if not connection.scalar(others):
                input_ = update(FILES).where(FILES.c.id == batch.input)
                connection.execute(input_.values(expires=0.0))

        ended = {"ended": now, "forget": now + BATCHES.c.retention, "errors": said}
        await self._change(batch, {**ended, "owner": None, "lease": None}, work)
        await self._store.sweep_files(now)

    async def _change(self, batch: Batch, values: dict[str, Any], then: Any = None) -> None:
        """Change the row of a batch that this process holds, and do more in one transaction."""
        change = update(BATCHES).where(BATCHES.c.id == batch.id, BATCHES.c.owner == self._me)
        change = change.values(values)

        def work(connection: Connection) -> None:
            if not connection.execute(change).rowcount:
                raise LeaseLost
            if then is not None:
                then(connection)

        await self._store.write(work, lane=batch.id)
