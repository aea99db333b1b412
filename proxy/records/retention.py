"""Prune old rows of the audit record, and note in it that accounts are forgotten."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

from sqlalchemy import bindparam, delete, select

from proxy.records.chain import ALL, Chain, find_account, list_tenants
from proxy.records.entries import write_forgetting, write_pruning
from proxy.storage.databases.base import Connection
from proxy.storage.ledger import Ledger
from proxy.storage.schema import ACCOUNTS, RECORDS
from proxy.storage.store import BATCH, Store

__all__ = ["forget_accounts", "prune"]

DAY = 86_400.0
_OLDEST = (
    select(RECORDS.c.number, RECORDS.c.time, RECORDS.c.hash)
    .where(RECORDS.c.tenant == bindparam("tenant"))
    .order_by(RECORDS.c.number)
    .limit(BATCH)
)
_DELETE = delete(RECORDS).where(
    RECORDS.c.tenant == bindparam("tenant"), RECORDS.c.number <= bindparam("through")
)
_CHARGED = select(ACCOUNTS.c.tenant).where(ACCOUNTS.c.scope == "total", ACCOUNTS.c.requests > 0)
_FORGET = delete(ACCOUNTS).where(
    ACCOUNTS.c.tenant == bindparam("tenant"),
    ACCOUNTS.c.scope == "total",
    ACCOUNTS.c.used < bindparam("before"),
)


async def prune(store: Store, ledger: Ledger, days: float, *, now: float | None = None) -> int:
    """Delete rows that are older than some days and return their number.

    A row at the end of the chain says which are gone, and holds the last hash of them, so that the
    rest can be checked. Each pruning adds such a row, so the oldest rows wait for one day more.

    Args:
        now: seconds since 1970; None for the present.
    """
    now = time.time() if now is None else now
    before = now - days * DAY
    chain, gone = Chain(store), 0
    for tenant in await store.scan(list_tenants):
        if tenant == ALL:
            continue
        limit = before - DAY
        while last := await store.write(
            partial(_prune, ledger, chain, tenant, limit, before, now), lane=tenant
        ):
            gone += last
            limit = before
    return gone


def _prune(
    ledger: Ledger,
    chain: Chain,
    tenant: str,
    limit: float,
    before: float,
    now: float,
    connection: Connection,
) -> int:
    """Delete the first rows of a tenant up to one that is not older than `before`, if the first of
    all is older than `limit`."""
    ledger.lock(connection, tenant)
    old: list[Any] = []
    for row in connection.execute(_OLDEST, {"tenant": tenant}):
        if row.time >= (before if old else limit):
            break
        old.append(row)
    if old:
        last, known = old[-1], find_account(connection, tenant)
        chain.append(connection, tenant, [write_pruning(now, last.number, last.hash, known)])
        connection.execute(_DELETE, {"tenant": tenant, "through": last.number})
    return len(old)


async def forget_accounts(
    store: Store, ledger: Ledger, *, before: float | None = None, tenant: str | None = None
) -> int:
    """Forget the totals of accounts, each with a row in the record that says so; return their
    number.

    Args:
        before, tenant: see `Store.purge`.
    """
    chain = Chain(store)
    limit = math.inf if before is None else before
    names = await store.scan(lambda connection: list(connection.scalars(_CHARGED)))
    gone = 0
    for name in names:
        if tenant in (None, name):
            gone += await store.write(partial(_forget, ledger, chain, name, limit), lane=name)
    return gone


def _forget(
    ledger: Ledger, chain: Chain, tenant: str, before: float, connection: Connection
) -> int:
    ledger.lock(connection, tenant)
    gone = connection.execute(_FORGET, {"tenant": tenant, "before": before}).rowcount
    if gone:
        chain.append(connection, tenant, [write_forgetting()])
    return gone
