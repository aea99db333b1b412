"""Ends that cannot be written: they are kept, written once, and counted where there is no room."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proxy.access.auth import Client, Visit
from proxy.background import Background
from proxy.errors import store_unavailable
from proxy.metrics import Metrics
from proxy.records import chain as module
from proxy.records.chain import Entry, Recorder, read_rows, write_end
from proxy.records.check import check_records
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.records.rows import Book, book, faults

__all__ = ["book", "database", "postgres_url"]


def end(number: int, tenant: str = "a") -> tuple[str, Entry]:
    client = Client(tenant, visit=Visit(f"req_end_{number}", "/v1/completions", 1e9))
    facts: dict[str, Any] = {"error": None, "seconds": 0.1, "model": "m", "remote": []}
    return tenant, write_end(client, status=200, **facts)


async def read_ends(book: Book, tenant: str = "a") -> list[str]:
    rows = await book.store.scan(lambda connection: list(read_rows(connection, tenant)))
    names = [row.content.get("request", "") for row in rows if row.content["kind"] == "end"]
    return [name for name in names if name.startswith("req_end")]


class Failing:
    """A store whose writes fail: before, or after they were committed."""

    def __init__(self, book: Book, exc: Exception, *, committed: bool) -> None:
        self._store, self._exc, self._committed = book.store, exc, committed
        self.works = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def write(self, *given: Any, **named: Any) -> Any:
        if self.works or self._committed:
            await self._store.write(*given, **named)
        if not self.works:
            raise self._exc


@pytest.mark.parametrize("exc", [store_unavailable(), LookupError("hidden")])
@pytest.mark.parametrize("committed", [False, True])
async def test_what_failed_is_written_once(book: Book, exc: Exception, committed: bool) -> None:
    """It may have been committed all the same: an answer to COMMIT was lost."""
    store: Any = Failing(book, exc, committed=committed)
    recorder = Recorder(store, book.ledger)
    for number in range(3):
        recorder.end(*end(number))
        recorder.end(*end(number, "b"))
        with pytest.raises(type(exc)):
            await recorder.flush()
    store.works = True
    recorder.end(*end(3))
    await recorder.flush()
    await recorder.flush()
    assert await read_ends(book) == [f"req_end_{number}" for number in range(4)]
    assert await read_ends(book, "b") == [f"req_end_{number}" for number in range(3)]
    assert await faults(book.store) == {}


async def test_the_task_goes_on_and_a_stop_writes_what_waits(book: Book) -> None:
    store: Any = Failing(book, LookupError("hidden"), committed=False)
    recorder, background = Recorder(store, book.ledger), Background(Metrics())
    running = background.running("recorder", recorder.run(background), stop=recorder.close)
    async with asyncio.timeout(LIMIT), running:
        recorder.end(*end(0))
        while not background.metrics.read("inferdpt_background_failures"):
            await asyncio.sleep(0.01)
        assert background.stopped == []
        store.works = True
    assert await read_ends(book) == ["req_end_0"]


async def test_ends_without_room_are_counted_in_the_record(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAITING", 4)
    store: Any = Failing(book, store_unavailable(), committed=False)
    recorder = Recorder(store, book.ledger)
    for number in range(7):
        recorder.end(*end(number))
    recorder.end(*end(0, "b"))
    store.works = True
    await recorder.flush()
    assert len(await read_ends(book)) == 4
    found = {verdict.tenant: verdict for verdict in await check_records(book.store)}
    assert [found[tenant].lost for tenant in ("a", "b")] == [3, 1]
    assert await faults(book.store) == {}
    recorder.end(*end(8))  # there is room again
    await recorder.flush()
    assert len(await read_ends(book)) == 5
