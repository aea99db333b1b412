"""Search texts by regular expressions, or for many strings, without holding others up.

An operator's expressions match a client's text for a bounded time. Long texts are searched window
by window: one search holds the interpreter's lock until it ends.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import regex

from perturb.errors import ExpressionTimeout
from perturb.work import check_work

__all__ = ["LONGEST", "Expression", "Prefixes", "find_all"]

_Found = TypeVar("_Found")
_MOST = 32  # times the limit that a search may wait for its own share of it


class Expression:
    """Match a regular expression, and give up after a bounded time.

    An expression with nested repetition can take time exponential in the text. The parts that it
    did not mark would be released, so a caller must refuse the text after a timeout.

    >>> expression = Expression(r"[A-Z]{2}-[0-9]+", "patterns.CASE", seconds=1.0)
    >>> [found[0] for found in expression.finditer("see AB-12 and CD-3")]
    ['AB-12', 'CD-3']

    Args:
        pattern: the expression, in the syntax of the package `regex`, which includes that of `re`.
        name: its name in errors, such as `patterns.CASE`.
        seconds: the limit for one search of a text, in processor time.

    Raises:
        ValueError: the expression does not compile; the message gives the reason.
    """

    def __init__(self, pattern: str, name: str, seconds: float) -> None:
        try:
            self._compiled = regex.compile(pattern)
        except regex.error as exc:
            raise ValueError(str(exc)) from None
        self.pattern = pattern
        self.flags = self._compiled.flags
        self._name, self._seconds = name, seconds

    def finditer(self, text: str) -> Iterator[regex.Match[str]]:
        """Yield every match in a text.

        Raises:
            ExpressionTimeout: the search ran out of time.
        """
        yield from self._search(lambda limit: [*self._compiled.finditer(text, timeout=limit)])

    def match(self, text: str) -> regex.Match[str] | None:
        """Return the match at the beginning of a text.

        Raises:
            ExpressionTimeout: the search ran out of time.
        """
        return self._search(lambda limit: self._compiled.match(text, timeout=limit))

    def _search(self, search: Callable[[float], _Found]) -> _Found:
        """Search within a limit: that of `regex` is in processor time of the process, which also
        passes while other threads work. Where they had most of it, the search is done again."""
        limit = self._seconds
        while True:
            begun = time.thread_time()
            try:
                return search(limit)
            except TimeoutError:
                own = time.thread_time() - begun
                if own >= self._seconds / 2 or limit >= _MOST * self._seconds:
                    raise self._timeout() from None
                limit *= 2

    def _timeout(self) -> ExpressionTimeout:
        return ExpressionTimeout(f"the regular expression {self._name} ran out of time on a text")


# Characters that an expression reads at most from the beginning of a match attempt to the end of
# what it looks ahead at, apart from a run at the end of a match, which may be of any length.
LONGEST = 10_000
_STEP = 30_000  # a slow expression reads a window of `_STEP` and `LONGEST` in 0.1 s
# After a window that took `_HELD` seconds, `_REST` seconds in which a thread that waits for the
# lock gets it: between two windows alone it often did not, over several of them.
_HELD, _REST = 0.01, 0.0005


def find_all(
    pattern: re.Pattern[str],
    text: str,
    begin: int = 0,
    stop: int | None = None,
    *,
    step: int = _STEP,
    longest: int = LONGEST,
) -> Iterator[re.Match[str]]:
    """Yield the matches of an expression, the same as `pattern.finditer(text, begin, stop)`.

    Other threads run between two windows. The expression must match no empty text.

    Args:
        step: the characters by which a window exceeds `longest`.
        longest: see `LONGEST`.

    Raises:
        OutOfTime: see `perturb.work`.
    """
    start, size = begin, step + longest
    last = len(text) if stop is None else stop
    while True:
        check_work()
        end = start + size
        if end >= last:
            yield from pattern.finditer(text, start, last)
            return
        begun = time.thread_time()
        safe = end - longest  # a match that begins before has seen all that it can look at
        following = safe
        for match in pattern.finditer(text, start, end):
            if match.start() >= safe:
                break
            if match.end() > safe:  # a long run may go on: search again from its beginning
                following = match.start()
                break
            yield match
        else:
            match = None
        if time.thread_time() - begun > _HELD:
            time.sleep(_REST)
        size = 2 * size if following == start else step + longest
        start = max(following, start)


_FIRST = 64  # characters of a text that are looked at first


class Prefixes:
    """Find which of many strings begin at a place of a text.

    They are compared as a whole by binary search, not character by character: a string that
    repeats itself costs no more than another one.

    Args:
        strings: what is looked for; none of them is empty.

    >>> Prefixes(["to", "today", "tomorrow"]).find("see you today", 8)
    ['today', 'to']
    """

    def __init__(self, strings: Iterable[str]) -> None:
        self._sorted = sorted(set(strings))
        self._shorter: list[int] = []  # the longest other one that each begins with, or -1
        open_: list[int] = []
        for place, string in enumerate(self._sorted):
            while open_ and not string.startswith(self._sorted[open_[-1]]):
                open_.pop()
            self._shorter.append(open_[-1] if open_ else -1)
            open_.append(place)
        # A fast check: at most places, no string begins.
        self._size = min(map(len, self._sorted), default=0)
        self._beginnings = {string[: self._size] for string in self._sorted}

    def find(self, text: str, start: int) -> list[str]:
        """Return the strings that a text continues with at a place, the longest first."""
        if text[start : start + self._size] not in self._beginnings:
            return []
        size = _FIRST
        rest = text[start : start + size]
        place = bisect_right(self._sorted, rest)
        while len(rest) == size and place < len(self._sorted):
            if not self._sorted[place].startswith(rest):
                break
            size *= 2
            rest = text[start : start + size]
            place = bisect_right(self._sorted, rest)
        # Every string that `rest` begins with also begins the last one that sorts before it.
        found = []
        place -= 1
        while place >= 0:
            if rest.startswith(self._sorted[place]):
                found.append(self._sorted[place])
            place = self._shorter[place]
        return found

    def continues(self, beginning: str) -> bool:
        """Tell if one of the strings begins so and is longer."""
        if len(beginning) > self._size and beginning[: self._size] not in self._beginnings:
            return False
        place = bisect_right(self._sorted, beginning)
        return place < len(self._sorted) and self._sorted[place].startswith(beginning)
