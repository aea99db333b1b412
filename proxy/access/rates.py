"""Limit rates: a token bucket for each key, and the places where buckets are kept.

A bucket is one number, the time until it is full again. A request moves that time on by the time
in which the bucket gains one request, unless it would lie further ahead than a whole bucket. This
is the generic cell rate algorithm (GCRA).

Processes share buckets in the store or in Redis. Both hold HMACs of the keys' ids and times, and
nothing else. If the place cannot be reached, no request of a limited key is served.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Double, bindparam, case, select

from perturb.install import install_command
from proxy.access.grants import Client
from proxy.config.settings import Config
from proxy.errors import ApiError, ConfigError
from proxy.storage.databases.base import Connection
from proxy.storage.digests import Digests
from proxy.storage.schema import RATES
from proxy.storage.store import Store

__all__ = [
    "Bucket",
    "Buckets",
    "LocalBuckets",
    "Rates",
    "RedisBuckets",
    "StoreBuckets",
    "open_rates",
]

ROUNDING = 1e-6  # seconds; the error of a time since 1970 in 64 bits is less
ROOM = 10_000  # buckets that are kept before those that are full are forgotten
NETWORK = 64  # bits of an IPv6 address that name a site, which has all addresses below


@dataclass(frozen=True)
class Bucket:
    """Describe a bucket: the requests it holds, and the seconds in which it gains one."""

    size: float
    each: float

    @property
    def most(self) -> float:
        """Return the seconds in which an empty bucket becomes full, and a rounding error."""
        return self.size * self.each + ROUNDING


LOGINS = Bucket(20, 3.0)  # attempts from one address: 20 at once, then 20 a minute


class Buckets(Protocol):
    """Keep the buckets of keys."""

    async def take(self, key: str, bucket: Bucket) -> tuple[bool, float]:
        """Take a request out of a key's bucket, if there is one in it.

        Returns:
            whether there was one, and the seconds from now until the bucket is full.

        Raises:
            ApiError: 503, the buckets cannot be reached.
        """


class LocalBuckets:
    """Keep buckets in this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full: dict[str, float] = {}  # the time at which a bucket is full
        self._room = ROOM

    async def take(self, key: str, bucket: Bucket) -> tuple[bool, float]:
        now = self._clock()
        full = max(self._full.get(key, now), now)
        allowed = full + bucket.each <= now + bucket.most
        if allowed:
            full += bucket.each
            self._full[key] = full
            if len(self._full) > self._room:
                self._forget(now)
        return allowed, full - now

    def _forget(self, now: float) -> None:
        """Forget full buckets, which are the same as none; rarely, since all are looked at."""
        self._full = {key: full for key, full in self._full.items() if full > now}
        self._room = max(ROOM, 2 * len(self._full))


class Rates:
    """Limit each key to `burst` requests at once, refilled at `requests_per_minute`."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets

    async def take(self, client: Client) -> dict[str, str]:
        """Take one request out of the client's bucket and return the rate limit headers.

        Raises:
            ApiError: 429, the bucket is empty; 503, it cannot be reached.
        """
        rate = client.grant.requests_per_minute
        if rate is None:
            return {}
        size = float(client.grant.burst or max(math.ceil(rate), 1))
        bucket = Bucket(size, 60 / rate)
        allowed, seconds = await self._buckets.take(client.key, bucket)
        left = (bucket.most - seconds) / bucket.each
        headers = {
            "x-ratelimit-limit-requests": f"{size:.0f}",
            "x-ratelimit-remaining-requests": f"{max(math.floor(left), 0):d}",
            "x-ratelimit-reset-requests": f"{math.ceil(seconds - ROUNDING)}s",
        }
        if not allowed:
            message = "The rate limit of this key is reached; try again later."
            raise _make_error(message, bucket, seconds, headers)
        return headers

    async def take_login(self, address: str) -> None:
        """Take one attempt to log in out of an address's bucket.

        Args:
            address: of the client; "" if it has none.

        Raises:
            ApiError: 429, the bucket is empty; 503, it cannot be reached.
        """
        allowed, seconds = await self._buckets.take(f"login {_find_site(address)}", LOGINS)
        if not allowed:
            message = "There were too many attempts to log in from this address; try again later."
            raise _make_error(message, LOGINS, seconds)


def _make_error(
    message: str, bucket: Bucket, seconds: float, headers: Mapping[str, str] | None = None
) -> ApiError:
    """Return the error of an empty bucket that is full again after some seconds."""
    wait = math.ceil(seconds + bucket.each - bucket.most)
    return ApiError(
        429,
        message,
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry=True,
        headers={**(headers or {}), "retry-after": str(max(wait, 1))},
    )


def _find_site(address: str) -> str:
    """Return the address, or for IPv6 the network of a site."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None:
            return str(ipaddress.IPv6Network((int(found), NETWORK), strict=False))
        found = found.ipv4_mapped
    return str(found)


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
