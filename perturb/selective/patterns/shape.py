"""Define a type of sensitive text by its form, and the clues that tell quickly where a text may
have it.

Every shipped expression runs in time linear in the text: quantifiers are bounded or possessive,
and a look-behind keeps a failed match from being tried again inside the same run. A long text is
searched window by window (`perturb.text.search.find_all`).

A clue is something that every match holds, such as an at sign, a digit, or a word of a list. Most
texts hold few of these, so most expressions need not be searched for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.text.search import Expression, find_all
from perturb.work import check_work

__all__ = [
    "AllClues",
    "AnyClue",
    "Chosen",
    "Clue",
    "Facts",
    "Index",
    "Lazy",
    "LeastDigits",
    "Listed",
    "Locate",
    "Match",
    "Shape",
    "Strings",
    "all_clues",
    "any_clue",
    "any_figure",
    "any_listed",
    "any_match",
    "any_of",
    "any_string",
    "any_word",
    "beyond_latin",
    "digits",
    "find_places",
    "least_digits",
    "no_clue",
    "read_around",
    "shape",
    "words_of",
]

_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_BEYOND_LATIN = re.compile("[\u0370-\u1dff\u1f00-\u1fff\u2c00-\U0010ffff]")
_NEAR = 12  # characters around digits that clues read
_FIGURES = re.compile(rf"\d(?>(?:\D{{0,{2 * _NEAR}}}\d)*)")
_ASCII_LETTERS = {i: " " for i in range(128) if not chr(i).isalpha()}
# Without regard to capitals, `re` also takes them for the letters i and s, `str.lower` does not.
_UNUSUAL = "İıſ"
_STEP = 3  # from one place in a clue's match to the next: no `reach` is below two


class Facts:
    """Facts about a text that clues test.

    Attributes:
        text: the text.
        lower: the text in small letters.
        unusual: whether it has letters that `re` and `str.lower` read in different ways.
        matches: of expressions that were searched for, by what they ask.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.lower = text.lower()
        self.unusual = not text.isascii() and (
            len(self.lower) != len(text) or any(letter in text for letter in _UNUSUAL)
        )
        self.matches: dict[tuple[object, ...], list[object]] = {}
        self._places: dict[Clue, list[int] | None] = {}
        self._first: dict[re.Pattern[str], re.Match[str] | None] = {}
        self._asked: frozenset[str] = frozenset()
        self._held: frozenset[str] = frozenset()

    def note(self, asked: frozenset[str], held: frozenset[str]) -> None:
        """Keep which of many strings, in small letters, the text holds."""
        self._asked, self._held = asked, held

    def hold(self, strings: frozenset[str]) -> frozenset[str]:
        """Return those strings, given in small letters, that the text holds."""
        if strings <= self._asked:
            return strings & self._held
        return frozenset(filter(self.lower.__contains__, strings))

    @cached_property
    def beyond_latin(self) -> bool:
        """Tell if the text has a letter of another script."""
        return not self.text.isascii() and _BEYOND_LATIN.search(self.text) is not None

    @cached_property
    def figures(self) -> str:
        """Return the surroundings of the digits of the text, one below the other; the whole text
        where that is hardly longer."""
        near, text = _NEAR, self.text
        places = (found.span() for found in _FIGURES.finditer(text))
        parts = "\n".join(text[max(0, start - near) : end + near] for start, end in places)
        return parts if 2 * len(parts) < len(text) else text

    def find_first(self, pattern: re.Pattern[str], figures: bool) -> re.Match[str] | None:
        """Return the first match of a clue's expression. If its matches are `figures`, it is
        looked for in these first."""
        if pattern not in self._first:
            held = not figures or self.figures is self.text or pattern.search(self.figures)
            self._first[pattern] = pattern.search(self.text) if held else None
        return self._first[pattern]

    def find_places(self, clue: Clue) -> list[int] | None:
        """Return the places of a clue, see `find_places`: several expressions ask for one."""
        if clue not in self._places:
            found = None if self.unusual else _find_places(clue, self)
            self._places[clue] = None if found is None else sorted(found)
        return self._places[clue]

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the runs of letters of the text, in small letters."""
        if self.lower.isascii():  # ten times as fast
            return frozenset(self.lower.translate(_ASCII_LETTERS).split())
        return frozenset(_LETTERS.findall(self.lower))

    @cached_property
    def digits(self) -> int:
        """Return the number of digits of the text, of any script."""
        return len(_DIGIT.findall(self.text))


Clue = Callable[[Facts], bool]  # tells if a text may hold a match of an expression


def no_clue(facts: Facts) -> bool:
    """Return True: any text may hold a match."""
    del facts
    return True


def beyond_latin(facts: Facts) -> bool:
    """Tell if a text has a letter of another script, as every match of an expression for these
    has."""
    return facts.beyond_latin


def least_digits(least: int) -> Clue:
    """Return the clue of an expression whose matches hold so many digits or more."""
    return LeastDigits(least)


@dataclass(frozen=True)
class LeastDigits:
    """The clue of an expression whose matches hold so many digits or more."""

    least: int

    def __call__(self, facts: Facts) -> bool:
        return facts.digits >= self.least


@dataclass(frozen=True)
class Strings:
    """The clue of an expression whose matches hold one of these strings, given in small letters,
    in any capitals."""

    strings: frozenset[str]

    def __call__(self, facts: Facts) -> bool:
        return facts.unusual or bool(facts.hold(self.strings))

    def places(self, facts: Facts) -> Iterator[int]:
        """Yield the places of the strings; the text must not be unusual."""
        for string in facts.hold(self.strings):
            yield from _find_each(string, facts.lower)


@dataclass(frozen=True)
class Listed:
    """The clue of an expression whose matches hold one of these words, given in small letters,
    between two characters that are no letters."""

    words: frozenset[str]

    def __call__(self, facts: Facts) -> bool:
        return facts.unusual or not self.words.isdisjoint(facts.words)

    def places(self, facts: Facts) -> Iterator[int]:
        """Yield the places of the words; the text must not be unusual."""
        return _find_words(self.words & facts.words, facts.lower)


@dataclass(frozen=True)
class Chosen:
    """The clue of an expression whose matches hold a word that passes a check, given in small
    letters, between two characters that are no letters."""

    check: Callable[[str], bool]

    def __call__(self, facts: Facts) -> bool:
        return facts.unusual or any(map(self.check, facts.words))

    def places(self, facts: Facts) -> Iterator[int]:
        """Yield the places of the words; the text must not be unusual."""
        return _find_words(filter(self.check, facts.words), facts.lower)


def _find_words(words: Iterable[str], text: str) -> Iterator[int]:
    for word in words:
        for place in _find_each(word, text):
            end = place + len(word)
            if not (_is_letter(text[place - 1 : place]) or _is_letter(text[end : end + 1])):
                yield place


@dataclass(frozen=True)
class Match:
    """The clue of an expression whose matches hold a match of a quicker one; `figures` says that
    a match of this one is close to digits."""

    pattern: re.Pattern[str]
    figures: bool = False

    def __call__(self, facts: Facts) -> bool:
        return facts.find_first(self.pattern, self.figures) is not None

    def places(self, facts: Facts) -> Iterator[int]:
        """Yield places in the quicker one's matches, close to each other: another match, which
        begins inside, may be the one that the expression holds."""
        if first := facts.find_first(self.pattern, self.figures):
            following = self.pattern.finditer(facts.text, first.end())
            for match in chain((first,), following):
                yield from range(match.start(), match.end() + _STEP, _STEP)


def any_string(*strings: str) -> Clue:
    """Return the clue of an expression whose matches hold one of these strings, given in small
    letters, in any capitals."""
    return Strings(frozenset(_with_dots(strings)))


def _with_dots(words: Iterable[str]) -> Iterator[str]:
    """Yield words, and those with an `ı` also with an `i`, as which the capital `I` is read."""
    for word in words:
        yield word
        if "ı" in word:
            yield word.replace("ı", "i")


def any_match(pattern: str) -> Clue:
    """Return the clue of an expression whose matches hold a match of a quicker one."""
    return Match(re.compile(pattern))


def any_figure(pattern: str) -> Clue:
    """Return the clue of an expression whose matches hold a match of a quicker one, of which no
    character is further than `_NEAR` from a digit in it."""
    return Match(re.compile(pattern), figures=True)


def any_listed(*lists: str) -> Clue:
    """Return the clue of an expression whose matches hold an entry of lists (see
    `any_of`) between two characters that are no letters.

    >>> clue = any_listed("percent new_york km²")
    >>> [clue(Facts(text)) for text in ("5 PERCENT", "percentile", "5 km²", "5 km")]
    [True, False, True, False]
    """
    words = map(_longest_word, chain.from_iterable(map(str.split, lists)))
    return Listed(frozenset(_with_dots(words)))


def any_word(check: Callable[[str], bool]) -> Clue:
    """Return the clue of an expression whose matches hold a word that passes a check, between two
    characters that are no letters.

    Args:
        check: is given each word of a text once, in small letters.

    >>> clue = any_word(lambda word: word.endswith("ing"))
    >>> [clue(Facts(text)) for text in ("no RING.", "ringed", "sing_1")]
    [True, False, True]
    """
    return Chosen(check)


@dataclass(frozen=True)
class AllClues:
    """A clue that passes if all of these do."""

    clues: tuple[Clue, ...]

    def __call__(self, facts: Facts) -> bool:
        return all(clue(facts) for clue in self.clues)


@dataclass(frozen=True)
class AnyClue:
    """A clue that passes if any of these does."""

    clues: tuple[Clue, ...]

    def __call__(self, facts: Facts) -> bool:
        return any(clue(facts) for clue in self.clues)


def all_clues(*clues: Clue) -> Clue:
    """Return a clue that passes if all of these do."""
    return AllClues(clues)


def any_clue(*clues: Clue) -> Clue:
    """Return a clue that passes if any of these does."""
    return AnyClue(clues)


class Index:
    """Find which of many expressions may have a match in a text, without a look at each of them:
    by the strings, the words and the digits that their clues ask for.

    Args:
        clues: of the expressions.

    >>> index = Index([any_string("@"), any_listed("euro"), least_digits(9), no_clue])
    >>> index.find(Facts("5 euro"))
    [1, 3]
    """

    def __init__(self, clues: Iterable[Clue]) -> None:
        self._least: list[int] = []
        self._others: set[int] = set()  # that ask for no string and no word
        self._by_string: dict[str, list[int]] = {}
        self._by_word: dict[str, list[int]] = {}
        asked_for: set[str] = set()
        for number, clue in enumerate(clues):
            asked_for.update(_list_strings(clue))
            asked = _read_asked(clue)
            self._least.append(_read_least(clue))
            if asked is None:
                self._others.add(number)
            for string in asked.strings if asked is not None else ():
                self._by_string.setdefault(string, []).append(number)
            for word in asked.words if asked is not None else ():
                self._by_word.setdefault(word, []).append(number)
        self._strings = frozenset(asked_for)
        self._finder = _Finder(self._strings)

    def find(self, facts: Facts) -> list[int]:
        """Return the numbers of the expressions that may have a match, in order."""
        if facts.unusual:
            return [*range(len(self._least))]
        held = self._finder.find(facts.lower)
        facts.note(self._strings, held)
        found = set(self._others)
        for string in held & self._by_string.keys():
            found.update(self._by_string[string])
        for word in self._by_word.keys() & facts.words:
            found.update(self._by_word[word])
        return sorted(number for number in found if self._least[number] <= facts.digits)


class _Finder:
    """Find which of many strings a text holds. Those of which the text lacks any three characters
    in a row are not searched for: hardly any is."""

    def __init__(self, strings: Iterable[str]) -> None:
        ordered = sorted(strings, key=len)
        self._short = [string for string in ordered if len(string) < _RUN]
        self._long = ordered[len(self._short) :]
        runs = [_read_runs(string) for string in self._long]
        self._runs = np.concatenate([*runs, np.empty(0, np.uint32)])
        self._starts = [*accumulate(map(len, runs), initial=0)][:-1]

    def find(self, text: str) -> frozenset[str]:
        """Return the strings that the text holds."""
        return frozenset(filter(text.__contains__, chain(self._short, self._list_likely(text))))

    def _list_likely(self, text: str) -> Iterable[str]:
        if len(text) < _RUN or not self._long:
            return ()
        seen = np.zeros(_BUCKETS, bool)
        seen[_read_runs(text)] = True
        likely = np.logical_and.reduceat(seen[self._runs], self._starts)
        return [self._long[number] for number in np.flatnonzero(likely)]


_RUN = 3
_BUCKETS = 1 << 16
_LAST_BUCKET = np.uint32(_BUCKETS - 1)
_FIRST, _SECOND = np.uint32(7919), np.uint32(251)  # spread the runs of ordinary text


def _read_runs(text: str) -> NDArray[np.uint32]:
    """Return a number below `_BUCKETS` for each three characters in a row."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return (codes[:-2] * _FIRST + codes[1:-1] * _SECOND + codes[2:]) & _LAST_BUCKET


