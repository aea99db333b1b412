"""Hold the store: the one database that outlives the process and that replicas share.

It is a SQLite file under the state directory, or PostgreSQL for several proxies. It holds only
what the remote already knows, keyed hashes, counters and encrypted rows (proxy.storage.schema).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import Table, delete, func, select, true, tuple_

from proxy.errors import bad_request, store_unavailable
from proxy.storage.databases.base import DRIVER_ERRORS, Connection, Database, Scan, Work
from proxy.storage.schema import (
    ACCOUNTS,
    ANSWERS,
    BATCHES,
    CHARGES,
    DISCLOSURES,
    FILE_LINES,
    FILES,
    KEYS,
    OWNERS,
    PASSAGES,
    RATES,
    RECORDS,
    RELEASES,
    SESSIONS,
    SPENDS,
)

__all__ = ["SIGN_IN_SECONDS", "SWEEP_SECONDS", "Store"]

SWEEP_SECONDS = 600.0
SIGN_IN_SECONDS = 600.0  # for signing in; a session's row stays as long, so that none begins twice
COUNTED = (
    RELEASES,
    ANSWERS,
    PASSAGES,
    ACCOUNTS,
    SPENDS,
    DISCLOSURES,
    RECORDS,
    KEYS,
    FILES,
    FILE_LINES,
    BATCHES,
    OWNERS,
    CHARGES,
)
NO_CHARACTER = "22021"  # PostgreSQL's SQLSTATE for a NUL in a text, say
BATCH = 200  # rows deleted in one transaction, so that requests run in between
T = TypeVar("T")


class Store:
    """Run transactions in the database. Use it from one event loop.

    A transaction is a function of a connection. It is run again if another process holds the
    database's lock, so it must have no other effect.

    Args:
        database: runs the transactions.
        secret: the key of all digests.
        name: of the database, for people.
    """

    def __init__(self, database: Database, secret: bytes, name: str) -> None:
        self.secret = secret
        self._database = database
        self._name = name
        self._dirty = True  # the log may hold deleted lines of files, from before a crash, too

    def with_secret(self, secret: bytes) -> Store:
        """Return the same store under another secret."""
        return Store(self._database, secret, self._name)

    @property
    def file(self) -> Path | None:
        """Return the SQLite file; None for PostgreSQL."""
        return self._database.file

    async def read(self, work: Work[T]) -> T:
        """Read a few rows by their keys; each statement sees what is committed by then.

        Raises:
            ApiError: 503, the database failed, or the file is not the one that was opened.
        """
        with _MAP:
            return await self._database.read(work)

    async def scan(self, work: Scan[T]) -> T:
        """Run a transaction that may read many rows; raise `ApiError` as `read` does."""
        with _MAP:
            return await self._database.scan(work)

    async def migrate(self, work: Scan[T]) -> T:
        """Run a transaction that may change the schema; raise `ApiError` as `read` does."""
        with _MAP:
            return await self._database.migrate(work)

    async def write(self, work: Work[T], *, lane: str = "", wait: bool = True) -> T:
        """Run a transaction that writes. Nothing of it counts if it raises.

        Args:
            lane: the tenant whose account the transaction locks. Of one lane, one runs at a time.
            wait: whether to return only when all of it is durable. Otherwise it survives the
                process, but not the machine.

        Raises:
            ApiError: as `read` does.
        """
        with _MAP:
            return await self._database.write(work, lane=lane, wait=wait)

    def insert(self, table: Table) -> Any:
        """Return the dialect's INSERT, which has `on_conflict_do_…`."""
        return self._database.insert(table)

    async def sweep(self, ttl: float, rows: int, *, now: float | None = None) -> int:
        """Forget old rows and return their number.

        Days and totals of the ledger stay.

        Args:
            ttl: seconds without use after which a row is forgotten.
            rows: the most texts of one tenant, and the most answers. The ones unused for the
                longest time are forgotten.
            now: seconds since 1970; None for the present.
        """
        now = time.time() if now is None else now
        gone = 0
        for table in (RELEASES, ANSWERS, PASSAGES, ACCOUNTS):
            old = table.c.used < now - ttl
            if table is ACCOUNTS:
                old &= table.c.scope == "conversation"
            gone += await self._delete(table, old)
        await self._delete(RATES, RATES.c.full_at < now)  # a full bucket is the same as none
        await self._delete(SESSIONS, SESSIONS.c.expires < now - SIGN_IN_SECONDS)
        gone += await self.sweep_files(now)
        for table in (RELEASES, ANSWERS, PASSAGES):
            for tenant, limit in await self._beyond(table, rows):
                gone += await self._delete(
                    table, (table.c.tenant == tenant) & (table.c.used <= limit)
                )
        return gone

    async def sweep_files(self, now: float) -> int:
        """Forget files that have expired and batches that ended long ago; return their rows."""
        gone = await self._delete_files(FILES.c.expires < now)
        gone += await self._delete(BATCHES, BATCHES.c.forget < now)
        self._dirty |= bool(gone)
        if self._dirty:
            await self._empty_log(wait=False)
        return gone

    async def _delete_files(self, where: Any) -> int:
        """Delete files, their lines first: one transaction for all of them would take long."""
        some = select(FILES.c.id).where(where)
        gone = await self._delete(FILE_LINES, FILE_LINES.c.file.in_(some))
        return gone + await self._delete(FILES, where)

    async def _beyond(self, table: Table, rows: int) -> list[tuple[str, float]]:
        """Return the tenants with more than `rows` rows, each with the last use of its newest
        excess row.

        The limit is per tenant: one tenant's texts never push out another's, which would be drawn
        afresh.
        """
        many = select(table.c.tenant).group_by(table.c.tenant).having(func.count() > rows)

        def find(connection: sqlalchemy.Connection) -> list[tuple[str, float]]:
            found = []
            for tenant in connection.scalars(many).all():
                newest = select(table.c.used).where(table.c.tenant == tenant)
                query = newest.order_by(table.c.used.desc()).offset(rows).limit(1)
                found.append((tenant, connection.scalars(query).one()))
            return found

        return await self.scan(find)

    async def purge(
        self, *, before: float | None = None, tenant: str | None = None, ledger: bool = False
    ) -> int:
        """Forget texts, answers, files and batches now and return the number of rows.

        Args:
            before: only those last used before this time (seconds since 1970). Files and batches
                count from when they were made.
            tenant: only this tenant's.
            ledger: forget the accounts, too; budgets start anew. Those of the owners of corpora
                belong to no tenant and no time: they go only with all others.
        """

        def choose(table: Table, time: str) -> Any:
            where = true() if before is None else table.c[time] < before
            return where if tenant is None else where & (table.c.tenant == tenant)

        gone = await self._delete(BATCHES, choose(BATCHES, "created"))
        gone += await self._delete_files(choose(FILES, "created"))
        if ledger and before is None and tenant is None:
            gone += await self.write(_delete_owners)
        for table in (RELEASES, ANSWERS, PASSAGES, *((ACCOUNTS,) if ledger else ())):
            gone += await self._delete(table, choose(table, "used"))
        await self._empty_log(wait=True)
        return gone

    async def _empty_log(self, *, wait: bool) -> None:
        """Empty the database's log: deleted rows stay in it until then. If a reader is in the
        way and is not waited for, the next sweep does it."""
        with _MAP:
            self._dirty = not await self._database.empty_log(wait=wait)

    async def _delete(self, table: Table, where: Any) -> int:
        key = tuple_(*table.primary_key)
        some = select(*table.primary_key).where(where).limit(BATCH)
        # `where` again: PostgreSQL re-reads a row that was used meanwhile.
        statement = delete(table).where(key.in_(some), where)
        gone, last = 0, BATCH
        while last == BATCH:
            last = await self.write(lambda connection: connection.execute(statement).rowcount)
            gone += last
        return gone

    async def ping(self) -> None:
        """Check that the database answers; raise `ApiError` if not."""
        await self.scan(lambda connection: connection.scalar(select(1)))

    async def info(self) -> dict[str, int]:
        """Return the number of rows of each table, and the database's size in bytes."""

        def count(connection: sqlalchemy.Connection) -> dict[str, int]:
            out = {}
            for table in COUNTED:
                found = connection.scalar(select(func.count()).select_from(table))
                out[table.name] = int(found or 0)
            size = self._database.size()
            if size is None:
                query = select(func.pg_database_size(func.current_database()))
                size = int(connection.scalar(query) or 0)
            return {**out, "bytes": size}

        return await self.scan(count)

    async def close(self) -> None:
        """Close all connections."""
        await self._database.close()

    def __str__(self) -> str:
        return self._name


def _delete_owners(connection: Connection) -> int:
    """Forget the owners of corpora and their charges: in one transaction, or a release could stay
    known, and so be free, whose charge is gone."""
    return sum(connection.execute(delete(table)).rowcount for table in (OWNERS, CHARGES))


class _ErrorMap:
    """Map the database's errors to `ApiError`, in a `with` block."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, exc: BaseException | None, _: object) -> None:
        if isinstance(exc, DRIVER_ERRORS):
            if getattr(getattr(exc, "orig", exc), "sqlstate", None) == NO_CHARACTER:
                message = "An id or a name has a character that the store cannot hold."
                raise bad_request(message, code="invalid_value") from exc
            raise store_unavailable() from exc


_MAP = _ErrorMap()
