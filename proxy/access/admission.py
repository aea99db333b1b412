"""Decide which requests are served now: a rate for each key, a bounded number at once.

A rate is a token bucket, one number: the time until it is full again. A request moves that time on
by the time in which the bucket gains one request, unless it would lie further ahead than a whole
bucket. This is the generic cell rate algorithm (GCRA). Processes share buckets in the store or in
Redis. Both hold HMACs of the keys' ids and tenants, and times, and nothing else. If the place
cannot be reached, no request of a limited key is served.

Requests beyond the number at once wait, in all and per client. A body is read before its request
takes a place, so that slow clients do not hold up others. Memory is bounded, too: bodies above
`SMALL_BODY` share a pool of bytes until their answers end.
"""

from __future__ import annotations

import asyncio
import ipaddress
import math
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from sqlalchemy import Double, bindparam, case, select

from perturb.install import install_command
from proxy.access.auth import Client
from proxy.config.settings import Config
from proxy.errors import ApiError, ConfigError, bad_request, too_large
from proxy.metrics import Metrics
from proxy.storage.digests import Digests
from proxy.storage.schema import RATES
from proxy.storage.store import Connection, Store

__all__ = [
    "FILES_PATH",
    "Admission",
    "Bucket",
    "Buckets",
    "Hold",
    "LocalBuckets",
    "Pool",
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
    """Limit each key, and each user of a front end's key, to `burst` requests at once, refilled at
    `requests_per_minute`."""

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
        # A front end's key has a bucket for each of its users.
        name = f"{client.key} {client.tenant}"
        allowed, seconds = await self._buckets.take(name, bucket)
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


FILES_PATH = "/v1/files"
FORM_BYTES = 16_384  # of an uploaded file's form, beside the file

SMALL_BODY = 65_536  # bytes that every connection may hold: ordinary chats never wait for memory
STALLED_SECONDS = 5.0  # how long a client that holds memory for a body may be silent


class Pool:
    """Grant units to requests, which hold them and give them back.

    A request that finds no free unit waits. Free units go to the waiting client that holds the
    fewest, so that no client waits for the whole burst of another. The requests of one client are
    served in order of arrival. A full queue drops the last request of the client with the most
    requests in it.

    Args:
        units: the number of units.
        each: how many one client may hold.
        queue: how many requests may wait.
        seconds: the longest wait; None is no limit.

    Attributes:
        room: is set while a unit is free and no request waits.
    """

    def __init__(self, units: int, *, each: int, queue: int, seconds: float | None) -> None:
        self._units = self._free = units
        self._each = min(each, units)
        self._queue = queue
        self._seconds = seconds
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[_Waiter]] = {}
        self._arrivals = 0
        self.room = asyncio.Event()
        self.room.set()

    @property
    def waiting(self) -> int:
        """Return the number of waiting requests."""
        return sum(map(len, self._waiting.values()))

    def resize(self, other: Pool) -> None:
        """Take over the bounds of another pool. Units that are held beyond them stay held until
        they are given back; requests that wait are served by the new bounds."""
        self._free += other._units - self._units
        self._units, self._each = other._units, other._each
        self._queue, self._seconds = other._queue, other._seconds
        for queue in self._waiting.values():
            for waiter in queue:
                waiter.units = min(waiter.units, self._each)
        self._serve()

    async def take(self, client: str, units: int = 1) -> Hold:
        """Take units, at most as many as one client may hold, and wait until they are free.

        Raises:
            ApiError: 429, the queue is full, or the longest wait is over.
        """
        units = min(units, self._each)
        if not self._waiting and units <= min(self._free, self._each - self._held[client]):
            self._grant(client, units)
            self._note_room()
            return Hold(self, client, units)
        waiter = _Waiter(client, units, self._arrivals)
        self._arrivals += 1
        self._waiting.setdefault(client, deque()).append(waiter)
        self._serve()
        try:
            if not waiter.turn.done() and self.waiting > self._queue:
                self._drop_one()
            async with asyncio.timeout(self._seconds):
                await waiter.turn
        except BaseException as exc:
            self._forget(waiter)
            if waiter.granted:
                self._give(client, waiter.units)  # the grant came too late
            self._serve()
            if isinstance(exc, TimeoutError):
                raise _busy() from None
            raise
        return Hold(self, client, waiter.units)

    def _serve(self) -> None:
        """Grant free units.

        A request for many units at the head is not overtaken: it could wait forever.
        """
        while (waiter := self._next()) is not None and waiter.units <= self._free:
            self._forget(waiter)
            if waiter.turn.cancelled():
                continue
            self._grant(waiter.client, waiter.units)
            waiter.granted = True
            waiter.turn.set_result(None)
        self._note_room()

    def _grant(self, client: str, units: int) -> None:
        self._free -= units
        self._held[client] += units

    def _note_room(self) -> None:
        if self._free > 0 and not self._waiting:
            self.room.set()
        else:
            self.room.clear()

    def _next(self) -> _Waiter | None:
        """Return the next request in turn."""
        heads = (
            queue[0]
            for client, queue in self._waiting.items()
            if self._held[client] + queue[0].units <= self._each
        )
        return min(heads, key=lambda head: (self._held[head.client], head.arrival), default=None)

    def _drop_one(self) -> None:
        """Refuse the last request of the client with the longest queue."""
        longest = max(self._waiting.values(), key=lambda queue: (len(queue), queue[-1].arrival))
        last = longest[-1]
        self._forget(last)
        if not last.turn.cancelled():
            last.turn.set_exception(_busy())

    def _forget(self, waiter: _Waiter) -> None:
        queue = self._waiting.get(waiter.client, deque())
        if waiter in queue:
            queue.remove(waiter)
        if not queue:
            self._waiting.pop(waiter.client, None)

    def _give(self, client: str, units: int) -> None:
        self._free += units
        self._held[client] -= units
        if not self._held[client]:
            del self._held[client]
        self._serve()


