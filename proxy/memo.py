"""The memo: a text is perturbed once, and an answer is remembered by the remote's own words.

Fresh noise for a text sent twice is the averaging attack: sixteen releases at ε = 8 take an
attacker from 0.16 to 0.95. So retries, regenerations, `n` and resent history reuse what left.

Keys are HMACs under a secret made at start; values are what the remote knows already.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any

from perturb import Perturbation

__all__ = ["Memo"]


class Memo:
    """Bounded, expiring, in memory. Not shared by threads: use it from the event loop.

    Args:
        size: how many texts, and how many answers, are kept; the oldest used goes first.
        ttl: seconds since its last use after which an entry is forgotten.
    """

    def __init__(
        self, *, size: int, ttl: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._secret = secrets.token_bytes(32)
        self._texts = _Bounded(size, ttl, clock)
        self._answers = _Bounded(size, ttl, clock)

    async def perturbation(
        self,
        tenant: str,
        identity: dict[str, Any],
        text: str,
        create: Callable[[], Coroutine[Any, Any, Perturbation]],
    ) -> tuple[Perturbation, bool]:
        """The perturbation of `text` for this tenant and channel, and whether this call made it.

        Requests that ask at the same time share one draw, and a request that is cancelled
        while it waits does not cancel the draw for the others.
        """
        key = self._key(tenant, "text", json.dumps(identity, sort_keys=True), text)
        task: asyncio.Task[Perturbation] | None = self._texts.get(key)
        failed = task is not None and task.done() and (task.cancelled() or task.exception())
        fresh = task is None or bool(failed)
        if task is None or failed:
            task = asyncio.create_task(create())
            self._texts.put(key, task)
        return await asyncio.shield(task), fresh

    def remember_answer(self, tenant: str, answer: str, generation: str) -> None:
        """Remember which of the remote's generations an answer was made from."""
        if answer:
            self._answers.put(self._key(tenant, "answer", answer), generation)

    def generation(self, tenant: str, answer: str) -> str | None:
        """The remote's generation behind an answer, if the proxy gave that answer."""
        found: str | None = self._answers.get(self._key(tenant, "answer", answer))
        return found

    def _key(self, *parts: str) -> bytes:
        """HMAC-SHA-256 over length-prefixed parts: no two lists of parts share an encoding."""
        mac = hmac.new(self._secret, digestmod=hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            mac.update(len(data).to_bytes(8, "big") + data)
        return mac.digest()


class _Bounded:
    """A dictionary with a size and an age limit, least recently used first."""

    def __init__(self, size: int, ttl: float, clock: Callable[[], float]) -> None:
        self._size, self._ttl, self._clock = size, ttl, clock
        self._items: OrderedDict[bytes, tuple[float, Any]] = OrderedDict()

    def get(self, key: bytes) -> Any:
        self._expire()
        found = self._items.pop(key, None)
        if found is None:
            return None
        self._items[key] = (self._clock(), found[1])
        return found[1]

    def put(self, key: bytes, value: Any) -> None:
        self._items.pop(key, None)
        self._items[key] = (self._clock(), value)
        self._expire()
        while len(self._items) > self._size:
            self._items.popitem(last=False)

    def _expire(self) -> None:
        limit = self._clock() - self._ttl
        while self._items and next(iter(self._items.values()))[0] < limit:
            self._items.popitem(last=False)
