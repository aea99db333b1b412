"""Append to the chains of the audit record, and read them.

The hash of a row is an HMAC, under the store's secret, of the row and of the hash before it. Who
can write to the database and does not know the secret cannot make a row, or move one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from sqlalchemy import bindparam, func, insert, select

from proxy.records.entries import Entry
from proxy.storage.beginning import ALL
from proxy.storage.databases.base import Connection
from proxy.storage.digests import Digests
from proxy.storage.schema import RECORDS
from proxy.storage.store import Store

__all__ = [
    "ALL",
    "LEAST",
    "MOST",
    "Chain",
    "Head",
    "Row",
    "count_rows",
    "find_account",
    "find_head",
    "find_start",
    "find_values",
    "list_tenants",
    "read_page",
    "read_page_before",
    "read_rows",
]

Head = tuple[int, str]  # the number of a row, and its hash in hexadecimal

PAGE, RECENT = 1000, 50  # rows in one query
LEAST, MOST = -(2**63), 2**63 - 1  # the numbers that a database holds
_HEAD = (
    select(RECORDS.c.number, RECORDS.c.hash)
    .where(RECORDS.c.tenant == bindparam("tenant"))
    .order_by(RECORDS.c.number.desc())
    .limit(1)
)
_ADD = insert(RECORDS)
_VALUES = select(RECORDS.c.value).where(
    RECORDS.c.tenant == bindparam("tenant"),
    RECORDS.c.number > bindparam("after"),
    RECORDS.c.value.in_(bindparam("values", expanding=True)),
)
_PAGE = (
    select(RECORDS)
    .where(
        RECORDS.c.tenant == bindparam("tenant"),
        RECORDS.c.number > bindparam("after"),
        RECORDS.c.time >= bindparam("since"),
        RECORDS.c.time < bindparam("until"),
    )
    .order_by(RECORDS.c.number)
    .limit(PAGE)
)
_LATEST = (
    select(RECORDS.c.number, RECORDS.c.value)
    .where(RECORDS.c.tenant == bindparam("tenant"), RECORDS.c.number < bindparam("before"))
    .order_by(RECORDS.c.number.desc())
    .limit(RECENT)
)
_BEFORE = (
    select(RECORDS)
    .where(
        RECORDS.c.tenant == bindparam("tenant"),
        RECORDS.c.number < bindparam("before"),
    )
    .order_by(RECORDS.c.number.desc())
    .limit(PAGE)
)
_PRUNING = (
    select(RECORDS.c.value)
    .where(
        RECORDS.c.tenant == bindparam("tenant"), RECORDS.c.value.startswith('{"kind":"pruning"')
    )
    .order_by(RECORDS.c.number.desc())
    .limit(1)
)
_TENANTS = select(RECORDS.c.tenant).distinct().order_by(RECORDS.c.tenant)


@dataclass(frozen=True)
class Row:
    """Hold a row as it stands in the store."""

    tenant: str
    number: int
    time: float
    value: str
    hash: bytes

    @property
    def content(self) -> dict[str, Any]:
        """Return its content."""
        content: dict[str, Any] = json.loads(self.value)
        return content


class Chain:
    """Append rows to the chains of a store."""

    def __init__(self, store: Store) -> None:
        self._digests = Digests(store)

    def began(self, connection: sqlalchemy.Connection) -> bool:
        """Return whether the first row of the store is there, and was written under its secret."""
        row = next(read_rows(connection, ALL), None)
        return row is not None and row.hash == self.hash(b"", ALL, row.number, row.time, row.value)

    def append(self, connection: Connection, tenant: str, entries: Sequence[Entry]) -> None:
        """Append entries to a tenant's chain. The caller holds the lock of the tenant's account,
        so nobody else appends meanwhile."""
        head = connection.execute(_HEAD, {"tenant": tenant}).first()
        last, digest = (0, b"") if head is None else (head.number, head.hash)
        rows = []
        for number, entry in enumerate(entries, last + 1):
            row = self._make_row(digest, tenant, number, entry)
            digest = row["hash"]
            rows.append(row)
        connection.execute(_ADD, rows)

    def hash(self, before: bytes, tenant: str, number: int, time: float, value: str) -> bytes:
        """Return the hash of a row; `before` is that of the row before it."""
        return self._digests.record(before, tenant, number, time, value)

    def _make_row(self, before: bytes, tenant: str, number: int, entry: Entry) -> dict[str, Any]:
        return {
            "tenant": tenant,
            "number": number,
            "time": entry.time,
            "value": entry.value,
            "hash": self.hash(before, tenant, number, entry.time, entry.value),
        }


def find_head(connection: Connection, tenant: str) -> int:
    """Return the number of a tenant's last row; 0 if there is none."""
    head = connection.execute(_HEAD, {"tenant": tenant}).first()
    return 0 if head is None else int(head.number)


def find_values(
    connection: Connection, tenant: str, after: int, values: Sequence[str]
) -> set[str]:
    """Return those of some contents that a tenant's rows after a number have."""
    found = connection.execute(_VALUES, {"tenant": tenant, "after": after, "values": list(values)})
    return {row.value for row in found}


def find_account(connection: Connection, tenant: str) -> dict[str, Any]:
    """Return the last `account` that a row of a tenant states, as `{"account": totals}`; an empty
    dictionary if none does."""
    before = MOST
    while page := connection.execute(_LATEST, {"tenant": tenant, "before": before}).all():
        for row in page:
            content = json.loads(row.value)
            if "account" in content:
                return {"account": content["account"]}
        before = page[-1].number
    return {}


def find_start(connection: sqlalchemy.Connection, tenant: str) -> Head:
    """Return the last row of a tenant that was pruned; `(0, "")` if none was."""
    value = connection.scalar(_PRUNING, {"tenant": tenant})
    if value is None:
        return 0, ""
    try:
        content = json.loads(value)
        return int(content["through"]), bytes.fromhex(content["hash"]).hex()
    except (ValueError, KeyError, TypeError):  # somebody changed it, which its own hash shows
        return 0, ""


def count_rows(connection: sqlalchemy.Connection) -> int:
    """Return the number of rows of all tenants."""
    return int(connection.scalar(select(func.count()).select_from(RECORDS)) or 0)


def list_tenants(connection: sqlalchemy.Connection) -> list[str]:
    """Return the tenants that have rows; `ALL` is among them."""
    return list(connection.scalars(_TENANTS))


def read_rows(connection: sqlalchemy.Connection, tenant: str) -> Iterator[Row]:
    """Yield a tenant's rows in their order."""
    after = LEAST
    while page := read_page(connection, tenant, after):
        yield from page
        after = page[-1].number


def read_page(
    connection: sqlalchemy.Connection,
    tenant: str,
    after: int = LEAST,
    *,
    since: float = -math.inf,
    until: float = math.inf,
) -> list[Row]:
    """Return the next rows of a tenant after a number, of requests that were admitted from `since`
    on and before `until` (seconds since 1970)."""
    place = {"tenant": tenant, "after": after, "since": since, "until": until}
    return [Row(**found._mapping) for found in connection.execute(_PAGE, place)]


def read_page_before(
    connection: sqlalchemy.Connection, tenant: str, before: int = MOST
) -> list[Row]:
    """Return the rows of a tenant before a number, the newest first."""
    place = {"tenant": tenant, "before": before}
    return [Row(**found._mapping) for found in connection.execute(_BEFORE, place)]
