"""Prepare the way back of a request: what is restored in the answer to it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from extraction.restore import choose_restorable, find_unrestorable
from perturb.text.fold import read
from perturb.vocabulary.word_list import dictionary_words
from perturb.work import hash_values, keep_result, select_texts
from proxy.release import Release, pair_details, pair_parts, pair_runs
from proxy.restoring.cases import SLAVIC
from proxy.restoring.json_text import (
    DEEPEST,
    JsonRestorer,
    begins_json,
    decode_strings,
    find_strings,
)
from proxy.restoring.text import Replacements, RestoredPiece, TextRestorer, spell_pieces

__all__ = ["Restored", "RestoredText", "WayBack", "build_way_back", "find_lost"]

_ESCAPED = re.compile(r"\\u[0-9a-fA-F]{4}")
_ESCAPED_NAME = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|%[0-9A-F]{2}|\w\+\w")
_NAME = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
MOST_BREAKS = 3  # of lines in a string that is no file
SHORTEST = 2  # letters and digits of a replacement: nobody reads the answer before its reader does


@dataclass(frozen=True)
class WayBack:
    """Hold what restores the answers to one request.

    Attributes:
        replacements: the raw value of each replacement that can be told from other text.
        strings: the same for the strings of an answer in JSON: a value that a JSON text holds with
            its escapes is meant without them there.
        spelled: the values that are escaped as JSON escapes them, by their replacements.
        wholes: the raw string of each sanitized one that comes back as a whole in JSON.
        names: those of them that are names of functions.
        writes_json: whether the client requested an answer in JSON.
        ambiguous: how many replacements cannot be told from other text.
        digest: equal for those that restore every text alike.
    """

    replacements: Replacements
    strings: Replacements
    spelled: Mapping[str, str]
    wholes: Mapping[str, str]
    names: Mapping[str, str]
    writes_json: bool = False
    ambiguous: int = 0
    digest: str = ""

    def read_content(self) -> RestoredText:
        """Return what restores the text of one answer."""
        return RestoredText(self, json=self.writes_json)

    def read_json(self) -> RestoredText:
        """Return what restores the arguments of one call."""
        return RestoredText(self, json=True)


@dataclass(frozen=True)
class Restored:
    """Count the replacements in an answer: restored, and left in an address, or because they may
    stand for something else."""

    restored: int = 0
    unrestored: int = 0

    def __add__(self, other: Restored) -> Restored:
        return Restored(self.restored + other.restored, self.unrestored + other.unrestored)


@dataclass
class RestoredText:
    """Restore one text of an answer as it comes."""

    way_back: WayBack
    json: bool

    def __post_init__(self) -> None:
        back = self.way_back
        self._reader: JsonRestorer | TextRestorer = (
            JsonRestorer(back.replacements, back.wholes, back.strings, back.spelled)
            if self.json
            else TextRestorer(back.replacements)
        )

    def feed(self, text: str) -> str:
        """Take the next piece, and return what is certain now."""
        return spell_pieces(self._reader.feed(text))

    def finish(self) -> str:
        """Return the rest."""
        return spell_pieces(self._reader.finish())

    def count(self) -> Restored:
        """Count what was restored, once the text is finished."""
        return Restored(self._reader.restored, self._reader.left)


def build_way_back(
    releases: Sequence[Release],
    wholes: Collection[str],
    names: Collection[str],
    *,
    writes_json: bool = False,
) -> WayBack:
    """Build the way back of a request.

    Args:
        releases: of every string that was sanitized.
        wholes: the raw strings that come back as a whole.
        names: those of them that are names of functions.
    """
    sanitized = {release.raw: release.sanitized.text for release in releases}
    changed = _invert({raw: sanitized[raw] for raw in wholes})
    pairs, kept = pair_parts(releases)
    pairs += pair_runs(releases)
    pairs += _pair_escaped_words(pairs)
    told = {new for new, _ in pairs}
    words = told.union(*(new.split() for new in told))  # a half of a name may be another's name
    pairs += [pair for pair in pair_details(releases) if pair[0] not in words]
    usable = choose_restorable([*pairs, *changed.items()], shortest=SHORTEST, on_one_line=False)
    left = find_unrestorable(pairs, usable)
    replacements, digest = _build_replacements(usable, left, kept)
    sought = replacements.raw_of
    strings, (decoded, spelled) = replacements, _decode_values(releases, usable)
    if decoded:
        strings, other = _build_replacements(usable | decoded, left, kept)
        digest = f"{digest} {other}"
    return WayBack(
        replacements=replacements,
        strings=strings,
        spelled=spelled,
        wholes=changed,
        names={new: raw for new, raw in changed.items() if raw in names},
        writes_json=writes_json,
        ambiguous=len({new for new in told if " ".join(new.split()) not in sought}),
        digest=digest,
    )


def _pair_escaped_words(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pair the words of names that their text spells with escapes, and such names as they are
    read: an answer in prose may use them alone."""
    found: dict[tuple[str, str], None] = {}
    for new, raw in pairs:
        if not _ESCAPED_NAME.search(raw):
            continue
        shown, value = (read(text).text.replace("+", " ") for text in (new, raw))
        ours, theirs = shown.split(), value.split()
        if "@" in raw or any(map(str.isdigit, shown + value)) or len(ours) != len(theirs):
            continue
        if shown != new:
            found.setdefault((shown, value))
        written = raw.split() if shown == new else theirs
        words = zip(ours, theirs, written, strict=True) if len(written) == len(theirs) else ()
        for word, name, own in words if len(ours) > 1 else ():
            if _NAME.fullmatch(word) and _NAME.fullmatch(name):
                found.setdefault((word, own))
    return [*found]


