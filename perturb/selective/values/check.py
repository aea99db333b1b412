"""Check values from the raw and the released text alone."""

from __future__ import annotations

from perturb.errors import ReleaseError
from perturb.selective.values.calendar import CalendarDate
from perturb.selective.values.numerals import Numeral
from perturb.selective.values.part import find_keep_rate

__all__ = ["ValueCheck"]


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
