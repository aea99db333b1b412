"""Keep the audit record: chains of rows with names from closed sets, ids and numbers, never text.

The hash of a row is an HMAC, under the store's secret, of the row and of the hash before it.
Someone who can write to the database but lacks the secret cannot forge a row or move one. The
ends of requests are written many in one transaction, so that no answer waits for them. Old rows
are pruned, and a row says so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy import bindparam, delete, func, insert, select

from extraction.codec import dump_ascii
from perturb import Sanitizer
from proxy.access.auth import Client
from proxy.background import Background
from proxy.errors import ConfigError
from proxy.release import Release
from proxy.storage.digests import Digests
from proxy.storage.ledger import Charge, Ledger
from proxy.storage.opening import ALL
from proxy.storage.schema import ACCOUNTS, RECORDS
from proxy.storage.store import BATCH, SWEEP_SECONDS, Connection, Store

__all__ = [
    "ALL",
    "LEAST",
    "MOST",
    "PAGE",
    "Chain",
    "Entry",
    "Head",
    "Positions",
    "Recorder",
    "Row",
    "count_rows",
    "find_account",
    "find_head",
    "find_start",
    "find_values",
    "forget_accounts",
    "list_tenants",
    "prune",
    "read_page",
    "read_page_before",
    "read_rows",
    "recording",
    "write_charge",
    "write_end",
    "write_forgetting",
    "write_loss",
    "write_pruning",
    "write_rekeying",
]


Positions = Mapping[str, Mapping[str, int]]  # replaced parts by position and type


@dataclass(frozen=True)
class Entry:
    """Hold a row that has no number yet: its time (seconds since 1970), and JSON in ASCII."""

    time: float
    value: str


def write_charge(
    client: Client,
    model: str,
    sent_to: str,
    sanitizer: Sanitizer,
    releases: Collection[Release],
    positions: Positions,
    charge: Charge,
) -> Entry:
    """Write the entry of a request that is about to be sent.

    Args:
        model: as clients name it; the configuration lists it.
        sent_to: the alias of its remote.
        releases: each private text once.
        positions: where parts were replaced, if the request keeps its form.
    """
    entities: Counter[str] = Counter()
    for release in releases:
        entities.update(release.sanitized.receipt.entities)
    guarantee = sanitizer.guarantee
    return _write(
        client,
        "charge",
        model=model,
        sent_to=sent_to,
        mechanism=sanitizer.name,
        epsilon=guarantee.nominal,
        unit=guarantee.unit,
        guarantee=guarantee.kind,
        texts=len(releases),
        texts_new=sum(release.fresh for release in releases),
        tokens=sum(release.sanitized.receipt.released for release in releases),
        entities=dict(sorted(entities.items())),
        positions={place: dict(counts) for place, counts in positions.items()},
        charged=charge.charged.figures,
        account=dict(charge.totals),
    )


def write_end(
    client: Client,
    *,
    status: int,
    error: str | None,
    seconds: float,
    model: str | None,
    remote: Sequence[str],
) -> Entry:
    """Write the entry of a request that is over.

    Args:
        status: of the answer, in HTTP; 499 if its client went away.
        error: the code of an error.
        seconds: from the first byte of the request to the last of the answer.
        model: as clients name it; None if the request was refused before it was checked.
        remote: the outcome of each call of the remote.
    """
    return _write(
        client,
        "end",
        model=model,
        status=status,
        error=error,
        remote=list(remote),
        microseconds=round(seconds * 1e6),
    )


def write_pruning(now: float, through: int, digest: bytes, known: Mapping[str, Any]) -> Entry:
    """Write the entry that stands for the pruned rows of a tenant.

    Args:
        now: the time, in seconds since 1970.
        through: the number of the last of them.
        digest: its hash.
        known: the account that the last row with one states, see `find_account`.
    """
    content = {"kind": "pruning", "through": through, "hash": digest.hex(), **known}
    return Entry(now, _spell(content))


def write_forgetting() -> Entry:
    """Write the entry of an account that the operator forgets: it starts anew."""
    return Entry(time.time(), _spell({"kind": "forgetting", "account": None}))


def write_loss(ends: int) -> Entry:
    """Write the entry of ends that could not be kept while the store failed: their number."""
    return Entry(time.time(), _spell({"kind": "loss", "ends": ends}))


def write_rekeying() -> Entry:
    """Write the entry of a new secret: all rows were hashed anew under it."""
    return Entry(time.time(), _spell({"kind": "rekeying"}))


def _write(client: Client, kind: str, **content: Any) -> Entry:
    visit = client.visit
    head = {
        "kind": kind,
        "request": visit.request,
        "key": client.key or None,
        "endpoint": visit.endpoint,
    }
    return Entry(visit.time, _spell(head | content))


def _spell(content: Mapping[str, Any]) -> str:
    return dump_ascii(content)


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
    .limit(bindparam("most"))
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
    connection: sqlalchemy.Connection, tenant: str, before: int = MOST, *, most: int = PAGE
) -> list[Row]:
    """Return at most so many rows of a tenant before a number, the newest first."""
    place = {"tenant": tenant, "before": before, "most": most}
    return [Row(**found._mapping) for found in connection.execute(_BEFORE, place)]


logger = logging.getLogger("inferdpt.records")
WRITE_SECONDS = 0.5  # for which ends are gathered
AT_ONCE = 100  # ends in one transaction
WAITING = 20_000  # ends that are kept while the store fails


class Recorder:
    """Write the ends of requests a moment after their answers. Use it from one event loop.

    A process that is killed loses the last moment's ends. The charges of those requests are in the
    record nevertheless. Ends that wait while the store fails are kept, `WAITING` of them; a row
    says how many were not.
    """

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._chain = Chain(store)
        self._waiting: defaultdict[str, list[Entry]] = defaultdict(list)
        self._count = 0  # of all that wait
        self._lost: Counter[str] = Counter()  # ends of each tenant for which there was no room
        self._tried: dict[str, int] = {}  # each tenant's last row before a write that failed
        self._wake = asyncio.Event()
        self._closing = asyncio.Event()
        self._writing = asyncio.Lock()

    def end(self, tenant: str, entry: Entry) -> None:
        """Record the end of a tenant's request soon."""
        if self._count < WAITING:
            self._waiting[tenant].append(entry)
            self._count += 1
        else:
            self._lost[tenant] += 1
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
        """Write what waits. What cannot be written waits on, whatever the reason; the first
        failure is raised after all tenants had their turn."""
        failures: list[Exception] = []
        async with self._writing:
            for tenant in [*self._waiting, *self._lost]:
                try:
                    while self._waiting[tenant] or self._lost[tenant]:
                        await self._write(tenant)
                except Exception as exc:
                    failures.append(exc)
                else:
                    del self._waiting[tenant], self._lost[tenant]
        if failures:
            logger.warning("the ends of %d requests wait", self._count)
            raise failures[0]

    async def _write(self, tenant: str) -> None:
        """Write a tenant's first ends, and forget them once they are written."""
        ends, lost = self._waiting[tenant][:AT_ONCE], self._lost[tenant]
        entries = [*ends, *([write_loss(lost)] if lost else ())]

        def work(connection: Connection) -> None:
            self._ledger.lock(connection, tenant)
            new = entries
            if tenant in self._tried:  # what failed may have been committed all the same
                values = [entry.value for entry in entries]
                known = find_values(connection, tenant, self._tried[tenant], values)
                new = [entry for entry in entries if entry.value not in known]
            else:
                self._tried[tenant] = find_head(connection, tenant)
            if new:
                self._chain.append(connection, tenant, new)

        await self._store.write(work, lane=tenant, wait=False)
        self._tried.pop(tenant, None)
        del self._waiting[tenant][: len(ends)]
        self._lost[tenant] -= lost
        self._count -= len(ends)

    async def run(self, background: Background) -> None:
        """Write what waits, until `close`."""
        while not self._closing.is_set():
            await self._wake.wait()
            self._wake.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), WRITE_SECONDS)
            with background.survive("recorder"):
                await self.flush()
            if self._count:  # the store failed
                self._wake.set()
        if self._count:  # what came while the last ends were written
            with background.survive("recorder"):
                await self.flush()
        if lost := self._count + self._lost.total():
            logger.warning("the ends of %d requests are not in the record", lost)

    def close(self) -> None:
        """Let `run` write what waits and return."""
        self._closing.set()
        self._wake.set()


@asynccontextmanager
async def recording(
    store: Store, ledger: Ledger, days: float | None, background: Background
) -> AsyncIterator[Recorder]:
    """Yield the recorder of a store, and prune old rows while the block runs.

    Args:
        days: for which rows are kept; None is for ever.
    """
    recorder = Recorder(store, ledger)
    await recorder.check()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(
            background.running("recorder", recorder.run(background), stop=recorder.close)
        )
        if days is not None:
            step = partial(prune, store, ledger, days)
            await stack.enter_async_context(background.repeating("pruning", SWEEP_SECONDS, step))
        yield recorder


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
