"""Find passages, raw texts released before, inside other texts.

Chat clients repeat a conversation in prompts of their own, and programs send a text again with
more at its end. Drawn as new texts, the repeated parts could be averaged. So the store knows each
released text by two HMACs, of its opening and of the whole. Where a later text contains it, its
old release is sent again. The store shows which texts share an opening; lengths and places within
a passage are encrypted.
"""

from __future__ import annotations

import re
import secrets
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sqlalchemy import Row, bindparam, select

from extraction.codec import dump, load
from perturb.text.fold import find_word_ends
from perturb.work import SHORT, offload
from proxy.storage.digests import Digests, batches, mask
from proxy.storage.schema import PASSAGES
from proxy.storage.store import Connection, Store

__all__ = ["Found", "Passage", "PassagePiece", "Passages"]

LEAST = 3  # words of the shortest passage: any text may hold one or two
ANCHORS = (8, LEAST)  # words of an opening: the first of these that a passage has
CANDIDATES = 1000  # the most passages compared with a text: those used last
NONCE = 16
PURPOSE = "passage value"
# An anchor is an HMAC over the tenant, too. A condition on the tenant's column would make SQLite
# read all passages of the tenant.
_FIND = (
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
        found = await self._store.read(partial(_find, anchors=anchors))
        rows = self._read(found)

        def choose() -> list[Found]:
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

        return await offload(brief, choose) if rows or seen else []

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


def _find(connection: Connection, anchors: Sequence[bytes]) -> list[Row[Any]]:
    """Return the rows of passages with these anchors."""
    found: list[Row[Any]] = []
    for some in batches(anchors):
        found += connection.execute(_FIND, {"anchors": some}).all()
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
