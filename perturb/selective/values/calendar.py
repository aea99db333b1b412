"""Read and write dates: in figures, and with the name of a month.

A release has the order and the signs of its part. What else a format could tell of the date is
written by one rule: in figures, days and months have two digits; beside a name, a day has no zero.
The language of a month's name follows from the signs (`12. ` is German, `de` Spanish), or where
they do not tell, from small letters; else the names are English, and written out (`May` is short
and long, `April` English and German).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from perturb.selective.patterns.shape import words_of
from perturb.selective.values.grid import DAYS, YEARS, ValueGrid

__all__ = [
    "ENGLISH",
    "FRENCH",
    "GERMAN",
    "MONTHS",
    "SPANISH",
    "CalendarDate",
    "find_day_first",
    "find_suffix",
    "read_date",
]

ENGLISH, _SHORT, GERMAN, FRENCH, SPANISH = (
    tuple(line.split())
    for line in (
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    )
)
MONTHS = (ENGLISH, _SHORT, GERMAN, FRENCH, SPANISH)  # of each language, January first
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
_YEAR_FIRST = re.compile(
    r"(?P<year>\d{4})(?P<one>[-/.])(?P<month>\d{1,2})(?P<two>[-/.])(?P<day>\d{1,2})"
)
_DAY_FIRST, _MONTH_FIRST = (
    re.compile(r"(?P<day>\d{1,2})(?P<one>[/-])(?P<month>\d{1,2})(?P<two>[/-])(?P<year>\d{4})"),
    re.compile(r"(?P<month>\d{1,2})(?P<one>[/-])(?P<day>\d{1,2})(?P<two>[/-])(?P<year>\d{4})"),
)
_DOTTED = re.compile(
    r"(?P<day>\d{1,2})(?P<one>\.|\. )(?P<month>\d{1,2})(?P<two>\.|\. )(?P<year>\d{4})"
)
_EITHER = re.compile(r"(?<![\w/.-])(\d{1,2})([/-])(\d{1,2})\2\d{4}(?![\w/-])", re.ASCII)
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_WORDS = words_of("the and of is was on at with for born since by i you my what do")
# Small words of languages that write the day first; none is an English one.
_DAY_FIRST_WORDS = words_of(
    """
    le la les des du et une né née dans est el los las del una nacido nacida di lo gli nato nata
    della che und der das geboren geb ist von em os nascido nascida não da het een och på född av
    født den dnia ur ve doğum tarihi года родился родилась и народився народилася
    """
)
_YEAR = re.compile(r"(?P<year>\d{4})")


@dataclass(frozen=True)
class CalendarDate:
    """A date, or a year, and its format.

    Attributes:
        grid: of its values.
        place: its place on the grid.
        form: the expression that it has.
        one, two: between its parts.
        months: the names of the months; none in figures.
        small: whether the name is in small letters.
        suffix: whether the day is an English ordinal.
    """

    grid: ValueGrid
    place: int
    form: re.Pattern[str]
    one: str = ""
    two: str = ""
    months: tuple[str, ...] = ()
    small: bool = False
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
        when = date.fromordinal(value)
        month, day = f"{when.month:02d}", f"{when.day:02d}"
        if self.months:
            month = self.months[when.month - 1]
            month = month.lower() if self.small else month.capitalize()
            day = f"{when.day}" + (find_suffix(when.day) if self.suffix else "")
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


def find_day_first(texts: Iterable[str]) -> bool | None:
    """Tell from the dates with strokes of some texts if the day is before the month: by those that
    can be read in one way, else by the language, since only English has the month first; None
    where nothing tells, or where they tell both.

    >>> find_day_first(["on 12/05/2024 and 05/13/2024"]), find_day_first(["on 12/05/2024"])
    (False, None)
    >>> find_day_first(["née le 12/05/1939"])
    True
    """
    found = set()
    words: set[str] = set()
    for text in texts:
        dates = _EITHER.findall(text)
        for first, _, second in dates:
            if (int(first) > 12) != (int(second) > 12):
                found.add(int(first) > 12)
        if dates and not found:
            words.update(_WORD.findall(text.lower()))
    if not found and words & _DAY_FIRST_WORDS and not words & _ENGLISH_WORDS:
        return True
    return found.pop() if len(found) == 1 else None


def read_date(text: str, day_first: bool | None = None) -> CalendarDate | None:
    """Return a date and its format; None for another form, such as a time or a weekday.

    >>> made = read_date("12. Mai 2024")
    >>> made.write(made.place + 20, "")
    '1. Juni 2024'

    Args:
        day_first: whether the day is before the month in a date with strokes. Where nothing
            tells, it is before it in `12-05-2024` and after it in `12/05/2024`.
    """
    if not text.isascii() and any(c.isnumeric() and not c.isascii() for c in text):
        return None
    if found := _YEAR.fullmatch(text):
        return CalendarDate(YEARS, YEARS.find(int(found["year"])), _YEAR)
    for form in _NAMED:
        if found := form.fullmatch(text):
            return _read_named(form, found)
    if day_first is None:
        day_first = "/" not in text
    for form in (_YEAR_FIRST, _DOTTED, _DAY_FIRST if day_first else _MONTH_FIRST):
        if (found := form.fullmatch(text)) and found["one"] == found["two"]:
            ordinal = _find_ordinal(found["year"], found["month"], found["day"])
            if ordinal is not None:
                return CalendarDate(DAYS, DAYS.find(ordinal), form, found["one"], found["two"])
    return None


def _read_named(form: re.Pattern[str], found: re.Match[str]) -> CalendarDate | None:
    name, small = found["month"].casefold(), found["month"].islower()
    if not (small or found["month"].istitle()):
        return None
    places = {
        months: [month.casefold() for month in months].index(name) + 1
        for months in MONTHS
        if name in (month.casefold() for month in months)
    }
    month = next(iter(places.values()), 0)  # no name is of two months
    ordinal = _find_ordinal(found["year"], month, found["day"])
    suffix = found["suffix"] or ""
    if ordinal is None or (suffix and suffix != find_suffix(int(found["day"]))):
        return None
    one, two = found["one"], found["two"].removeprefix(".")  # only a short name has a point
    if form is _NAMED[1]:
        one, two = " ", found["two"]
    if one.startswith("."):
        months = GERMAN
    elif "de" in one + two or (small and SPANISH in places):
        months = SPANISH
    else:
        months = FRENCH if small and FRENCH in places else ENGLISH
    place = DAYS.find(ordinal)
    return CalendarDate(DAYS, place, form, one, two, months, small, suffix=bool(suffix))


def _find_ordinal(year: str, month: str | int, day: str) -> int | None:
    try:
        return date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None


def find_suffix(day: int) -> str:
    """Return the ending of an English ordinal."""
    return "th" if 10 < day % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
