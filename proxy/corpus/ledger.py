"""Charge the owners of documents: each release once, before it is written.

ε adds up over all documents of an owner, in this run and others (basic composition). A release is
known by an HMAC of its draw, owner, text and price, so one that is made again is free. A document
that failed or was refused leaves nothing behind: when it is released, it is charged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import sqlalchemy
from sqlalchemy import bindparam, select

from perturb.audit.accounting import Bound, Spend, best, compose
from proxy.storage.digests import Digests
from proxy.storage.ledger import FIGURES, ROUNDING, Channel, Price, price_of, total
from proxy.storage.schema import CHARGES, OWNER_SPENDS, OWNERS
from proxy.storage.store import Connection, Store, batches

__all__ = ["Account", "Accounts", "Charged"]

_KNOWN = select(CHARGES.c.key).where(CHARGES.c.key.in_(bindparam("keys", expanding=True)))
_ADD = CHARGES.insert()
_FIND = select(OWNERS).where(OWNERS.c.key.in_(bindparam("keys", expanding=True)))
_SPENT = select(OWNER_SPENDS).where(OWNER_SPENDS.c.key.in_(bindparam("keys", expanding=True)))
LANE = "corpus"


@dataclass(frozen=True)
class Charged:
    """Hold a release to charge.

    Attributes:
        key: of the draw: it names the sanitizer, the document's id and its raw text.
        owner: the owner of the document.
        released: the released text. Another draw under the same key has another one.
        price: the price of the release.
    """

    key: bytes
    owner: str
    released: str
    price: Price


@dataclass(frozen=True)
class Account:
    """Hold what was charged for all documents of an owner.

    Attributes:
        documents: their number.
        price: the sums.
        bound: the smallest known bound of the part that has a proof.
    """

    documents: int
    price: Price
    bound: Bound


class Accounts:
    """Hold the accounts of owners in a store.

    Args:
        store: holds the accounts.
        delta: the δ at which compositions are stated.
        budget: the most ε of an owner, for all documents together; None is no limit.
    """

    def __init__(self, store: Store, *, delta: float, budget: float | None = None) -> None:
        self._store = store
        self._digests = Digests(store)
        self._delta = delta
        self._budget = budget
        more = store.insert(OWNERS)
        sums = {n: OWNERS.c[n] + more.excluded[n] for n in ("documents", *FIGURES)}
        self._raise = more.on_conflict_do_update(index_elements=[OWNERS.c.key], set_=sums)
        spent = store.insert(OWNER_SPENDS)
        self._count = spent.on_conflict_do_update(
            index_elements=list(OWNER_SPENDS.primary_key),
            set_={"count": OWNER_SPENDS.c["count"] + spent.excluded["count"]},
        )
        self._open = store.insert(OWNERS).on_conflict_do_nothing()

    async def charge(self, releases: Sequence[Charged]) -> frozenset[int]:
        """Charge the releases of a block, and return the places of those that the budget refuses.
        The charge is durable when this returns.

        A release that was charged before costs nothing. Any other is refused if its owner's ε
        would exceed the budget; a cheaper one after it may still be charged.

        Raises:
            ApiError: the store failed, and nothing was charged.
        """
        if not releases:
            return frozenset()
        keys = [self._name_release(one) for one in releases]
        return await self._store.write(partial(self._settle, keys, releases), lane=LANE)

    def _settle(
        self, keys: Sequence[bytes], releases: Sequence[Charged], connection: Connection
    ) -> frozenset[int]:
        owners = {one.owner: self._name(one.owner) for one in releases}
        spent = self._lock(connection, owners)
        known = {
            row.key
            for some in batches(keys)
            for row in connection.execute(_KNOWN, {"keys": list(some)})
        }
        refused, new = [], []
        charged: defaultdict[str, list[Price]] = defaultdict(list)
        for place, (key, one) in enumerate(zip(keys, releases, strict=True)):
            if key in known:
                continue
            cost = one.price.epsilon
            if cost and self._budget is not None:
                if spent[one.owner] + cost > self._budget * (1 + ROUNDING):
                    refused.append(place)
                    continue
                spent[one.owner] += cost
            charged[one.owner].append(one.price)
            known.add(key)
            new.append({"key": key})
        self._add(connection, {owners[name]: prices for name, prices in charged.items()})
        if new:
            connection.execute(_ADD, new)
        return frozenset(refused)

    def _lock(self, connection: Connection, owners: Mapping[str, bytes]) -> dict[str, float]:
        """Return the ε charged to owners, whose accounts nobody else changes meanwhile."""
        if self._store.file is None:  # SQLite has one writer
            zero = {"documents": 0, **Price().figures}
            keys = sorted(owners.values())  # in one order, so that no two wait for each other
            connection.execute(self._open, [{"key": key, **zero} for key in keys])
            for some in batches(keys):
                query = _FIND.order_by(OWNERS.c.key).with_for_update()
                connection.execute(query, {"keys": list(some)}).all()
        rows = _find(connection, list(owners.values()))
        return {
            name: price_of(rows[key]).epsilon if key in rows else 0.0
            for name, key in owners.items()
        }

    def _add(self, connection: Connection, charged: Mapping[bytes, Sequence[Price]]) -> None:
        rows, spends = [], []
        for key, prices in charged.items():
            rows.append({"key": key, "documents": len(prices), **total(prices).figures})
            counts: Counter[Channel] = Counter()
            for one in prices:
                if one.channel is not None:
                    counts[one.channel] += one.count
            for channel, count in counts.items():
                spends.append({"key": key, **channel._asdict(), "count": count})
        if rows:
            connection.execute(self._raise, rows)
        if spends:
            connection.execute(self._count, spends)

    async def read(self, owners: Sequence[str]) -> dict[str, Account]:
        """Return the accounts of owners; they are empty if nothing was charged, or if it was
        forgotten."""
        names = {name: self._name(name) for name in owners}
        rows, spends = await self._store.scan(partial(_read, keys=list(names.values())))
        found = {}
        for name, key in names.items():
            row = rows.get(key)
            documents, price = (row.documents, price_of(row)) if row is not None else (0, Price())
            found[name] = Account(documents, price, self._bound(spends.get(key, [])))
        return found

    def _bound(self, rows: Sequence[Any]) -> Bound:
        spends = [Spend(row._mapping["count"], row.epsilon, row.bounded_range) for row in rows]
        return best(compose(spends, delta=self._delta, losses=False))

    def _name(self, owner: str) -> bytes:
        return self._digests.of("owner", owner)

    def _name_release(self, one: Charged) -> bytes:
        figures = map(repr, one.price.figures.values())
        return self._digests.of("charge", one.key.hex(), one.owner, one.released, *figures)


def _find(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, Any]:
    return {
        row.key: row
        for some in batches(keys)
        for row in connection.execute(_FIND, {"keys": list(some)})
    }


def _read(
    connection: sqlalchemy.Connection, keys: Sequence[bytes]
) -> tuple[dict[bytes, Any], dict[bytes, list[Any]]]:
    spends: defaultdict[bytes, list[Any]] = defaultdict(list)
    for some in batches(keys):
        for row in connection.execute(_SPENT, {"keys": list(some)}):
            spends[row.key].append(row)
    return _find(connection, keys), spends