def _list_strings(clue: Clue) -> Iterable[str]:
    """Return all strings that a clue and its parts ask for."""
    if isinstance(clue, AllClues | AnyClue):
        return chain.from_iterable(map(_list_strings, clue.clues))
    return clue.strings if isinstance(clue, Strings) else ()


@dataclass(frozen=True)
class _Asked:
    """Hold strings and words, of which a text with a match has one."""

    strings: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


def _read_asked(clue: Clue) -> _Asked | None:
    """Return what a clue asks for; None if it passes texts without any string or word."""
    if isinstance(clue, Strings):
        return _Asked(strings=clue.strings)
    if isinstance(clue, Listed):
        return _Asked(words=clue.words)
    if isinstance(clue, AllClues):  # one of them is enough; words are looked up fastest
        each = [asked for asked in map(_read_asked, clue.clues) if asked is not None]
        return min(each, key=lambda asked: len(asked.strings), default=None)
    if isinstance(clue, AnyClue):
        each = [asked for asked in map(_read_asked, clue.clues) if asked is not None]
        if len(each) == len(clue.clues):
            return _Asked(
                frozenset(chain.from_iterable(asked.strings for asked in each)),
                frozenset(chain.from_iterable(asked.words for asked in each)),
            )
    return None


def _read_least(clue: Clue) -> int:
    """Return how many digits a text must have at the least to pass a clue."""
    if isinstance(clue, LeastDigits):
        return clue.least
    if isinstance(clue, AllClues):
        return max(map(_read_least, clue.clues))
    if isinstance(clue, AnyClue):
        return min(map(_read_least, clue.clues))
    return 0