class _Waiter:
    """Hold a request that waits for its turn."""

    def __init__(self, client: str, units: int, arrival: int) -> None:
        self.client = client
        self.units = units
        self.arrival = arrival
        self.granted = False
        self.turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()


@dataclass
class Hold:
    """Hold the units of a request."""

    pool: Pool
    client: str
    units: int

    def shrink(self, units: int) -> None:
        """Give back all units but these."""
        if units < self.units:
            given, self.units = self.units - units, units
            self.pool._give(self.client, given)


class Admission:
    """Admit requests to a bounded number of places and bound the memory for their bodies."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        limits, batches = config.limits, config.batches
        self._most = limits.body_bytes
        self._most_of_files = batches.file_bytes + FORM_BYTES if batches.enabled else self._most
        self._seconds = config.server.body_seconds
        self._metrics = metrics
        queue, seconds = limits.queue_requests, limits.queue_seconds
        self._places = Pool(
            limits.concurrent_requests,
            each=limits.concurrent_per_client,
            queue=queue,
            seconds=seconds,
        )
        largest = max(self._most, self._most_of_files)
        memory = max(limits.held_bytes, largest)
        self._memory = Pool(memory, each=max(memory // 2, largest), queue=queue, seconds=seconds)
        lines = batches.concurrency
        self._lines = Pool(lines, each=lines, queue=sys.maxsize, seconds=None)

    def succeed(self, before: Admission) -> None:
        """Go on from the admission of an earlier configuration: what its requests hold counts
        here, too, and its waiting requests are served by these limits."""
        for pool, own in (
            (before._places, self._places),
            (before._memory, self._memory),
            (before._lines, self._lines),
        ):
            pool.resize(own)
        self._places, self._memory = before._places, before._memory
        self._lines = before._lines

    @asynccontextmanager
    async def admit(self, request: web.Request, client: str) -> AsyncIterator[bytes]:
        """Read a request's body, then hold a place for it; yield the body.

        Raises:
            ApiError: 400, 408 or 413, the body cannot be read, is late or is too large; 429, no
                place or memory became free in time.
        """
        held: list[Hold] = []
        try:
            body = await self._read(request, client, held)
            with self._metrics.stage("queue"), self._metrics.waiting.track_inprogress():
                held.append(await self._places.take(client))
            yield body
        finally:
            for hold in held:
                hold.shrink(0)

    async def admit_line(self, tenant: str) -> Hold:
        """Hold a place for a line of a batch, once there is room that no request needs.

        Lines have places of their own. Tenants take turns, and `shrink(0)` gives a place back.
        """
        hold = await self._lines.take(tenant)
        try:
            await self._places.room.wait()
        except BaseException:
            hold.shrink(0)
            raise
        return hold

    async def _read(self, request: web.Request, client: str, held: list[Hold]) -> bytes:
        """Return the decompressed body and add the memory it holds to `held`.

        The time limit covers the whole body but not the wait for memory.
        """
        most = self._most_of_files if request.path == FILES_PATH else self._most
        stated = None if "Content-Encoding" in request.headers else request.content_length
        size = most if stated is None else stated
        data = bytearray()
        loop = asyncio.get_running_loop()
        try:
            if stated is not None and stated <= min(most, SMALL_BODY) and request.content.is_eof():
                return request.content.read_nowait()  # it came with its head
            async with asyncio.timeout(self._seconds) as deadline:
                end = loop.time() + self._seconds
                while size <= most and (chunk := await request.content.readany()):
                    data += chunk
                    if len(data) > most:
                        break
                    if len(data) > SMALL_BODY and not held:
                        deadline.reschedule(None)
                        began = loop.time()
                        with self._metrics.waiting.track_inprogress():
                            held.append(await self._memory.take(client, size))
                        end += loop.time() - began
                    if held:
                        deadline.reschedule(min(end, loop.time() + STALLED_SECONDS))
        except TimeoutError:
            raise ApiError(
                408,
                f"The body did not arrive within {self._seconds:g} seconds, or stopped arriving.",
                code="request_timeout",
                retry=True,
            ) from None
        except (web.RequestPayloadError, HttpProcessingError):
            raise bad_request("The body cannot be read.", code="invalid_body") from None
        if max(size, len(data)) > most:
            raise too_large(f"The body may have at most {most} bytes.")
        for hold in held:
            hold.shrink(len(data))
        return bytes(data)


def _busy() -> ApiError:
    return ApiError(
        429,
        "The proxy is at its limit of concurrent requests; try again.",
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry=True,
        headers={"retry-after": "1"},
    )
