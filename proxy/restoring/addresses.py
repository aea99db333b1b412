"""Follow a text as it comes and tell if it is inside a web address.

A client that shows an answer may load the addresses in it, so a remote could write one to learn a
restored value.
"""

from __future__ import annotations

import re

__all__ = ["Addresses"]

RECENT = 16  # characters kept of the text so far: longer than any beginning of an address
_BEGIN = re.compile(r"//|www\.|\]\(|(?:href|src)\s{0,3}=", re.IGNORECASE)
_END_OF_RUN = re.compile(r"[\s<]")
_END_OF_VALUE = re.compile(r"[\s>]")  # of an attribute without quotes
_ENDS = {end: re.compile(re.escape(end)) for end in (")", '"', "'")}
_OPENING = re.compile(r"[\s\"'<]")  # what may stand between `](` or `src=` and the address


class Addresses:
    """Follow a text. The result does not depend on how the text is cut.

    An address begins with `//` or `www.` and ends with its run of characters. A target of Markdown
    and an attribute of HTML are addresses as a whole, with the blanks in them.
    """

    def __init__(self) -> None:
        self._recent = ""
        self._end: re.Pattern[str] | None = None
        self._opening = False  # nothing of the address has come yet

    @property
    def inside(self) -> bool:
        """Tell if the next character belongs to an address that has begun."""
        return self._end is not None and not self._opening

    @property
    def at_target(self) -> bool:
        """Tell if the next character begins the target of a link or of an image."""
        return self._opening

    def read(self, text: str) -> None:
        """Read the next piece of the text."""
        place = 0
        while place < len(text):
            place = self._leave(text, place) if self._end else self._enter(text, place)

    def _enter(self, text: str, place: int) -> int:
        """Read up to the next beginning of an address, and return the place after it."""
        seen = self._recent + text[place:]
        found = _BEGIN.search(seen)
        if found is None:
            self._recent = seen[-RECENT:]
            return len(text)
        place += found.end() - len(self._recent)
        self._recent = ""
        self._opening = seen[found.end() - 1] in "(="
        self._end = _END_OF_RUN
        if self._opening:
            self._end = _ENDS[")"] if found[0] == "](" else _END_OF_VALUE
        return place

    def _leave(self, text: str, place: int) -> int:
        """Read up to the end of an address, and return the place after it."""
        if self._opening:
            first = text[place]
            if first in "\"'" and self._end is _END_OF_VALUE:
                self._end = _ENDS[first]
            elif not _OPENING.match(first):
                self._opening = False
                return place
            return place + 1
        assert self._end is not None
        found = self._end.search(text, place)
        if found is None:
            return len(text)
        self._end = None
        return found.start() if found[0] == "<" else found.end()
