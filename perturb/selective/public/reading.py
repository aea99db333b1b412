"""Read a text as words, sentences and lines, and find the names of the list in it.

It says that a name is well known, and nothing of whom the text means by it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from perturb.selective.public.names import LONGEST, TOKEN, given_names, load_public, read_key
from perturb.text.fold import fold, fold_name
from perturb.vocabulary.word_list import dictionary_words

__all__ = [
    "NEUTRAL",
    "PERSONS",
    "REACH",
    "THINGS",
    "Marked",
    "Name",
    "TextWords",
    "find_place",
    "holds",
]

PERSONS = frozenset(("PERSON", "NAME"))
THINGS = frozenset(("LOCATION", "ORGANIZATION", "OTHER_NAME"))
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z])(?=[0-9])")
_NUMBER = re.compile(r"\d{1,4}(?:[.,]\d{1,12}){0,2}|[a-zà-ÿ]")
_LETTER = re.compile(r"[^\W\d_]")
_JOINED = re.compile(r"[.@%_-]")  # beside a letter or a number: a part of a longer name
_SIGN = r"[.:;(){}<>=_`/\[\]]"  # beside an identifier
_CODE_BEFORE = re.compile(
    rf"(?:{_SIGN}|\b(?:class|const|enum|extends|fn|func|function|implements|import|interface|new|"
    r"public|static|struct|type|var)\s)\Z"
)
_CODE_AFTER = re.compile(_SIGN)
_GAP = 3  # characters between two words of a name
# Words that may stand beside a public name in a finding.
_BESIDE = """
    a an and at by for from in of on or the to versus via vs with der die das den dem des und von
    vom im le la les l de du d des et y e el los il lo gli di del della och i w z
    s pope president king queen prince princess emperor empress saint sankt st
    sir lord lady pharaoh
    sultan tsar czar kaiser chancellor senator general admiral captain
"""
NEUTRAL = frozenset(_BESIDE.split())
_SENTENCE = re.compile(
    r"(?<=\w\w\w)(?<!\bMrs)(?<!\bMme)(?<!\bSra)(?<!\bProf)[.!?][\"'”’)]{0,2}\s|\n"
)
_NEAR = 4  # lines of a form on either side
_LONG = 40  # characters that no word of a name has
_DIGITS = 4  # of a number that is no name
REACH = 300  # characters of a sentence on either side of a place that may tie it
_FEW = 3  # words that a line of a form has besides a name
_NAME_WORDS = 5  # that the longest names have; a longer finding holds other words
_LEAST_NAME = 2  # words of a full name
_MADE_BY = frozenset(("von", "van", "of", "by", "af", "av"))
_WORKS = frozenset(("romane",))  # also a given name
_BEGIN = re.compile(r"(?:\A|[.!?:;\n\"“„(¿¡-])\s{0,8}\Z")  # of a sentence
_NAME_AROUND = 40  # characters around a word of a name with the surname first
_CREDITED = re.compile(
    r"(?:(?<!\w)(?i:authors?|editors?|autor(?:in)?|auteur|composer|director)[\"']?\s?[:=]\s?[\"'{]?"
    r"|(?m:^)(?:AU|A1|ED) {2}- |(?m:^)\[(?:White|Black) \")\Z"
)
_TURNED = re.compile(
    r"(?<![\w-])(?P<family>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?), "
    r"(?P<given>[^\W\d_]{2,20}(?:[ -][^\W\d_]{2,20})?(?: [^\W\d_]\.?){0,3})(?![\w-])"
)


class Marked(Protocol):
    """A finding: its place in the text, and its type."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> str: ...


@dataclass(frozen=True, eq=False, slots=True)
class Name:
    """A finding, as the words of its text.

    Attributes:
        start, end, type: of the finding.
        first, last: its first word and the one behind its last, by their numbers.
        keys: of its words.
        word: the key of its only word; "" where it has none or several.
        sentence: the place of the sentence around it.
        low, high: the same, or the middle of a long one.
    """

    start: int
    end: int
    type: str
    first: int
    last: int
    keys: list[str]
    word: str
    sentence: tuple[int, int]
    low: int
    high: int


