"""Write a date in the ways in which a remote may write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

__all__ = ["spell_dates"]

ENGLISH = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
GERMAN = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August"),
    *("September", "Oktober", "November", "Dezember"),
)
_MONTHS = {
    name[:size].lower(): number
    for names in (ENGLISH, GERMAN)
    for number, name in enumerate(names, 1)
    for size in (3, len(name))
} | {"sept": 9}
_ISO = re.compile(r"(?P<y>[12][0-9]{3})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})")
_FIGURES = re.compile(r"(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<y>[12][0-9]{3})")
_NAMED = (
    re.compile(
        r"(?P<d>[0-9]{1,2})(?:\.|st|nd|rd|th)?\s(?:of\s)?(?P<m>[^\W\d_]{3,9})\.?"
        r"(?:,?\s(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(
        r"(?P<m>[^\W\d_]{3,9})\.?\s(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(r"(?P<m>[^\W\d_]{3,9})\.?,?\s(?P<y>[12][0-9]{3})(?P<d>)"),
)


class _Date(NamedTuple):
    """Hold a date; what it does not tell is 0."""

    year: int
    month: int
    day: int


def spell_dates(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield a date that replaces another one in each way to write it, with that one written so.

    Where the order of day and month is not known, it is read both ways.

    >>> dict(spell_dates("2023-06-09", "2021-05-12"))["June 9"]
    'May 12'
    """
    for ours, theirs in zip(_read_date(new), _read_date(raw), strict=False):
        if [bool(part) for part in ours] != [bool(part) for part in theirs]:
            continue
        for write in _WAYS:
            shown = write(ours)
            if shown is not None and shown != new:
                yield shown, write(theirs) or raw


def _read_date(text: str) -> list[_Date]:
    text = " ".join(text.split())
    if found := _ISO.fullmatch(text):
        read = [(found["y"], found["m"], found["d"])]
    elif found := _FIGURES.fullmatch(text):
        read = [(found["y"], found["b"], found["a"])]
        if found["s"] != ".":
            read.append((found["y"], found["a"], found["b"]))
    else:
        read = []
        for named in _NAMED:
            if found := named.fullmatch(text):
                month = _MONTHS.get(found["m"].lower(), 0)
                read = [(found["y"] or "0", str(month), found["d"] or "0")] if month else []
                break
    # What is no date in one order keeps its place: the orders of two dates pair up.
    return [_Date(*map(int, parts)) for parts in read]


def _has(date: _Date, parts: str) -> bool:
    told = {"y": date.year, "m": 1 <= date.month <= 12, "d": 1 <= date.day <= 31}
    return all(map(told.get, parts))


def _figures(pattern: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        shown = pattern.format(y=date.year, m=date.month, d=date.day)
        return shown if _has(date, "ymd") else None

    return write


def _words(pattern: str, names: tuple[str, ...], parts: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        if not _has(date, parts):
            return None
        day = date.day
        ordinal = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        month = names[date.month - 1]
        return pattern.format(y=date.year, m=month, s=month[:3], d=day, o=f"{day}{ordinal}")

    return write


def _write_year(date: _Date) -> str | None:
    return str(date.year) if date.year else None


_WAYS = (
    *map(_figures, ("{y}-{m:02}-{d:02}", "{y}/{m:02}/{d:02}", "{y}{m:02}{d:02}")),
    *map(_figures, ("{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}/{m:02}/{y}", "{d}/{m}/{y}")),
    *map(_figures, ("{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{d:02}-{m:02}-{y}", "{m:02}-{d:02}-{y}")),
    *(
        _words(pattern.replace("M", month) + year, ENGLISH, "md" + "y" * bool(year))
        for pattern, years in (
            ("{d} M", (" {y}", "")),
            ("M {d}", (", {y}", " {y}", "")),
            ("{o} M", (" {y}", "")),
            ("{o} of M", (" {y}", ", {y}", "")),
            ("M {o}", (", {y}", "")),
        )
        for month in ("{m}", "{s}")
        for year in years
    ),
    *(
        _words(pattern, GERMAN, "md" + "y" * pattern.endswith("{y}"))
        for pattern in ("{d}. {m} {y}", "{d}. {m}", "{d} {m} {y}")
    ),
    *(
        _words(pattern, names, "my")
        for pattern in ("{m} {y}", "{s} {y}")
        for names in (ENGLISH, GERMAN)
    ),
    _write_year,
)
