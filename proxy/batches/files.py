"""Keep the files of batches: their lines encrypted, each tenant's for itself."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy import bindparam, func, select, tuple_, update

from proxy.config.store import Batches as Settings
from proxy.errors import ApiError, not_found, too_large
from proxy.storage.digests import Digests, open_sealed, place_of, seal
from proxy.storage.ledger import Ledger
from proxy.storage.schema import BATCHES, FILE_LINES, FILES
from proxy.storage.store import Connection, Store

__all__ = ["ACTIVE", "BATCH", "OUTPUT", "File", "Files", "is_visible", "no_such", "seal_line"]

ACTIVE = ("validating", "in_progress", "cancelling")  # states of a batch that has not ended
BATCH, OUTPUT = "batch", "batch_output"  # purposes
PAGE_LINES, PAGE_BYTES = 200, 1_000_000  # read or written at once: requests run in between
UPLOAD_SECONDS = 600.0  # after which a file that was not written to its end is forgotten
HOUR = 3600.0
_PAGE = (
    select(FILE_LINES.c.number, FILE_LINES.c.value)
    .where(FILE_LINES.c.file == bindparam("id"), FILE_LINES.c.number > bindparam("last"))
    .order_by(FILE_LINES.c.number)
    .limit(PAGE_LINES)
)
_USED = select(func.count(), func.coalesce(func.sum(FILES.c.bytes), 0)).where(
    FILES.c.tenant == bindparam("of")
)
_ADD = FILE_LINES.insert()
_FINISH = (
    update(FILES)
    .where(FILES.c.id == bindparam("of"))
    .values(ready=True, expires=bindparam("until"))
)


@dataclass(frozen=True)
class File:
    """Describe a file; times are seconds since 1970."""

    id: str
    purpose: str
    name: str
    bytes: int
    created: float
    expires: float


def is_visible(now: float) -> Any:
    """Return the condition of a file that clients see."""
    return FILES.c.ready & (FILES.c.expires > now)


def no_such(what: str, param: str = "id") -> ApiError:
    """Return 404: there is none, or it is another tenant's."""
    error = not_found(f"No such {what}.")
    error.param = param
    return error


def seal_line(digests: Digests, file: str, number: int, line: bytes) -> dict[str, Any]:
    """Return the row of a line."""
    value = seal(digests, line, *place_of(FILE_LINES, file, number))
    return {"file": file, "number": number, "value": value}