class TextWords:
    """The words, the sentences and the lines of a text.

    Attributes:
        starts, ends: the place of each word.
        written, keys: each word as it is written, without accents, and by its key.
        blank: whether each line is.
        public, given, common: the lists that words are looked for in.
    """

    def __init__(self, text: str) -> None:
        self.text, self.public = text, load_public()
        self.given, self.common = given_names(), dictionary_words()
        plain, self._lengths = fold(text), self.public.lengths
        places = [match.span() for match in TOKEN.finditer(plain)]
        self.starts = [start for start, _ in places]
        self.ends = [end for _, end in places]
        self.written = [plain[start:end] for start, end in places]
        self.keys = [fold_name(word) if len(word) <= _LONG else "" for word in self.written]
        self._breaks = [match.end() for match in _SENTENCE.finditer(text)]
        self._lines = [match.end() for match in re.finditer("\n", text)]
        self.blank = [not line.strip() for line in text.split("\n")]
        self._covered: dict[tuple[object, ...], bool] = {}
        self._names: dict[tuple[int, int, str], Name] = {}

    def read(self, findings: Iterable[Marked]) -> list[Name]:
        """Return findings as words: equal ones as the same object."""
        places = [(finding.start, finding.end, finding.type) for finding in findings]
        for start, end, type_ in set(places).difference(self._names):
            first, last = self.meeting(start, end)
            keys = self.keys[first:last]
            low, high = self._sentence(start, end)
            self._names[start, end, type_] = Name(
                start=start,
                end=end,
                type=type_,
                first=first,
                last=last,
                keys=keys,
                word=keys[0] if len(keys) == 1 else "",
                sentence=(low, high),
                low=max(low, start - REACH),
                high=min(high, end + REACH),
            )
        return [self._names[place] for place in places]

    def meeting(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last word (exclusive) that meet a part of the text."""
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def longest(self, first: int, least: int, known: Sequence[frozenset[str]]) -> int:
        """Return the end of the longest name that begins with a word and goes on to `least` at
        least; 0 if there is none."""
        end, most = first + 1, first + self._lengths.get(self.keys[first], 1)
        if most < least:
            return 0
        while end < min(len(self.keys), most) and self._near(end):
            end += 1
        for stop in range(end, max(first, least - 1), -1):
            key = " ".join(self.keys[first:stop])
            if any(key in names for names in known) or self._has_initials(first, stop, known):
                return stop
        return 0

    def _has_initials(self, first: int, stop: int, known: Sequence[frozenset[str]]) -> bool:
        """Tell if a name of the list has initials between its words here: Donald J. Trump."""
        keys = self.keys[first:stop]
        short = [key for key in keys[1:-1] if len(key) > 1]
        if len(short) == len(keys) - 2 or len(keys) < 3:
            return False
        key = " ".join([keys[0], *short, keys[-1]])
        return any(key in names for names in known)

    def _near(self, place: int) -> bool:
        return self.starts[place] - self.ends[place - 1] <= _GAP

    def spell(self, low: int, high: int) -> str:
        """Return the keys of the words in a range, each between blanks."""
        first, last = self.meeting(low, high)
        return f" {' '.join(self.keys[first:last])} "

    def _is_blank(self, place: int) -> bool:
        """Tell if nothing but white space is before a word."""
        return self.text[self.ends[place - 1] : self.starts[place]].isspace()

    def _sentence(self, start: int, end: int) -> tuple[int, int]:
        first, last = bisect_right(self._breaks, start), bisect_right(self._breaks, end - 1)
        low = self._breaks[first - 1] if first else 0
        return low, self._breaks[last] if last < len(self._breaks) else len(self.text)

    def sentence_before(self, place: int) -> int:
        """Return the beginning of the sentence before a place in its line."""
        if self.text[place - 1 : place] == "\n":
            return place
        at = bisect_left(self._breaks, place)
        return self._breaks[at - 1] if at else 0

    def line(self, place: int) -> int:
        """Return the number of the line of a place."""
        return bisect_right(self._lines, place)

    def line_start(self, line: int) -> int:
        """Return the place where a line begins; the end of the text for one behind the last."""
        if line > len(self._lines):
            return len(self.text)
        return self._lines[line - 1] if line else 0

    def form(self, start: int, end: int) -> tuple[int, int]:
        """Return the lines around a part if its own has few other words, as in an address, a form
        or a record; else nothing."""
        first, last = self.line(start), self.line(max(start, end - 1))
        low, high = self.line_start(first), self.line_start(last + 1)
        inside, whole = (self.meeting(*place) for place in ((start, end), (low, high)))
        if (whole[1] - whole[0]) - (inside[1] - inside[0]) > _FEW:
            return start, start
        return self.around(start, end)

    def around(self, start: int, end: int) -> tuple[int, int]:
        """Return the lines around a part, up to a blank one."""
        first, last = self.line(start), self.line(max(start, end - 1)) + 1
        low, high = self.line_start(first), self.line_start(last)
        for line in range(first - 1, max(-1, first - 1 - _NEAR), -1):
            if self.blank[line]:
                break
            low = self.line_start(line)
        for line in range(last, min(len(self.blank), last + _NEAR)):
            if self.blank[line]:
                break
            high = self.line_start(line + 1)
        return low, high

    def is_covered(self, name: Name, *known: frozenset[str]) -> bool:
        """Tell if names of the list hold every word of a finding, up to words like "the"."""
        key = name, *map(id, known)
        if key not in self._covered:
            self._covered[key] = self._cover(name, known)
        return self._covered[key]

    def _cover(self, name: Name, known: tuple[frozenset[str], ...]) -> bool:
        person, first, last = name.type in PERSONS, name.first, name.last
        if person and self._is_turned(name, known):
            return True
        place, names = max(0, first - LONGEST + 1), 0
        while place < last:
            if end := self.longest(place, first + 1, known):
                joined = names and self.ends[place - 1] >= name.start
                if joined and person and self._is_blank(place):
                    return False  # two names in a row may be a third person's
                names, place = names + 1, end
                continue
            if place >= first:
                key = self.keys[place]
                number = key.isdigit() and len(key) <= _DIGITS
                free = number and (names or known == (self.public.terms,))
                opens = person and self.opens(place, first, last)
                if key not in NEUTRAL and not free and not opens:
                    return False
            place += 1
        return names > 0

    def _is_turned(self, name: Name, known: tuple[frozenset[str], ...]) -> bool:
        """Tell if a finding is, or is a part of, a name of the list with the surname first, as the
        author of a work or a player of chess: `[White "Kasparov, Garry"]`. In a register, somebody
        else bears the name."""
        low, high = max(0, name.start - _NAME_AROUND), name.end + _NAME_AROUND
        around = _TURNED.finditer(self.text, low, high)
        return any(
            turned.start() <= name.start
            and name.end <= turned.end()
            and _CREDITED.search(self.text, max(0, turned.start() - 30), turned.start())
            and any(read_key(f"{turned['given']} {turned['family']}") in names for names in known)
            for turned in around
        )

    def opens(self, place: int, first: int, last: int) -> bool:
        """Tell if a word is no part of the name that a finding takes it for: the ordinary word
        before a name, as in `Mention Speke`, the first word of a sentence, or what a person has
        made, as in `Bücher von Hermann Hesse`."""
        key = self.keys[place]
        if place + 1 < last and self.is_made(place):
            return True
        if place + 1 >= last or key in self.given or key in self.public.surnames:
            return False
        start, small = self.starts[place], self.written[place].islower()
        if small and place == first and last - first > _LEAST_NAME:  # quel rôle a joué Jean Moulin
            return self.longest(place + 1, last, [self.public.persons]) == last
        begins = place == first and bool(_BEGIN.search(self.text, max(0, start - 4), start))
        return begins or (key in self.common and (place == first or last - first > _NAME_WORDS))

    def is_made(self, place: int) -> bool:
        """Tell if a word is a noun before `von` or its like and a public person's full name, or
        stands in small letters before such a noun."""
        keys = self.keys
        place += self.written[place].islower()
        end = place + 2 + _LEAST_NAME
        if end > len(keys) or keys[place + 1] not in _MADE_BY:
            return False
        if keys[place] in self.given and keys[place] not in _WORKS:
            return False
        return self.longest(place + 2, end, [self.public.persons]) >= end

    def is_number(self, name: Name) -> bool:
        """Tell if a finding is a small number or a letter, and no part of an address or a name."""
        text, start, end = self.text, name.start, name.end
        if not _NUMBER.fullmatch(text, start, end):
            return False
        if _JOINED.search(text, max(0, start - 1), start) or _JOINED.match(text, end, end + 1):
            return text[start:end].isdigit() and not _LETTER.search(text, start - 2, end + 2)
        before = self.written[name.first - 1] if name.first else ""  # a street, with a capital
        street = before[:1].isupper() and self.ends[name.first - 1] == start - 1
        return not (street and name.type == "LOCATION")

    def is_ordinary(self, name: Name) -> bool:
        """Tell if a finding is an ordinary word in small letters, or an identifier made of such
        words, of which none is a person's name."""
        if not name.word:
            return False
        start, end = self.starts[name.first], self.ends[name.first]
        word = self.written[name.first]
        parts = [part.lower() for part in _HUMP.split(word)]
        if len(parts) > 1:
            code = _CODE_BEFORE.search(self.text, max(0, start - 12), start)
            code = code or _CODE_AFTER.match(self.text, end, end + 1)
            if word[0].isupper() and not code:  # may be a firm's name
                return False
        elif not word.islower():
            return False
        return all(
            (part in self.common or part in self.public.terms)
            and part not in self.given
            and part not in self.public.surnames
            for part in parts
        )

    def is_strange(self, keys: Sequence[str]) -> bool:
        """Tell if none of some words is a given name, a common surname, or a word."""
        borne = self.given, self.public.surnames, self.common
        return not any(key in names for key in keys for names in borne)

    def _is_surname_of_one(self, key: str) -> bool:
        """Tell if a surname means a public person and hardly anybody else."""
        public = self.public
        borne = key in self.given or key in public.surnames
        return key in public.families or (key in public.persons and not borne)

    def begins_author(self, place: int) -> bool:
        """Tell if a word is the genitive of a public person's surname, as in German: `Kafkas`."""
        key = self.keys[place] if place < len(self.keys) else ""
        return key.endswith("s") and self._is_surname_of_one(key[:-1])

    def read_surnames(self, name: Name) -> list[str]:
        """Return the keys of a finding's words, of which none has but a blank before the next."""
        places = [at for at in range(name.first, name.last) if self.keys[at] not in NEUTRAL]
        if any(b == a + 1 and self._is_blank(b) for a, b in pairwise(places)):
            return []
        return [self.keys[at] for at in places]


def find_place(places: Sequence[tuple[int, int]], name: Name) -> tuple[int, int] | None:
    """Return the one of some ordered places that a finding lies in; None if it lies in none."""
    at = bisect_right(places, name.start, key=lambda place: place[0]) - 1
    return places[at] if at >= 0 and name.end <= places[at][1] else None


def holds(places: Sequence[int], low: int, high: int) -> bool:
    """Tell if one of some ordered places is in a range."""
    return bisect_left(places, low) < bisect_left(places, high)
