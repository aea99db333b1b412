"""Share the buckets of rate limits among processes: in the store, or in Redis.

Both hold HMACs of the keys' ids and times, and nothing else. If the place cannot be reached, no
request of a limited key is served.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Double, bindparam, case, select

from perturb.install import install_command
from proxy.access.rates import Bucket, LocalBuckets, Rates
from proxy.config.settings import Config
from proxy.errors import ApiError, ConfigError
from proxy.storage.databases.base import Connection
from proxy.storage.digests import Digests
from proxy.storage.schema import RATES
from proxy.storage.store import Store

__all__ = ["RedisBuckets", "StoreBuckets", "open_rates"]

LANE = "rate limits"
_FIND = select(RATES.c.full_at).where(RATES.c.key == bindparam("digest"))
REDIS_SECONDS = 2.0  # to connect, and for an answer
# Redis runs a script alone, and by its own clock: those of the replicas may differ.
TAKE = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1e6
local each, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
if full + each > now + most then
  return {0, string.format('%.6f', full - now)}
end
full = full + each
local kept = math.ceil((full - now) * 1000) + 1000
redis.call('SET', KEYS[1], string.format('%.6f', full), 'PX', string.format('%.0f', kept))
return {1, string.format('%.6f', full - now)}
"""


@asynccontextmanager
async def open_rates(config: Config, store: Store) -> AsyncIterator[Rates]:
    """Yield the rate limits, counted where the configuration says.

    Raises:
        ConfigError: Redis's library is missing, or it does not accept the URL.
    """
    shared = config.limits.shared
    place = None if shared is None else shared.get_secret_value()
    if place is None and config.server.workers == 1:
        yield Rates(LocalBuckets())
    elif place is None or place == "store":
        yield Rates(StoreBuckets(store))
    else:
        buckets = RedisBuckets(place, store)
        try:
            yield Rates(buckets)
        finally:
            await buckets.aclose()


class StoreBuckets:
    """Keep buckets in the store.

    All processes share the store's clock only as far as their machines' clocks agree. A time that
    another wrote is never moved back, so a difference makes limits stricter, once.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._digests = Digests(store)
        self._clock = clock
        now: Any = bindparam("now", type_=Double)
        each: Any = bindparam("each", type_=Double)
        most: Any = bindparam("most", type_=Double)
        full = case((RATES.c.full_at > now, RATES.c.full_at), else_=now) + each
        self._take = (
            store.insert(RATES)
            .on_conflict_do_update(
                index_elements=[RATES.c.key],
                set_={"full_at": full},
                where=full <= now + most,
            )
            .returning(RATES.c.full_at)
        )

    async def take(self, key: str, bucket: Bucket) -> tuple[bool, float]:
        digest = self._digests.of("rate", key)

        def take(connection: Connection) -> tuple[bool, float]:
            now = self._clock()
            row = {"key": digest, "full_at": now + bucket.each}
            terms = {"now": now, "each": bucket.each, "most": bucket.most}
            full_at = connection.scalar(self._take, row | terms)
            if full_at is not None:
                return True, full_at - now
            return False, connection.scalar(_FIND, {"digest": digest}) - now

        # A machine that loses power may forget the latest requests; no process does.
        return await self._store.write(take, lane=LANE, wait=False)


class RedisBuckets:
    """Keep buckets in Redis.

    Args:
        url: `redis://` or `rediss://`.
        store: its secret names the keys.

    Raises:
        ConfigError: the library is missing, or it does not accept the URL.
    """

    def __init__(self, url: str, store: Store) -> None:
        try:
            from redis import exceptions
            from redis.asyncio import Redis
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff
        except ImportError:
            raise ConfigError(
                f"limits.shared: Redis needs its library: {install_command('redis')}"
            ) from None
        self._digests = Digests(store)
        # A connection that was lost is opened again, once. The script may have run then: counting
        # a request twice makes a limit stricter, never wider.
        again = Retry(NoBackoff(), 1, supported_errors=(exceptions.ConnectionError,))
        try:
            self._redis = Redis.from_url(
                url,
                socket_timeout=REDIS_SECONDS,
                socket_connect_timeout=REDIS_SECONDS,
                retry=again,
            )
        except (ValueError, exceptions.RedisError):
            raise ConfigError("limits.shared: is not a Redis URL") from None
        self._script = self._redis.register_script(TAKE)

    async def take(self, key: str, bucket: Bucket) -> tuple[bool, float]:
        name = f"inferdpt:rate:{self._digests.of('rate', key).hex()}"
        try:
            allowed, seconds = await self._script(
                keys=[name], args=[repr(bucket.each), repr(bucket.most)]
            )
            return bool(allowed), float(seconds)
        except Exception as exc:  # not all that the library raises is a `RedisError`
            raise _limits_unavailable() from exc

    async def aclose(self) -> None:
        """Close all connections."""
        await self._redis.aclose()


def _limits_unavailable() -> ApiError:
    return ApiError(
        503,
        "The shared rate limits cannot be reached; nothing was sent.",
        type="server_error",
        code="rate_limits_unavailable",
        retry=True,
    )