class Files:
    """Keep the files of all tenants. Use it from the event loop."""

    def __init__(self, store: Store, ledger: Ledger, settings: Settings) -> None:
        self._store = store
        self._ledger = ledger
        self._settings = settings
        self._digests = Digests(store)

    async def add(
        self, tenant: str, name: str, lines: Sequence[bytes], seconds: float | None
    ) -> File:
        """Keep an uploaded file.

        Args:
            lines: with their line feeds.
            seconds: until it expires, at most as long as the operator allows.

        Raises:
            ApiError: 413, the tenant has too many files or too many bytes; 503, the store failed.
        """
        now, most = time.time(), self._settings.retention_hours * HOUR
        id_ = f"file-{secrets.token_hex(16)}"
        size = sum(map(len, lines))
        row = {
            "id": id_,
            "tenant": tenant,
            "purpose": BATCH,
            "ready": False,
            "bytes": size,
            "value": self.seal_name(id_, name),
            "created": now,
            "expires": now + UPLOAD_SECONDS,
        }

        def open_file(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            self._check_room(connection, tenant, size)
            connection.execute(FILES.insert(), row)

        await self._store.write(open_file, lane=tenant)
        first = 0
        while first < len(lines):
            rows = await asyncio.to_thread(self._seal_some, id_, lines, first)
            await self._store.write(partial(_add_lines, rows=rows), lane=id_, wait=False)
            first += len(rows)
        until = now + min(seconds or most, most)
        finish = {"of": id_, "until": until}
        await self._store.write(lambda c: c.execute(_FINISH, finish), lane=id_)
        return File(id_, BATCH, name, size, now, until)

    async def find(self, tenant: str, id_: str) -> File:
        """Return a tenant's file; raise `ApiError` 404 or 503."""
        mine = (FILES.c.id == id_) & (FILES.c.tenant == tenant) & is_visible(time.time())
        row = await self._store.read(lambda c: c.execute(select(FILES).where(mine)).first())
        if row is None:
            raise no_such("file")
        return self._read(row)

    async def list_some(
        self,
        tenant: str,
        *,
        purpose: str | None,
        after: str | None,
        limit: int,
        newest_first: bool,
    ) -> tuple[list[File], bool]:
        """Return files of a tenant in the order of their making, and whether there are more.

        Args:
            after: the id of the last file of the page before.

        Raises:
            ApiError: 404, there is no file `after`; 503, the store failed.
        """
        place = tuple_(FILES.c.created, FILES.c.id)
        query = select(FILES).where(FILES.c.tenant == tenant, is_visible(time.time()))
        if purpose is not None:
            query = query.where(FILES.c.purpose == purpose)
        if after is not None:
            last = await self.find(tenant, after)
            start = tuple_(last.created, last.id)
            query = query.where(place < start if newest_first else place > start)
        order = [column.desc() if newest_first else column for column in place]
        query = query.order_by(*order).limit(limit + 1)

        def run(connection: sqlalchemy.Connection) -> list[File]:
            return [self._read(row) for row in connection.execute(query)]

        found = await self._store.scan(run)
        return found[:limit], len(found) > limit

    async def delete(self, tenant: str, id_: str) -> None:
        """Delete a tenant's file.

        Raises:
            ApiError: 404; 409, a batch that has not ended uses it; 503, the store failed.
        """
        now = time.time()
        used = select(BATCHES.c.id).where(BATCHES.c.input == id_, BATCHES.c.status.in_(ACTIVE))
        mine = (FILES.c.id == id_) & (FILES.c.tenant == tenant) & is_visible(now)

        def work(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            if connection.scalar(used) is not None:
                raise ApiError(
                    409, "A batch uses this file: cancel it first.", code="file_in_use", param="id"
                )
            if not connection.execute(update(FILES).where(mine).values(expires=0.0)).rowcount:
                raise no_such("file")

        await self.find(tenant, id_)
        await self._store.write(work, lane=tenant)
        await self._store.sweep_files(now)

    async def read(self, id_: str) -> AsyncIterator[list[tuple[int, bytes]]]:
        """Yield the lines of a file with their numbers, some at a time.

        Raises:
            ApiError: 500, a line was changed; 503, the store failed.
        """
        last = -1
        while True:
            rows = await self._store.read(partial(_read_page, id_=id_, last=last))
            if not rows:
                return
            yield await asyncio.to_thread(self._open_some, id_, rows)
            last = rows[-1].number

    def seal_name(self, id_: str, name: str) -> bytes:
        """Return the encrypted name of a file."""
        return seal(self._digests, json.dumps(name).encode(), *place_of(FILES, id_))

    def _check_room(self, connection: Connection, tenant: str, size: int) -> None:
        """Check that a tenant may have one more file of a size; raise `ApiError`."""
        count, used = connection.execute(_USED, {"of": tenant}).all()[0]
        settings = self._settings
        if count >= settings.tenant_files:
            raise too_large(
                f"There may be at most {settings.tenant_files} files: delete some, or wait until "
                "they expire.",
                param="file",
            )
        if used + size > settings.tenant_bytes:
            raise too_large(
                f"All files together may have at most {settings.tenant_bytes} bytes: delete some, "
                "or wait until they expire.",
                param="file",
            )

    def _seal_some(self, id_: str, lines: Sequence[bytes], first: int) -> list[dict[str, Any]]:
        """Return the rows of the next lines, few enough for one transaction."""
        rows: list[dict[str, Any]] = []
        size = 0
        for number, line in enumerate(lines[first : first + PAGE_LINES], start=first + 1):
            size += len(line)
            if rows and size > PAGE_BYTES:
                break
            rows.append(seal_line(self._digests, id_, number, line))
        return rows

    def _open_some(self, id_: str, rows: Sequence[Any]) -> list[tuple[int, bytes]]:
        return [
            (
                row.number,
                open_sealed(self._digests, row.value, *place_of(FILE_LINES, id_, row.number)),
            )
            for row in rows
        ]

    def _read(self, row: Any) -> File:
        name = json.loads(open_sealed(self._digests, row.value, *place_of(FILES, row.id)))
        return File(row.id, row.purpose, name, row.bytes, row.created, row.expires)


def _add_lines(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(_ADD, rows)


def _read_page(connection: Connection, id_: str, last: int) -> Sequence[Any]:
    return connection.execute(_PAGE, {"id": id_, "last": last}).all()
