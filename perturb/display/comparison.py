"""Compare a raw text with its release, part by part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from perturb.display.html import show_columns

__all__ = ["LONGEST", "Comparison", "Segment", "compare_parts", "compare_words"]

LONGEST = 20_000  # words of a stretch that is compared word by word
_WORD = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True)
class Segment:
    """A stretch of a raw text and the stretch of the release that stands for it. White space
    may differ where a segment is not `changed`."""

    raw: str = field(repr=False)
    released: str
    changed: bool


@dataclass(frozen=True, repr=False)
class Comparison:
    """Show a raw text beside its release, in a notebook as HTML. It holds the raw text: never
    store or send it. Its `repr` shows counts only.

    >>> found = Comparison(compare_words("Anna met us.", "Mary met us."))
    >>> found
    <Comparison: 1 of 3 words changed>
    >>> found.to_text()
    '[-Anna-]{+Mary+} met us.'
    """

    segments: tuple[Segment, ...]

    @property
    def raw(self) -> str:
        """Return the raw text."""
        return "".join(segment.raw for segment in self.segments)

    @property
    def released(self) -> str:
        """Return the released text."""
        return "".join(segment.released for segment in self.segments)

    def to_text(self) -> str:
        """Return both texts as one, with marks as in `git diff --word-diff`: `[-raw-]` and
        `{+released+}` for what changed."""
        return "".join(_mark(segment) for segment in self.segments)

    def __repr__(self) -> str:
        words = len(self.raw.split())
        changed = sum(len(segment.raw.split()) for segment in self.segments if segment.changed)
        return f"<Comparison: {changed} of {words} words changed>"

    def _repr_html_(self) -> str:
        return show_columns(
            ("raw", [(segment.raw, segment.changed) for segment in self.segments]),
            ("released", [(segment.released, segment.changed) for segment in self.segments]),
        )


def compare_parts(
    raw: str, released: str, replaced: Iterable[tuple[int, int, str]]
) -> tuple[Segment, ...] | None:
    """Compare two texts that differ in known parts alone.

    Args:
        raw: the raw text.
        released: its release.
        replaced: of each replaced part, in order: its start and end (exclusive) in `raw`, and the
            text that replaces it.

    Returns:
        None if the parts do not turn `raw` into `released`.

    >>> compare_parts("Ask Anna.", "Ask Mary.", [(4, 8, "Mary")])[1].changed
    True
    """
    found, place = [], 0
    for start, end, text in replaced:
        found.append(Segment(raw[place:start], raw[place:start], False))
        found.append(Segment(raw[start:end], text, True))
        place = end
    found.append(Segment(raw[place:], raw[place:], False))
    same = "".join(each.released for each in found) == released
    return tuple(each for each in found if each.raw or each.released) if same else None


def compare_words(raw: str, released: str) -> tuple[Segment, ...]:
    """Compare two texts word by word: line by line if both have as many lines.

    A stretch of more than LONGEST words is one changed segment.

    >>> [each.released for each in compare_words("a  b c", "a d c") if each.changed]
    ['d']
    """
    lines, others = raw.splitlines(keepends=True), released.splitlines(keepends=True)
    if len(lines) != len(others):
        lines, others = [raw], [released]
    pairs = zip(lines, others, strict=True)
    return tuple(each for pair in pairs for each in _compare_stretch(*pair))


def _compare_stretch(raw: str, released: str) -> Iterator[Segment]:
    ours, theirs = list(_WORD.finditer(raw)), list(_WORD.finditer(released))
    if max(len(ours), len(theirs)) > LONGEST:
        yield Segment(raw, released, True)
        return
    matcher = SequenceMatcher(None, [m[0] for m in ours], [m[0] for m in theirs])
    left = right = 0  # characters that are in a segment
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        start = ours[i].start() if i < i_end else left
        other = theirs[j].start() if j < j_end else right
        if left < start or right < other:
            yield Segment(raw[left:start], released[right:other], False)
        left = ours[i_end - 1].end() if i < i_end else start
        right = theirs[j_end - 1].end() if j < j_end else other
        yield Segment(raw[start:left], released[other:right], tag != "equal")
    if left < len(raw) or right < len(released):
        yield Segment(raw[left:], released[right:], False)


def _mark(segment: Segment) -> str:
    if not segment.changed:
        return segment.released or segment.raw
    old = f"[-{segment.raw}-]" if segment.raw else ""
    return old + (f"{{+{segment.released}+}}" if segment.released else "")