def find_places(clue: Clue, facts: Facts) -> list[int] | None:
    """Return the places of a clue in a text, in order; None where it does not tell any.

    >>> find_places(any_string("@"), Facts("a@b, c@d"))
    [1, 6]
    >>> find_places(any_listed("new_york"), Facts("From York to New York"))
    [5, 17]
    """
    return facts.find_places(clue)


def _find_places(clue: Clue, facts: Facts) -> Iterable[int] | None:
    if isinstance(clue, Strings | Listed | Chosen | Match):
        return clue.places(facts)
    if isinstance(clue, AllClues):  # one of them is enough
        for each in clue.clues:
            if (found := _find_places(each, facts)) is not None:
                return found
    if isinstance(clue, AnyClue):
        parts = [_find_places(each, facts) for each in clue.clues]
        if None not in parts:
            return chain.from_iterable(part for part in parts if part is not None)
    return None


def _find_each(string: str, text: str) -> Iterator[int]:
    place = text.find(string)
    while place >= 0:
        yield place
        place = text.find(string, place + 1)


def _is_letter(character: str) -> bool:
    """Tell if a character is of a run of letters, as `Facts.words` reads them."""
    return character.isalnum() and not character.isdecimal()


def _longest_word(entry: str) -> str:
    words: list[str] = _LETTERS.findall(entry.lower().replace("_", " "))
    return max(words, key=len)


