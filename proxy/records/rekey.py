"""Give a store another secret.

The audit record is hashed anew. Texts, answers and conversations are known only by HMACs of what
clients wrote, which is not kept, so they cannot be named under another secret and are forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, update

from proxy.errors import ConfigError
from proxy.records.chain import ALL, PAGE, Chain, Head, find_start, list_tenants, read_rows
from proxy.records.check import check_records
from proxy.records.entries import write_rekeying
from proxy.storage.schema import (
    ACCOUNTS,
    ANSWERS,
    DISCLOSURES,
    PASSAGES,
    RATES,
    RECORDS,
    RELEASES,
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
    """Count the rows of the record that were hashed anew, and what was forgotten."""

    rows: int
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
        ApiError: the store failed, and is as it was.
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
        return Rekeyed(rows, *_forget(connection))

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


def _forget(connection: Connection) -> tuple[int, int, int]:
    """Forget texts, answers and conversations, and return how many there were."""
    connection.execute(delete(PASSAGES))
    connection.execute(delete(RATES))
    texts, answers = (connection.execute(delete(each)).rowcount for each in (RELEASES, ANSWERS))
    for table in (DISCLOSURES, SPENDS):
        connection.execute(delete(table).where(table.c.scope == CONVERSATION))
    mine = delete(ACCOUNTS).where(ACCOUNTS.c.scope == CONVERSATION)
    return texts, answers, connection.execute(mine).rowcount
