"""Read and write amounts, percentages, measures, durations and ages in their own format."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perturb.selective.patterns.amounts import UNITS
from perturb.selective.patterns.dates import SPANS
from perturb.selective.values.grid import AGES, MAGNITUDES, PERCENT, Grid

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


@dataclass(frozen=True)
class Numeral:
    """Hold a number and its format.

    Attributes:
        grid: of its values.
        place: its place on the grid.
        head, tail: the sign or the unit around it.
        mark: between groups of three digits.
        point: the decimal mark; "" without one.
        fresh: the number of digits after it, which are drawn anew.
    """

    grid: Grid
    place: int
    head: str
    tail: str
    mark: str
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
        whole = f"{value:,}".replace(",", self.mark) if self.mark else str(value)
        return f"{self.head}{whole}{self.point}{decimals}{self.tail}"

    def read(self, text: str) -> tuple[int, str] | None:
        """Return the place and the decimals of another value in this format; None for what is
        none."""
        if not (text.startswith(self.head) and text.endswith(self.tail)):
            return None
        inner = text[len(self.head) : len(text) - len(self.tail) or None]
        end = len(inner) - self.fresh
        whole, decimals = inner[:end].removesuffix(self.point), inner[end:]
        digits = whole.replace(self.mark, "") if self.mark else whole
        if not (digits.isascii() and digits.isdigit() and len(digits) < 15):
            return None
        if decimals and not (decimals.isascii() and decimals.isdigit()):
            return None
        place = self.grid.find(int(digits))
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
    return Numeral(
        grid, place, found["head"], found["tail"], mark, found["point"] or "", len(decimals)
    )
