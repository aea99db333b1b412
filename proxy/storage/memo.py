"""Remember what left: the first release of each text, and the generation behind each answer.

Fresh noise for a text sent twice allows the averaging attack: a dozen releases are enough to read
most of it. So retries, regenerations, `n` and resent history reuse the first release.

Releases are in the store, where the first draw wins: replicas that draw one text at the same time
both send the winner. Memory holds only draws that are not released yet, or never were (a preview,
a refused request), so that a later request releases the same draw. Keys are HMACs under the
store's secret (proxy.storage.digests).

The local model's answer holds raw text. Where a client sends it back as history, or inside a
prompt, the remote's own generation is sent in its place, and nothing is drawn.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from sqlalchemy import bindparam, select, update

from extraction.codec import dump_ascii, load
from perturb import Perturbation, Sanitizer, keyed_generator, secure_generator
from perturb.release import Known, Link, Receipt, Replacement
from perturb.rng import renew_key
from perturb.selective.replace import link_request
from perturb.text.fold import find_words
from perturb.work import compute_once
from proxy.errors import ApiError
from proxy.release import Release, pair_parts
from proxy.storage.digests import Digests, batches, find_channel
from proxy.storage.passages import Passage, PassagePiece, Passages
from proxy.storage.schema import ANSWERS, RELEASES
from proxy.storage.store import Connection, Store

__all__ = ["Answers", "Cache", "Memo", "Pending"]


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


_NAMED = RELEASES.c.key.in_(bindparam("keys", expanding=True))
_FIND = select(RELEASES.c.key, RELEASES.c.value).where(_NAMED)
_USE = update(RELEASES).where(_NAMED).values(used=bindparam("now"))
_ADD = RELEASES.insert()
AT_ONCE = 16  # brief texts drawn before others get their turn
RECEIPT_BYTES, WORD_BYTES, PART_BYTES = 2000, 60, 300  # about, of a draw in memory


@dataclass(frozen=True)
class Pending:
    """Hold a private text that is to be released.

    Attributes:
        raw: the text.
        channels: identities under which it may have been released, see `spell_channel`, oldest
            first. The first with a release or a draw counts; without any, the text is
            drawn under the last.
        known: parts of other texts that are sensitive in this one if it is drawn now.
    """

    raw: str
    channels: tuple[str, ...]
    known: Known = field(default_factory=dict)


class Memo:
    """Keep the releases of all tenants. Not thread-safe: use it from the event loop.

    Args:
        size: approximate bytes of perturbations in memory.
        ttl: seconds without use after which memory forgets a perturbation.
    """

    def __init__(
        self, store: Store, *, size: int, ttl: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._digests = Digests(store)
        self._drawn: Cache[Perturbation] = Cache(size=size, ttl=ttl, clock=clock)
        self._drawing: dict[bytes, asyncio.Task[Perturbation]] = {}
        self._rng = secure_generator()  # for brief texts, which are drawn on the event loop

    async def releases(
        self,
        tenant: str,
        scope: str,
        sanitizer: Sanitizer,
        texts: Sequence[Pending],
        tagged: frozenset[str] = frozenset(),
    ) -> list[Release]:
        """Return a release for each text: an earlier one, or a draw that is not settled yet.

        Concurrent requests share one draw, and a request that is cancelled while it waits does
        not cancel the draw for the others.

        Args:
            tenant, scope: the owner, and the scope in which equal texts share a release: "" for
                all of the tenant's texts, else a conversation's name.
            tagged: sensitive parts that get a tag. Texts that hold one are drawn again if they
                were not released yet.

        Raises:
            ApiError: 503, the store failed. Also everything that `Sanitizer.release` raises.
        """
        keys = [[self._digests.text(tenant, scope, c, t.raw) for c in t.channels] for t in texts]
        for some, text in zip(keys, texts, strict=True):
            if any(part in text.raw for part in tagged):
                for key in some:
                    self._drawn.drop(key)
        found = await self.recall([key for some in keys for key in some])
        chosen = [
            next((key for key in some if key in found or key in self._drawing), some[-1])
            for some in keys
        ]
        new = {key: t for key, t in zip(chosen, texts, strict=True) if key not in found}
        made = found
        if new:
            earlier = [
                Release(text.raw, found[key], sanitizer, key)
                for key, text in zip(chosen, texts, strict=True)
                if key in found
            ]
            noise = self._link(tenant, find_channel(sanitizer))
            known = {
                (part.type, release.raw[part.start : part.end]): part.text
                for release in reversed(earlier)
                for part in release.sanitized.replaced or ()
            }
            raws, pairs = (text.raw for text in texts), pair_parts(earlier)[0]
            link = link_request(noise, raws, pairs, tagged, known)
            made = found | await self._draw_all(sanitizer, new, link)
        return [
            Release(text.raw, made[key], sanitizer, key)
            for key, text in zip(chosen, texts, strict=True)
        ]

    async def recall(self, keys: Iterable[bytes]) -> dict[bytes, Perturbation]:
        """Return the remembered releases or draws under keys.

        Raises:
            ApiError: 503, the store failed.
        """
        drawn = {key: self._drawn.get(key) for key in keys}
        found = {key: made for key, made in drawn.items() if made is not None}
        missing = [key for key in drawn if key not in found and key not in self._drawing]
        if missing:
            for key, value in (await self._store.read(partial(_load, keys=missing))).items():
                found[key] = compute_once(_unpack, value)
        return found

    async def _draw_all(
        self, sanitizer: Sanitizer, texts: Mapping[bytes, Pending], link: Link
    ) -> dict[bytes, Perturbation]:
        """Draw texts by their keys: brief ones one after the other, the rest at once."""
        made: dict[bytes, Perturbation] = {}
        brief = [key for key, text in texts.items() if sanitizer.is_brief(text.raw)]
        for number, key in enumerate(brief):
            if number % AT_ONCE == 0:
                if number:
                    await asyncio.sleep(0)
                renew_key(self._rng)  # no two requests share noise
            if key in self._drawing:
                continue
            found, text = self._drawn.get(key), texts[key]
            if found is None:
                found = sanitizer.perturb(text.raw, self._rng, link=link, known=text.known)
                self._keep(key, found)
            made[key] = found
        rest = [key for key in texts if key not in made]
        drawing = [self._draw(key, sanitizer, texts[key], link) for key in rest]
        return made | dict(zip(rest, await asyncio.gather(*drawing), strict=True))

    async def _draw(
        self, key: bytes, sanitizer: Sanitizer, text: Pending, link: Link
    ) -> Perturbation:
        found = self._drawn.get(key)
        if found is not None:
            return found
        task = self._drawing.get(key)
        if task is None:
            drawing = sanitizer.release(text.raw, link, text.known)
            task = self._drawing[key] = asyncio.create_task(drawing)
            task.add_done_callback(lambda done: self._finish(key, done))
        return await asyncio.shield(task)

    def _finish(self, key: bytes, task: asyncio.Task[Perturbation]) -> None:
        """Keep a finished draw; forget a failed one, so that it may be tried again."""
        del self._drawing[key]
        if not task.cancelled() and task.exception() is None:
            self._keep(key, task.result())

    def _keep(self, key: bytes, made: Perturbation) -> None:
        parts = WORD_BYTES * len(made.words) + PART_BYTES * len(made.replaced or ())
        self._drawn.put(key, made, RECEIPT_BYTES + len(made.text) + parts)

    def _link(self, tenant: str, channel: str) -> Link:
        """Return the link of a tenant: the noise of an entity by its raw text.

        It is a keyed function, the same in all texts of the tenant, so nothing has to be stored.
        A narrower scope would draw an entity afresh in each conversation. A client that shortens
        its history, previews or sends separate prompts starts one with every request, and a few
        dozen draws give a word away.
        """

        def generator(entity: str) -> np.random.Generator:
            return keyed_generator(self._digests.of(tenant, "entity", channel, entity))

        return generator

    def settle(
        self, connection: Connection, tenant: str, releases: Sequence[Release]
    ) -> list[Release]:
        """Store releases and return those to send.

        A text with an earlier release, of this replica or another, gets that one. The caller
        holds the lock of the tenant's account, so nobody else writes the tenant's texts
        meanwhile.
        """
        now = time.time()
        found = _load(connection, [release.key for release in releases])
        for some in batches(list(found)):
            connection.execute(_USE, {"keys": some, "now": now})
        rows = [
            {"key": r.key, "tenant": tenant, "value": _pack(r.sanitized), "used": now}
            for r in releases
            if r.key not in found
        ]
        if rows:
            connection.execute(_ADD, rows)
        made = {key: compute_once(_unpack, value) for key, value in found.items()}
        return [
            replace(r, sanitized=made[r.key], fresh=False) if r.key in made else r
            for r in releases
        ]

    def forget(self, releases: Iterable[Release]) -> None:
        """Forget the draws of releases that `settle` returned, after its transaction: from now
        on the store has what counts."""
        for release in releases:
            self._drawn.drop(release.key)


def _load(connection: Connection, keys: Sequence[bytes]) -> dict[bytes, str]:
    found: dict[bytes, str] = {}
    for some in batches(keys):
        found.update((row.key, row.value) for row in connection.execute(_FIND, {"keys": some}))
    return found


def _pack(made: Perturbation) -> str:
    """Return a perturbation as JSON in ASCII, without the statistics of its draw: the remote does
    not know them, and they narrow down the raw words."""
    replaced = None if made.replaced is None else [vars(part) for part in made.replaced]
    receipt = {**vars(made.receipt), "statistics": {}}
    data = {"text": made.text, "words": made.words, "receipt": receipt, "replaced": replaced}
    return dump_ascii(data) if _is_finite(receipt) else json.dumps(data)


def _is_finite(receipt: Mapping[str, Any]) -> bool:
    """Tell if strict JSON can hold the numbers of a receipt: an ε may be infinite."""
    return all(math.isfinite(value) for value in receipt.values() if isinstance(value, float))


def _unpack(value: str) -> Perturbation:
    data = json.loads(value) if "Infinity" in value else load(value)
    receipt, replaced = data["receipt"], data["replaced"]
    if "unit" not in receipt:  # stored by an earlier version
        receipt["unit"] = _read_unit(data)
    if "unbounded" not in receipt:
        receipt["unbounded"] = _count_unbounded(data)
    return Perturbation(
        text=data["text"],
        words=tuple(data["words"]),
        receipt=Receipt(**{**receipt, "reveals": tuple(receipt["reveals"])}),
        replaced=None if replaced is None else tuple(Replacement(**part) for part in replaced),
    )


def _read_unit(data: Any) -> str:
    """Return the unit of ε of a release without one."""
    if data["replaced"] is not None:
        return "marked part"
    return "generated token" if data["receipt"]["table"] == "none" else "token"


def _count_unbounded(data: Any) -> int:
    """Count the tokens without a bound in a release that does not say it.

    Where only parts were replaced, this counts all words, an upper bound.
    """
    if data["receipt"]["guarantee"] != "none":
        return 0
    if data["replaced"] is None:
        return int(data["receipt"]["released"])
    return len(find_words(data["text"]))


logger = logging.getLogger("inferdpt.memo")
_FIND_ANSWER = select(ANSWERS.c.value).where(ANSWERS.c.key == bindparam("key"))
_USE_ANSWERS = (
    update(ANSWERS)
    .where(ANSWERS.c.key.in_(bindparam("keys", expanding=True)))
    .values(used=bindparam("now"))
)


class Answers:
    """Remember the answers of all tenants. Not thread-safe: use it from the event loop.

    Args:
        passages: keep the text of answers, so that it is found inside other texts.
        size: approximate bytes of generations in memory.
        ttl: seconds without use after which memory forgets a generation.
    """

    def __init__(
        self,
        store: Store,
        passages: Passages,
        *,
        size: int,
        ttl: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._digests = Digests(store)
        self._passages = passages
        insert = store.insert(ANSWERS)
        self._add = insert.on_conflict_do_update(
            index_elements=["key"], set_={"used": insert.excluded.used}
        ).returning(ANSWERS.c.value)
        self._cache: Cache[str] = Cache(size=size, ttl=ttl, clock=clock)

    def key(self, tenant: str, scope: str, question: str, answer: str) -> bytes:
        """Return the key of an answer to a turn, both as `spell_turn` spells them."""
        return self._digests.answer(tenant, scope, question, answer)

    async def generation(self, key: bytes) -> str | None:
        """Return the remote's generation behind an answer, if the proxy gave it to that turn.

        Raises:
            ApiError: 503, the store failed.
        """
        found = self._cache.get(key)
        if found is None:
            value = await self._store.read(lambda c: c.scalar(_FIND_ANSWER, {"key": key}))
            if value is not None:
                found = load(value)
                self._cache.put(key, found, len(found))
        return found

    def reuse(self, connection: Connection, keys: Sequence[bytes]) -> None:
        """Record that the generations behind these answers are sent again."""
        now = time.time()
        for some in batches(keys):
            connection.execute(_USE_ANSWERS, {"keys": some, "now": now})

    async def remember(
        self, tenant: str, scope: str, question: str, answer: str, text: str, generation: str
    ) -> None:
        """Remember the remote's generation behind the answer to a turn.

        An equal answer to an equal turn in one scope (see `Memo.releases`) keeps its first one.

        Args:
            question, answer: the turn and the answer to it, as `spell_turn` spells them.
            text: the answer's own text, without its tool calls.
        """
        if not answer:
            return
        key = self.key(tenant, scope, question, answer)
        if self._cache.get(key) is None:
            self._cache.put(key, generation, len(generation))
        row = {"key": key, "tenant": tenant, "value": dump_ascii(generation), "used": time.time()}
        passage = Passage(text, (PassagePiece("answer", key.hex(), 0, len(text)),))
        rows = self._passages.rows(tenant, scope, "", [passage])

        def write(connection: Connection) -> str:
            first: str = connection.execute(self._add, row).scalar_one()
            self._passages.add(connection, rows)
            return first

        try:
            # Nobody waits for the disk: a lost answer is drawn and charged as the user's text.
            first = load(await self._store.write(write, lane=tenant, wait=False))
        except ApiError:  # the client gets its answer nevertheless
            logger.warning("an answer could not be remembered: the store failed")
        else:
            self._cache.put(key, first, len(first))
