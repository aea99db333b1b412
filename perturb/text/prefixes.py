"""Search for many strings at a position of a text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

__all__ = ["Prefixes"]

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
