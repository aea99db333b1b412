"""Charges with their rows in a store, without a proxy; and the faults that a check finds."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select

from perturb import EmbeddingTable, Perturber, Sanitizer, get_mechanism
from proxy.access.auth import Client, Visit
from proxy.config.store import StoreSettings as Settings
from proxy.records.chain import Chain, write_charge, write_end
from proxy.records.check import check_records
from proxy.storage.ledger import Ledger, Price
from proxy.storage.opening import open_store
from proxy.storage.schema import ACCOUNTS, RECORDS
from proxy.storage.store import Store

__all__ = ["Book", "book", "faults"]

PRICE = Price(3, proved=1.1, unbounded=2)
TABLES = (RECORDS, ACCOUNTS)


class Book:
    """A store, its ledger and its record."""

    def __init__(self, store: Store, sanitizer: Sanitizer) -> None:
        self.store = store
        self.ledger = Ledger(store, delta=1e-6)
        self.chain = Chain(store)
        self._sanitizer = sanitizer
        self._count = 0

    async def charge(self, tenant: str, *, at: float | None = None, end: bool = True) -> str:
        """Charge a request, and record its end; return its id."""
        self._count += 1
        visit = Visit(f"req_{self._count}", "/v1/completions", at or time.time())
        client = Client(tenant, visit=visit)

        def charge(connection: Any) -> None:
            self.ledger.lock(connection, tenant)
            cost = self.ledger.charge(connection, tenant, [("c", PRICE)], budgets={})
            entry = write_charge(client, "m", "default", self._sanitizer, [], {}, cost)
            self.chain.append(connection, tenant, [entry])

        await self.store.write(charge, lane=tenant)
        if end:
            await self.end(client)
        return visit.request

    async def end(self, client: Client, times: int = 1) -> None:
        """Record the end of a request, or of several."""
        facts: dict[str, Any] = {"error": None, "seconds": 0.25, "model": "m", "remote": ["empty"]}

        def write(connection: Any) -> None:
            self.ledger.lock(connection, client.tenant)
            entry = write_end(client, status=200, **facts)
            self.chain.append(connection, client.tenant, [entry] * times)

        await self.store.write(write, lane=client.tenant)

    async def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of the record and of the accounts."""

        def read(connection: Connection) -> Any:
            order = (RECORDS.c.tenant, RECORDS.c.number)
            return {
                "records": _list_rows(connection, select(RECORDS).order_by(*order)),
                "accounts": _list_rows(connection, select(ACCOUNTS)),
            }

        return await self.store.scan(read)

    async def put(self, rows: dict[str, list[dict[str, Any]]]) -> None:
        """Replace the rows of the record and of the accounts."""

        def put(connection: Any) -> None:
            for table in TABLES:
                connection.execute(delete(table))
                if rows[table.name]:
                    connection.execute(table.insert(), rows[table.name])

        await self.store.write(put)


def _list_rows(connection: Connection, query: Any) -> list[dict[str, Any]]:
    return [dict(row._mapping) for row in connection.execute(query)]


@pytest.fixture
async def book(database: dict[str, Any], table: EmbeddingTable) -> AsyncIterator[Book]:
    """Three requests of two tenants, each: a has an unfinished one, too."""
    sanitizer = Perturber(get_mechanism("rantext_ldp", table, epsilon=6))
    async with open_store(Settings(**database)) as store:
        made = Book(store, sanitizer)
        for tenant in ("a", "b", "a", "b", "a", "b"):
            await made.charge(tenant)
        await made.charge("a", end=False)
        yield made


async def faults(store: Store, noted: Any = None) -> dict[str, str]:
    """Return what is wrong with each tenant, "" standing for the store."""
    verdicts = await check_records(store, noted)
    return {verdict.tenant: verdict.fault for verdict in verdicts if verdict.fault}
