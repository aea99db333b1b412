"""A database that goes away under a running proxy, and one that a later version made."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from sqlalchemy import Connection, func, select, text

from perturb import EmbeddingTable
from proxy.api.app_keys import STORE
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.databases.sqlite import RECENT
from proxy.storage.ledger import Ledger
from proxy.storage.opening import open_store
from proxy.storage.schema import ACCOUNTS
from tests.databases import database, postgres_url
from tests.limits import LIMIT
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.storage.work import execute, scalar

__all__ = ["database", "postgres_url"]


def replace(path: Path) -> None:
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def is_there(path: Path) -> bool:
    return path.exists()


def size_of(path: Path) -> int:
    return path.stat().st_size


def end_with(name: str, damage: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda path: damage(path.with_name(path.name + name))


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "deleted": Path.unlink,
    "moved": lambda path: path.rename(path.with_name("elsewhere")),
    "replaced": replace,
    "emptied": empty,
    "cut": cut,
    "log deleted": end_with("-wal", Path.unlink),
    "log replaced": end_with("-wal", replace),
    "index deleted": end_with("-shm", Path.unlink),
    "folder deleted": lambda path: shutil.rmtree(path.parent),
    "made anew": lambda path: (path.unlink(), path.touch()),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "watched" / "inferdpt.db"


@pytest.fixture
async def proxy(table: EmbeddingTable, path: Path) -> AsyncIterator[Proxy]:
    async with running_proxy(table, {"store": {"folder": str(path.parent)}}) as running:
        async with asyncio.timeout(LIMIT):
            while running.app[STORE]._dirty:  # the first sweep writes the log to an emptied file
                await asyncio.sleep(0.01)
        yield running


async def ask(proxy: Proxy, text: str) -> Any:
    return await proxy.client().chat.completions.create(model=MODEL, messages=user(text))


async def readiness(proxy: Proxy) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session, session.get(f"{proxy.root}/ready") as response:
        return response.status, await response.json()


def complaints(proxy: Proxy) -> list[str]:
    lines = [json.loads(line) for line in proxy.log]
    return [line["message"] for line in lines if "the database" in line.get("message", "")]


@pytest.mark.parametrize("damage", DAMAGES)
async def test_nothing_is_sent_once_the_file_is_not_the_one_that_was_opened(
    proxy: Proxy, path: Path, damage: str
) -> None:
    await ask(proxy, "The board met on Monday morning.")
    assert (await readiness(proxy))[0] == 200
    if damage == "cut":  # else everything is in the log, and the database has one page
        with sqlite3.connect(path) as other:
            other.execute("PRAGMA wal_checkpoint(FULL)")
        other.close()
        await ask(proxy, "The board met on Monday evening.")
    sent = len(proxy.remote.received)
    DAMAGES[damage](path)
    there = is_there(path)
    for words in ("The board met on Monday morning.", "A new text of several words."):
        with pytest.raises(openai.InternalServerError) as info:
            await ask(proxy, words)
        assert (info.value.status_code, info.value.code) == (503, "store_unavailable")
    status, body = await readiness(proxy)
    assert (status, body["error"]["code"]) == (503, "store_unavailable")
    assert len(proxy.remote.received) == sent
    assert is_there(path) is there  # no empty database stands where it was
    (line,) = complaints(proxy)
    assert str(path) in line
    assert "start it again" in line


async def test_reads_of_a_file_that_is_gone_fail_until_it_is_put_back(path: Path) -> None:
    """Also by a connection that read before."""
    async with open_store(Settings(folder=str(path.parent))) as store:
        query = scalar(select(func.count()).select_from(ACCOUNTS))
        for run in (store.read, store.scan):
            assert await run(query) == 0
        os.rename(path, path.with_name("away"))
        await asyncio.sleep(2 * RECENT)
        for run in (store.read, store.scan):
            with pytest.raises(ApiError):
                await run(query)
        os.rename(path.with_name("away"), path)
        for run in (store.read, store.scan):
            assert await run(query) == 0


async def test_a_file_that_is_put_back_is_used_again(proxy: Proxy, path: Path) -> None:
    away = path.with_name("away")
    os.rename(path, away)
    with pytest.raises(openai.InternalServerError):
        await ask(proxy, "The board met on Monday.")
    os.rename(away, path)
    await ask(proxy, "The board met on Monday.")
    assert (await readiness(proxy))[0] == 200


async def test_what_is_committed_to_a_file_that_was_deleted_meanwhile_is_refused(
    path: Path,
) -> None:
    """The file goes away in the middle of the transaction that charges."""
    async with open_store(Settings(folder=str(path.parent))) as store:

        def charge(connection: Connection) -> None:
            Ledger(store, delta=1e-6).charge(connection, "t", [], budgets={})
            os.unlink(path)

        with pytest.raises(ApiError) as info:
            await store.write(charge)
        assert info.value.code == "store_unavailable"


async def test_a_database_that_grows_and_is_checkpointed_is_the_same(path: Path) -> None:
    async with (
        open_store(Settings(folder=str(path.parent))) as store,
        open_store(Settings(folder=str(path.parent))) as other,
    ):
        ledger = Ledger(store, delta=1e-6)
        for i in range(30):
            charge = partial(ledger.charge, tenant=f"{i}" * 1000, prices=[], budgets={})
            await (store, other)[i % 2].write(charge)
            if i % 7 == 0:
                await store.purge()
        tenants = select(func.count(ACCOUNTS.c.tenant.distinct()))
        assert await other.scan(scalar(tenants)) == 30


async def fill(proxy: Proxy, path: Path) -> int:
    """Release a few texts and empty the log into the database; return its size."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        for i in range(3):
            await ask(proxy, f"The board met on day {i}: " + "and then they talked. " * 60)
        other.execute("CREATE TABLE filling (a)")
        other.execute("INSERT INTO filling VALUES (zeroblob(400000))")
        other.commit()
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        await ask(proxy, "The board met on Monday.")
        other.execute("DROP TABLE filling")
        other.commit()
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await ask(proxy, "The board met on Tuesday.")
    return size_of(path)