def _build_replacements(
    raw_of: Mapping[str, str], left: Iterable[str], kept: Sequence[str]
) -> tuple[Replacements, str]:
    """Return the replacements but for those that stand in kept texts, and a digest of them."""
    declined = any(not text.isascii() and SLAVIC.search(text) for text in kept)
    made = Replacements(raw_of, left, ordinary=dictionary_words(), declined=declined)
    digest = hash_values([*raw_of.items()], sorted(left), declined)

    def select(texts: Iterable[str]) -> list[str]:
        return [text for text in texts if made.find_written(text)]

    texts = select_texts(select, "written", kept, digest)
    written = {part for text in texts for part in made.find_written(text)}
    made.leave(written)
    return made, hash_values(digest, sorted(written))


def _decode_values(
    releases: Iterable[Release], usable: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the values with escapes in texts that are JSON, by their replacements: decoded, as
    they are read in its strings, and as the innermost of these write them.

    A string of several lines is a file in the answer of a tool: the escapes are the answer's.
    """
    found: dict[str, str] = {}
    spelled = {new: raw for new, raw in usable.items() if _ESCAPED.search(raw)}
    texts = [release for release in releases if begins_json(release.raw)]
    for release in texts:
        raw, parts = release.raw, release.sanitized.replaced or ()
        escaped = [part for part in parts if "\\" in raw[part.start : part.end]]
        starts, depths = zip(*find_strings(raw), strict=True) if escaped else ((), ())
        for part in escaped:
            if place := bisect_right(starts, part.start):
                written, depth = raw[part.start : part.end], depths[place - 1]
                value, own = decode_strings(written, depth), decode_strings(written, depth - 1)
                new = " ".join(part.text.split())
                if value is not None:
                    found[new] = value
                end = starts[place] if place < len(starts) else len(raw)
                is_file = raw.count("\\n", starts[place - 1], end) > MOST_BREAKS
                if is_file or own is None or not _ESCAPED.search(own):
                    spelled.pop(new, None)
                elif new in spelled:
                    spelled[new] = own
    for new, raw in usable.items() if texts else ():
        depth = 0
        while "\\" in new and depth < DEEPEST:  # such as a tag of HTML, with its quotes
            depth += 1
            shown, value = decode_strings(new, 1), decode_strings(raw, 1)
            if shown is None or value is None:
                break
            new, raw = " ".join(shown.split()), value
            found.setdefault(new, raw)
    return found, spelled


def find_lost(back: WayBack, releases: Sequence[Release]) -> list[tuple[Release, frozenset[int]]]:
    """Return the releases that the way back does not turn into their raw texts, and which of
    their replaced parts (their numbers in `release.sanitized.replaced`) are the reason.

    A part is also a reason where its replacement is restored in what another release kept.
    Releases without replaced parts are not read, nor are those that came back by the same way
    before. The time is linear in the length of the texts.

    Args:
        back: the way back of the request.
        releases: of every string that was sanitized.
    """
    lost: dict[int, set[int]] = {}
    strayed: set[str] = set()
    for i, release in enumerate(releases):
        raw, sanitized = release.raw, release.sanitized.text
        if release.sanitized.replaced and keep_result(
            partial(_find_changes, back, raw, sanitized), "changes", raw, sanitized, back.digest
        ):
            for pieces in _bring_back(back, raw, sanitized):
                parts, stray = _compare(release, pieces)
                lost.setdefault(i, set()).update(parts)
                strayed |= stray
    if strayed:
        for i, release in enumerate(releases):
            parts = {
                number
                for number, part in enumerate(release.sanitized.replaced or ())
                if part.text in strayed or any(word in strayed for word in part.text.split())
            }
            if parts:
                lost.setdefault(i, set()).update(parts)
    return [(releases[i], frozenset(parts)) for i, parts in sorted(lost.items())]


def _find_changes(back: WayBack, raw: str, sanitized: str) -> tuple[int, ...]:
    """Return the numbers of the readers that bring back another text than the raw one."""
    read = enumerate(_bring_back(back, raw, sanitized))
    return tuple(number for number, pieces in read if spell_pieces(pieces) != raw)


def _bring_back(back: WayBack, raw: str, sanitized: str) -> Iterator[list[RestoredPiece]]:
    """Yield what becomes of a sanitized text, as text and as the arguments of a call."""
    readers: list[TextRestorer | JsonRestorer] = [TextRestorer(back.replacements)]
    if begins_json(raw):
        readers.append(JsonRestorer(back.replacements, {}, back.strings, back.spelled))
    for reader in readers:
        yield [*reader.feed(sanitized), *reader.finish()]


class _Stretch(NamedTuple):
    """Hold a part of a sanitized text that was replaced (its number, and how much later the raw
    text is after it), or that was restored (what it became)."""

    start: int
    end: int
    number: int = -1
    shift: int = 0
    piece: RestoredPiece | None = None


def _compare(release: Release, pieces: Iterable[RestoredPiece]) -> tuple[set[int], set[str]]:
    """Return the replaced parts of a release that did not come back, and the replacements that
    were restored where there was none."""
    lost: set[int] = set()
    strayed: set[str] = set()
    shift = 0
    for block in _find_blocks(_find_stretches(release, pieces)):
        start, end = block[0].start, max(stretch.end for stretch in block)
        before, shown, place = shift, "", start
        numbers, news = [], []
        for stretch in block:
            if stretch.piece is None:
                numbers.append(stretch.number)
                shift = stretch.shift
            else:
                news.append(stretch.piece.new)
                shown += release.sanitized.text[place : stretch.start] + stretch.piece.text
                place = stretch.end
        shown += release.sanitized.text[place:end]
        if shown != release.raw[start + before : end + shift]:
            lost.update(numbers)
            strayed.update(() if numbers else news)
    return lost, strayed


def _find_stretches(release: Release, pieces: Iterable[RestoredPiece]) -> list[_Stretch]:
    found, shift, place = [], 0, 0
    for number, part in enumerate(release.sanitized.replaced or ()):
        start = part.start - shift
        shift = part.end - start - len(part.text)
        found.append(_Stretch(start, start + len(part.text), number, shift))
    for piece in pieces:
        if piece.new:
            found.append(_Stretch(place, place + piece.source, piece=piece))
        place += piece.source
    return sorted(found, key=lambda stretch: stretch[:2])


def _find_blocks(stretches: Iterable[_Stretch]) -> Iterator[list[_Stretch]]:
    """Yield the stretches that overlap, together."""
    block: list[_Stretch] = []
    until = 0
    for stretch in stretches:
        if block and stretch.start >= until:
            yield block
            block = []
        until = max(until, stretch.end) if block else stretch.end
        block.append(stretch)
    if block:
        yield block


def _invert(sanitized: Mapping[str, str]) -> dict[str, str]:
    """Return the raw form of each string that was changed, unless two share it."""
    raws: dict[str, list[str]] = {}
    for raw, new in sanitized.items():
        raws.setdefault(new, []).append(raw)
    return {new: raw for new, (raw, *others) in raws.items() if not others and new != raw}
