"""Define a type of sensitive text by its form.

Every shipped expression runs in time linear in the text: quantifiers are bounded or possessive,
and a look-behind keeps a failed match from being tried again inside the same run. A long text is
searched window by window (`perturb.text.windows`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from perturb.selective.patterns.clues import Clue, Facts, find_places, no_clue
from perturb.text.expressions import Expression
from perturb.text.windows import find_all
from perturb.work import check_work

__all__ = ["Lazy", "Locate", "Shape", "any_of", "digits", "read_around", "shape", "words_of"]

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
