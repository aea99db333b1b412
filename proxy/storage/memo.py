"""Remember what left: the first release of each text, also of those inside other texts, and the
generation behind each answer.

Fresh noise for a text sent twice allows the averaging attack: a dozen releases are enough to read
most of it. So retries, regenerations, `n` and resent history reuse the first release.

Releases are in the store, where the first draw wins: replicas that draw one text at the same time
both send the winner. Memory holds only draws that are not released yet, or never were (a preview,
a refused request), so that a later request releases the same draw. Keys are HMACs under the
store's secret (proxy.storage.digests).

Chat clients repeat a conversation in prompts of their own, and programs send a text again with
more at its end. Drawn as new texts, the repeated parts could be averaged. So the store knows each
released text as a passage, too, by two HMACs, of its opening and of the whole. Where a later text
contains it, its old release is sent again. The store shows which texts share an opening; lengths
and places within a passage are encrypted.

The local model's answer holds raw text. Where a client sends it back as history, or inside a
prompt, the remote's own generation is sent in its place, and nothing is drawn.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import secrets
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from sqlalchemy import Row, bindparam, select, update

from extraction.codec import dump, dump_ascii, load
from extraction.extractor import gather
from perturb import Perturbation, Sanitizer, keyed_generator, secure_generator
from perturb.release import Known, Link, Receipt, Replacement
from perturb.rng import renew_key
from perturb.selective.replace import link_request
from perturb.text.fold import display, find_word_ends, find_words
from perturb.work import SHORT, are_light, compute_once, offload
from proxy.errors import ApiError
from proxy.release import Release, pair_parts
from proxy.storage.digests import Digests, find_channel, mask
from proxy.storage.schema import ANSWERS, PASSAGES, RELEASES
from proxy.storage.store import Connection, Store, batches

__all__ = ["Answers", "Cache", "Found", "Memo", "Passage", "PassagePiece", "Passages", "Pending"]


LEAST = 3  # words of the shortest passage: any text may hold one or two
ANCHORS = (8, LEAST)  # words of an opening: the first of these that a passage has
CANDIDATES = 1000  # the most passages compared with a text: those used last
NONCE = 16
PURPOSE = "passage value"
# An anchor is an HMAC over the tenant, too. A condition on the tenant's column would make SQLite
# read all passages of the tenant.
_FIND_PASSAGES = (
    select(PASSAGES)
    .where(PASSAGES.c.anchor.in_(bindparam("anchors", expanding=True)))
    .order_by(PASSAGES.c.used.desc())
    .limit(CANDIDATES)
)
# A passage may begin where a text begins, after a newline or a tab, after a punctuation mark, and
# after the blanks that follow one of these. JSON's escapes count as newlines and tabs.
_BEGIN = re.compile(r"(?:^|[\n\t]|\\[nrt]|[^\w\s])([^\S\n]*)")


@dataclass(frozen=True)
class PassagePiece:
    """Hold a part of a passage, and its release.

    Attributes:
        kind: `text` for a release, `answer` for the remote's own words, `blank` for white space.
        value: the key of the release or the answer in hexadecimal, or the white space.
        start, end: its place in the passage, in characters.
    """

    kind: Literal["text", "answer", "blank"]
    value: str
    start: int
    end: int


@dataclass(frozen=True)
class Passage:
    """Hold a stretch of raw text and the pieces released for it, in order and disjoint."""

    text: str
    pieces: tuple[PassagePiece, ...]


@dataclass(frozen=True)
class Found:
    """Hold a passage in a text and its place, in characters.

    Without pieces, it is a text that the same request releases for the first time.
    """

    start: int
    end: int
    pieces: tuple[PassagePiece, ...]


@dataclass(frozen=True)
class _Candidate:
    """Hold a passage that may occur at a place, by its key or its text."""

    length: int
    pieces: tuple[PassagePiece, ...] = ()
    key: bytes | None = None
    raw: str | None = None


class Passages:
    """Keep the passages of all tenants."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._digests = Digests(store)
        insert = store.insert(PASSAGES)
        self._add = insert.on_conflict_do_update(
            index_elements=["key"], set_={"used": insert.excluded.used}
        )

    async def find(
        self,
        tenant: str,
        scope: str,
        channel: str,
        text: str,
        seen: Mapping[bytes, Iterable[str]],
    ) -> list[Found]:
        """Find the passages in a text, in order and disjoint, the longest at each place.

        Args:
            tenant, scope: the owner, and the scope of equal texts, see `Memo.releases`.
            channel: the channel that drew them; the remote's own words belong to every channel.
            seen: the texts of this request that are to be released, by their `anchors`.

        Raises:
            ApiError: the store failed.
        """
        brief = len(text) <= SHORT
        places = await offload(brief, self._places, tenant, scope, text)
        anchors = list({anchor for _, anchor in places})
        found = await self._store.read(partial(_find_passages, anchors=anchors))

        def choose() -> list[Found]:
            rows = self._read(found)
            known = {
                anchor: [
                    *rows.get(anchor, ()),
                    *(_Candidate(len(raw), raw=raw) for raw in seen.get(anchor, ())),
                ]
                for _, anchor in places
            }
            for candidates in known.values():
                candidates.sort(key=lambda c: -c.length)
            return list(self._choose(tenant, scope, channel, text, places, known))

        return await offload(brief, choose) if found or seen else []

    def anchors(
        self, tenant: str, scope: str, texts: Iterable[str]
    ) -> Iterator[tuple[bytes, str]]:
        """Yield the texts that are long enough to be found again, each with its anchor."""
        for text in texts:
            if opening := _cut_opening(text):
                yield self._anchor(tenant, scope, opening), text

    def rows(
        self, tenant: str, scope: str, channel: str, passages: Iterable[Passage]
    ) -> list[dict[str, Any]]:
        """Return the rows of released passages, also of those released before.

        An answer of few words is left out, since the user may write the same words.
        """
        rows = {}
        for passage in passages:
            opening, kind = _cut_opening(passage.text), _find_channel(passage.pieces, channel)
            if not opening or (not kind and _cut_opening(passage.text, ANCHORS[:1]) == ""):
                continue
            key = self._key(tenant, scope, kind, passage.text)
            pieces = [(p.kind, p.value, p.start, p.end) for p in passage.pieces]
            rows[key] = {
                "key": key,
                "tenant": tenant,
                "anchor": self._anchor(tenant, scope, opening),
                "value": self._seal(dump([len(passage.text), pieces])),
                "used": time.time(),
            }
        return list(rows.values())

    def add(self, connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
        """Record passages by their rows."""
        for some in batches(rows):
            connection.execute(self._add, some)

    def _places(self, tenant: str, scope: str, text: str) -> list[tuple[int, bytes]]:
        """Return the places where passages may begin in a text, in order, each with an anchor."""
        anchor = self._digests.family(tenant, "anchor", scope)
        return [(start, anchor(opening)) for start, opening in _find_openings(text)]

    def _choose(
        self,
        tenant: str,
        scope: str,
        channel: str,
        text: str,
        places: Sequence[tuple[int, bytes]],
        known: Mapping[bytes, Sequence[_Candidate]],
    ) -> Iterator[Found]:
        past = 0
        for start, anchor in places:
            for candidate in known[anchor] if start >= past else ():
                end = start + candidate.length
                if end > len(text) or _inside_word(text, end):
                    continue
                raw = text[start:end]
                kind = _find_channel(candidate.pieces, channel)
                if raw == candidate.raw or candidate.key == self._key(tenant, scope, kind, raw):
                    yield Found(start, end, candidate.pieces)
                    past = end
                    break

    def _read(self, rows: Iterable[Any]) -> dict[bytes, list[_Candidate]]:
        """Return the candidates in rows of the store, by anchor."""
        out: dict[bytes, list[_Candidate]] = {}
        for row in rows:
            length, pieces = load(self._open(row.value))
            made = tuple(PassagePiece(*piece) for piece in pieces)
            out.setdefault(row.anchor, []).append(_Candidate(length, made, key=row.key))
        return out

    def _anchor(self, tenant: str, scope: str, opening: str) -> bytes:
        return self._digests.of(tenant, "anchor", scope, opening)

    def _key(self, tenant: str, scope: str, kind: str, text: str) -> bytes:
        return self._digests.of(tenant, "passage", scope, kind, text)

    def _seal(self, data: bytes) -> bytes:
        """Encrypt a row, so that the lengths of parts of a text stay private."""
        nonce = secrets.token_bytes(NONCE)
        return nonce + mask(self._digests, PURPOSE, nonce, data)

    def _open(self, value: bytes) -> bytes:
        return mask(self._digests, PURPOSE, value[:NONCE], value[NONCE:])


def _find_passages(connection: Connection, anchors: Sequence[bytes]) -> list[Row[Any]]:
    """Return the rows of passages with these anchors."""
    found: list[Row[Any]] = []
    for some in batches(anchors):
        found += connection.execute(_FIND_PASSAGES, {"anchors": some}).all()
    return found


def _find_channel(pieces: Sequence[PassagePiece], channel: str) -> str:
    """Return the channel of a passage; the remote's own words have none."""
    return "" if pieces and all(piece.kind == "answer" for piece in pieces) else channel


def _inside_word(text: str, place: int) -> bool:
    """Tell if a place in a text is inside a word."""
    around = text[max(place - 1, 0) : place + 1]
    return len(around) == 2 and around.isalnum() and len(find_word_ends(around)) == 1


def _cut_opening(text: str, sizes: Sequence[int] = ANCHORS) -> str:
    """Return the opening of a text, from which its anchor is made; "" if the text is too short."""
    ends = find_word_ends(text, sizes[0])
    size = next((size for size in sizes if len(ends) >= size), 0)
    return text[: ends[size - 1]] if size else ""


def _find_openings(text: str) -> Iterator[tuple[int, str]]:
    """Yield each place where a passage may begin in a text, and its opening there."""
    ends = find_word_ends(text)
    last = -1
    for found in _BEGIN.finditer(text):
        for begin in dict.fromkeys((found.start(1), found.end(1))):
            if begin <= last:
                continue
            last = begin
            first = bisect_right(ends, begin)
            for size in ANCHORS:
                if first + size <= len(ends):
                    yield begin, text[begin : ends[first + size - 1]]


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
FEW = 50  # releases that are read in a few milliseconds
AT_ONCE = 16  # brief texts drawn before others get their turn
TOGETHER = 64  # other texts of a request that are drawn at the same time
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

    def __init__(self, store: Store, *, size: int, ttl: float) -> None:
        self._store = store
        self._digests = Digests(store)
        self._drawn: Cache[Perturbation] = Cache(size=size, ttl=ttl)
        self._drawing: dict[bytes, asyncio.Task[Perturbation]] = {}
        self._rng = secure_generator()  # for brief texts, which are drawn on the event loop

    async def releases(
        self,
        tenant: str,
        scope: str,
        sanitizer: Sanitizer,
        texts: Sequence[Pending],
        tagged: frozenset[str] = frozenset(),
        respelled: frozenset[str] = frozenset(),
    ) -> list[Release]:
        """Return a release for each text: an earlier one, or a draw that is not settled yet.

        Concurrent requests share one draw, and a request that is cancelled while it waits does
        not cancel the draw for the others.

        Args:
            tenant, scope: the owner, and the scope in which equal texts share a release: "" for
                all of the tenant's texts, else a conversation's name.
            tagged: sensitive parts that get a tag. Texts that hold one are drawn again if they
                were not released yet.
            respelled: words of names that get surrogates of their own, see `RequestLink`; their
                texts are drawn again, too.

        Raises:
            ApiError: 503, the store failed. Also everything that `Sanitizer.release` raises.
        """
        light = are_light([text.raw for text in texts])
        if light:
            keys = self._name(tenant, scope, texts)
        else:
            keys = await offload(False, self._name, tenant, scope, texts)
        again = tagged or respelled
        for place in await offload(light, _find_lost, tagged, respelled, texts) if again else ():
            for key in keys[place]:
                self._drawn.drop(key)
        found = await self.recall([key for some in keys for key in some])
        chosen = [
            next((key for key in some if key in found or key in self._drawing), some[-1])
            for some in keys
        ]
        new = {key: t for key, t in zip(chosen, texts, strict=True) if key not in found}
        made = found
        if new:
            link = self._link(tenant, find_channel(sanitizer))
            if sanitizer.restorable:  # its replacements differ, and agree, over all texts
                earlier = [
                    Release(text.raw, found[key], sanitizer, key)
                    for key, text in zip(chosen, texts, strict=True)
                    if key in found
                ]
                parts = texts, earlier, tagged, respelled
                if light:
                    link = _link_texts(link, *parts)
                else:
                    link = await offload(False, _link_texts, link, *parts)
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
            load_some = partial(_load, keys=missing)
            if len(missing) <= FEW:
                found |= _unpack_all(await self._store.read(load_some))
            else:
                found |= await offload(False, _unpack_all, await self._store.scan(load_some))
        return found

    def _name(self, tenant: str, scope: str, texts: Sequence[Pending]) -> list[list[bytes]]:
        """Return the keys of each text, one for each of its channels."""
        return [[self._digests.text(tenant, scope, c, t.raw) for c in t.channels] for t in texts]

    async def _draw_all(
        self, sanitizer: Sanitizer, texts: Mapping[bytes, Pending], link: Link
    ) -> dict[bytes, Perturbation]:
        """Draw texts by their keys: brief ones one after the other, some of the rest at once."""
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
        rest = iter([key for key in texts if key not in made])

        async def draw() -> None:
            for key in rest:
                made[key] = await self._draw(key, sanitizer, texts[key], link)

        await gather([draw() for _ in range(min(TOGETHER, len(texts) - len(made)))])
        return made

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

    async def pack(self, releases: Sequence[Release]) -> dict[bytes, str]:
        """Return what `settle` will store for many new draws, by key: made before the transaction,
        it keeps no other waiting."""
        new = [release for release in releases if self._drawn.get(release.key) is not None]
        return await offload(False, lambda: {r.key: _pack(r.sanitized) for r in new})

    def settle(
        self,
        connection: Connection,
        tenant: str,
        releases: Sequence[Release],
        packed: Mapping[bytes, str] = MappingProxyType({}),
    ) -> list[Release]:
        """Store releases and return those to send.

        A text with an earlier release, of this replica or another, gets that one. The caller
        holds the lock of the tenant's account, so nobody else writes the tenant's texts
        meanwhile.

        Args:
            packed: what `pack` returned for them.
        """
        now = time.time()
        found = _load(connection, [release.key for release in releases])
        for some in batches(list(found)):
            connection.execute(_USE, {"keys": some, "now": now})
        rows = [
            {
                "key": r.key,
                "tenant": tenant,
                "value": packed.get(r.key) or _pack(r.sanitized),
                "used": now,
            }
            for r in releases
            if r.key not in found
        ]
        if rows:
            connection.execute(_ADD, rows)
        made = _unpack_all(found)
        return [
            replace(r, sanitized=made[r.key], fresh=False) if r.key in made else r
            for r in releases
        ]

    def forget(self, releases: Iterable[Release]) -> None:
        """Forget the draws of releases that `settle` returned, after its transaction: from now
        on the store has what counts."""
        for release in releases:
            self._drawn.drop(release.key)


def _find_lost(
    tagged: frozenset[str], respelled: frozenset[str], texts: Sequence[Pending]
) -> list[int]:
    """Return the places of the texts that hold one of these parts, or of these words."""
    return [
        place
        for place, text in enumerate(texts)
        if any(part in text.raw for part in tagged)
        or any(word in display(text.raw).lower() for word in respelled)
    ]


def _link_texts(
    link: Link,
    texts: Sequence[Pending],
    earlier: Sequence[Release],
    tagged: frozenset[str],
    respelled: frozenset[str],
) -> Link:
    """Return the link of the texts of one request, some of which were released earlier."""
    known = {
        (part.type, release.raw[part.start : part.end]): part.text
        for release in reversed(earlier)
        for part in release.sanitized.replaced or ()
    }
    raws, (pairs, _) = (text.raw for text in texts), pair_parts(earlier)
    return link_request(link, raws, pairs, tagged, known, respelled)


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


def _unpack_all(values: Mapping[bytes, str]) -> dict[bytes, Perturbation]:
    return {key: compute_once(_unpack, value) for key, value in values.items()}


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

    def __init__(self, store: Store, passages: Passages, *, size: int, ttl: float) -> None:
        self._store = store
        self._digests = Digests(store)
        self._passages = passages
        insert = store.insert(ANSWERS)
        self._add = insert.on_conflict_do_update(
            index_elements=["key"], set_={"used": insert.excluded.used}
        ).returning(ANSWERS.c.value)
        self._cache: Cache[str] = Cache(size=size, ttl=ttl)

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
