"""The latest requests of tenants, summarized from a bounded number of rows."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import Any

import pytest

from proxy.access.auth import Client, Visit
from proxy.records import recent
from proxy.records.chain import Entry, write_end
from proxy.records.recent import OUTCOMES, find_outcome, summarize
from tests.databases import database, postgres_url
from tests.proxy.conftest import table
from tests.proxy.records.rows import Book, book

__all__ = ["book", "database", "postgres_url", "table"]


def end(status: int, seconds: float = 0.25, at: float | None = None) -> Entry:
    visit = Visit("req_x", "/v1/completions", time.time() if at is None else at)
    facts: dict[str, Any] = {"error": None, "model": "m", "remote": []}
    return write_end(Client("c", visit=visit), status=status, seconds=seconds, **facts)


def charge(guarantee: str, **entities: int) -> Entry:
    content = {"kind": "charge", "request": "req_x", "guarantee": guarantee, "entities": entities}
    return Entry(time.time(), json.dumps(content))


async def append(book: Book, *entries: Entry) -> None:
    def work(connection: Any) -> None:
        book.ledger.lock(connection, "c")
        book.chain.append(connection, "c", entries)

    await book.store.write(work, lane="c")


async def test_requests_are_counted_by_outcome(book: Book) -> None:
    await append(book, *(end(status) for status in (200, 400, 403, 499, 502)))
    found = await summarize(book.store, ["a", "c", "nobody"])
    assert found["a"].outcomes == Counter(answered=3)
    assert found["c"].outcomes == Counter(answered=1, refused=2, left=1, failed=1)
    assert found["nobody"].outcomes == Counter()
    assert found["nobody"].seconds is found["a"].since is None
    assert {find_outcome(status) for status in (200, 404, 499, 500, None)} == {*OUTCOMES}


async def test_seconds_are_those_of_answered_requests(book: Book) -> None:
    await append(book, *(end(200, n) for n in range(1, 101)), end(400, 1000.0))
    assert (await summarize(book.store, ["c"]))["c"].seconds == 95


async def test_only_parts_of_texts_without_a_bound_are_counted(book: Book) -> None:
    await append(book, charge("none", NAME=2), charge("none", NAME=1, ID=1), charge("ldp", ID=5))
    assert (await summarize(book.store, ["c"]))["c"].parts == Counter(NAME=3, ID=1)


async def test_older_requests_are_left_out(book: Book) -> None:
    now = time.time()
    await append(book, end(200, at=now - 100), end(400, at=now))
    assert (await summarize(book.store, ["c"], since=now - 50))["c"].outcomes == Counter(refused=1)


async def test_a_bounded_number_of_rows_is_read(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recent, "ROWS", 8)
    now = time.time()
    await append(book, *(end(200, at=now + n) for n in range(6)))
    found = await summarize(book.store, ["c", "d"])
    assert found["c"].outcomes == Counter(answered=4)
    assert found["c"].since == now + 2
    assert (await summarize(book.store, ["c", "d"], since=now + 3))["c"].since is None
    found = await summarize(book.store, ["c", *"defghijk"])
    assert found["c"].outcomes == Counter(answered=1)
