"""Limit rates: a token bucket for each key, in this process; replicas count separately."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from proxy.access.grants import Client
from proxy.errors import ApiError

__all__ = ["Rates"]


class Rates:
    """Hold a bucket for each key: `burst` requests, refilled at `requests_per_minute`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # level and the time it was computed

    def take(self, client: Client) -> dict[str, str]:
        """Take one request out of the client's bucket and return the rate limit headers.

        Raises:
            ApiError: 429, the bucket is empty.
        """
        rate = client.grant.requests_per_minute
        if rate is None:
            return {}
        size = float(client.grant.burst or max(math.ceil(rate), 1))
        now = self._clock()
        level, then = self._buckets.get(client.key, (size, now))
        level = min(level + (now - then) * rate / 60, size)
        allowed = level >= 1
        level -= allowed
        self._buckets[client.key] = (level, now)
        headers = {
            "x-ratelimit-limit-requests": f"{size:.0f}",
            "x-ratelimit-remaining-requests": f"{math.floor(level):d}",
            "x-ratelimit-reset-requests": f"{math.ceil((size - level) * 60 / rate)}s",
        }
        if not allowed:
            raise ApiError(
                429,
                "The rate limit of this key is reached; try again later.",
                type="rate_limit_error",
                code="rate_limit_exceeded",
                retry=True,
                headers={**headers, "retry-after": str(math.ceil((1 - level) * 60 / rate))},
            )
        return headers
