"""A new secret: the record stays whole under it, and what only the old one finds is forgotten."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from sqlalchemy import func, select

from perturb import EmbeddingTable
from proxy.api.app_keys import STORE
from proxy.errors import ConfigError
from proxy.records.chain import Recorder
from proxy.records.check import check_records
from proxy.records.rekey import rekey
from proxy.storage.ledger import Ledger
from proxy.storage.schema import ACCOUNTS, ANSWERS, DISCLOSURES, PASSAGES, RELEASES
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, running_proxy
from tests.proxy.records.rows import Book, book, faults

__all__ = ["book", "database", "postgres_url"]

SECRET = secrets.token_bytes(32)
REMEMBERED = (RELEASES, ANSWERS, PASSAGES, DISCLOSURES)


async def test_the_record_is_whole_under_the_new_secret_alone(book: Book) -> None:
    changed, done = await rekey(book.store, SECRET)
    assert done.rows == 14  # the store's own, 7 charges, 6 ends
    assert await faults(changed) == {}
    assert set(await faults(book.store)) == {"", "a", "b"}


async def test_the_rows_state_what_they_did(book: Book) -> None:
    before = await book.read()
    await rekey(book.store, SECRET)
    after = await book.read()
    old, new = ([{**row, "hash": b""} for row in each["records"]] for each in (before, after))
    added = [row for row in new if row not in old]
    assert [(row["tenant"], row["value"]) for row in added] == [("", '{"kind":"rekeying"}')]
    assert [row for row in new if row not in added] == old
    hashes = {row["hash"] for row in before["records"]}
    assert not hashes & {row["hash"] for row in after["records"]}


async def test_pruned_chains_stay_whole(book: Book) -> None:
    from proxy.records.chain import prune

    await prune(book.store, book.ledger, 1.0, now=2e9)
    await book.charge("a")
    changed, _ = await rekey(book.store, SECRET)
    assert await faults(changed) == {}


@pytest.mark.parametrize("column", ["value", "time", "hash"])
async def test_a_changed_row_is_not_hashed_over(book: Book, column: str) -> None:
    rows = await book.read()
    row = rows["records"][3]
    row[column] = {"value": row["value"] + " ", "time": row["time"] + 1, "hash": b"x" * 32}[column]
    await book.put(rows)
    with pytest.raises(ConfigError, match="is not whole"):
        await rekey(book.store, SECRET)
    assert await book.read() == rows


async def test_rows_missing_since_the_heads_were_noted_are_noticed(book: Book) -> None:
    noted = {verdict.tenant: verdict.head for verdict in await check_records(book.store)}
    noted["a"] = (noted["a"][0] + 1, "00" * 32)
    with pytest.raises(ConfigError, match="is not whole"):
        await rekey(book.store, SECRET, noted)


async def test_the_same_secret_is_refused(book: Book) -> None:
    with pytest.raises(ConfigError, match="the one that the store has"):
        await rekey(book.store, book.store.secret)


async def count_rows(store: Store) -> dict[str, int]:
    def count(connection: Any) -> dict[str, int]:
        return {
            table.name: connection.scalar(select(func.count()).select_from(table))
            for table in REMEMBERED
        }

    return await store.scan(count)


async def test_memory_and_conversations_are_forgotten_and_totals_are_not(
    table: EmbeddingTable, database: dict[str, Any]
) -> None:
    async with running_proxy(table, {"store": database}) as proxy:
        text = "The board met on Monday morning."
        for _ in range(2):
            await proxy.client().chat.completions.create(model=MODEL, messages=user(text))
        first, second = proxy.sent(0), proxy.sent(1)
        assert first == second
        store = proxy.app[STORE]
        assert all((await count_rows(store)).values())
        totals = await Ledger(store, delta=1e-6).totals()
    async with running_proxy(table, {"store": database}) as proxy:
        changed, done = await rekey(proxy.app[STORE], SECRET)
        assert (done.texts, done.conversations) == (1, 1)
        assert not any((await count_rows(changed)).values())
        assert await Ledger(changed, delta=1e-6).totals() == totals
        scopes = select(ACCOUNTS.c.scope).distinct()
        left = await changed.scan(lambda connection: set(connection.scalars(scopes)))
        assert left == {"total", "day"}


async def test_a_proxy_with_another_secret_does_not_start(book: Book) -> None:
    """A proxy that did would find no release, and draw every text afresh."""
    await Recorder(book.store, book.ledger).check()
    other = book.store.with_secret(SECRET)
    with pytest.raises(ConfigError, match="secret is not the one"):
        await Recorder(other, book.ledger).check()
    changed, _ = await rekey(book.store, SECRET)
    await Recorder(changed, book.ledger).check()
    with pytest.raises(ConfigError, match="secret is not the one"):
        await Recorder(book.store, book.ledger).check()
