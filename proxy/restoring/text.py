"""Restore raw values in a text that comes in pieces, as soon as they are certain."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from extraction.addresses import LOOK_AHEAD, Addresses
from perturb.text.prefixes import Prefixes

__all__ = ["Piece", "Replacements", "TextRestorer", "spell_pieces"]

LONGEST = 400  # characters of a replacement that is looked for: bounds what is held back
BLANKS = 16  # of white space between two of its words
_BLANK = re.compile(r"[^\S ]")
_RUN = re.compile(r" {2,}")
# Scripts without blanks between words: a replacement may touch their characters.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[^\W{_UNSPACED}]")


class Piece(NamedTuple):
    """Hold a stretch of a restored text.

    Attributes:
        source: how many characters of the remote's text it stands for.
        text: the restored text.
        restored: whether it is a raw value.
    """

    source: int
    text: str
    restored: bool = False


def spell_pieces(pieces: Iterable[Piece]) -> str:
    """Return the text of pieces."""
    return "".join(piece.text for piece in pieces)


class Replacements:
    """Hold the raw value of each replacement, ready to be looked for in many texts.

    Args:
        raw_of: the raw value of each replacement; longer ones than 400 characters are left out.
        left: replacements that are left where they stand, with all that is in them.
    """

    def __init__(self, raw_of: Mapping[str, str], left: Iterable[str] = ()) -> None:
        self.raw_of = {new: raw for new, raw in raw_of.items() if 0 < len(new) <= LONGEST}
        self.left = sorted(new for new in left if 0 < len(new) <= LONGEST)
        pairs: dict[str, str | None] = {**dict.fromkeys(self.left), **self.raw_of}
        self._by_form = {_BLANK.sub(" ", new): (new, raw) for new, raw in pairs.items()}
        self._prefixes = Prefixes(self._by_form)
        first = "".join(map(re.escape, sorted({form[0] for form in self._by_form})))
        self.starts = re.compile(rf"(?<![^\W{_UNSPACED}])[{first}]") if first else None

    def match(self, text: str, start: int, *, whole: bool) -> _Match | None:
        """Find the longest replacement that begins at a place as a whole word.

        Args:
            text: the text as far as it is known, with even blanks (`_even`).
            whole: whether nothing follows it.

        Raises:
            _Undecided: it depends on what follows.
        """
        if not whole and len(text) - start < LONGEST and self._prefixes.continues(text[start:]):
            raise _Undecided
        for form in self._prefixes.find(text, start):
            end = start + len(form)
            if _ends_word(text, end - 1, whole=whole):
                return _Match(end, *self._by_form[form])
        return None


def _even(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with one blank for white space, and the place of each of its characters. More
    white space than may stand between two words becomes a line break, which no replacement has."""
    text = _BLANK.sub(" ", text)
    if "  " not in text:  # most texts
        return text, range(len(text))
    shown: list[str] = []
    places: list[int] = []
    end = 0
    for found in _RUN.finditer(text):
        shown += text[end : found.start()], " " if len(found[0]) <= BLANKS else "\n"
        places += range(end, found.start() + 1)
        end = found.end()
    return "".join([*shown, text[end:]]), [*places, *range(end, len(text))]


class _Match(NamedTuple):
    """Hold where a replacement ends, and its raw value; None for one that is left."""

    end: int
    new: str
    raw: str | None


class _Undecided(Exception):
    """Report that the next characters decide."""


def _ends_word(text: str, last: int, *, whole: bool) -> bool:
    """Tell if no word, and no number, goes on after a character. Raises `_Undecided`."""
    rest = text[last + 1 : last + 3]
    if not rest and not whole:
        raise _Undecided
    if rest and _WORD.match(rest):
        return False
    if rest and rest[0] in ".," and text[last].isdigit():  # 57 is not in 57.5
        if len(rest) < 2 and not whole:
            raise _Undecided
        return not rest[1:].isdigit()
    return True


class TextRestorer:
    """Restore one text that comes in pieces.

    Replacements count as whole words, the longest first, in the case in which they were released,
    with any white space between their words. Nothing is restored inside an address (see
    `Addresses`), except a replacement that is itself one.

    Args:
        replacements: what to restore.
        strict: restore a number only by a number, as JSON outside of strings needs it.

    Attributes:
        restored, left: how many replacements were restored, and left where they stand.
    """

    def __init__(self, replacements: Replacements, *, strict: bool = False) -> None:
        self._replacements = replacements
        self._strict = strict
        self._addresses = Addresses()
        self._before = ""  # the last character that was passed on, which may belong to a word
        self._held = ""
        self.restored = self.left = 0

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece of the text, and return what is certain now."""
        self._held += text
        return self._advance(whole=False)

    def finish(self) -> list[Piece]:
        """Return the rest. The restorer is then ready for another text."""
        pieces = self._advance(whole=True)
        self._addresses, self._before = Addresses(), ""
        return pieces

    def _advance(self, *, whole: bool) -> list[Piece]:
        starts = self._replacements.starts
        text = self._before + self._held
        shown, places = _even(text)
        done = len(self._before)
        place = done if shown is text else bisect_left(places, done)
        pieces: list[Piece] = []
        while starts and (found := starts.search(shown, place)):
            start = found.start()
            if _continues_number(shown, start):
                place = start + 1
                continue
            try:
                match = self._replacements.match(shown, start, whole=whole)
            except _Undecided:
                pieces += self._pass(text[done : places[start]])
                self._keep(text, places[start])
                return pieces
            place = start + 1
            if match is None:
                continue
            begin, end = places[start], places[match.end - 1] + 1
            pieces += self._pass(text[done:begin])
            done, following = begin, text[end : end + LOOK_AHEAD]
            if match.raw is None:
                allowed: bool | None = False
            else:
                allowed = self._addresses.admits(match.new, match.raw, following, whole=whole)
            if allowed is None:
                self._keep(text, begin)
                return pieces
            pieces += self._replace(text[begin:end], match, allowed=allowed)
            place, done = match.end, end
        pieces += self._pass(text[done:])
        self._keep(text, len(text))
        return pieces

    def _keep(self, text: str, end: int) -> None:
        """Hold back a text from a place on."""
        self._before, self._held = text[max(0, end - 2) : end], text[end:]

    def _pass(self, text: str) -> list[Piece]:
        self._addresses.read(text)
        return [Piece(len(text), text)] if text else []

    def _replace(self, text: str, match: _Match, *, allowed: bool) -> list[Piece]:
        raw = match.raw
        if raw is not None and self._strict and _is_number(match.new) and not _is_number(raw):
            allowed = False
        if raw is None or not allowed:
            self.left += 1
            return self._pass(text)
        self.restored += 1
        raw = _space(raw, text)
        self._addresses.read(raw)  # the reader's client sees this text
        return [Piece(len(text), raw, restored=True)]


def _space(raw: str, text: str) -> str:
    """Return a raw value with the white space between the words of its replacement."""
    words, gaps = raw.split(), _SPACE.findall(text)
    if len(words) != len(gaps) + 1:
        return raw
    return "".join(chain.from_iterable(zip(words, [*gaps, ""], strict=True)))


_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _continues_number(text: str, start: int) -> bool:
    """Tell if a digit belongs to a number that began before it: 57 is not in 3.57."""
    before = text[max(0, start - 2) : start]
    return text[start].isdigit() and before[1:] in (".", ",") and before[0].isdigit()
