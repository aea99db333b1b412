"""Release the value of one part, and check a release from the raw and the released text alone."""

from __future__ import annotations

import numpy as np

from perturb.errors import ReleaseError
from perturb.rng import draw_below
from perturb.selective.values.calendar import CalendarDate, read_date
from perturb.selective.values.grid import draw_place, keep_rate
from perturb.selective.values.numerals import GRIDS, Numeral, read_numeral

__all__ = ["VALUES", "ValueCheck", "draw_value", "find_keep_rate", "read_value"]


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
