"""Files in a text: as tools show them, with the number of each line, as a diff, or as the hits of
a search; and catalogues of a program's translations.

What stands before a line is no part of the file: it is read without it, as tables, letters and
settings are. Where that may be private itself, the text is read as it stands, too.

The values of a program's translations are the words of its forms: `"password": "Passwort"`. The
names of the keys say what the words mean, not that they are somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from perturb.release import Span
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.labels import INTERFACE, LABELS, NAMES, ROLES, spell
from perturb.text.marks import MARKS, WORD

__all__ = ["Listing", "drop_translated", "find_in_listing", "read_listing"]

FEWEST = 3  # lines of a listing
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
# `cat -n` has six columns, and a table has no blanks before its first one.
_NUMBERED = re.compile(r"[ ]{0,10}(?P<number>\d{1,6})→|(?=[ \d]{6}\t)[ ]{1,5}(?P<cat>\d{1,5})\t")
_HIT = re.compile(
    r"(?P<path>(?:[^\s:\"'<>]{0,80}[/.])[^\s:\"'<>]{1,80})(?P<sign>[:-])\d{1,6}(?P=sign)"
)
_HUNK = re.compile(r"@@(?:\s|\Z)")
_MAY = re.compile(rf"^(?:@@|[ ]{{0,10}}\d{{1,6}}[→\t]|{_HIT.pattern})", re.MULTILINE)


class Listing(NamedTuple):
    """Hold a text without what stands before its lines.

    Attributes:
        text: the rest.
        cuts: where something is left out of it, in order.
        shifts: how much earlier the rest after each of them is.
        whole: whether the whole text is to be searched, too: what is left out is more than the
            numbers of lines that follow each other.
    """

    text: str
    cuts: Sequence[int]
    shifts: Sequence[int]
    whole: bool

    def find_places(self, span: Span) -> Iterator[Span]:
        """Yield the places of a finding in the whole text, one for each piece between two cuts."""
        start = span.start
        last = bisect_right(self.cuts, start)
        while start < span.end:
            stop = self.cuts[last] if last < len(self.cuts) else span.end
            end = min(stop, span.end)
            shown = self.text[start:end]
            before = len(shown) - len(shown.lstrip())
            after = len(shown) - len(shown.rstrip())
            shift = self.shifts[last - 1] if last else 0
            if before < len(shown) and any(map(str.isalnum, shown)):
                yield Span(start + before + shift, end - after + shift, span.type)
            start, last = end, last + 1


def read_listing(text: str) -> Listing | None:
    r"""Read a text without the numbers, signs and paths before its lines; None if it has none.

    >>> read_listing("  1→a: b\n  2→c\n  3→d").text
    'a: b\nc\nd'
    >>> read_listing("@@ -1 +1 @@\n-a\n+b\n c").text
    '@@ -1 +1 @@\na\nb\nc'
    >>> read_listing("9→a\n5→b\n7→c") is None
    True
    """
    if _MAY.search(text) is None:
        return None
    lines = [found.span() for found in _LINE.finditer(text) if found.end() > found.start()]
    sizes = [0] * len(lines)
    _measure_numbers(text, lines, sizes)
    numbers = sum(sizes)
    _measure_hunks(text, lines, sizes)
    _measure_hits(text, lines, sizes)
    if not any(sizes):
        return None
    kept = [text[start + size : end] for (start, end), size in zip(lines, sizes, strict=True)]
    begins = accumulate(map(len, kept[:-1]), initial=0)
    cut = [(begin, size) for begin, size in zip(begins, sizes, strict=True) if size]
    return Listing(
        "".join(kept),
        [begin for begin, _ in cut],
        [*accumulate(size for _, size in cut)],
        sum(sizes) > numbers,
    )


def _measure_numbers(text: str, lines: Sequence[tuple[int, int]], sizes: list[int]) -> None:
    """Measure the numbers before lines that follow each other."""
    run: list[tuple[int, int]] = []
    expected = 0

    def close() -> None:
        if len(run) >= FEWEST:
            for i, size in run:
                sizes[i] = size
        run.clear()

    for i, (start, end) in enumerate(lines):
        found = _NUMBERED.match(text, start, end)
        if found is None:
            close()
            continue
        number = int(found["number"] or found["cat"])
        if run and number != expected:
            close()
        run.append((i, found.end() - start))
        expected = number + 1
    close()


def _measure_hunks(text: str, lines: Sequence[tuple[int, int]], sizes: list[int]) -> None:
    """Measure the signs before the lines of a diff."""
    inside = False
    for i, (start, end) in enumerate(lines):
        if _HUNK.match(text, start, end):
            inside = True
        elif inside and text[start] in " +-":
            sizes[i] = 1
        else:
            inside = inside and text[start] in "\\\r\n"


def _measure_hits(text: str, lines: Sequence[tuple[int, int]], sizes: list[int]) -> None:
    """Measure the paths and numbers before the hits of a search."""
    hits = [(i, found) for i, line in enumerate(lines) if (found := _HIT.match(text, *line))]
    for i, found in hits if len(hits) >= FEWEST else ():
        sizes[i] = sizes[i] or len(found[0])


def find_in_listing(find: Callable[[str], Iterable[Span]], text: str) -> tuple[Span, ...]:
    """Find in a text as `find` does, without what stands before the lines of a listing."""
    listing = read_listing(text)
    if listing is None:
        return tuple(find(text))
    found = [place for span in find(listing.text) for place in listing.find_places(span)]
    return (*found, *(find(text) if listing.whole else ()))


# What a key may be evidence for. A value with a digit or another sign is no translation.
_TYPES_BY_KEY = frozenset(("LOCATION", "NAME", "ORGANIZATION", "PASSWORD", "PERSON", "USERNAME"))
_AFTER_KEY = re.compile(
    r"(?:[:=]>?[ \t]{0,8}|>|\bmsgstr )(?P<quote>\\?[\"'`]?)"
    rf"(?P<value>[¿¡]?[^\W\d_](?:[^\W\d_]|[{MARKS} .,'’?!…()/-]){{0,60}}?)(?P=quote)"
    r"[ \t]{0,4}(?:[,;}<\n]|\\n|\Z)"
)
_KEY = re.compile(r"([\w.-]{1,60})[\"'`\])]*\s{0,4}(?:[:=]>?[ \t]{0,8}|>)\Z")
_NEAR = 16  # values before and after one
_FEWEST_LABELS, _SHARE = (
    3,
    0.3,
)  # so many labels among them say that the text is one of translations
# Labels in other languages than English, whose words are the values of logs and records as well;
# and not what people are: a customer, a patient.
_EVIDENCE = frozenset(
    label
    for label in ({*LABELS} | INTERFACE | NAMES) - ROLES
    if not is_ordinary_word(label.replace("_", ""))
)
# Also inside words, and where words have no blanks: 确认密码, Şifreyi.
_SECRETS = [label for label in _EVIDENCE if LABELS.get(label) == "PASSWORD" and len(label) != 3]
_WHOLE = {*LABELS} | INTERFACE | NAMES | ROLES


class _Value(NamedTuple):
    start: int
    end: int
    key: str
    label: bool  # the whole value is one
    told: bool  # it is evidence, or a part of it is
    role: bool  # it is what somebody is


def drop_translated(
    text: str, findings: Iterable[Span], own: Collection[str] = ()
) -> tuple[Span, ...]:
    """Return the findings without those that lie in the value of a translation. The values near
    it have a key each, as in no log, and many of them are labels of forms, in another language
    than English. It is one itself, or has a label's words, or it is no password and has no given
    name.

    Args:
        own: types that the operator named, of which every finding counts.

    >>> text = '{"user": "Benutzer", "phone": "Telefon", "save": "Speichern", "find": "Suchen"}'
    >>> drop_translated(text, [Span(10, 18, "USERNAME")])
    ()
    """
    findings, types = tuple(findings), _TYPES_BY_KEY.difference(own)
    if not any(span.type in types for span in findings):
        return findings
    values = list(_read_values(text))
    starts = [value.start for value in values]
    return tuple(
        span
        for span in findings
        if span.type not in types or not _is_translated(text, span, values, starts)
    )


def _read_values(text: str) -> Iterator[_Value]:
    for match in _AFTER_KEY.finditer(text):
        key = _KEY.search(text, max(0, match.start("value") - 72), match.start("quote"))
        words = [spell(word) for word in WORD.findall(match["value"])]
        sizes = range(1, 4) if len(words) < 8 else ()
        phrases = {"_".join(words[i : i + size]) for i in range(len(words)) for size in sizes}
        whole = "_".join(words)
        name = key[1] if key else f"{match.start()}"
        told = not _EVIDENCE.isdisjoint(phrases) or any(label in whole for label in _SECRETS)
        yield _Value(*match.span("value"), name, whole in _WHOLE, told, whole in ROLES)


def _is_translated(text: str, span: Span, values: list[_Value], starts: list[int]) -> bool:
    place = bisect_right(starts, span.start) - 1
    if place < 0 or span.end > values[place].end:
        return False
    near = [*values[max(0, place - _NEAR) : place], *values[place + 1 : place + 1 + _NEAR]]
    told = sum(value.told for value in near)
    keys = [value.key for value in (*near, values[place])]
    counted = sum(not value.role for value in near)
    if told < max(_FEWEST_LABELS, _SHARE * counted) or len(set(keys)) < len(keys):
        return False
    if values[place].label or values[place].told:
        return True
    named = any(is_given(word) for word in WORD.findall(text, span.start, span.end))
    return span.type != "PASSWORD" and not named