async def test_a_database_may_grow_after_a_vacuum_that_was_noticed(path: Path) -> None:
    """The file becomes as small as the VACUUM left it, while the log holds more again."""
    async with open_store(Settings(folder=str(path.parent))) as store:
        query = scalar(select(func.count()).select_from(ACCOUNTS))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("CREATE TABLE more (value BLOB)")
            other.execute("INSERT INTO more VALUES (zeroblob(1000000))")
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert await store.scan(query) == 0
            other.execute("DELETE FROM more")
            other.execute("VACUUM")
            assert await store.scan(query) == 0
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.execute("INSERT INTO more VALUES (zeroblob(100000))")
            assert await store.scan(query) == 0


@pytest.mark.parametrize("between", [False, True])
async def test_a_vacuum_of_the_running_database_is_no_damage(
    proxy: Proxy, path: Path, between: bool
) -> None:
    """The file shrinks at the checkpoint after it."""
    size = await fill(proxy, path)
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("VACUUM")
        if between:
            await ask(proxy, "The board met on Wednesday.")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert size_of(path) < size
    await ask(proxy, "The board met on Thursday.")
    assert complaints(proxy) == []
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await ask(proxy, "The board met on Friday.")
    cut(path)
    with pytest.raises(openai.InternalServerError):
        await ask(proxy, "The board met on Saturday.")


@pytest.mark.parametrize("log", ["empty", "kept"])
async def test_an_older_copy_written_into_the_file_is_noticed(
    proxy: Proxy, path: Path, log: str
) -> None:
    """An older copy is whole, and smaller: charges and draws since then are not in it."""
    await ask(proxy, "The board met on Sunday.")
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await ask(proxy, "The board met on Monday.")
    older = await asyncio.to_thread(path.read_bytes)
    await fill(proxy, path)
    if log == "empty":
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.write(older)
        file.truncate()
    with pytest.raises(openai.InternalServerError):
        await ask(proxy, "The board met on Tuesday.")


async def test_a_newer_database_is_named_and_left_alone(database: dict[str, Any]) -> None:
    async with open_store(Settings(**database)) as store:
        await store.write(
            partial(Ledger(store, delta=1e-6).charge, tenant="alice", prices=[], budgets={})
        )
        await store.write(execute(text("UPDATE alembic_version SET version_num = '9999'")))
    with pytest.raises(ConfigError) as info:
        async with open_store(Settings(**database)):
            pass
    message = str(info.value)
    assert "is newer than this version of inferdpt" in message
    assert "revision 9999" in message
    assert "0001" in message
    assert "Upgrade inferdpt" in message
    assert "Can't locate" not in message
