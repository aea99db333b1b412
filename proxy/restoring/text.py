"""Restore raw values in a text that comes in pieces, as soon as they are certain."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from copy import copy
from itertools import chain
from typing import NamedTuple

from extraction.addresses import LOOK_AHEAD, Addresses
from perturb.text.fold import read
from perturb.text.search import Prefixes
from proxy.restoring.forms import (
    PLAIN,
    Number,
    Numbers,
    Spelling,
    flatten,
    fold_case,
    is_tag,
    recase,
    simplify,
    spell,
)

__all__ = ["ReplacementMatch", "Replacements", "RestoredPiece", "TextRestorer", "spell_pieces"]

LONGEST = 400  # characters of a replacement that is looked for: bounds what is held back
BLANKS = 16  # of white space between two of its words
BEFORE = 32  # characters before a replacement that may decide
_GAP = re.compile(r" {2,}")
_NO_WIDTH = re.compile("[\u00ad\u2060\ufeff]")  # soft hyphens, and signs that forbid a break
_WIDE_GAP = re.compile(rf" {{{BLANKS + 1},}}")
# Scripts without blanks between words: a replacement may touch their characters.
_WITHOUT_SPACES = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[^\W_{_WITHOUT_SPACES}]")
_LETTER_RUN = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
LONGEST_SUFFIX = 6
_SUFFIX = re.compile(r"(?:sche[mnrs]?|esque|ians?)(?!\w)")  # of an adjective
_EXTENSION = re.compile(r"x([0-9]?)")  # of a telephone number
# A value that a format of its text spells with escapes, and what stands before it there.
_ESCAPED_VALUE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2})|(?P<web>%[C-F][0-9A-F]%)")
_NAME_VALUE = re.compile(r"[^\W\d_]+(?:(?:, |[ '\u2019-])[^\W\d_]+){0,7}")
_BEFORE_ESCAPED = frozenset("\"'")
_BEFORE_QUOTED = re.compile(r"(?:[=/+&?]|%[0-9A-Fa-f]{2})\Z")
_LINE_ESCAPE = re.compile(r"\\[bnrt]")
_QUOTED = re.compile(r"%[0-9A-Fa-f]{2}")  # a sign in an address of the web
_HEAD = 3  # characters by which most places are seen to begin no replacement
_IN_DATE = re.compile(
    r"(?:[0-9][./-]|(?<![^\W\d_])(?:jan|feb|m[aä]r|apr|ma[iy]|ju[nl]|aug|sep|o[ck]t|nov|de[cz])"
    r"[^\W\d_]{0,6}(?:\.?,? |[-/])|[0-9](?:st|nd|rd|th)?,? )\Z"
)


class RestoredPiece(NamedTuple):
    """Hold a stretch of a restored text.

    Attributes:
        source: how many characters of the remote's text it stands for.
        text: the restored text.
        new: the replacement whose raw value it is; empty for other text.
    """

    source: int
    text: str
    new: str = ""


def spell_pieces(pieces: Iterable[RestoredPiece]) -> str:
    """Return the text of pieces."""
    return "".join([piece.text for piece in pieces])


class Replacements:
    """Hold the raw value of each replacement, ready to be looked for in many texts.

    Each is looked for in every form in which a remote may write it (`proxy.restoring.forms`), and
    its value comes back in the same form. What two values share in one form, or what may be
    something else, is left where it stands.

    Args:
        raw_of: the raw value of each replacement; longer ones than 400 characters are left out.
        left: what is left where it stands, as it is written, with all that is in it.
        ordinary: words of the language. They are no replacements in other capitals than their
            own.
        in_any_form: whether to look for other forms than a replacement's own, also other capitals.
        declined: whether names in Latin letters may be declined, too.

    Attributes:
        raw_of, left: see above, those that are not too long.
        ordinary: the ordinary words among all forms of the replacements.
    """

    def __init__(
        self,
        raw_of: Mapping[str, str],
        left: Iterable[str] = (),
        *,
        ordinary: Container[str] = (),
        in_any_form: bool = True,
        declined: bool = False,
    ) -> None:
        self.raw_of = {new: raw for new, raw in raw_of.items() if 0 < len(new) <= LONGEST}
        self.left = sorted(new for new in left if 0 < len(new) <= LONGEST)
        self.ordinary: set[str] = set()
        self._in_any_form = in_any_form
        self._left = {flatten(new) for new in self.left}
        self._left_keys = {fold_case(new) for new in self._left}
        self._by_key: dict[str, list[Spelling]] = {}
        for key in {fold_case(new) for new in self._left}:
            self._note(key, ordinary)
            self._by_key.setdefault(key, [])
        firsts = {new.split(" ", 1)[0] for new in self.raw_of if " " in new} if declined else ()
        for new, raw in self.raw_of.items():
            spellings = spell(new, raw, declined=declined, given=new in firsts)
            for each in spellings if in_any_form else spellings[:1]:
                words = self._note(each.key, ordinary)
                told = len(each.key) <= LONGEST and self._is_distinctive(each, words)
                if told or each.form is PLAIN:
                    self._by_key.setdefault(each.key, []).append(each)
        self._index()

    def _index(self) -> None:
        self._prefixes = Prefixes(self._by_key)
        self._heads = {key[:_HEAD] for key in self._by_key}
        self._brief = {key for key in self._by_key if len(key) < _HEAD}
        self._numbers = Numbers(self.raw_of if self._in_any_form else {})
        self._has_numbers = bool(self._numbers)
        self._starts = self._compile_starts()

    def _note(self, key: str, ordinary: Container[str]) -> list[str]:
        """Return the words of a form in small letters, and note which of them are ordinary."""
        words: list[str] = _LETTER_RUN.findall(key)
        for word in words:
            if word in ordinary:
                self.ordinary.add(word)
        return words

    def _is_ordinary(self, key: str) -> bool:
        """Tell if a form in small letters is made of ordinary words alone."""
        words = _LETTER_RUN.findall(key)
        return bool(words) and self.ordinary.issuperset(words) and not _DIGIT.search(key)

    def _is_distinctive(self, found: Spelling, words: list[str]) -> bool:
        """Tell if a form stands out from ordinary text."""
        if found.form.exact:
            return sum(map(len, words)) > 1
        if _DIGIT.search(found.key):
            return True
        words = [word for word in words if len(word) > 1]
        return sum(map(len, words)) > 2 and not self.ordinary.issuperset(words)

    def _compile_starts(self) -> re.Pattern[str] | None:
        """Return an expression that finds where a replacement may begin."""
        first = {key[0] for key in self._by_key} | set("0123456789" if self._has_numbers else "")
        if not first:
            return None
        first |= {c.upper() for c in first if len(c.upper()) == 1}
        border = rf"(?<![^\W_{_WITHOUT_SPACES}])"
        if self._in_any_form:  # in camelCase, a word begins with its capital
            after = r"(?<=[a-z])(?=[A-Z])|(?<=\\[bnrt])|(?<=%[0-9A-Fa-f]{2})"
            border = rf"(?:{border}|{after}|(?=[<\]]))"
        return re.compile(rf"{border}[{''.join(map(re.escape, sorted(first)))}]")

    def find_starts(self, text: _Even, place: int, *, whole: bool) -> Iterator[int]:
        """Yield the places from one on at which a replacement may begin."""
        if self._starts is None:
            return
        folded, heads, brief = text.folded, self._heads, self._brief
        for found in self._starts.finditer(text.shown, place):
            start = found.start()
            head = folded[start : start + _HEAD]
            if (
                head in heads
                or (brief and (head[:1] in brief or head[:2] in brief))
                or (len(head) < _HEAD and not whole)
                or (self._has_numbers and head[0].isdigit())
            ) and not _continues_number(folded, start):
                yield start

    def match(self, text: _Even, start: int, *, whole: bool) -> ReplacementMatch | None:
        """Find the longest replacement that begins at a place.

        Args:
            text: as far as it is known.
            whole: whether nothing follows it.

        Raises:
            _Undecided: it depends on what follows.
        """
        folded = text.folded
        may_continue = not whole and len(folded) - start < LONGEST
        if may_continue and self._prefixes.continues(folded[start:]):
            raise _Undecided
        return next(self.find_all(text, start, whole=whole), None)

    def find_all(self, text: _Even, start: int, *, whole: bool) -> Iterator[ReplacementMatch]:
        """Yield the replacements that begin at a place, the longest first. Raises `_Undecided`."""
        numbers: list[Number] = []
        if self._has_numbers and text.shown[start].isdigit():
            found = self._numbers.find(text.shown, start, whole=whole)
            if found is None:
                raise _Undecided
            numbers = found
        for key in self._prefixes.find(text.folded, start):
            while numbers and numbers[0].end - start > len(key):
                yield from self._check_number(text, start, numbers.pop(0), whole=whole)
            if match := self._resolve(key, text, start, whole=whole):
                yield match
        for number in numbers:
            yield from self._check_number(text, start, number, whole=whole)

    def _check_number(
        self, text: _Even, start: int, number: Number, *, whole: bool
    ) -> Iterator[ReplacementMatch]:
        border = _find_border(text.shown, start, number.end, whole=whole)
        if _is_behind_comma(text.shown, start, number.end):
            return
        if border == INSIDE and (extension := _EXTENSION.match(text.shown, number.end)):
            if extension.end() == len(text.shown) and not (whole or extension[1]):
                raise _Undecided
            border = BORDER if extension[1] else INSIDE
        if border in (BORDER, JOINED):
            yield ReplacementMatch(start, number.end, number.new, number.raw)

    def _resolve(
        self, key: str, text: _Even, start: int, *, whole: bool
    ) -> ReplacementMatch | None:
        """Return what a form stands for at a place; None if for nothing."""
        shown, end, spellings = text.shown, start + len(key), self._by_key[key]
        is_tagged = any(is_tag(each.new) for each in spellings)
        border = _find_border(shown, start, end, whole=whole, is_tagged=is_tagged)
        if border in (INSIDE, NUMBER) or (not is_tagged and self._is_apart(key, border)):
            return None
        if _is_behind_comma(shown, start, end):
            return None
        written = shown[start:end]
        if written in self._left:
            return ReplacementMatch(start, end, written, None)
        own = [each for each in spellings if each.form is PLAIN and each.shown == written]
        if own:
            return ReplacementMatch(start, end, own[0].new, own[0].raw)
        ordinary = self._is_ordinary(key)
        if not self._in_any_form or (ordinary and key.isalpha() and written == key):
            return None  # a word like any other
        if not any(each.form is PLAIN for each in spellings) and key in self._left_keys:
            return ReplacementMatch(start, end, written, None)
        found: dict[str | None, Spelling] = {}
        for each in spellings:
            if each.year and not _stands_apart(text, start, end, whole=whole):
                continue
            value = recase(each, written[each.kept :], joined=border != BORDER)
            if value is not None:
                sure = each.form.certain and (not ordinary or each.form.exact)
                found.setdefault(value if sure else None, each)
        if not found:
            return None
        if len(found) > 1 and (alike := _choose_alike(found, written)):
            found = alike
        (value, each), *others = found.items()
        begin = start + each.kept
        if others or value is None:
            return ReplacementMatch(begin, end, each.new, None)
        return ReplacementMatch(begin, end, each.new, value) if value != shown[begin:end] else None

    def _is_apart(self, key: str, border: str) -> bool:
        """Tell if a form does not count here, as a part of a longer name such as `NAME_file`."""
        if border == BORDER:
            return False
        if not self._in_any_form:
            return True
        if border == TOUCHED and not key.isalpha():
            return True
        fewest = 6 if key.isdigit() else 4 if border == JOINED else 5
        return len(key) < fewest or self._is_ordinary(key)

    def find_written(self, text: str) -> set[str]:
        """Return every replacement in a text, as it is written there."""
        even = _Even(text)
        return {
            even.shown[start : match.end]
            for start in self.find_starts(even, 0, whole=True)
            for match in self.find_all(even, start, whole=True)
        }

    def leave(self, written: Set[str]) -> None:
        """Leave what `find_written` found in texts that were released as they are, wherever it
        comes back."""
        if not written:
            return
        gone = {new for new in self.raw_of if flatten(new) in written}
        for new in gone:
            del self.raw_of[new]
        self.left = sorted({*self.left, *written})
        self._left |= written
        self._left_keys |= {fold_case(flatten(new)) for new in gone}
        for key in {fold_case(each) for each in written}:
            self._by_key.setdefault(key, [])
        for key, spellings in self._by_key.items():
            if any(each.new in gone for each in spellings):
                self._by_key[key] = [each for each in spellings if each.new not in gone]
        self._index()


class _Even:
    """Hold a text with one blank for white space, also in small letters, and the place of each of
    its characters. More white space than may stand between two words becomes a line break, which
    no replacement has."""

    def __init__(self, text: str) -> None:
        self._flat = flatten(text)
        self.shown = _GAP.sub(" ", _WIDE_GAP.sub("\n", self._flat))
        self._is_marked = not text.isascii() and _NO_WIDTH.search(text) is not None
        if self._is_marked:
            self.shown = _NO_WIDTH.sub("", self.shown)
        self.folded = fold_case(self.shown)
        closed = len(self.shown) != len(self._flat)
        self._places: Sequence[int] | None = None if closed else range(len(self.shown))

    @property
    def places(self) -> Sequence[int]:
        """Return the place of each character in the written text."""
        if self._places is None:
            self._places = self._find_places()
        return self._places

    def _find_places(self) -> list[int]:
        places: list[int] = []
        end = 0
        for found in _GAP.finditer(self._flat):
            places += range(end, found.start() + 1)
            end = found.end()
        places += range(end, len(self._flat))
        if self._is_marked:
            return [place for place in places if not _NO_WIDTH.match(self._flat, place)]
        return places

    def find(self, place: int) -> int:
        """Return the first character at or after a place of the written text."""
        places = self.places
        return place if isinstance(places, range) else bisect_left(places, place)


class ReplacementMatch(NamedTuple):
    """Hold where a replacement stands, and its raw value; None for one that is left."""

    start: int
    end: int
    new: str
    raw: str | None


class _Undecided(Exception):
    """Report that the next characters decide."""


def _choose_alike(
    found: Mapping[str | None, Spelling], written: str
) -> dict[str | None, Spelling]:
    """Return the value that counts of those that differ in capitals or accents alone, or of which
    only one is written in these capitals; none if there is no such one."""
    exact = {value: each for value, each in found.items() if each.shown == written}
    if len(exact) == 1 and None not in found:
        return exact
    values = [value for value in found if value is not None]
    if len(values) < len(found) or len({*map(simplify, values)}) > 1:
        return {}
    value = min(values, key=lambda value: (not value.isascii(), values.index(value)))
    return {value: found[value]}


# How a part of a text meets what is around it: as words of its own, beside `_`, beside a capital
# in camelCase, inside a word, inside a number.
BORDER, JOINED, TOUCHED, INSIDE, NUMBER = "border", "joined", "touched", "inside", "number"


def _find_border(text: str, start: int, end: int, *, whole: bool, is_tagged: bool = False) -> str:
    """Tell how a part of a text meets what is around it. Raises `_Undecided`."""
    rest, last = text[end : end + 2], text[end - 1]
    if not rest and not whole:
        raise _Undecided
    if rest and rest[0] in ".," and last.isdigit() and not is_tagged:  # 57 is not in 57.5
        if len(rest) < 2 and not whole:
            raise _Undecided
        if rest[1:].isdigit() and (rest[0] == "." or not _is_long(text[start:end])):
            return NUMBER
    touched = start > 0 and bool(_WORD.match(text, start - 1) and _WORD.match(text, start))
    if touched and _LINE_ESCAPE.match(text, start - 2):  # a line break in a string of code
        touched = False
    if touched and start > 2 and _QUOTED.match(text, start - 3):
        touched = False
    if rest and _WORD.match(rest) and last not in ">)":  # nothing goes on after a tag
        tail = text[end : end + LONGEST_SUFFIX + 1]
        if last.isalpha() and not whole and len(tail) <= LONGEST_SUFFIX and tail.isalpha():
            raise _Undecided
        if last.isalpha() and not is_tagged and _SUFFIX.match(tail):
            return TOUCHED  # `der Webersche Vertrag`
        if rest[0].isdecimal() and last.isalpha() and not (touched or is_tagged):
            touched = True  # `Weber2024`
        elif not (rest[0].isupper() and (last.islower() or last.isdigit())):
            return INSIDE
        touched = True
    if touched:
        return TOUCHED
    return JOINED if rest[:1] == "_" or text[max(0, start - 1) : start] == "_" else BORDER


def _stands_apart(text: _Even, start: int, end: int, *, whole: bool) -> bool:
    """Tell if a year is no part of another date. Raises `_Undecided`."""
    rest = text.shown[end : end + 2]
    if rest[:1] in ("-", "/"):
        if len(rest) < 2 and not whole:
            raise _Undecided
        if rest[1:].isdigit():
            return False
    return _IN_DATE.search(text.folded[max(0, start - BEFORE // 2) : start]) is None


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

    def feed(self, text: str) -> list[RestoredPiece]:
        """Take the next piece of the text, and return what is certain now."""
        self._held += text
        return self._advance(whole=False)

    def finish(self) -> list[RestoredPiece]:
        """Return the rest. The restorer is then ready for another text."""
        pieces = self._advance(whole=True)
        self._addresses, self._before = Addresses(), ""
        return pieces

    def _advance(self, *, whole: bool) -> list[RestoredPiece]:
        text = self._before + self._held
        done = len(self._before)
        even = _Even(text)
        place = even.find(done)
        pieces: list[RestoredPiece] = []
        for start in self._replacements.find_starts(even, place, whole=whole):
            if start < place:
                continue
            try:
                match = self._replacements.match(even, start, whole=whole)
            except _Undecided:
                pieces += self._pass(text[done : even.places[start]])
                self._keep(text, even.places[start])
                return pieces
            if match is None:
                continue
            begin, end = even.places[match.start], even.places[match.end - 1] + 1
            written, following = text[begin:end], text[end : end + LOOK_AHEAD]
            pieces += self._pass(text[done : even.places[start]])
            done = even.places[start]
            allowed = self._admits(text[done:begin], match, following, whole=whole)
            if allowed is None:
                self._keep(text, done)
                return pieces
            pieces += self._pass(text[done:begin])
            match = match._replace(raw=_spell_value(match, text[max(0, begin - 3) : begin]))
            pieces += self._replace(written, match, allowed=allowed)
            done, place = end, match.end
        pieces += self._pass(text[done:])
        self._keep(text, len(text))
        return pieces

    def _admits(
        self, before: str, match: ReplacementMatch, following: str, *, whole: bool
    ) -> bool | None:
        """Tell if a value may be restored after a text that stays; None if it depends on what
        follows."""
        if match.raw is None:
            return False
        addresses = self._addresses
        if before:
            addresses = copy(addresses)
            addresses.read(before)
        return addresses.admits(match.new, match.raw, following, whole=whole)

    def _keep(self, text: str, end: int) -> None:
        """Hold back a text from a place on."""
        self._before, self._held = text[max(0, end - BEFORE) : end], text[end:]

    def _pass(self, text: str) -> list[RestoredPiece]:
        self._addresses.read(text)
        return [RestoredPiece(len(text), text)] if text else []

    def _replace(
        self, text: str, match: ReplacementMatch, *, allowed: bool
    ) -> list[RestoredPiece]:
        raw = match.raw
        if raw is not None and self._strict and _is_number(text) and not _is_number(raw):
            allowed = False
        if raw is None or not allowed:
            self.left += 1
            return self._pass(text)
        self.restored += 1
        raw = _space(raw, text)
        self._addresses.read(raw)  # the reader's client sees this text
        return [RestoredPiece(len(text), raw, match.new)]


def _spell_value(match: ReplacementMatch, before: str) -> str | None:
    """Return the value of a match without the escapes that it has in a string of code or in an
    address of the web, where it stands in neither. A tag comes back as what it stands for."""
    raw = match.raw
    if raw is None or not ("\\" in raw or "%" in raw) or "_" in match.new:
        return raw
    escaped = _ESCAPED_VALUE.search(raw)
    if escaped is None:
        return raw
    web = escaped["web"] is not None
    kept = _BEFORE_QUOTED.search(before) is not None if web else before[-1:] in _BEFORE_ESCAPED
    value = raw if kept else read(raw).text
    return value if _NAME_VALUE.fullmatch(value) else raw


def _space(raw: str, text: str) -> str:
    """Return a raw value with the white space between the words of its replacement."""
    inner = raw.strip()
    words, gaps = inner.split(), _SPACE.findall(text)
    if len(words) != len(gaps) + 1:
        return raw
    spaced = "".join(chain.from_iterable(zip(words, [*gaps, ""], strict=True)))
    return raw.replace(inner, spaced) if inner else raw


_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _continues_number(text: str, start: int) -> bool:
    """Tell if a digit belongs to a number that began before it: 57 is not in 3.57."""
    before = text[max(0, start - 2) : start]
    return text[start].isdigit() and before[1:] == "." and before[0].isdigit()


def _is_behind_comma(text: str, start: int, end: int) -> bool:
    """Tell if what begins after a comma may belong to the number before it, as 57 in 3,57 does. A
    long number or an address does not: it is a field of a list."""
    before = text[max(0, start - 2) : start]
    follows = text[start].isdigit() and before[1:] == "," and before[0].isdigit()
    return follows and not _is_long(text[start:end])


def _is_long(written: str) -> bool:
    """Tell if a replacement beside a comma can be told from a part of a number."""
    digits, letters = (sum(map(each, written)) for each in (str.isdigit, str.isalpha))
    return letters > 3 or digits >= 7 or (digits > 4 and digits == len(written))
