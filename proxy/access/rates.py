"""Limit rates: a token bucket for each key, and the places where buckets are kept.

A bucket is one number, the time until it is full again. A request moves that time on by the time
in which the bucket gains one request, unless it would lie further ahead than a whole bucket. This
is the generic cell rate algorithm (GCRA).
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from proxy.access.grants import Client
from proxy.errors import ApiError

__all__ = ["Bucket", "Buckets", "LocalBuckets", "Rates"]

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