Locate = Callable[[Any], tuple[int, int] | None]  # of a match of `re`


@dataclass(frozen=True)
class Lazy:
    """A regular expression that is compiled on first use: the large ones take long."""

    pattern: str
    flags: int = 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the compiled expression."""
        return re.compile(self.pattern, self.flags)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield every match in a text."""
        return find_all(self.compiled, text)


@dataclass(frozen=True)
class Shape:
    """Describe a type of sensitive text: its expression, and a check that a part must pass.

    The part is the group `part` of a shipped expression, or the whole match where there is no such
    group. An operator's expression is bounded in time; the shipped ones need no bound.

    Attributes:
        clue: tells quickly that a text has no part. It changes no result, only the time.
        reach: a match begins at most so many characters before a place of the clue, two or
            more; None where that may be any number, and the whole text is searched.
        locate: returns the place of the part in a match with the group `part`, which may be
            smaller than the group; None where the surroundings say that it is no part.
    """

    type: str
    pattern: re.Pattern[str] | Lazy | Expression
    passes: Callable[[str], bool] = bool
    clue: Clue = no_clue
    locate: Locate | None = None
    reach: int | None = None

    @property
    def source(self) -> str:
        """Return the expression with its flags."""
        return repr((self.pattern.pattern, self.pattern.flags))

    @cached_property
    def _named(self) -> bool:
        return isinstance(self.pattern, Lazy) and "(?P<part>" in self.pattern.pattern

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each part of a text."""
        return self._read(self.pattern.finditer(text))

    def search(self, facts: Facts) -> Iterator[tuple[int, int]]:
        """Yield what `find` does, and search no more of the text than the clue says."""
        if not self.clue(facts):
            return iter(())
        if self._asked not in facts.matches:  # others may ask the same, of another type
            facts.matches[self._asked] = [*self._search(facts)]
        return self._read(facts.matches[self._asked])

    @cached_property
    def _asked(self) -> tuple[object, ...]:
        return self.pattern.pattern, self.pattern.flags, id(self.clue), self.reach

    def _search(self, facts: Facts) -> Iterable[Any]:
        places = None if self.reach is None else find_places(self.clue, facts)
        if places is None or self.reach is None or not isinstance(self.pattern, Lazy):
            return self.pattern.finditer(facts.text)
        return _search_near(self.pattern.compiled, self._ahead, facts.text, places, self.reach)

    @cached_property
    def _ahead(self) -> re.Pattern[str]:
        before = self.reach or 0
        return re.compile(rf"(?s:.){{0,{before}}}?(?={self.pattern.pattern})", self.pattern.flags)

    def _read(self, matches: Iterable[Any]) -> Iterator[tuple[int, int]]:
        named, bare = self._named, self.type in _BARE
        for match in matches:
            group = "part" if named and match["part"] else 0
            start, end = match.span(group)
            if bare:
                end = _end_line(match.string, start, end)
            if start == end or not self.passes(match.string[start:end]):
                continue
            place = self.locate(match) if self.locate else (start, end)
            if place is not None:
                start, end = place
                yield start, _end_line(match.string, start, end) if bare else end


def _search_near(
    pattern: re.Pattern[str],
    ahead: re.Pattern[str],
    text: str,
    places: Iterable[int],
    reach: int,
) -> Iterator[re.Match[str]]:
    """Yield the matches that begin at most `reach` characters before places, which are in order;
    each once. `ahead` leads to the first such match."""
    done = 0
    for number, place in enumerate(places):
        if not number % _TRIES:
            check_work()
        start = max(done, place - reach)
        while start <= place and (found := ahead.match(text, start)):
            match = pattern.match(text, found.end())
            assert match is not None
            yield match
            done = start = match.end()
        if start <= place:
            done = start + reach + 1


# Of these types a word without quotation marks ends where a line does, also where its end is
# written `\\n`, as in the result of a tool.
_BARE = frozenset(("PASSWORD", "API_KEY", "USERNAME"))
_LINE_END = re.compile(r"\\[nrt]")
_QUOTES = tuple("\"'`")


def _end_line(text: str, start: int, end: int) -> int:
    """Return where a word ends that is not in quotation marks: at the end of its line."""
    if text[max(0, start - 1) : start].endswith(_QUOTES):
        return end
    found = _LINE_END.search(text, start, end)
    return found.start() if found is not None and found.start() > start else end


_TRIES = 100  # takes less than a millisecond


def shape(
    type: str,
    pattern: str,
    passes: Callable[[str], bool] = bool,
    *,
    case: bool = True,
    clue: Clue = no_clue,
    locate: Locate | None = None,
    reach: int | None = None,
) -> Shape:
    """Compile a shape; `case` says whether capitals matter, `clue` what every match holds,
    `locate` where the part lies in a match, and `reach` how far before its clue a match begins."""
    return Shape(type, Lazy(pattern, 0 if case else re.IGNORECASE), passes, clue, locate, reach)


_AROUND = 3000  # characters


def read_around(match: re.Match[str]) -> str:
    """Return a match with the 3,000 characters before and after it."""
    return match.string[max(0, match.start() - _AROUND) : match.end() + _AROUND]


def digits(text: str) -> list[int]:
    """Return the values of the ASCII digits in a text."""
    return [int(c) for c in text if "0" <= c <= "9"]


def any_of(*lists: str) -> str:
    """Return an expression for the longest that fits of the words in lists. A blank inside an
    entry is written `_`.

    The words share their beginnings, so that most texts leave the expression at the first letter.

    >>> any_of("ab abc new_york")
    '(?:a(?:b(?:c)?)|new york)'
    """
    return _share_beginnings(words_of(*lists))


def words_of(*lists: str) -> frozenset[str]:
    """Return the words in lists. A blank inside an entry is written `_`.

    >>> sorted(words_of("b a", "new_york"))
    ['a', 'b', 'new york']
    """
    return frozenset(word.replace("_", " ") for word in chain.from_iterable(map(str.split, lists)))


def _share_beginnings(words: Collection[str]) -> str:
    by_first: dict[str, set[str]] = {}
    for word in sorted(filter(None, words)):
        by_first.setdefault(word[0], set()).add(word[1:])
    branches = []
    for first, rest in by_first.items():
        if len(rest) == 1:
            branches.append(re.escape(first + rest.pop()).replace(r"\ ", " "))
        else:
            branches.append(re.escape(first).replace(r"\ ", " ") + _share_beginnings(rest))
    return f"(?:{'|'.join(branches)})" + "?" * ("" in words)
