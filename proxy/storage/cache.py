"""Hold values in memory up to a size in bytes and an idle time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Cache"]

T = TypeVar("T")
ENTRY_BYTES = 500  # of an entry without its value


class Cache(Generic[T]):
    """Map keys to values and forget the least recently used ones. Not thread-safe.

    An entry's age counts from its last use, and sizes are in bytes; no cache of `cachetools`
    has both.

    Args:
        size: approximate bytes of all values; the newest stays, however large.
        ttl: seconds after its last use at which an entry is forgotten.
    """

    def __init__(
        self, *, size: int, ttl: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._room, self._ttl, self._clock = size, ttl, clock
        self._items: OrderedDict[bytes, tuple[float, int, T]] = OrderedDict()

    def get(self, key: bytes) -> T | None:
        """Return a value and mark it as used now."""
        self._expire()
        found = self._items.pop(key, None)
        if found is None:
            return None
        self._items[key] = (self._clock(), *found[1:])
        return found[2]

    def put(self, key: bytes, value: T, size: int) -> None:
        """Keep a value of about `size` bytes."""
        if key in self._items:
            self._forget(key)
        self._items[key] = (self._clock(), size + ENTRY_BYTES, value)
        self._room -= size + ENTRY_BYTES
        self._expire()
        while self._room < 0 and len(self._items) > 1:
            self._forget(next(iter(self._items)))

    def drop(self, key: bytes) -> None:
        """Forget a value, if it is there."""
        if key in self._items:
            self._forget(key)

    def _expire(self) -> None:
        limit = self._clock() - self._ttl
        while self._items and next(iter(self._items.values()))[0] < limit:
            self._forget(next(iter(self._items)))

    def _forget(self, key: bytes) -> None:
        self._room += self._items.pop(key)[1]
