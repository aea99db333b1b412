"""Check the audit record: that no row was changed, removed or put in, and that it states what the
ledger charged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from sqlalchemy import select, text

from proxy.records.chain import (
    ALL,
    Chain,
    Head,
    Row,
    count_rows,
    find_start,
    list_tenants,
    read_rows,
)
from proxy.storage.ledger import ROUNDING, SUMS
from proxy.storage.prices import FIGURES
from proxy.storage.schema import ACCOUNTS
from proxy.storage.store import Store

__all__ = ["Verdict", "check_records"]

_ACCOUNTS = select(ACCOUNTS).where(ACCOUNTS.c.scope == "total", ACCOUNTS.c.requests > 0)
_ONE_STATE = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
_NONE = dict.fromkeys(SUMS, 0)


@dataclass(frozen=True)
class Verdict:
    """State whether the rows of a tenant hold.

    Attributes:
        tenant: `ALL` for the rows about the store.
        fault: the first thing that is wrong; None if nothing is.
        first: the number of the first row.
        head: the last row.
        began: the time of the first row, in seconds since 1970.
        unfinished: how many charged requests have no end.
        lost: how many ends were not written, by the rows themselves: the store had failed.
    """

    tenant: str
    fault: str | None
    first: int = 0
    head: Head = (0, "")
    began: float = 0.0
    unfinished: int = 0
    lost: int = 0


class _Fault(Exception):
    """Report what is wrong with the rows of a tenant."""


async def check_records(
    store: Store,
    noted: Mapping[str, Head] | None = None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> list[Verdict]:
    """Return a verdict on each tenant, as the store stands at one moment.

    Args:
        noted: the heads of an earlier check, which must still be there.
        advance: is told how many rows are checked, and of how many.

    Raises:
        ApiError: the store failed.
    """
    chain, heads = Chain(store), dict(noted or {})

    def check(connection: sqlalchemy.Connection) -> list[Verdict]:
        if store.file is None:
            connection.execute(_ONE_STATE)
        total, done = count_rows(connection), 0

        def read(tenant: str) -> Iterator[Row]:
            nonlocal done
            for row in read_rows(connection, tenant):
                yield row
                done += 1
                if done % 1000 == 0 or done == total:
                    advance(done, total)

        def walk(tenant: str, account: Any, began: float) -> Verdict:
            start = find_start(connection, tenant)
            noted = heads.get(tenant)
            return _check_tenant(chain, tenant, start, read(tenant), account, began, noted)

        accounts = {row.tenant: row for row in connection.execute(_ACCOUNTS)}
        found = list_tenants(connection)
        if not (found or accounts or heads):
            return []  # nothing has been served yet
        verdicts = [walk(ALL, None, 0.0)]
        began = verdicts[0].began
        for tenant in sorted({*found, *accounts, *heads} - {ALL}):
            verdicts.append(walk(tenant, accounts.get(tenant), began))
        return verdicts

    return await store.scan(check)


def _check_tenant(
    chain: Chain,
    tenant: str,
    start: Head,
    rows: Iterable[Row],
    account: Any,
    began: float,
    noted: Head | None,
) -> Verdict:
    walk = _Walk(chain, tenant, start, noted)
    try:
        for row in rows:
            walk.step(row)
        walk.finish(account, began)
    except _Fault as fault:
        return Verdict(tenant, str(fault))
    head = (walk.number, walk.hash.hex())
    return Verdict(tenant, None, start[0] + 1, head, walk.began, len(walk.open), walk.lost)


class _Walk:
    """Walk along a chain, row by row.

    Args:
        start: the last row before it.
        noted: a row that must be there.
    """

    def __init__(self, chain: Chain, tenant: str, start: Head, noted: Head | None) -> None:
        self._chain = chain
        self._tenant = tenant
        self._noted = noted
        self._account: dict[str, float] | None = None  # None: no row states it yet
        self.number, self.hash = start[0], bytes.fromhex(start[1])
        self.began = 0.0
        self.open: set[str] = set()  # charged requests without an end
        self.lost = 0

    def step(self, row: Row) -> None:
        """Check the next row."""
        if row.number > self.number + 1:
            raise _Fault(f"{_name_rows(self.number + 1, row.number - 1)} missing")
        digest = self._chain.hash(self.hash, self._tenant, row.number, row.time, row.value)
        if row.number != self.number + 1 or row.hash != digest:
            raise _Fault(
                f"row {row.number} is not the one that was written: it was changed, moved or put "
                "in"
            )
        self.number, self.hash = row.number, row.hash
        self.began = self.began or row.time
        noted = self._noted
        if noted is not None and noted[0] == row.number and noted[1] != row.hash.hex():
            raise _Fault(f"row {row.number} is another than the one that was noted")
        self._read(row)

    def finish(self, account: Any, began: float) -> None:
        """Check what only the whole chain tells.

        Args:
            account: the row of the tenant's totals; None if nothing was charged.
            began: the time at which the record of the store began.
        """
        if self.number == 0 and self._tenant == ALL:
            raise _Fault("row 1 is missing")
        if self._noted is not None and self.number < self._noted[0]:
            raise _Fault(f"{_name_rows(self.number + 1, self._noted[0])} missing")
        found = _NONE if account is None else {name: getattr(account, name) for name in SUMS}
        if self._account is not None and not _is_same(found, self._account):
            raise _Fault(
                f"the account states {found['requests']:g} requests, and the rows up to "
                f"{self.number} state {self._account['requests']:g}, or other sums: rows after "
                "it are missing, or the account was changed"
            )
        if self._account is None and account is not None and account.used >= began:
            raise _Fault(f"the account states {found['requests']:g} requests, and no row does")

    def _read(self, row: Row) -> None:
        content = row.content
        match content["kind"]:
            case "charge":
                self.open.add(content["request"])
                self._check_sums(row.number, content["charged"], content["account"])
            case "end":
                self.open.discard(content["request"])
            case "loss":
                self.lost += content["ends"]
            case "forgetting":
                self._account = dict(_NONE)
            case "pruning":
                if self._account is None and "account" in content:
                    self._account = content["account"] or dict(_NONE)

    def _check_sums(self, number: int, charged: Mapping[str, float], account: Any) -> None:
        """Check that a charge adds up with the account that the row before it states."""
        before = self._account
        if before is not None:
            sums = {name: before[name] + charged[name] for name in FIGURES}
            if not _is_same(account, {"requests": before["requests"] + 1, **sums}):
                raise _Fault(
                    f"the account was changed before row {number}: it states "
                    f"{account['requests']:g} requests after {before['requests']:g}, or other "
                    "sums than were charged"
                )
        self._account = account


def _is_same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(math.isclose(one[name], other[name], rel_tol=ROUNDING) for name in SUMS)


def _name_rows(first: int, last: int) -> str:
    return f"row {first} is" if first == last else f"rows {first} to {last} are"
