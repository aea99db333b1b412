"""Transactions of a SQLite file: on the event loop, and durable when they return."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from sqlalchemy import Connection, func, select

from perturb import EmbeddingTable
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError
from proxy.storage.databases import sqlite
from proxy.storage.opening import open_store
from proxy.storage.schema import RELEASES
from proxy.storage.store import Store
from tests.limits import LIMIT
from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.storage.databases.disk import Disk, disk, other_process, until
from tests.proxy.storage.reports import SETTINGS, ask, report
from tests.proxy.storage.work import scalar

__all__ = ["disk"]

COUNT = select(func.count()).select_from(RELEASES)
OLD = "SELECT * FROM releases"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s" / "inferdpt.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    async with open_store(Settings(folder=str(path.parent))) as opened:
        yield opened


def add(number: int, size: int = 1) -> Callable[[Connection], None]:
    row = {"key": b"%d" % number, "tenant": "t", "value": "x" * size, "used": float(number)}
    return lambda connection: connection.execute(RELEASES.insert(), row) and None


def count(path: Path, table: str = "releases") -> int:
    """Return the number of committed rows, as another connection sees them."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        (found,) = other.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found)


class TestDurability:
    async def test_a_write_returns_after_a_sync_that_began_after_its_commit(
        self, store: Store, path: Path, disk: Disk
    ) -> None:
        disk.stop()
        before = disk.begun
        first = asyncio.create_task(store.write(add(1)))
        await until(lambda: disk.begun == before + 1)
        assert count(path) == 1
        second = asyncio.create_task(store.write(add(2)))
        await until(lambda: count(path) == 2)
        assert not first.done()
        disk.let()  # the sync that began before the second commit
        await first
        await until(lambda: disk.begun == before + 2)
        assert not second.done()
        disk.let()
        await second

    async def test_writes_at_once_share_a_sync(self, store: Store, disk: Disk) -> None:
        before = disk.begun
        await asyncio.gather(*(store.write(add(i)) for i in range(100)))
        assert 1 <= disk.begun - before <= 50

    async def test_who_need_not_wait_does_not(self, store: Store, path: Path, disk: Disk) -> None:
        disk.stop()
        before = disk.begun
        async with asyncio.timeout(LIMIT):
            await store.write(add(1), wait=False)
        assert count(path) == 1
        assert disk.begun == before

    async def test_a_write_fails_if_its_sync_does_and_so_does_each_later_one(
        self, store: Store, disk: Disk
    ) -> None:
        disk.failing = True
        for number in range(3):
            with pytest.raises(ApiError) as info:
                await store.write(add(number))
            assert (info.value.status, info.value.code) == (503, "store_unavailable")
            disk.failing = False


class TestRequests:
    @pytest.fixture
    async def proxy(self, table: EmbeddingTable, path: Path, disk: Disk) -> AsyncIterator[Proxy]:
        over = {**SETTINGS, "store": {"folder": str(path.parent)}}
        async with running_proxy(table, over) as running:
            await until(lambda: disk.begun == disk.done > 0)
            yield running
            disk.go()

    async def test_nothing_is_sent_before_the_charge_is_on_disk(
        self, proxy: Proxy, path: Path, disk: Disk
    ) -> None:
        disk.stop()
        asking = asyncio.create_task(ask(proxy, report(1)))
        await until(lambda: count(path, "accounts") > 0)
        async with aiohttp.ClientSession() as session:
            for _ in range(20):  # the proxy answers others meanwhile
                async with session.get(f"{proxy.root}/ready") as response:
                    assert response.status == 200
        assert proxy.remote.received == []
        assert not asking.done()
        disk.go()
        await asking
        assert len(proxy.remote.bodies) == 1

    async def test_nothing_is_sent_if_the_disk_fails_then_or_later(
        self, proxy: Proxy, disk: Disk
    ) -> None:
        disk.failing = True
        for number in (1, 2, 1):
            with pytest.raises(openai.InternalServerError) as info:
                await ask(proxy, report(number))
            assert (info.value.status_code, info.value.code) == (503, "store_unavailable")
            disk.failing = False  # the kernel says once that it lost something
        assert proxy.remote.received == []


