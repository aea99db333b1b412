"""Restore raw values in JSON that comes in pieces, such as the arguments of a tool call."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType

from proxy.restoring.text import Replacements, RestoredPiece, TextRestorer

__all__ = ["JsonRestorer", "begins_json", "decode_strings", "find_strings"]

DEEPEST = 4  # strings inside of each other that are read as JSON
_JSON = re.compile(r"\s{0,64}+[{\[]\s{0,64}+[\"{\[]")  # begins a text that is JSON
_MAY_BE_JSON = re.compile(r"\s{0,64}+(?:[{\[]\s{0,64}+)?\Z")
_STRING = re.compile(r'"(?P<content>(?>(?:[^"\\]|\\.)*))"?', re.DOTALL)
_PLAIN = re.compile(r'[^"\\]+')
_ESCAPED_SIGN = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # one character, in two halves
    r"|\\u[0-9a-fA-F]{4}|\\[^u]",
    re.DOTALL,
)
_PARTS = re.compile(rf"{_PLAIN.pattern}|{_ESCAPED_SIGN.pattern}|.", re.DOTALL)
_UNFINISHED = re.compile(
    r"\\(?:u[0-9a-fA-F]{0,3})?\Z"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z"
)
_TAIL = 4
_IN_JSON = re.compile(r"\": ?\"\Z")  # a value begins
_HALF = re.compile("[\ud800-\udfff]")


class JsonRestorer:
    """Restore one JSON text that comes in pieces. JSON stays JSON, and what is not restored stays
    as it is written.

    The content of each string is restored as a text of its own, or as JSON if it begins as an
    object or a list, and what is restored is escaped. A string, or a key, that is as a whole a
    string of the request comes back as that string. Outside of strings, a number is restored by a
    number alone.

    Args:
        replacements: what to restore.
        wholes: the raw string of each whole string that left.
        inside: what to restore in strings that are no JSON; the same if it is left out.
        spelled: the values that stand in JSON with escapes such as `\\u00fc`, as they are written
            there, by their replacements.
        depth: how many strings this text is inside of.
    """

    def __init__(
        self,
        replacements: Replacements,
        wholes: Mapping[str, str],
        inside: Replacements | None = None,
        spelled: Mapping[str, str] = MappingProxyType({}),
        *,
        depth: int = 0,
    ) -> None:
        self._replacements, self._strings = replacements, inside or replacements
        self._outside = TextRestorer(replacements, strict=True)
        self._wholes, self._spelled = wholes, spelled
        self._order = sorted(wholes)
        self._depth = depth
        self._in_string = False
        self._held = ""  # the beginning of an escape
        self._inside: TextRestorer | JsonRestorer | None = None
        self._head = ""  # of the content, by which it is seen to be JSON
        self._tail = ""  # of what was restored of the content
        self._written: deque[tuple[str, str]] = deque()  # what is inside, decoded and as written
        self._taken = 0  # characters of the first of them that were passed on
        # Of a string that may yet be a whole one: its pieces, their length, and which ones.
        self._start: list[str] | None = None
        self._size = 0
        self._possible = (0, len(self._order))
        self._restored = self._left = 0

    @property
    def restored(self) -> int:
        """Return how many replacements were restored."""
        inside = self._inside.restored if self._inside else 0
        return self._outside.restored + self._restored + inside

    @property
    def left(self) -> int:
        """Return how many replacements were left where they stand."""
        return self._outside.left + self._left + (self._inside.left if self._inside else 0)

    def feed(self, text: str) -> list[RestoredPiece]:
        """Take the next piece of the text, and return what is certain now."""
        text, self._held = self._held + text, ""
        out: list[RestoredPiece] = []
        place = 0
        while place < len(text):
            if not self._in_string:
                place = self._read_outside(text, place, out)
            elif text[place] == '"':
                out += [*self._close(), RestoredPiece(1, '"')]
                self._in_string = False
                place += 1
            elif found := _PLAIN.match(text, place):
                out += self._add(found[0], found[0])
                place = found.end()
            elif _UNFINISHED.match(text, place):
                self._held = text[place:]
                break
            else:
                found = _ESCAPED_SIGN.match(text, place)
                written = found[0] if found else text[place]
                out += self._add(_decode_sign(written), written)
                place += len(written)
        return out

    def finish(self) -> list[RestoredPiece]:
        """Return the rest of a text that broke off, or nothing. May be called again, for what came
        since."""
        rest, self._held = self._held, ""
        if self._in_string:
            return [*self._close(whole=False), *([RestoredPiece(len(rest), rest)] if rest else ())]
        return self._outside.finish()

    def _read_outside(self, text: str, place: int, out: list[RestoredPiece]) -> int:
        """Read up to the next string, and return the place after its opening quote."""
        end = text.find('"', place)
        out += self._outside.feed(text[place : end if end >= 0 else None])
        if end < 0:
            return len(text)
        out += [*self._outside.finish(), RestoredPiece(1, '"')]
        self._in_string, self._start, self._inside, self._head = True, [], None, ""
        self._tail = ""
        self._size, self._possible = 0, (0, len(self._order))
        return end + 1

    def _add(self, text: str, written: str) -> list[RestoredPiece]:
        """Add a part of a string's content, and return what of it is certain, escaped."""
        self._written.append((text, written))
        if self._start is not None:
            self._start.append(text)
            if self._is_possible(text):
                return []
            text, self._start = "".join(self._start), None
        return self._escape_pieces(self._spell(self._read_inside(text)))

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

    def _read_inside(self, text: str, *, whole: bool = False) -> list[RestoredPiece]:
        """Restore the next part of a string's content."""
        if self._inside is None:
            text = self._head + text
            if _MAY_BE_JSON.match(text) and not whole:
                self._head = text
                return []
            if self._depth < DEEPEST and begins_json(text):
                self._inside = JsonRestorer(
                    self._replacements,
                    self._wholes,
                    self._strings,
                    self._spelled,
                    depth=self._depth + 1,
                )
            else:
                self._inside = TextRestorer(self._strings)
        return self._inside.feed(text)

    def _close(self, *, whole: bool = True) -> list[RestoredPiece]:
        """Return the rest of a string's content, escaped."""
        start = "".join(self._start or ())
        if whole and self._start is not None and start in self._wholes:
            self._restored += 1
            source = sum(len(written) for _, written in self._written)
            self._written.clear()
            return [RestoredPiece(source, _escape_text(self._wholes[start]), start)]
        pieces = self._read_inside(start, whole=True)
        assert self._inside is not None
        pieces += self._inside.finish()
        self._restored += self._inside.restored
        self._left += self._inside.left
        spelled = self._spell(pieces)
        self._start, self._inside, self._head = None, None, ""  # what follows is a text of its own
        return self._escape_pieces(spelled)

    def _spell(self, pieces: Iterable[RestoredPiece]) -> Iterator[tuple[RestoredPiece, bool]]:
        """Return pieces of a string's content, each with whether it is escaped already: a value
        that stands in JSON of the request, in the escapes that it has there.

        What was not decoded is a text's own, as in code, unless this text is in a string itself.
        And a text may have JSON in it, which is no JSON as a whole: a command, a line of a log.
        """
        if not self._spelled or not isinstance(self._inside, TextRestorer):
            return zip(pieces, repeat(False), strict=False)
        out = []
        for piece in pieces:
            own, is_escaped = self._spelled.get(piece.new), False
            if own is not None and piece.text in (own, decode_strings(own, 1)):
                in_json = _IN_JSON.search(self._tail) is not None
                is_escaped = not in_json and (self._depth > 0 or piece.text != own)
                piece = piece._replace(text=own)
            out.append((piece, is_escaped))
            self._tail = (self._tail + piece.text)[-_TAIL:]
        return iter(out)

    def _escape_pieces(self, pieces: Iterable[tuple[RestoredPiece, bool]]) -> list[RestoredPiece]:
        """Return pieces of a string's content as JSON writes them."""
        out = []
        for piece, is_escaped in pieces:
            written = self._take(piece.source)
            restored = piece.text if is_escaped else _escape_text(piece.text)
            out.append(RestoredPiece(len(written), restored if piece.new else written, piece.new))
        return out

    def _take(self, size: int) -> str:
        """Return the next characters of a string's content as they are written."""
        out = []
        while size:
            text, written = self._written[0]
            rest = len(text) - self._taken
            if rest > size:  # nothing in it is escaped
                out.append(written[self._taken : self._taken + size])
                self._taken += size
                break
            out.append(written[self._taken :])
            size, self._taken = size - rest, 0
            self._written.popleft()
        return "".join(out)


