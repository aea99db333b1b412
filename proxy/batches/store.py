"""Keep batches for their clients: make, find, list and cancel them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from sqlalchemy import case, func, select, tuple_, update

from proxy.access.auth import Client
from proxy.batches.files import ACTIVE, BATCH, HOUR, OUTPUT, Files, is_visible, no_such
from proxy.config.store import Batches as Settings
from proxy.errors import ApiError
from proxy.storage.digests import Digests, open_sealed, place_of, seal
from proxy.storage.ledger import Ledger
from proxy.storage.schema import BATCHES, FILES
from proxy.storage.store import Connection, Store

__all__ = ["Batch", "BatchStore"]

WINDOW_SECONDS = 24 * HOUR
KEPT = 50  # batches of a tenant, ended ones included, for each that may be in progress


@dataclass(frozen=True)
class Batch:
    """Describe a batch; times are seconds since 1970.

    Attributes:
        key: the id of the key that made it.
        output, refused: the ids of the files with its answers and its errors, which clients see
            once it has ended, unless they are empty.
        closes: when its completion window ends.
        ended: when it reached its last state.
    """

    id: str
    tenant: str
    key: str
    endpoint: str
    status: str
    input: str
    output: str
    refused: str
    errors: list[dict[str, Any]] | None
    metadata: Mapping[str, str] | None
    total: int
    completed: int
    failed: int
    created: float
    began: float | None
    cancelling: float | None
    ended: float | None
    closes: float


class BatchStore:
    """Keep the batches of all tenants. Use it from the event loop."""

    def __init__(self, store: Store, ledger: Ledger, files: Files, settings: Settings) -> None:
        self._store = store
        self._ledger = ledger
        self._files = files
        self._settings = settings
        self._digests = Digests(store)

    async def add(
        self,
        client: Client,
        endpoint: str,
        file: str,
        metadata: Mapping[str, str] | None,
        seconds: float | None,
    ) -> Batch:
        """Make a batch of a client's file, which is kept until the batch ends.

        Args:
            seconds: for which the answers are kept, at most as long as the operator allows.

        Raises:
            ApiError: 404, the client has no such file; 429, too many of its batches are in
                progress, or kept; 503, the store failed.
        """
        now, most = time.time(), self._settings.retention_hours * HOUR
        tenant, id_ = client.tenant, f"batch_{secrets.token_hex(16)}"
        closes, seconds = now + WINDOW_SECONDS, min(seconds or most, most)
        # All is forgotten then, even if no process runs the batch any more.
        last = closes + seconds
        output, refused = (f"file-{secrets.token_hex(16)}" for _ in range(2))
        value = seal(self._digests, json.dumps(metadata).encode(), *place_of(BATCHES, id_))
        row = {
            "id": id_,
            "tenant": tenant,
            "key": client.key,
            "endpoint": endpoint,
            "status": "validating",
            "value": value,
            "input": file,
            "output": output,
            "refused": refused,
            "total": 0,
            "completed": 0,
            "failed": 0,
            "retention": seconds,
            "created": now,
            "closes": closes,
            "forget": last,
        }
        answers = [
            {
                "id": each,
                "tenant": tenant,
                "purpose": OUTPUT,
                "ready": False,
                "bytes": 0,
                "value": self._files.seal_name(each, f"{id_}_{name}.jsonl"),
                "created": now,
                "expires": last,
            }
            for each, name in ((output, "output"), (refused, "error"))
        ]
        kept = select(func.count()).where(BATCHES.c.tenant == tenant)
        running = kept.where(BATCHES.c.status.in_(ACTIVE))
        mine = (FILES.c.id == file) & (FILES.c.tenant == tenant) & (FILES.c.purpose == BATCH)
        longer = case((FILES.c.expires > last, FILES.c.expires), else_=last)
        keep = update(FILES).where(mine & is_visible(now)).values(expires=longer)

        def work(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            limit = self._settings.tenant_batches
            if connection.scalar(running) >= limit:
                raise _too_many(f"At most {limit} batches may be in progress.")
            if connection.scalar(kept) >= limit * KEPT:
                raise _too_many(f"At most {limit * KEPT} batches are kept: wait for the oldest.")
            if not connection.execute(keep).rowcount:
                raise no_such("file", "input_file_id")
            connection.execute(BATCHES.insert(), row)
            connection.execute(FILES.insert(), answers)

        await self._store.write(work, lane=tenant)
        return await self.find(tenant, id_)

    async def find(self, tenant: str, id_: str) -> Batch:
        """Return a tenant's batch; raise `ApiError` 404 or 503."""
        query = self._select(tenant).where(BATCHES.c.id == id_)
        row = await self._store.read(lambda c: c.execute(query).first())
        if row is None:
            raise no_such("batch")
        return self._read(row)

    async def list_some(
        self, tenant: str, *, after: str | None, limit: int
    ) -> tuple[list[Batch], bool]:
        """Return batches of a tenant, the newest first, and whether there are more.

        Args:
            after: the id of the last batch of the page before.

        Raises:
            ApiError: 404, there is no batch `after`; 503, the store failed.
        """
        query = self._select(tenant)
        if after is not None:
            last = await self.find(tenant, after)
            place = tuple_(BATCHES.c.created, BATCHES.c.id)
            query = query.where(place < tuple_(last.created, last.id))
        query = query.order_by(BATCHES.c.created.desc(), BATCHES.c.id.desc()).limit(limit + 1)

        def run(connection: sqlalchemy.Connection) -> list[Batch]:
            return [self._read(row) for row in connection.execute(query)]

        found = await self._store.scan(run)
        return found[:limit], len(found) > limit

    async def cancel(self, tenant: str, id_: str) -> Batch:
        """Let a tenant's batch end after the lines that are being answered, and return it.

        Raises:
            ApiError: 404; 409, it has ended; 503, the store failed.
        """
        mine = (BATCHES.c.id == id_) & (BATCHES.c.tenant == tenant)
        change = update(BATCHES).where(mine, BATCHES.c.status.in_(("validating", "in_progress")))
        change = change.values(status="cancelling", cancelling=time.time())
        await self._store.write(lambda c: c.execute(change), lane=id_)
        batch = await self.find(tenant, id_)
        if batch.status != "cancelling":
            raise ApiError(
                409,
                f"A batch whose status is {batch.status} cannot be cancelled.",
                code="batch_ended",
                param="id",
            )
        return batch

    async def list_active(self) -> list[tuple[Batch, float | None]]:
        """Return the batches of all tenants that have not ended, the oldest first, without their
        metadata, each with the time until which a process runs it."""
        plain = [column for column in BATCHES.c if column is not BATCHES.c.value]
        query = select(*plain).where(BATCHES.c.status.in_(ACTIVE)).order_by(BATCHES.c.created)
        rows = await self._store.read(lambda c: c.execute(query).all())
        return [(_read(row, None), row.lease) for row in rows]

    def _select(self, tenant: str) -> Any:
        """Return the query for a tenant's batches. One that is forgotten is not there."""
        return select(BATCHES).where(BATCHES.c.tenant == tenant, BATCHES.c.forget > time.time())

    def _read(self, row: Any) -> Batch:
        sealed = open_sealed(self._digests, row.value, *place_of(BATCHES, row.id))
        return _read(row, json.loads(sealed))


def _too_many(message: str) -> ApiError:
    return ApiError(429, message, type="rate_limit_error", code="batch_limit_exceeded")


def _read(row: Any, metadata: Mapping[str, str] | None) -> Batch:
    names = (
        *("id", "tenant", "key", "endpoint", "status", "input", "output", "refused", "total"),
        *("completed", "failed", "created", "began", "cancelling", "ended", "closes"),
    )
    return Batch(
        **{name: getattr(row, name) for name in names},
        errors=None if row.errors is None else json.loads(row.errors),
        metadata=metadata,
    )
