"""Read and write dates in their own format: in figures, and with the name of a month."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from perturb.selective.values.grid import DAYS, YEARS, Grid

__all__ = ["CalendarDate", "read_date"]

_MONTHS = tuple(
    tuple(line.split())
    for line in (
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
)
_SUFFIX = "(?P<suffix>st|nd|rd|th)?"
_NAMED = (
    re.compile(
        rf"(?P<day>\d{{1,2}}){_SUFFIX}(?P<one>\.?(?: of| de)?[ -])(?P<month>[^\W\d_]{{3,10}})"
        r"(?P<two>\.?,?(?: of| de| del)?[ -])(?P<year>\d{4})"
    ),
    re.compile(
        rf"(?P<month>[^\W\d_]{{3,10}})(?P<one>\.? )(?P<day>\d{{1,2}}){_SUFFIX}(?P<two>,? )"
        r"(?P<year>\d{4})"
    ),
)
_FIGURES = (
    re.compile(r"(?P<year>\d{4})(?P<one>[-/.])(?P<month>\d{1,2})(?P<two>[-/.])(?P<day>\d{1,2})"),
    re.compile(
        r"(?P<day>\d{1,2})(?P<one>[-.]|\. )(?P<month>\d{1,2})(?P<two>[-.]|\. )(?P<year>\d{4})"
    ),
    re.compile(r"(?P<month>\d{1,2})(?P<one>[/-])(?P<day>\d{1,2})(?P<two>[/-])(?P<year>\d{4})"),
    re.compile(r"(?P<day>\d{1,2})(?P<one>/)(?P<month>\d{1,2})(?P<two>/)(?P<year>\d{4})"),
)
_YEAR = re.compile(r"(?P<year>\d{4})")


@dataclass(frozen=True)
class CalendarDate:
    """Hold a date, or a year, and its format.

    Attributes:
        grid: of its values.
        place: its place on the grid.
        form: the expression that it has.
        one, two: between its parts.
        months: the names of the months; none in figures.
        small: whether the name is in small letters.
        padded: whether a day, or a month in figures, below 10 has two digits.
        suffix: whether the day is an English ordinal.
    """

    grid: Grid
    place: int
    form: re.Pattern[str]
    one: str = ""
    two: str = ""
    months: tuple[str, ...] = ()
    small: bool = False
    padded: bool = False
    suffix: bool = False

    @property
    def key(self) -> str:
        """Return the value by which it is drawn: equal in every format."""
        return f"{self.grid.name} {self.place}"

    @property
    def fresh(self) -> int:
        """Return the number of further digits that are drawn: none."""
        return 0

    def write(self, place: int, decimals: str) -> str:
        """Return another date in this format."""
        del decimals
        value = self.grid.values[place]
        if self.grid is YEARS:
            return str(value)
        when, width = date.fromordinal(value), 2 if self.padded else 1
        month = f"{when.month:0{width}d}"
        if self.months:
            month = self.months[when.month - 1]
            month = month.lower() if self.small else month
        day = f"{when.day:0{width}d}" + (_find_suffix(when.day) if self.suffix else "")
        parts = {"day": day, "month": month, "year": f"{when.year}"}
        first, middle, last = sorted(parts, key=lambda name: self.form.groupindex[name])
        return f"{parts[first]}{self.one}{parts[middle]}{self.two}{parts[last]}"

    def read(self, text: str) -> tuple[int, str] | None:
        """Return the place of another date in this format, without decimals; None for what is
        none."""
        found = self.form.fullmatch(text)
        if found is None or not found["year"].isascii():
            return None
        if self.grid is YEARS:
            place = self.grid.find(int(found["year"]))
        else:
            names = [name.casefold() for name in self.months]
            month = found["month"].casefold()
            number = names.index(month) + 1 if month in names else month
            ordinal = _find_ordinal(found["year"], number, found["day"])
            if ordinal is None:
                return None
            place = self.grid.find(ordinal)
        return (place, "") if self.write(place, "") == text else None


def read_date(text: str) -> CalendarDate | None:
    """Return a date and its format; None for another form, such as a time or a weekday.

    Of two readings of a date with strokes, the month comes first.

    >>> made = read_date("12. Mai 2024")
    >>> made.write(made.place + 20, "")
    '1. Juni 2024'
    """
    if not text.isascii() and any(c.isnumeric() and not c.isascii() for c in text):
        return None
    if found := _YEAR.fullmatch(text):
        return CalendarDate(YEARS, YEARS.find(int(found["year"])), _YEAR)
    for form in _NAMED:
        if found := form.fullmatch(text):
            return _read_named(form, found)
    for form in _FIGURES:
        if found := form.fullmatch(text):
            ordinal = _find_ordinal(found["year"], found["month"], found["day"])
            if ordinal is not None and found["one"] == found["two"]:
                figures = (found["day"], found["month"])
                padded = any(f[0] == "0" for f in figures) or min(map(len, figures)) == 2
                place = DAYS.find(ordinal)
                return CalendarDate(DAYS, place, form, found["one"], found["two"], padded=padded)
    return None


def _read_named(form: re.Pattern[str], found: re.Match[str]) -> CalendarDate | None:
    small = found["month"].islower()
    languages = _MONTHS[::-1] if small else _MONTHS
    for months in languages:
        names = [name.casefold() for name in months]
        if found["month"].casefold() not in names or not (small or found["month"].istitle()):
            continue
        month = names.index(found["month"].casefold()) + 1
        ordinal = _find_ordinal(found["year"], month, found["day"])
        suffix = found["suffix"] or ""
        if ordinal is None or (suffix and suffix != _find_suffix(int(found["day"]))):
            return None
        return CalendarDate(
            DAYS,
            DAYS.find(ordinal),
            form,
            found["one"],
            found["two"],
            tuple(name.capitalize() for name in months),
            small,
            padded=found["day"][0] == "0",
            suffix=bool(suffix),
        )
    return None


def _find_ordinal(year: str, month: str | int, day: str) -> int | None:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None


def _find_suffix(day: int) -> str:
    return "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
