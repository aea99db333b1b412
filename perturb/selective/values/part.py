"""Release the value of one part, and check a release."""

from __future__ import annotations

import numpy as np

from perturb.rng import draw_below
from perturb.selective.values.calendar import CalendarDate, read_date
from perturb.selective.values.grid import draw_place, keep_rate
from perturb.selective.values.numerals import GRIDS, Numeral, read_numeral

__all__ = ["VALUES", "draw_value", "find_keep_rate", "read_value"]

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
