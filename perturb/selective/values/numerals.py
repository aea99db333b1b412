"""Read and write amounts, percentages, measures, durations and ages.

A release has the unit and the number of decimals of its part. What else a format could tell of the
number is written by one rule: thousands have no mark, and a unit is singular or plural by the
number that was drawn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from perturb.selective.patterns.amounts import UNITS
from perturb.selective.patterns.dates import SPANS
from perturb.selective.values.grid import AGES, MAGNITUDES, PERCENT, ValueGrid
from perturb.text.fold import match_case

__all__ = ["Numeral", "read_numeral"]

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
