"""Show releases to people: a raw text and its release part by part, and small pieces of HTML for
notebooks.

The HTML loads nothing and holds no script. Everything is escaped. Styles are inline, since
notebooks drop style sheets; colours are translucent over the notebook's own, so that they suit
light and dark themes; a mark is underlined as well, for readers who cannot tell its colour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from typing import Any

__all__ = [
    "LONGEST",
    "Comparison",
    "Parts",
    "Segment",
    "compare_parts",
    "compare_words",
    "format_value",
    "show_columns",
    "show_details",
    "show_rows",
]

Parts = Iterable[tuple[str, bool]]  # stretches of a text, and whether each is marked
_COLORS = ("rgba(214, 69, 65, .28)", "rgba(38, 166, 91, .28)")
_BOX = "flex: 1 1 18em; border: 1px solid rgba(128, 128, 128, .5); padding: .4em .6em"
_TEXT = "white-space: pre-wrap; overflow-wrap: anywhere"


def show_columns(*columns: tuple[str, Parts]) -> str:
    """Return texts side by side, each with its title and marked parts; the last column has the
    colour of a release.

    >>> "<mark" in show_columns(("released", [("Mary", True), (" met us.", False)]))
    True
    """
    colors = _COLORS[-len(columns) :]
    boxes = (
        f'<div style="{_BOX}"><div style="opacity: .7">{escape(title)}</div>'
        f'<div dir="auto" style="{_TEXT}">{_mark(parts, color)}</div></div>'
        for (title, parts), color in zip(columns, colors, strict=True)
    )
    return f'<div style="display: flex; flex-wrap: wrap; gap: .6em">{"".join(boxes)}</div>'


def show_rows(rows: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a table, the names as its row headers.

    >>> "&lt;" in show_rows([("size", "<3")])
    True
    """
    body = "".join(
        f'<tr><th scope="row" style="text-align: left; vertical-align: top">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(format_value(value))}</td></tr>'
        for name, value in rows
    )
    return f'<table style="color: inherit">{body}</table>'


def show_details(title: str, inside: str) -> str:
    """Return HTML that is folded until its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def format_value(value: Any) -> str:
    """Return a value of a receipt as a reader expects it.

    >>> format_value({"NAME": 2, "AGE": 1}), format_value(["a", "b"]), format_value({})
    ('2 NAME, 1 AGE', 'a; b', 'none')
    """
    if isinstance(value, Mapping):
        return ", ".join(_format_item(*item) for item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(format_value, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _format_item(key: Any, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value} {key}"
    return f"{key}: {format_value(value)}"


def _mark(parts: Parts, color: str) -> str:
    style = f"background: {color}; color: inherit; text-decoration: underline"
    return "".join(
        f'<mark style="{style}">{escape(text)}</mark>' if marked and text else escape(text)
        for text, marked in parts
    )


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
        return "".join(_mark_segment(segment) for segment in self.segments)

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


def _mark_segment(segment: Segment) -> str:
    if not segment.changed:
        return segment.released or segment.raw
    old = f"[-{segment.raw}-]" if segment.raw else ""
    return old + (f"{{+{segment.released}+}}" if segment.released else "")
