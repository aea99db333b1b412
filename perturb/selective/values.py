"""Release numbers and dates that carry a value near their value, in their own format.

A place is drawn near the private one on a public grid, exactly: P(s | x) ∝ e^(−ε·|x − s|/2). Two
places at a distance of d have laws that differ by a factor of at most e^(ε·d): metric differential
privacy. The sampler uses uniform integers only and rounds nothing
(`perturb.whole.discrete_laplace`).

Dates have the order and the signs of their part. What else a format could tell of the date is
written by one rule: in figures, days and months have two digits; beside a name, a day has no zero.
The language of a month's name follows from the signs (`12. ` is German, `de` Spanish), or where
they do not tell, from small letters; else the names are English, and written out (`May` is short
and long, `April` English and German).

Amounts, percentages, measures, durations and ages have the unit and the number of decimals of
their part. Thousands have no mark, and a unit is singular or plural by the number that was drawn.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ReleaseError
from perturb.rng import draw_below
from perturb.selective.patterns.amounts import UNITS
from perturb.selective.patterns.dates import SPANS
from perturb.selective.patterns.shape import words_of
from perturb.text.fold import match_case
from perturb.whole.discrete_laplace import draw_discrete_laplace, happens

__all__ = [
    "AGES",
    "DAYS",
    "ENGLISH",
    "FRENCH",
    "GERMAN",
    "MAGNITUDES",
    "MONTHS",
    "PERCENT",
    "SPANISH",
    "VALUES",
    "YEARS",
    "CalendarDate",
    "Numeral",
    "ValueCheck",
    "ValueGrid",
    "draw_place",
    "draw_value",
    "find_day_first",
    "find_keep_rate",
    "find_suffix",
    "keep_rate",
    "law",
    "read_date",
    "read_numeral",
    "read_value",
]

FIRST_DAY, LAST_DAY = 693_596, 767_009  # 1 January 1900 to 31 December 2100, as date.toordinal
# The preferred numbers of ISO 3, series R20: twenty steps of about 12 % to each power of ten.
_R20 = (
    *(100, 112, 125, 140, 160, 180, 200, 224, 250, 280),
    *(315, 355, 400, 450, 500, 560, 630, 710, 800, 900),
)


@dataclass(frozen=True)
class ValueGrid:
    """The public values of a type, in rising order.

    Attributes:
        name: what it holds, for the receipt.
        values: a range, or whole numbers.
    """

    name: str
    values: Sequence[int]

    def find(self, value: int) -> int:
        """Return the place of the value nearest to a number; of two, the smaller.

        >>> MAGNITUDES.values[MAGNITUDES.find(1300)], AGES.find(500)
        (1250, 120)
        """
        after = bisect_left(self.values, value)
        near = [i for i in (after - 1, after) if 0 <= i < len(self.values)]
        return min(near, key=lambda i: (abs(self.values[i] - value), i))


AGES = ValueGrid("years from 0 to 120", range(121))
PERCENT = ValueGrid("whole per cent from 0 to 100", range(101))
YEARS = ValueGrid("years from 1900 to 2100", range(1900, 2101))
DAYS = ValueGrid("days from 1900 to 2100", range(FIRST_DAY, LAST_DAY + 1))
MAGNITUDES = ValueGrid(
    "0 and the preferred numbers of ISO 3 (R20) up to 9·10^12",
    tuple(sorted({0, *(m * 10**k // 100 for k in range(13) for m in _R20)})),
)


def draw_place(place: int, size: int, epsilon: float, rng: np.random.Generator) -> int:
    """Return one place s of the grid with P(s) ∝ e^(−ε·|place − s|/2).

    >>> from perturb import seeded_generator
    >>> draw_place(60, 121, 0.5, seeded_generator(1)) in range(121)
    True

    Args:
        place: the private one, from 0 to `size` − 1.
        epsilon: ε > 0, taken as the fraction that it is.
    """
    scale = 2 / Fraction(epsilon)
    while True:
        if scale < size:
            drawn = place + draw_discrete_laplace(scale, rng)
            if 0 <= drawn < size:
                return drawn
        else:  # nearly flat: the noise would seldom stay on the grid
            drawn = draw_below(size, rng)
            share = abs(drawn - place) / scale
            if happens(share.numerator, share.denominator, rng):
                return drawn


def law(place: int, size: int, epsilon: float) -> NDArray[np.float64]:
    """Return the law of `draw_place`, float64 (size,)."""
    weights = np.exp(-epsilon / 2 * np.abs(np.arange(size) - place))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def keep_rate(place: int, size: int, epsilon: float) -> float:
    """Return an upper bound on the chance that a place stays."""
    ratio = math.exp(-epsilon / 2)
    if ratio == 1.0:
        return 1.0
    below, above = place, size - 1 - place
    sides = sum(ratio * (1 - ratio**n) / (1 - ratio) for n in (below, above))
    return min(1.0, (1 + 1e-9) / (1 + sides))


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
_MONTH_WORD = re.compile(r"[^\W\d_]+")
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
            words.update(_MONTH_WORD.findall(text.lower()))
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


GRIDS = {
    "AGE": AGES,
    "DURATION": MAGNITUDES,
    "MONEY": MAGNITUDES,
    "PERCENTAGE": PERCENT,
    "QUANTITY": MAGNITUDES,
}
_SIGN = r"[$€£¥₤₺₽₹₩₪]"
# Around the number stand only words and signs of a public list: they are released.
_PART = re.compile(
    rf"(?P<head>(?:{_SIGN}|{UNITS})? ?)"
    r"(?P<whole>\d{1,3}(?:(?P<mark>[ ,.'’])\d{3})(?:(?P=mark)\d{3}){0,30}|\d{1,13})"
    r"(?P<point>[.,](?=\d))?(?P<decimals>(?<=[.,])\d{1,9})?"
    rf"(?P<tail>(?:[ -]?(?:%|‰|{_SIGN}|{UNITS}|{SPANS})){{0,3}})",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"([0-9]{1,14})(?:[.,]([0-9]+))?")

# The singular, and every form that is read as its plural, of which the first is written. Units
# that are missing here are written alike for all numbers.
_PLURALS = """
year years / month months / week weeks / fortnight fortnights / day days / hour hours
minute minutes minuten / jahr jahre jahren / monat monate monaten / woche wochen / tag tage tagen
stunde stunden / année années / an ans / semaine semaines / jour jours / heure heures / año años
mes meses / semana semanas / día días / hora horas / minuto minutos
dollar dollars / euro euros / pound pounds / franc francs / rouble roubles / ruble rubles
rupee rupees / krona kronor / krone kroner kronen / koruna korunas / crown crowns / zloty zlotys
złoty złotys / forint forints / lira lire liras / hryvnia hryvnias / peseta pesetas / peso pesos
dinar dinars / dirham dirhams / drachma drachmas / guilder guilders / schilling schillings
shekel shekels / cent cents / livre livres / couronne couronnes / dólar dólares
libra libras / corona coronas / kilometre kilometres / kilometer kilometers / metre metres
meter meters / centimetre centimetres / centimeter centimeters / millimetre millimetres
mile miles / yard yards / foot feet / inch inches / kilogram kilograms / kilo kilos / gram grams
tonne tonnes / ton tons / litre litres / liter liters / hectare hectares / acre acres
million million millions millionen
"""
_PAIRS = [(one, many) for one, *many in map(str.split, re.split("[/\n]", _PLURALS.strip()))]
_SINGULAR = {form: one for one, many in _PAIRS for form in (one, *many)}
_PLURAL = {one: many[0] for one, many in _PAIRS}
_SCALE = re.compile("thousand|[mbt]illion|milliard", re.IGNORECASE)
_WORD = re.compile(r"(?<!per )(?<!pour )(-?)([^\W\d_]+)", re.IGNORECASE)  # no `per cents`


def _agree(unit: str, *, single: bool) -> str:
    """Write the words of a unit for one, or for another number: the same for every number that
    may have stood there. After a hyphen, they are singular (`a 2-year lease`), after a scale
    plural (`1 million euros`)."""
    single = single and not _SCALE.search(unit)

    def write(found: re.Match[str]) -> str:
        hyphen, word = found.groups()
        one = _SINGULAR.get(word.lower())
        if one is None:
            return found[0]
        return hyphen + match_case(one if single or hyphen else _PLURAL[one], word)

    return _WORD.sub(write, unit)


@dataclass(frozen=True)
class Numeral:
    """A number and its format.

    Attributes:
        grid: of its values.
        place: its place on the grid.
        head, tail: the sign or the unit around it.
        point: the decimal mark; "" without one.
        fresh: the number of digits after it, which are drawn anew.
    """

    grid: ValueGrid
    place: int
    head: str
    tail: str
    point: str
    fresh: int

    @property
    def key(self) -> str:
        """Return the value by which it is drawn: equal in every format."""
        return f"{self.grid.name} {self.place}"

    def write(self, place: int, decimals: str) -> str:
        """Return another value in this format.

        Args:
            place: on the grid.
            decimals: the digits after the decimal mark.
        """
        value = self.grid.values[place]
        single = value == 1 and not decimals
        head, tail = _agree(self.head, single=single), _agree(self.tail, single=single)
        return f"{head}{value}{self.point}{decimals}{tail}"

    def read(self, text: str) -> tuple[int, str] | None:
        """Return the place and the decimals of another value in this format; None for what is
        none."""
        heads = (_agree(self.head, single=single) for single in (False, True))
        head = next((head for head in heads if text.startswith(head)), None)
        found = None if head is None else _NUMBER.match(text, len(head))
        if found is None or len(decimals := found[2] or "") != self.fresh:
            return None
        place = self.grid.find(int(found[1]))
        return (place, decimals) if self.write(place, decimals) == text else None


def read_numeral(type_: str, text: str) -> Numeral | None:
    """Return the number of a part and its format; None if it is not one number in figures.

    >>> read_numeral("MONEY", "€ 1,300.50").key
    '0 and the preferred numbers of ISO 3 (R20) up to 9·10^12 52'
    """
    grid = GRIDS.get(type_)
    found = _PART.fullmatch(text) if grid and text.isascii() | (not text.isalpha()) else None
    if not (grid and found) or not re.fullmatch(r"[0-9 ,.'’]+", found["whole"]):
        return None
    mark, decimals = found["mark"] or "", found["decimals"] or ""
    digits = found["whole"].replace(mark, "") if mark else found["whole"]
    if bool(found["point"]) != bool(decimals) or not (decimals or "0").isascii():
        return None
    place = grid.find(int(digits))
    return Numeral(grid, place, found["head"], found["tail"], found["point"] or "", len(decimals))


VALUES = frozenset((*GRIDS, "DATE_TIME"))  # the types of parts that may carry a value


def read_value(
    type_: str, text: str, day_first: bool | None = None
) -> Numeral | CalendarDate | None:
    """Return the value of a part and its format; None if there is none in figures.

    Args:
        day_first: the order of day and month, as for `read_date`.
    """
    return read_date(text, day_first) if type_ == "DATE_TIME" else read_numeral(type_, text)


def draw_value(
    value: Numeral | CalendarDate, epsilon: float, rng: np.random.Generator
) -> tuple[int, str]:
    """Return the place of a release on the grid, and the digits after its decimal mark, which are
    uniform."""
    place = draw_place(value.place, len(value.grid.values), epsilon, rng)
    return place, "".join(str(draw_below(10, rng)) for _ in range(value.fresh))


def find_keep_rate(value: Numeral | CalendarDate, epsilon: float) -> float:
    """Return an upper bound on the chance that a value stays at its place."""
    return keep_rate(value.place, len(value.grid.values), epsilon)


class ValueCheck:
    """Check the values of one text: on their grid, in the format of their part, and equal for
    equal values.

    Args:
        epsilon: of one step of a grid.
        consistent: whether equal values have one release.

    Attributes:
        kept, rates: how many values are at their own place, and the chance of each.
    """

    def __init__(self, epsilon: float, *, consistent: bool) -> None:
        self._epsilon, self._consistent = epsilon, consistent
        self._places: dict[tuple[str, str], int] = {}
        self._decimals: dict[tuple[str, str, int], str] = {}
        self.kept = 0
        self.rates: list[float] = []

    def check(self, type_: str, value: Numeral | CalendarDate, new: str) -> None:
        """Check the release of a value.

        Raises:
            ReleaseError: it breaks a rule.
        """
        drawn = value.read(new)
        if drawn is None:
            raise ReleaseError("a value differs in form from its part")
        place, decimals = drawn
        key = (type_, value.key)
        if self._consistent:
            known = key in self._places
            places = self._places.setdefault(key, place)
            digits = self._decimals.setdefault((*key, value.fresh), decimals)
            if (places, digits) != drawn:
                raise ReleaseError("equal marked parts have different replacements")
            if known:
                return
        self.kept += place == value.place
        self.rates.append(find_keep_rate(value, self._epsilon))
