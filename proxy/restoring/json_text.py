"""Restore raw values in JSON that comes in pieces, such as the arguments of a tool call."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

__all__ = ["JsonRestorer"]

_PLAIN = re.compile(r'[^"\\]+')
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # one character, in two halves
    r"|\\u[0-9a-fA-F]{4}|\\[^u]",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?\Z"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
)
_HALF = re.compile("[\ud800-\udfff]")


class JsonRestorer:
    """Restore one JSON text that comes in pieces. JSON stays JSON.

    The content of each string is restored as a text of its own and escaped again. A string, or a
    key, that is as a whole a string of the request comes back as that string. Outside of
    strings, a number is restored by a number alone.

    Args:
        replacements: what to restore.
        wholes: the raw string of each whole string that left.
    """

    def __init__(self, replacements: Replacements, wholes: Mapping[str, str]) -> None:
        self._outside = TextRestorer(replacements, strict=True)
        self._inside = TextRestorer(replacements)
        self._wholes = wholes
        self._order = sorted(wholes)
        self._in_string = False
        self._held = ""  # the beginning of an escape
        # Of a string that may yet be a whole one: its pieces, their length, and which ones.
        self._start: list[str] | None = None
        self._size = 0
        self._possible = (0, len(self._order))
        self._restored = 0

    @property
    def restored(self) -> int:
        """Return how many replacements were restored."""
        return self._outside.restored + self._inside.restored + self._restored

    @property
    def left(self) -> int:
        """Return how many replacements were left where they stand."""
        return self._outside.left + self._inside.left

    def feed(self, text: str) -> str:
        """Take the next piece of the text, and return what is certain now."""
        text, self._held = self._held + text, ""
        out: list[str] = []
        place = 0
        while place < len(text):
            if not self._in_string:
                place = self._read_outside(text, place, out)
            elif text[place] == '"':
                out += [self._close(), '"']
                self._in_string = False
                place += 1
            elif found := _PLAIN.match(text, place):
                out.append(self._add(found[0]))
                place = found.end()
            elif _UNFINISHED.match(text, place):
                self._held = text[place:]
                break
            else:
                found = _ESCAPE.match(text, place)
                shown = found[0] if found else text[place]
                out.append(self._add(_decode(shown)))
                place += len(shown)
        return "".join(out)

    def finish(self) -> str:
        """Return the rest of a text that broke off, or nothing."""
        rest, self._held = self._held, ""
        if self._in_string:
            return self._close(whole=False) + rest
        return spell_pieces(self._outside.finish())

    def _read_outside(self, text: str, place: int, out: list[str]) -> int:
        """Read up to the next string, and return the place after its opening quote."""
        end = text.find('"', place)
        out.append(spell_pieces(self._outside.feed(text[place : end if end >= 0 else None])))
        if end < 0:
            return len(text)
        out += [spell_pieces(self._outside.finish()), '"']
        self._in_string, self._start = True, []
        self._size, self._possible = 0, (0, len(self._order))
        return end + 1

    def _add(self, text: str) -> str:
        """Add a part of a string's content, and return what of it is certain, escaped."""
        if self._start is not None:
            self._start.append(text)
            if self._is_possible(text):
                return ""
            text, self._start = "".join(self._start), None
        return _escape(spell_pieces(self._inside.feed(text)))

    def _is_possible(self, text: str) -> bool:
        """Tell if a whole string continues so."""
        begin, self._size = self._size, self._size + len(text)
        following = slice(begin, self._size)
        first, last = (
            find(self._order, text, *self._possible, key=lambda whole: whole[following])
            for find in (bisect_left, bisect_right)
        )
        self._possible = first, last
        return first < last

    def _close(self, *, whole: bool = True) -> str:
        """Return the rest of a string's content, escaped."""
        pieces_so_far, self._start = self._start, None
        start = "".join(pieces_so_far or ())
        if whole and pieces_so_far is not None and start in self._wholes:
            self._restored += 1
            return _escape(self._wholes[start])
        pieces = self._inside.feed(start)
        return _escape(spell_pieces([*pieces, *self._inside.finish()]))


def _decode(escape: str) -> str:
    """Return the character of an escape; anything else as it is written."""
    try:
        return str(json.loads(f'"{escape}"', strict=False))
    except ValueError:
        return escape


def _escape(text: str) -> str:
    """Return a text as the content of a JSON string."""
    spelled = json.dumps(text, ensure_ascii=False)[1:-1]
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", spelled)
