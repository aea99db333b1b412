"""Old rows go, what is left can still be checked, and an account that is forgotten says so."""

from __future__ import annotations

import time

from proxy.access.auth import Client, Visit
from proxy.records.chain import forget_accounts, prune
from proxy.storage.store import BATCH
from tests.databases import database, postgres_url
from tests.proxy.records.rows import Book, book, faults

__all__ = ["book", "database", "postgres_url"]

DAY = 86_400.0


async def numbers(book: Book, tenant: str) -> list[int]:
    rows = (await book.read())["records"]
    return [row["number"] for row in rows if row["tenant"] == tenant]


async def test_old_rows_go_and_the_rest_is_still_whole(book: Book) -> None:
    now = time.time()
    for day in range(6):
        await book.charge("c", at=now - (10 - day) * DAY)
    assert await prune(book.store, book.ledger, days=12, now=now) == 0
    assert await prune(book.store, book.ledger, days=7, now=now) == 6
    assert await numbers(book, "c") == [*range(7, 14)]
    assert await faults(book.store) == {}
    # less than a day's rows wait
    assert await prune(book.store, book.ledger, days=6.5, now=now) == 0
    assert await prune(book.store, book.ledger, days=5.5, now=now) == 4
    assert await numbers(book, "c") == [*range(11, 15)]
    assert await faults(book.store) == {}
    await book.charge("c")
    assert await faults(book.store) == {}
    # when all are old, one row is left, which says what the account was
    much_later = now + 100 * DAY
    assert await prune(book.store, book.ledger, days=7, now=much_later) == 19
    assert [await numbers(book, tenant) for tenant in ("", "a", "b", "c")] == [[1], [8], [7], [17]]
    assert await faults(book.store) == {}
    assert await prune(book.store, book.ledger, days=7, now=now) == 0


async def test_what_is_removed_beside_a_pruning_is_found(book: Book) -> None:
    now = time.time()
    for _ in range(3):
        await book.charge("c", at=now - 10 * DAY)
    for _ in range(3):
        await book.charge("c")
    assert await prune(book.store, book.ledger, days=7) == 6
    pruned = await book.read()

    def without(*gone: int) -> dict[str, list[dict[str, object]]]:
        kept = [r for r in pruned["records"] if r["tenant"] != "c" or r["number"] not in gone]
        return {**pruned, "records": kept}

    for gone, words in (
        ((7,), "row 7 is missing"),
        ((13,), "rows 1 to 6 are missing"),
        ((9,), "row 9 is missing"),
    ):
        await book.put(without(*gone))
        assert await faults(book.store) == {"c": words}
    await book.put(pruned)
    assert await faults(book.store) == {}


async def test_more_than_one_transaction_prunes_is_pruned(book: Book) -> None:
    old = Client("c", visit=Visit("req", "/v1/embeddings", time.time() - 10 * DAY))
    await book.end(old, times=BATCH + 40)
    assert await prune(book.store, book.ledger, days=7) == BATCH + 40
    assert await numbers(book, "c") == [BATCH + 41, BATCH + 42]
    assert await faults(book.store) == {}


async def test_a_forgotten_account_starts_anew(book: Book) -> None:
    assert await forget_accounts(book.store, book.ledger, tenant="a") == 1
    assert await faults(book.store) == {}
    await book.charge("a")
    assert await faults(book.store) == {}
    assert (await book.ledger.figures("a"))["total"]["requests"] == 1
    assert await forget_accounts(book.store, book.ledger, before=1.0) == 0
    assert await forget_accounts(book.store, book.ledger) == 2
    assert await faults(book.store) == {}
