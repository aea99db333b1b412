"""The memo: a text is perturbed once, and an answer is remembered by the remote's own words.

Fresh noise for a text sent twice is the averaging attack: a dozen releases are enough to read
most of it. So retries, regenerations, `n` and resent history reuse what left.

What left is in the store, where the first draw wins: replicas that draw one text at once both
send the winner. In front of it, in memory, is what was drawn but did not leave (a preview, a
request that was refused), so that sending it later sends that draw. Keys are HMACs under the
store's secret; values are what the remote was sent, or wrote.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from perturb import Perturbation, keyed_generator
from perturb.sanitizer import Link, Receipt, Replacement
from proxy.cache import Cache
from proxy.errors import ApiError
from proxy.schema import ANSWERS, RELEASES
from proxy.store import Store

__all__ = ["Entry", "Memo", "Wanted"]

logger = logging.getLogger("inferdpt.memo")
PART_BYTES = 250  # what a replaced part takes beside its text
AT_ONCE = 500  # keys in one query


@dataclass(frozen=True)
class Wanted:
    """A text that is to leave.

    Attributes:
        identity: its channel, `Sanitizer.identity` and what else the draw depends on.
        text: the raw text.
        create: draws it.
    """

    identity: dict[str, Any]
    text: str
    create: Callable[[], Coroutine[Any, Any, Perturbation]]


@dataclass(eq=False)
class Entry:
    """What is to leave for a text: a proposal until `Memo.settle`, the one and only from then
    on. `fresh` says that it had not left before."""

    key: bytes
    released: Perturbation
    fresh: bool = True


class Memo:
    """Not shared by threads: use it from the event loop.

    Args:
        size: bytes that texts, and answers, may take in memory (about).
        ttl: seconds since its last use after which memory forgets an entry.
    """

    def __init__(
        self, store: Store, *, size: int, ttl: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._texts: Cache[Perturbation] = Cache(size=size, ttl=ttl, clock=clock)
        self._answers: Cache[str] = Cache(size=size, ttl=ttl, clock=clock)
        self._drawing: dict[bytes, asyncio.Task[Perturbation]] = {}

    # -- texts ------------------------------------------------------------------------------

    async def entries(self, tenant: str, scope: str, texts: Sequence[Wanted]) -> list[Entry]:
        """What is to leave for texts: what left before, or a draw; nothing is settled yet.

        Args:
            tenant, scope: whose texts, and within what equal texts are one; "" is all of the
                tenant's, else a conversation.

        Requests that ask at the same time share one draw, and a request that is cancelled
        while it waits does not cancel the draw for the others. Raises what `create` raises, and
        `ApiError`.
        """
        keys = [
            self.key(tenant, "text", scope, json.dumps(w.identity, sort_keys=True), w.text)
            for w in texts
        ]
        missing = [k for k in keys if k not in self._drawing and self._texts.get(k) is None]
        if missing:
            async with self._store.reading() as connection:
                for key, value in (await _stored(connection, missing)).items():
                    self._keep(key, _unpacked(value))
        return [
            Entry(key, released)
            for key, released in zip(
                keys,
                await asyncio.gather(
                    *(self._drawn(k, w) for k, w in zip(keys, texts, strict=True))
                ),
                strict=True,
            )
        ]

    async def _drawn(self, key: bytes, wanted: Wanted) -> Perturbation:
        found = self._texts.get(key)
        if found is not None:
            return found
        task = self._drawing.get(key)
        if task is None:
            task = self._drawing[key] = asyncio.create_task(wanted.create())
            task.add_done_callback(lambda done: self._finished(key, done))
        return await asyncio.shield(task)

    def _finished(self, key: bytes, task: asyncio.Task[Perturbation]) -> None:
        """Keep a finished draw; a failed one is forgotten and may be tried again."""
        del self._drawing[key]
        if not task.cancelled() and task.exception() is None:
            self._keep(key, task.result())

    def _keep(self, key: bytes, made: Perturbation) -> None:
        parts = sum(PART_BYTES + len(part.text) for part in made.replaced or ())
        self._texts.put(key, made, len(made.text) + 8 * len(made.words) + parts)

    async def settle(
        self,
        connection: AsyncConnection,
        tenant: str,
        entries: Sequence[Entry],
        answers: Sequence[bytes] = (),
    ) -> None:
        """Write down what leaves. Where a text left before, whoever drew it, that is what leaves
        again, and the entry says so. Answers whose generations leave again (by their keys) are
        used again, too.

        The caller holds the tenant's account locked, so nobody else writes the tenant's texts
        now.
        """
        now = time.time()
        found = await _stored(connection, [entry.key for entry in entries])
        for table, keys in ((RELEASES, list(found)), (ANSWERS, answers)):
            for some in _batches(keys):
                await connection.execute(
                    update(table).where(table.c.key.in_(some)).values(used=now)
                )
        rows = []
        for entry in entries:
            entry.fresh = entry.key not in found
            if entry.fresh:
                value = _packed(entry.released)
                rows.append({"key": entry.key, "tenant": tenant, "value": value, "used": now})
            else:
                entry.released = _unpacked(found[entry.key])
        if rows:
            await connection.execute(RELEASES.insert(), rows)

    def settled(self, entries: Iterable[Entry]) -> None:
        """The transaction of `settle` is through: memory follows."""
        for entry in entries:
            self._keep(entry.key, entry.released)

    def link(self, tenant: str, identity: dict[str, Any]) -> Link:
        """The noise of an entity by its raw text, the same wherever a tenant writes it: a keyed
        function, so nothing has to be stored.

        A narrower scope would draw an entity afresh in each conversation, and a client that
        shortens its history, previews or sends prompts apart starts one with every request: a
        few dozen draws give a word away.
        """

        facts = json.dumps(identity, sort_keys=True)

        def generator(entity: str) -> np.random.Generator:
            return keyed_generator(self.key(tenant, "entity", facts, entity))

        return generator

    # -- answers ----------------------------------------------------------------------------

    async def remember_answer(
        self, tenant: str, scope: str, question: str, answer: str, generation: str
    ) -> None:
        """Remember which of the remote's generations the answer to a turn was made from. An
        equal answer to an equal turn in one scope (see `entries`) keeps its first one."""
        if not answer:
            return
        key = self.answer(tenant, scope, question, answer)
        if self._answers.get(key) is None:
            self._answers.put(key, generation, len(generation))
        row = {"key": key, "tenant": tenant, "value": json.dumps(generation), "used": time.time()}
        insert = self._store.insert(ANSWERS).values(row)
        upsert = insert.on_conflict_do_update(
            index_elements=["key"], set_={"used": insert.excluded.used}
        ).returning(ANSWERS.c.value)
        try:
            async with self._store.writing() as connection:
                first = json.loads((await connection.execute(upsert)).scalar_one())
        except ApiError:  # the answer is there, and the client is to have it
            logger.warning("an answer could not be remembered: the store failed")
        else:
            self._answers.put(key, first, len(first))

    async def generation(self, key: bytes) -> str | None:
        """The remote's generation behind an answer, if the proxy gave it to that turn.

        Args:
            key: of the answer, see `answer`.
        """
        found = self._answers.get(key)
        if found is None:
            async with self._store.reading() as connection:
                value = await connection.scalar(
                    select(ANSWERS.c.value).where(ANSWERS.c.key == key)
                )
            if value is not None:
                found = json.loads(value)
                self._answers.put(key, found, len(found))
        return found

    # -- keys -------------------------------------------------------------------------------

    def answer(self, tenant: str, scope: str, question: str, answer: str) -> bytes:
        """The key of an answer to a turn."""
        return self.key(tenant, "answer", scope, question, answer)

    def conversation(self, tenant: str, opening: Sequence[str]) -> str:
        """A conversation's name: the HMAC of how it begins, in hexadecimal."""
        return self.key(tenant, "conversation", *opening).hex()

    def key(self, *parts: str) -> bytes:
        """HMAC-SHA-256 over length-prefixed parts: no two lists of parts share an encoding."""
        mac = hmac.new(self._store.secret, digestmod=hashlib.sha256)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            mac.update(len(data).to_bytes(8, "big") + data)
        return mac.digest()


async def _stored(connection: AsyncConnection, keys: Sequence[bytes]) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for some in _batches(keys):
        query = select(RELEASES.c.key, RELEASES.c.value).where(RELEASES.c.key.in_(some))
        found.update((row.key, row.value) for row in await connection.execute(query))
    return found


def _batches(keys: Sequence[bytes]) -> Iterable[Sequence[bytes]]:
    return (keys[i : i + AT_ONCE] for i in range(0, len(keys), AT_ONCE))


def _packed(made: Perturbation) -> str:
    """A perturbation as JSON in ASCII. It says what left and where parts were replaced, and
    nothing of what was there: the statistics of the draw, which the remote does not know and
    which narrow raw words down, are left out."""
    return json.dumps(asdict(replace(made, receipt=replace(made.receipt, statistics={}))))


def _unpacked(value: str) -> Perturbation:
    data = json.loads(value)
    receipt = data["receipt"]
    replaced = data["replaced"]
    return Perturbation(
        text=data["text"],
        words=tuple(data["words"]),
        receipt=Receipt(**{**receipt, "reveals": tuple(receipt["reveals"])}),
        replaced=None if replaced is None else tuple(Replacement(**part) for part in replaced),
    )