def begins_json(text: str) -> bool:
    """Tell if a text is read as JSON."""
    return _JSON.match(text) is not None


def find_strings(
    text: str, places: Sequence[int] | None = None, depth: int = 1
) -> Iterator[tuple[int, int]]:
    r"""Yield where each string of a JSON text begins, in order, and how many strings its content
    is inside of, itself included. Strings that are JSON are read, too.

    Args:
        places: of the text's characters in the text that they are yielded for; theirs if None.
        depth: of these strings.

    >>> list(find_strings(r'["a", "[\"b\"]"]'))
    [(1, 1), (6, 1), (8, 2)]
    """
    for found in _STRING.finditer(text):
        yield places[found.start()] if places else found.start(), depth
        content = found["content"]
        if depth < DEEPEST and content.lstrip(" \\nrt")[:1] in ("{", "["):
            start = found.start("content")
            decoded: list[str] = []
            inner: list[int] = []
            for part in _PARTS.finditer(content):
                shown = _decode_sign(part[0])
                at = range(start + part.start(), start + part.end())
                decoded.append(shown)
                inner += at if len(shown) == len(part[0]) else [at[0]] * len(shown)
            if begins_json(shown := "".join(decoded)):
                inner = [places[place] for place in inner] if places else inner
                yield from find_strings(shown, inner, depth + 1)


def decode_strings(text: str, depth: int) -> str | None:
    """Return what a part of a string's content means that many strings deep; None if it is no
    such part."""
    try:
        for _ in range(depth):
            text = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return None
    return text


def _decode_sign(escape: str) -> str:
    """Return the character of an escape; anything else as it is written."""
    try:
        return str(json.loads(f'"{escape}"', strict=False))
    except ValueError:
        return escape


def _escape_text(text: str) -> str:
    """Return a text as the content of a JSON string."""
    spelled = json.dumps(text, ensure_ascii=False)[1:-1]
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", spelled)
