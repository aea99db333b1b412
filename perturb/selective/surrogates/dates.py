"""Move dates by one number of days, in the form in which they are written.

The number is a multiple of seven, so that weekdays stay true, and at most a year: de-identified
records are moved so (i2b2, MIMIC). It is the same for all dates under one link: their order and
the days between them stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from perturb.selective.values import MONTHS, YEARS, find_suffix, read_date

__all__ = ["SHIFTS", "shift_date"]

WEEKS = 52
SHIFTS = tuple(7 * weeks for weeks in range(-WEEKS, WEEKS + 1) if weeks)
_TIME = re.compile(r"(?P<date>.{6,40})(?P<time>[T ][0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?Z?)")
_SHORT_YEAR = re.compile(r"(?P<date>[0-9]{1,2}([./-])[0-9]{1,2}\2)(?P<year>[0-9]{2})")
FIRST, LAST = 1100, 2899  # years that are moved
_COMPACT = re.compile(r"((?:1[1-9]|2[0-8])[0-9]{2})(0[1-9]|1[0-2])([0-2][0-9]|3[01])")
_YEAR = re.compile(r"(?:1[1-9]|2[0-8])[0-9]{2}")
_MONTH = re.compile(r"(?P<month>[^\W\d_]{3,10})\.?,?(?: of| de| del)? (?P<year>[0-9]{4})")
_ANY_YEAR = " 2023"  # of a date without a year: one without a leap day


def shift_date(text: str, days: int, day_first: bool | None = None) -> str | None:
    """Return a date that is moved, in its form; None for what is no date, such as a time.

    A year alone, and a month with its year, are moved by about as much, and by one at least.

    >>> shift_date("12. Mai 2024", 21), shift_date("3/9/2024", 7), shift_date("May 28", 7)
    ('2. Juni 2024', '3/16/2024', 'June 4')
    >>> shift_date("14 MAR 1984", 21), shift_date("19840314", 21)
    ('4 APR 1984', '19840404')
    >>> shift_date("2024", 21), shift_date("May 2024", -91)
    ('2025', 'February 2024')

    Args:
        days: how far; negative to an earlier day.
        day_first: the order of day and month in figures, see `read_date`.
    """
    if found := _COMPACT.fullmatch(text):
        moved = _shift("-".join(found.groups()), days, day_first)
        return moved and moved.replace("-", "")
    if text.isupper() and (written := text.title()) != text:  # 14 MAR 1984
        moved = shift_date(written, days, day_first)
        return moved and moved.upper()
    if found := _TIME.fullmatch(text):
        moved = shift_date(found["date"], days, day_first)
        return moved and moved + found["time"]
    if found := _SHORT_YEAR.fullmatch(text):
        century = "20" if found["year"] < "50" else "19"
        moved = _shift(found["date"] + century + found["year"], days, day_first)
        return moved and moved[:-4] + moved[-2:]
    if found := _YEAR.fullmatch(text):
        return f"{int(text) + _round(days / 365):04d}"
    if found := _MONTH.fullmatch(text):
        return _shift_month(text, found, _round(days / 30.5))
    if moved := _shift(text, days, day_first):
        return moved
    moved = _shift(text + _ANY_YEAR, days, day_first)
    return moved and moved[: -len(_ANY_YEAR)]


def _shift(text: str, days: int, day_first: bool | None) -> str | None:
    # 13/05 has one order, whatever that of the other dates.
    read = next(filter(None, (read_date(text, order) for order in (day_first, True, False))), None)
    if read is None or read.grid is YEARS:
        return None
    found = read.form.fullmatch(text)
    assert found is not None  # it was read by this form
    name = found["month"]
    months = _find_names((read.months, *MONTHS), name) if read.months else ()
    month = _find_month(months, name) + 1 if months else int(name)
    if not FIRST <= int(found["year"]) <= LAST:
        return None
    when = date(int(found["year"]), month, int(found["day"])) + timedelta(days)
    short = any(len(found[part]) == 1 for part in ("day", "month"))
    padded = found["day"].startswith("0") or not (months or short)
    parts = {
        "day": f"{when.day:02d}" if padded else f"{when.day}",
        "month": f"{when.month:02d}" if padded else f"{when.month}",
        "year": f"{when.year:04d}",
    }
    if months:
        parts["month"] = _match_month(months[when.month - 1], name)
    if found.groupdict().get("suffix"):
        parts["suffix"] = find_suffix(when.day)
    out, end = [], 0
    for part in sorted(parts, key=found.start):
        out += [text[end : found.start(part)], parts[part]]
        end = found.end(part)
    return "".join([*out, text[end:]])


def _shift_month(text: str, found: re.Match[str], count: int) -> str | None:
    months = _find_names(MONTHS, found["month"])
    if not months or not FIRST <= int(found["year"]) <= LAST:
        return None
    number = int(found["year"]) * 12 + _find_month(months, found["month"]) + count
    month = _match_month(months[number % 12], found["month"])
    return f"{month}{text[found.end('month') : found.start('year')]}{number // 12:04d}"


def _round(count: float) -> int:
    """Return the nearest whole number away from 0, and one at least."""
    return (1 if count > 0 else -1) * max(1, round(abs(count)))


def _find_names(lists: Iterable[tuple[str, ...]], name: str) -> tuple[str, ...]:
    """Return the names of the months of the first list that holds a name; none if none does."""
    plain = name.casefold()
    return next((some for some in lists if plain in map(str.casefold, some)), ())


def _find_month(months: Sequence[str], name: str) -> int:
    return [month.casefold() for month in months].index(name.casefold())


def _match_month(month: str, name: str) -> str:
    return month.lower() if name.islower() else month.capitalize()
