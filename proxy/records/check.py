"""Check the audit record: that no row was changed, removed or put in, and that it states what the
ledger charged.

A store is made with the first row of its record, and the first text of a tenant is stored together
with a row. So a store without rows has lost them, and so has a tenant with anything but rows. If
every trace of a tenant or of the last requests is removed, only heads that were noted elsewhere
show it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy
from sqlalchemy import select, text, union

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
from proxy.storage.ledger import FIGURES, ROUNDING, SUMS
from proxy.storage.schema import ACCOUNTS, ANSWERS, DISCLOSURES, PASSAGES, RELEASES, SPENDS
from proxy.storage.store import Store

__all__ = ["Verdict", "check_records"]

_ACCOUNTS = select(ACCOUNTS).where(ACCOUNTS.c.scope == "total", ACCOUNTS.c.requests > 0)
_ONE_STATE = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
_NONE = dict.fromkeys(SUMS, 0)
_SERVED = union(
    select(ACCOUNTS.c.tenant).where(ACCOUNTS.c.requests > 0),
    *(select(table.c.tenant) for table in (SPENDS, DISCLOSURES, RELEASES, ANSWERS, PASSAGES)),
)


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

        def walk(tenant: str) -> _Walk:
            start, account = find_start(connection, tenant), accounts.get(tenant)
            made = _Walk(chain, tenant, start, heads.get(tenant), account)
            made.run(read(tenant))
            return made

        accounts = {row.tenant: row for row in connection.execute(_ACCOUNTS)}
        served = set(connection.scalars(_SERVED))
        tenants = {*list_tenants(connection), *served, *heads} - {ALL}
        record, *others = map(walk, (ALL, *sorted(tenants)))
        silent = [one for one in others if one.tenant in served and one.stated is None]
        older = sum(one.older for one in others) + len(silent)
        for one in silent:
            one.check_silence(record.began, older <= record.accounts)
        return [one.verdict for one in (record, *others)]

    return await store.scan(check)


class _Walk:
    """Walk along a chain, row by row.

    Args:
        start: the last row before it.
        noted: a row that must be there.
        account: the row of the tenant's totals; None if nothing was charged.

    Attributes:
        fault: the first thing that is wrong; None if nothing is.
        stated: the account that the last row with one states; None if no row does.
        older: whether the rows go on from an account of before the record.
        accounts: how many such accounts the first row of the store states.
    """

    def __init__(
        self, chain: Chain, tenant: str, start: Head, noted: Head | None, account: Any
    ) -> None:
        self._chain = chain
        self._noted = noted
        self._account = account
        self._start = start[0]
        self.tenant = tenant
        self.fault: str | None = None
        self.number, self.hash = start[0], bytes.fromhex(start[1])
        self.began = 0.0
        self.stated: dict[str, float] | None = None
        self.older = False
        self.accounts = 0
        self.open: set[str] = set()  # charged requests without an end
        self.lost = 0

    @property
    def verdict(self) -> Verdict:
        """Return the verdict on the rows."""
        if self.fault is not None:
            return Verdict(self.tenant, self.fault)
        head = (self.number, self.hash.hex())
        first = self._start + 1
        return Verdict(self.tenant, None, first, head, self.began, len(self.open), self.lost)

    def run(self, rows: Iterable[Row]) -> None:
        """Check all rows, up to the first fault."""
        try:
            for row in rows:
                self.step(row)
            self.finish()
        except _Fault as fault:
            self.fault = str(fault)

    def check_silence(self, began: float, older: bool) -> None:
        """Check a tenant that was served, and whose rows state no account.

        Args:
            began: the time at which the record of the store began.
            older: whether the record states that there may be an account of before it.
        """
        account = self._account
        if self.fault is None and not (older and account is not None and account.used < began):
            found = "texts or spends of it are stored"
            if account is not None:
                found = f"the account states {account.requests:g} requests"
            self.fault = f"{found}, and no row does"

    def step(self, row: Row) -> None:
        """Check the next row."""
        if row.number > self.number + 1:
            raise _Fault(f"{_name_rows(self.number + 1, row.number - 1)} missing")
        digest = self._chain.hash(self.hash, self.tenant, row.number, row.time, row.value)
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

    def finish(self) -> None:
        """Check what only the whole chain tells."""
        if self.number == 0 and self.tenant == ALL:
            raise _Fault("row 1 is missing")
        if self._noted is not None and self.number < self._noted[0]:
            raise _Fault(f"{_name_rows(self.number + 1, self._noted[0])} missing")
        if self.stated is None:
            return
        account = self._account
        found = _NONE if account is None else {name: getattr(account, name) for name in SUMS}
        if not _is_same(found, self.stated):
            raise _Fault(
                f"the account states {found['requests']:g} requests, and the rows up to "
                f"{self.number} state {self.stated['requests']:g}, or other sums: rows after "
                "it are missing, or the account was changed"
            )

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
                self.older |= self._goes_on
                self.stated = dict(_NONE)
            case "pruning":
                if self.stated is None and "account" in content:
                    self.stated = content["account"] or dict(_NONE)
            case "beginning":
                self.accounts = content["accounts"]

    @property
    def _goes_on(self) -> bool:
        """Whether a row that states an account is the first to do so since the chain began."""
        return self.stated is None and self._start == 0

    def _check_sums(self, number: int, charged: Mapping[str, float], account: Any) -> None:
        """Check that a charge adds up with the account that the row before it states."""
        before = self.stated
        self.older |= self._goes_on and account["requests"] > 1
        if before is not None:
            sums = {name: before[name] + charged[name] for name in FIGURES}
            if not _is_same(account, {"requests": before["requests"] + 1, **sums}):
                raise _Fault(
                    f"the account was changed before row {number}: it states "
                    f"{account['requests']:g} requests after {before['requests']:g}, or other "
                    "sums than were charged"
                )
        self.stated = account


def _is_same(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(math.isclose(one[name], other[name], rel_tol=ROUNDING) for name in SUMS)


def _name_rows(first: int, last: int) -> str:
    return f"row {first} is" if first == last else f"rows {first} to {last} are"
