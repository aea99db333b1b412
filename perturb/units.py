"""Units of a long text, which are released, stored and cleared one by one. After an edit of one
unit, only that unit is drawn again.

The units are found in the skeleton of the text, the part that every release shows, whatever is
drawn. So the cuts between units reveal nothing beyond the release.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from perturb.release import Unit
from perturb.vocabulary.vocabulary import LAYOUT

__all__ = ["Piece", "build_skeleton", "split_units"]

_LAYOUT = re.escape("".join(sorted(LAYOUT)))
_RUN = re.compile(rf"[^{_LAYOUT}\s]+|[{_LAYOUT}]|\s")
_BLANK_LINE = re.compile(r"\n\s*\n")
_WORD = re.compile(r"w|0+")
DROPPED = "-"  # the skeleton of a run that is not a word and is released all the same


@dataclass(frozen=True)
class Piece:
    """A piece of a text and its skeleton.

    Attributes:
        text: the part of the piece that every release shows: `w` for a word, `0` for a digit,
            layout as it is, after a blank where it stands apart; "" for a dropped piece.
        raw: the bytes of the piece.
    """

    text: str
    raw: bytes


def build_skeleton(text: str) -> list[Piece]:
    """Return the skeleton of a text that is released unchanged except for marked parts.

    A release shows the number of words and digits in each marked part. No piece is dropped.

    >>> "".join(piece.text for piece in build_skeleton("Call Ann, 555-01"))
    'w w, 000-00'
    """
    out = []
    for found in _RUN.finditer(text):
        run = shown = found[0]
        if not run.isspace() and run not in LAYOUT:
            digits = sum(c.isnumeric() for c in run)
            shown = "w" if any(c.isalpha() for c in run) else "0" * digits or DROPPED
        out.append(Piece(shown, run.encode()))
    return out


def split_units(text: str, pieces: Sequence[Piece], least: int | None) -> list[Unit]:
    r"""Split a text at the blank lines of its skeleton, into units of at least `least` words.

    A hash of the paragraph before each blank line sets the order in which cuts are tried. A cut is
    made if it leaves at least `least` words on both sides. Counting from the beginning instead
    would move every cut after an edit.

    >>> text = "One two.\n\nThree four five."
    >>> [unit.text for unit in split_units(text, build_skeleton(text), 2)]
    ['One two.', 'Three four five.']
    >>> [unit.text for unit in split_units(text, build_skeleton(text), 3)]
    ['One two.\n\nThree four five.']

    Args:
        text: the raw text; it is returned whole if there is no cut.
        pieces: its skeleton, in order.
        least: the smallest number of words in a unit; None makes no cuts. White space around the
            text is still kept beside its units, so that a text has the same units with and without
            it.
    """
    skeleton = "".join(piece.text for piece in pieces)
    if not text.strip():
        return [Unit("", skeleton)]
    end = len(skeleton.rstrip())
    first = len(skeleton) - len(skeleton.lstrip())
    if not end:
        return [Unit(text)]
    between = [(a, b) for a, b in _find_gaps(skeleton) if first < a and b < end]
    gaps = [] if least is None else _choose_gaps(skeleton, first, between, least)
    place = _Places(pieces)
    data = b"".join(piece.raw for piece in pieces)
    units, start, begin = [], 0, 0  # in bytes, in characters
    for a, b in [*([(0, first)] if first else []), *gaps, (end, len(skeleton))]:
        stop, following = place.before(a), place.after(b)
        unit = data[start:stop].decode()
        units.append(Unit(unit, skeleton[a:b], begin))
        begin += len(unit) + len(data[stop:following].decode())
        start = following
    return units


class _Places:
    """Map the characters of a skeleton to their places in the raw bytes."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._shown = [0, *accumulate(len(piece.text) for piece in pieces)]
        self._raw = [0, *accumulate(len(piece.raw) for piece in pieces)]

    def before(self, at: int) -> int:
        """Return the end of the raw bytes before a character, dropped pieces included."""
        return self._raw[-1] if at == self._shown[-1] else self._inside(at, at)

    def after(self, at: int) -> int:
        """Return the start of the raw bytes that follow the character before `at`."""
        return self._inside(at - 1, at)

    def _inside(self, of: int, at: int) -> int:
        i = bisect_right(self._shown, of) - 1
        if at == self._shown[i + 1]:
            return self._raw[i + 1]
        return self._raw[i] + len(self._pieces[i].text[: at - self._shown[i]].encode())


def _find_gaps(skeleton: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each blank line: its white space up to its last line break."""
    for found in _BLANK_LINE.finditer(skeleton):
        start = found.start()
        while start and skeleton[start - 1].isspace():
            start -= 1
        yield start, found.end()


def _choose_gaps(
    skeleton: str, first: int, gaps: Sequence[tuple[int, int]], least: int
) -> list[tuple[int, int]]:
    """Return the gaps at which units are separated, in order; `first` is the start of the first
    paragraph."""
    begins = [first, *(b for _, b in gaps)]
    paragraphs = [
        skeleton[begin:a]
        for begin, (a, _) in zip(begins, [*gaps, (len(skeleton), 0)], strict=True)
    ]
    ends = list(accumulate(len(_WORD.findall(paragraph)) for paragraph in paragraphs))
    borders = [0, ends[-1]]  # in words from the beginning
    chosen: list[int] = []
    for _, i in sorted((_rank(paragraphs[i]), i) for i in range(len(gaps))):
        at = bisect_left(borders, ends[i])
        if ends[i] - borders[at - 1] >= least and borders[at] - ends[i] >= least:
            insort(borders, ends[i])
            chosen.append(i)
    return [gaps[i] for i in sorted(chosen)]


def _rank(paragraph: str) -> bytes:
    return hashlib.sha256(paragraph.encode()).digest()