class TestLocks:
    async def test_a_write_waits_for_another_process_and_the_loop_runs(
        self, store: Store, path: Path
    ) -> None:
        order: list[int] = []
        with other_process(path, "BEGIN IMMEDIATE") as commit:
            jobs = []
            for number in range(5):
                job = asyncio.create_task(store.write(add(number)))
                job.add_done_callback(lambda _, number=number: order.append(number))  # type: ignore
                jobs.append(job)
            for _ in range(50):
                await asyncio.sleep(0.002)
                assert await store.read(scalar(COUNT)) == 0
            assert await store.scan(scalar(COUNT)) == 0
            assert not any(job.done() for job in jobs)
            commit()
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(*jobs)
        assert order == sorted(order)
        assert count(path) == 5

    async def test_who_is_cancelled_while_it_waits_writes_nothing(
        self, store: Store, path: Path
    ) -> None:
        with other_process(path, "BEGIN IMMEDIATE") as commit:
            gone, other = (asyncio.create_task(store.write(add(n))) for n in range(2))
            await asyncio.sleep(0.01)
            gone.cancel()
            await asyncio.wait([gone])
            commit()
            async with asyncio.timeout(LIMIT):
                await other
        assert count(path) == 1

    async def test_a_write_gives_up_after_a_time(
        self, store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
        with other_process(path, "BEGIN IMMEDIATE") as commit:
            with pytest.raises(ApiError) as info:
                await store.write(add(1))
            assert info.value.code == "store_unavailable"
            commit()
        await store.write(add(2))
        assert count(path) == 1

    async def test_a_long_scan_stops_neither_the_loop_nor_writers(self, store: Store) -> None:
        begun, end = threading.Event(), threading.Event()

        def scan(connection: Connection) -> list[Any]:
            found = [connection.scalar(COUNT)]
            begun.set()
            assert end.wait(LIMIT)
            return [*found, connection.scalar(COUNT)]

        scanning = asyncio.create_task(store.scan(scan))
        await until(begun.is_set)
        async with asyncio.timeout(LIMIT):
            for number in range(10):
                await store.write(add(number))
            assert await store.read(scalar(COUNT)) == 10
        assert not scanning.done()
        end.set()
        assert await scanning == [0, 0]  # it saw one state of the database


class TestLargeTransactions:
    """A transaction of many rows runs beside the event loop, in its turn and to its end."""

    @pytest.mark.parametrize("brief", [True, False])
    async def test_only_brief_ones_run_on_the_event_loop(self, store: Store, brief: bool) -> None:
        thread = await store.write(lambda _: threading.get_ident(), brief=brief)
        assert (thread == threading.get_ident()) is brief

    async def test_one_ends_before_the_next_begins_also_if_its_caller_leaves(
        self, store: Store
    ) -> None:
        begun, go = threading.Event(), threading.Event()

        def work(connection: Any) -> None:
            add(1)(connection)
            begun.set()
            go.wait(LIMIT)

        large = asyncio.create_task(store.write(work, brief=False))
        await until(begun.is_set)
        small = asyncio.create_task(store.write(add(2)))
        late = asyncio.create_task(store.write(add(3), brief=False))
        await asyncio.sleep(0)
        for task in (large, late):
            task.cancel()
        await asyncio.wait([large, late])
        assert not small.done()
        assert await store.read(scalar(COUNT)) == 0
        go.set()
        await small
        assert await store.read(scalar(COUNT)) == 2  # the one that had not begun was not run

    async def test_a_failed_one_leaves_no_trace(self, store: Store) -> None:
        def work(connection: Any) -> None:
            add(1)(connection)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.write(work, brief=False)
        await store.write(add(2))
        assert await store.read(scalar(COUNT)) == 1

    async def test_one_waits_for_another_process(self, store: Store, path: Path) -> None:
        with other_process(path, "BEGIN IMMEDIATE") as commit:
            large = asyncio.create_task(store.write(add(1), brief=False))
            await asyncio.sleep(0.05)
            assert not large.done()
            commit()
        await large
        assert count(path) == 1


class TestLog:
    """SQLite appends to the log until a checkpoint moved it and nobody reads it."""

    async def write_many(self, store: Store, numbers: range) -> None:
        async with asyncio.timeout(LIMIT):
            for start in range(numbers.start, numbers.stop, 25):
                some = range(start, min(start + 25, numbers.stop))
                await asyncio.gather(*(store.write(add(n, 2000)) for n in some))

    def size(self, path: Path) -> int:
        return path.with_name(path.name + "-wal").stat().st_size

    @pytest.fixture
    def often(self, monkeypatch: pytest.MonkeyPatch) -> int:
        monkeypatch.setattr(sqlite, "CHECKPOINT_WRITES", 50)
        return 50

    async def test_it_does_not_grow_with_the_writes(
        self, store: Store, path: Path, often: int
    ) -> None:
        await self.write_many(store, range(often))
        one = self.size(path)
        await self.write_many(store, range(often, 20 * often))
        assert self.size(path) < 5 * one
        assert count(path) == 20 * often

    async def test_a_reader_of_an_old_state_stops_nobody_and_it_shrinks_no_more_than_it_must(
        self, store: Store, path: Path, often: int
    ) -> None:
        with other_process(path, "BEGIN", OLD) as commit:
            await self.write_many(store, range(6 * often))
            commit()
        held = self.size(path)
        await self.write_many(store, range(6 * often, 40 * often))
        assert self.size(path) < 2 * held
        assert count(path) == 40 * often


async def test_a_closed_database_has_no_thread_that_moves_its_log(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the sweep that asked for it was cancelled."""
    database = await sqlite.SqliteDatabase.open(path)
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def checkpoint(*_: object, **__: object) -> bool:
        begun.set()
        go.wait(LIMIT)
        ended.set()
        return True

    monkeypatch.setattr(database._guard, "checkpoint", checkpoint)
    sweep = asyncio.create_task(database.empty_log(wait=False))
    await asyncio.to_thread(begun.wait, LIMIT)
    sweep.cancel()
    await asyncio.wait([sweep])
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    go.set()
    await closing
    assert ended.is_set()
