"""Rate limits that several processes count together, and that hold when nobody can count."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import ClientSession

from perturb import EmbeddingTable
from proxy.access.admission import Bucket, Buckets, LocalBuckets, Rates, RedisBuckets, StoreBuckets
from proxy.access.auth import Client, Grant
from proxy.api.app_keys import KEYRING
from proxy.config.settings import load_config
from proxy.config.store import StoreSettings as Settings
from proxy.errors import ApiError, ConfigError
from proxy.storage.opening import open_store
from proxy.storage.schema import RATES
from proxy.storage.store import Store
from tests.databases import database, postgres_url
from tests.extraction.local_servers import unused_port
from tests.proxy.conftest import MODEL, running_proxy
from tests.redis_server import redis_url

__all__ = ["database", "postgres_url", "redis_url"]

SLOW = Bucket(5, each=3600.0)  # a test never sees it fill
Make = Callable[[], Buckets]


@pytest.fixture
async def stores(database: dict[str, Any]) -> AsyncIterator[list[Store]]:
    """One store, opened as two processes would."""
    async with AsyncExitStack() as stack:
        contexts = [open_store(Settings(**database)) for _ in range(2)]
        yield [await stack.enter_async_context(context) for context in contexts]


async def count_allowed(places: list[Buckets], key: str = "key") -> int:
    """Ask every place ten times for the same key, all at once."""
    asked = await asyncio.gather(*(one.take(key, SLOW) for one in places for _ in range(10)))
    return sum(allowed for allowed, _ in asked)


class TestStore:
    async def test_two_processes_share_a_bucket(self, stores: list[Store]) -> None:
        places: list[Buckets] = [StoreBuckets(store) for store in stores]
        assert await count_allowed(places) == SLOW.size
        assert await count_allowed(places, "another") == SLOW.size

    async def test_processes_that_do_not_share_allow_more(self) -> None:
        """The negative control: the test above would fail."""
        assert await count_allowed([LocalBuckets(), LocalBuckets()]) == 2 * SLOW.size

    async def test_it_fills_as_a_bucket_in_memory_does(self, stores: list[Store]) -> None:
        now = 1_800_000_000.0
        bucket = Bucket(2, each=10.0)
        shared, local = StoreBuckets(stores[0], lambda: now), LocalBuckets(lambda: now)
        for step in (0, 0, 0, 1, 9, 0, 5, 5, 100, 0, 0, -30, 0, 40, 0):
            now += step
            ours, theirs = await shared.take("key", bucket), await local.take("key", bucket)
            assert ours[0] == theirs[0], step
            assert ours[1] == pytest.approx(theirs[1], abs=1e-5)

    async def test_rows_name_no_key_and_are_forgotten_once_full(self, stores: list[Store]) -> None:
        store = stores[0]
        await StoreBuckets(store, lambda: 1000.0).take("alice-5ac3", Bucket(2, each=10.0))
        (row,) = await store.scan(lambda connection: connection.execute(RATES.select()).all())
        assert b"alice" not in row.key
        assert row.full_at == pytest.approx(1010.0)
        await store.sweep(ttl=1e9, rows=10, now=1005.0)
        assert await store.scan(lambda c: len(c.execute(RATES.select()).all())) == 1
        await store.sweep(ttl=1e9, rows=10, now=1011.0)
        assert await store.scan(lambda c: len(c.execute(RATES.select()).all())) == 0


class TestRedis:
    async def test_two_processes_share_a_bucket(self, tmp_path: Any, redis_url: str) -> None:
        async with open_store(Settings(folder=str(tmp_path))) as store:
            places = [RedisBuckets(redis_url, store) for _ in range(2)]
            try:
                assert await count_allowed(list(places)) == SLOW.size
                allowed, seconds = await places[0].take("key", SLOW)
                assert not allowed
                assert 4.9 * 3600 < seconds <= 5 * 3600
            finally:
                for place in places:
                    await place.aclose()

    async def test_it_holds_a_digest_and_a_time_and_lets_go(
        self, tmp_path: Any, redis_url: str
    ) -> None:
        from redis.asyncio import Redis

        async with (
            open_store(Settings(folder=str(tmp_path))) as store,
            Redis.from_url(redis_url) as redis,
        ):
            place = RedisBuckets(redis_url, store)
            before = set(await redis.keys("inferdpt:rate:*"))
            await place.take("alice-5ac3", Bucket(1, each=0.2))
            (name,) = set(await redis.keys("inferdpt:rate:*")) - before
            assert b"alice" not in name  # which is hexadecimal
            assert float(await redis.get(name)) > 1.6e9
            assert 0 < await redis.pttl(name) <= 1300
            await place.aclose()

    async def test_a_redis_that_does_not_answer_refuses(self, tmp_path: Any) -> None:
        pytest.importorskip("redis", reason="the package redis is not installed")
        async with open_store(Settings(folder=str(tmp_path))) as store:
            place = RedisBuckets(f"redis://127.0.0.1:{unused_port()}", store)
            client = Client("a", Grant(requests_per_minute=6), "1")
            with pytest.raises(ApiError) as info:
                await Rates(place).take(client)
            assert (info.value.status, info.value.code) == (503, "rate_limits_unavailable")
            assert await Rates(place).take(Client("a")) == {}  # a key without a limit
            await place.aclose()

    async def test_a_redis_that_hangs_refuses(self, tmp_path: Any) -> None:
        pytest.importorskip("redis", reason="the package redis is not installed")
        silent = await asyncio.start_server(lambda reader, _: reader.read(), "127.0.0.1", 0)
        port = silent.sockets[0].getsockname()[1]
        async with open_store(Settings(folder=str(tmp_path))) as store, silent:
            place = RedisBuckets(f"redis://127.0.0.1:{port}", store)
            with pytest.raises(ApiError) as info:
                await place.take("key", SLOW)
            assert info.value.status == 503
            await place.aclose()

    async def test_nothing_is_sent_for_a_limited_key_without_redis(
        self, table: EmbeddingTable
    ) -> None:
        pytest.importorskip("redis", reason="the package redis is not installed")
        gone = f"redis://127.0.0.1:{unused_port()}"
        async with running_proxy(table, {"limits": {"shared": gone}}) as proxy:
            _, limited = await proxy.app[KEYRING].create("alice", Grant(requests_per_minute=5))
            _, free = await proxy.app[KEYRING].create("bob", Grant())
            body = {"model": MODEL, "messages": [{"role": "user", "content": "One text."}]}
            async with ClientSession() as session:
                for key, status in ((limited, 503), (free, 200)):
                    url = f"{proxy.base_url}/chat/completions"
                    headers = {"Authorization": f"Bearer {key}"}
                    async with session.post(url, json=body, headers=headers) as response:
                        assert response.status == status
                        answer = await response.json()
                    if status == 503:
                        assert answer["error"]["code"] == "rate_limits_unavailable"
                        assert proxy.remote.bodies == []


@pytest.mark.parametrize("place", ["memcached://x", "redis", "STORE", ""])
def test_a_place_is_the_store_or_redis(place: str) -> None:
    with pytest.raises(ConfigError, match="limits.shared: must be store, redis://"):
        load_config(None, {"limits": {"shared": place}}, {})
