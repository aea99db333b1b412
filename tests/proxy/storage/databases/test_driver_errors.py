"""Every exception of every driver becomes the project's own error, wherever it is raised."""

from __future__ import annotations

import asyncio
import inspect
import sqlite3
from collections.abc import AsyncIterator, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import aiohttp
import asyncpg
import asyncpg.exceptions
import asyncpg.exceptions._base
import pytest
import sqlalchemy.exc
from sqlalchemy import select
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi
from sqlalchemy.util import greenlet_spawn

from perturb import EmbeddingTable
from proxy.access.admission import Bucket, RedisBuckets
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError
from proxy.storage.databases import postgres
from proxy.storage.databases.postgres import PostgresConnection
from proxy.storage.opening import open_store
from proxy.storage.store import NO_CHARACTER, DatabaseFailure, Store
from tests.databases import database, postgres_url
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, running_proxy
from tests.redis_server import redis_url

__all__ = ["database", "postgres_url", "redis_url"]

HIDDEN = "what was sent"


class Ours(Exception):
    """What a transaction raises itself."""


def find_exceptions(*places: ModuleType | type) -> set[type[Exception]]:
    """All exceptions that stand in some modules or classes, and all that derive from them."""
    found: set[type[Exception]] = set()
    new = [each for place in places for each in vars(place).values() if inspect.isclass(each)]
    while new:
        one = new.pop()
        if issubclass(one, Exception) and one not in found | {Exception, Ours}:
            found.add(one)
            if one.__module__ != "builtins":
                new += one.__subclasses__()
    return found


def make(kind: type[Exception]) -> Exception:
    """An instance, whatever its constructor wants."""
    for arguments in ((HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN, None, Ours(HIDDEN))):
        try:
            return kind(*arguments)
        except (TypeError, AttributeError):
            continue
    return kind.__new__(kind)


OF_ASYNCPG = find_exceptions(asyncpg, asyncpg.exceptions, asyncpg.exceptions._base)
OF_SQLALCHEMY = find_exceptions(sqlalchemy.exc, AsyncAdapt_asyncpg_dbapi)
OF_SOCKETS = {
    OSError,
    *OSError.__subclasses__(),
    ConnectionResetError,
    BrokenPipeError,
    TimeoutError,
    asyncio.IncompleteReadError,
}
OF_SQLITE = find_exceptions(sqlite3)


def order(kinds: set[type[Exception]]) -> list[type[Exception]]:
    return sorted(kinds, key=lambda kind: (kind.__module__, kind.__qualname__))


def test_the_walk_finds_the_classes() -> None:
    assert len(OF_ASYNCPG) > 200
    assert {asyncpg.InternalClientError, asyncpg.ProtocolError} <= OF_ASYNCPG
    assert {sqlite3.Warning, sqlite3.OperationalError} <= OF_SQLITE
    assert {sqlalchemy.exc.DBAPIError, sqlalchemy.exc.ResourceClosedError} <= OF_SQLALCHEMY


@pytest.fixture
async def store(database: dict[str, Any]) -> AsyncIterator[Store]:
    async with open_store(Settings(**database)) as opened:
        yield opened


async def raise_everywhere(store: Store, exc: Exception) -> list[BaseException | None]:
    """Raise an exception in each kind of transaction; return what comes out."""

    def work(_: Any) -> None:
        raise exc

    calls = [store.read(work), store.scan(work), store.migrate(work), store.write(work)]
    return list(await asyncio.gather(*calls, return_exceptions=True))


def expected(exc: Exception) -> int:
    code = getattr(getattr(exc, "orig", exc), "sqlstate", None)
    return 400 if code == NO_CHARACTER else 503


async def test_every_exception_of_a_driver_is_mapped(store: Store) -> None:
    kinds = OF_SQLALCHEMY | OF_SOCKETS | (OF_SQLITE if store.file else OF_ASYNCPG)
    for kind in order(kinds):
        exc = make(kind)
        for found in await raise_everywhere(store, exc):
            assert isinstance(found, ApiError), (kind, found)
            assert found.status == expected(exc), kind
            assert HIDDEN not in found.message


async def test_what_a_transaction_raises_itself_is_not(store: Store) -> None:
    """The negative control."""
    for exc in (Ours(HIDDEN), ValueError(HIDDEN), ApiError(409, "No.")):
        assert await raise_everywhere(store, exc) == [exc] * 4


async def test_what_the_driver_raises_by_mistake_is_mapped() -> None:
    async def fail(*_: object) -> None:
        raise AttributeError(HIDDEN)

    raw: Any = SimpleNamespace(fetch=fail, execute=fail, executemany=fail)
    with pytest.raises(DatabaseFailure) as info:
        await greenlet_spawn(PostgresConnection(raw).execute, select(1))
    assert HIDDEN not in str(info.value)


async def test_the_api_answers_503(
    table: EmbeddingTable, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exception is raised in the first statement of a chat."""
    monkeypatch.setenv("INFERDPT_SECRET", "5a" * 32)
    failing: list[Exception] = []

    class Failing(PostgresConnection):
        def execute(self, *given: Any, **named: Any) -> Any:
            if failing:
                raise failing[0]
            return super().execute(*given, **named)

    monkeypatch.setattr(postgres, "PostgresConnection", Failing)
    async with running_proxy(table, {"store": {"url": postgres_url}}) as proxy:
        body = {"model": MODEL, "messages": user("One text.")}
        async with aiohttp.ClientSession() as session:

            async def ask() -> tuple[int, str]:
                url = f"{proxy.base_url}/chat/completions"
                async with session.post(url, json=body) as response:
                    return response.status, await response.text()

            for kind in order(OF_ASYNCPG):
                failing[:] = [make(kind)]
                status, text = await ask()
                assert status == expected(failing[0]), kind
                assert HIDDEN not in text
            assert proxy.remote.bodies == []
            failing[:] = [Ours()]  # the negative control
            assert (await ask())[0] == 500
            failing.clear()
            assert (await ask())[0] == 200


def find_redis_exceptions() -> Iterator[type[Exception]]:
    redis = pytest.importorskip("redis", reason="the package redis is not installed")
    yield from order(find_exceptions(redis.exceptions, redis) | OF_SOCKETS)


async def test_every_exception_of_redis_is_mapped(tmp_path: Any, redis_url: str) -> None:
    async with open_store(Settings(folder=str(tmp_path))) as store:
        place: Any = RedisBuckets(redis_url, store)
        names = set()
        for kind in find_redis_exceptions():

            async def fail(kind: type[Exception] = kind, **_: object) -> None:
                raise make(kind)

            place._script = fail
            with pytest.raises(ApiError) as info:
                await place.take("key", Bucket(1, each=1.0))
            assert (info.value.status, info.value.code) == (503, "rate_limits_unavailable")
            names.add(kind.__name__)
        assert {"ConnectionError", "TimeoutError", "RedisClusterException"} <= names
        await place.aclose()
