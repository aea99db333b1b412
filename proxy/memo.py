"""The memo: a text is perturbed once, and an answer is remembered by the remote's own words.

Fresh noise for a text sent twice is the averaging attack: a dozen releases are enough to read
most of it. So retries, regenerations, `n` and resent history reuse what left.

Keys are HMACs under a secret made at start; values are what leaves, or was about to.
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

import numpy as np

from perturb import Perturbation, keyed_generator
from perturb.sanitizer import Link

__all__ = ["Memo"]

ENTRY_BYTES = 3000  # what an entry takes beside its text: key, receipt, objects
PART_BYTES = 250  # what a replaced part takes beside its text


class Memo:
    """Bounded, expiring, in memory. Not shared by threads: use it from the event loop.

    Args:
        size: bytes that texts, and answers, may take (about); the oldest used goes first.
        ttl: seconds since its last use after which an entry is forgotten.
    """

    def __init__(
        self, *, size: int, ttl: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._secret = secrets.token_bytes(32)
        self._texts = _Bounded(size, ttl, clock)
        self._answers = _Bounded(size, ttl, clock)
        self._drawing: dict[bytes, asyncio.Task[Perturbation]] = {}

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
        found: Perturbation | None = self._texts.get(key)
        if found is not None:
            return found, False
        task = self._drawing.get(key)
        fresh = task is None
        if task is None:
            task = self._drawing[key] = asyncio.create_task(create())
            task.add_done_callback(lambda done: self._drawn(key, done))
        return await asyncio.shield(task), fresh

    def _drawn(self, key: bytes, task: asyncio.Task[Perturbation]) -> None:
        """Keep a finished draw; a failed one is forgotten and may be tried again."""
        del self._drawing[key]
        if not task.cancelled() and task.exception() is None:
            made = task.result()
            parts = sum(PART_BYTES + len(part.text) for part in made.replaced or ())
            self._texts.put(key, made, len(made.text) + 8 * len(made.words) + parts)

    def link(self, tenant: str, identity: dict[str, Any]) -> Link:
        """The noise of an entity by its raw text, the same wherever a tenant writes it: a keyed
        function, so nothing has to be stored.

        A narrower scope would draw an entity afresh in each conversation, and a client that
        shortens its history, previews or sends prompts apart starts one with every request: a
        few dozen draws give a word away.
        """

        facts = json.dumps(identity, sort_keys=True)

        def generator(entity: str) -> np.random.Generator:
            return keyed_generator(self._key(tenant, "entity", facts, entity))

        return generator

    def remember_answer(self, tenant: str, question: str, answer: str, generation: str) -> None:
        """Remember which of the remote's generations the answer to a turn was made from."""
        if answer:
            key = self._key(tenant, "answer", question, answer)
            self._answers.put(key, generation, len(generation))

    def generation(self, tenant: str, question: str, answer: str) -> str | None:
        """The remote's generation behind an answer, if the proxy gave it to that turn."""
        found: str | None = self._answers.get(self._key(tenant, "answer", question, answer))
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
        self._room, self._ttl, self._clock = size, ttl, clock
        self._items: OrderedDict[bytes, tuple[float, int, Any]] = OrderedDict()

    def get(self, key: bytes) -> Any:
        self._expire()
        found = self._items.pop(key, None)
        if found is None:
            return None
        self._items[key] = (self._clock(), *found[1:])
        return found[2]

    def put(self, key: bytes, value: Any, size: int) -> None:
        if key in self._items:
            self._forget(key)
        self._items[key] = (self._clock(), size + ENTRY_BYTES, value)
        self._room -= size + ENTRY_BYTES
        self._expire()
        while self._room < 0 and len(self._items) > 1:  # the newest stays, however large
            self._forget(next(iter(self._items)))

    def _expire(self) -> None:
        limit = self._clock() - self._ttl
        while self._items and next(iter(self._items.values()))[0] < limit:
            self._forget(next(iter(self._items)))

    def _forget(self, key: bytes) -> None:
        self._room += self._items.pop(key)[1]
