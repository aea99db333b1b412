"""Give a store another secret.

The audit record is hashed anew; files of batches and grants of keys are encrypted anew. Texts,
answers, conversations and the owners of corpora are known only by HMACs of what clients wrote,
which is not kept, so they cannot be named under another secret and are forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, bindparam, delete, select, tuple_, update

from proxy.errors import ConfigError
from proxy.records.chain import (
    ALL,
    PAGE,
    Chain,
    Head,
    find_start,
    list_tenants,
    read_rows,
    write_rekeying,
)
from proxy.records.check import check_records
from proxy.storage.digests import Digests, place_of, reseal
from proxy.storage.schema import (
    ACCOUNTS,
    ANSWERS,
    BATCHES,
    CHARGES,
    DISCLOSURES,
    FILE_LINES,
    FILES,
    KEYS,
    OWNER_SPENDS,
    OWNERS,
    PASSAGES,
    RATES,
    RECORDS,
    RELEASES,
    SESSIONS,
    SPENDS,
)
from proxy.storage.store import Store

__all__ = ["Rekeyed", "rekey"]

CONVERSATION = "conversation"
_HASH = (
    update(RECORDS)
    .where(RECORDS.c.tenant == bindparam("of"), RECORDS.c.number == bindparam("at"))
    .values(hash=bindparam("new"))
)


@dataclass(frozen=True)
class Rekeyed:
    """Count the rows of the record that were hashed anew, the rows of files, batches and keys that
    were encrypted anew, and what was forgotten."""

    rows: int
    sealed: int
    texts: int
    answers: int
    conversations: int


async def rekey(
    store: Store, secret: bytes, noted: Mapping[str, Head] | None = None
) -> tuple[Store, Rekeyed]:
    """Give a store another secret, in one transaction; return it under that secret.

    No proxy may use the store meanwhile.

    Args:
        noted: the heads of an earlier check of the record, which must still be there.

    Raises:
        ApiError: the store failed; it is as it was, unless only the answer to COMMIT was lost.
        ConfigError: it is the same secret, or the record is not whole: hashed anew, it would look
            so.
    """
    if secret == store.secret:
        raise ConfigError("the new secret is the one that the store has")
    if any(verdict.fault for verdict in await check_records(store, noted)):
        raise ConfigError(
            "the audit record is not whole (`inferdpt records check` shows where), and would look "
            "so under another secret"
        )
    changed = store.with_secret(secret)
    old, new = Chain(store), Chain(changed)

    def work(connection: Connection) -> Rekeyed:
        tenants = list_tenants(connection)
        rows = sum(_hash_rows(connection, tenant, old, new) for tenant in tenants)
        if tenants:
            new.append(connection, ALL, [write_rekeying()])
        sealed = sum(
            _seal_rows(connection, column, Digests(store), Digests(changed))
            for column in (FILES.c.value, FILE_LINES.c.value, BATCHES.c.value, KEYS.c.grant)
        )
        return Rekeyed(rows, sealed, *_forget(connection))

    return changed, await changed.migrate(work)


def _hash_rows(connection: Connection, tenant: str, old: Chain, new: Chain) -> int:
    """Hash a tenant's rows anew and return their number."""
    number, digest = find_start(connection, tenant)
    before = after = bytes.fromhex(digest)
    found, count = [], 0
    for row in read_rows(connection, tenant):
        number += 1
        content = (tenant, row.number, row.time, row.value)
        if row.number != number or row.hash != old.hash(before, *content):
            raise ConfigError("the audit record has changed meanwhile: stop every proxy first")
        before, after = row.hash, new.hash(after, *content)
        found.append({"of": tenant, "at": number, "new": after})
        if len(found) == PAGE:
            connection.execute(_HASH, found)
            found.clear()
        count += 1
    if found:
        connection.execute(_HASH, found)
    return count


def _seal_rows(connection: Connection, column: Column[Any], old: Digests, new: Digests) -> int:
    """Encrypt a column of a table anew and return the number of its rows."""
    table = column.table
    keys = list(table.primary_key)
    last: tuple[Any, ...] | None = None
    change = update(table).where(*(key == bindparam(f"of_{key.name}") for key in keys))
    change = change.values({column: bindparam("new")})
    count = 0
    while True:
        page = select(*keys, column).order_by(*keys).limit(PAGE)
        page = page if last is None else page.where(tuple_(*keys) > tuple_(*last))
        rows = connection.execute(page).all()
        if not rows:
            return count
        changed = [
            {
                **{f"of_{key.name}": part for key, part in zip(keys, row, strict=False)},
                "new": reseal(old, new, row[-1], *place_of(table, *row[:-1])),
            }
            for row in rows
        ]
        connection.execute(change, changed)
        last, count = tuple(rows[-1][:-1]), count + len(rows)


def _forget(connection: Connection) -> tuple[int, int, int]:
    """Forget what only the old secret names; return the number of texts, answers and
    conversations."""
    for table in (PASSAGES, RATES, CHARGES, OWNER_SPENDS, OWNERS, SESSIONS):
        connection.execute(delete(table))
    texts, answers = (connection.execute(delete(each)).rowcount for each in (RELEASES, ANSWERS))
    for table in (DISCLOSURES, SPENDS):
        connection.execute(delete(table).where(table.c.scope == CONVERSATION))
    mine = delete(ACCOUNTS).where(ACCOUNTS.c.scope == CONVERSATION)
    return texts, answers, connection.execute(mine).rowcount
