"""Write proved bounds in few digits, rounded to the side on which they still hold."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

__all__ = ["format_lower", "format_sum", "format_upper"]


def format_upper(bound: float, digits: int = 6) -> str:
    """Return an upper bound, such as ε or δ, in so many significant digits, rounded up.

    >>> format_upper(1.55611, 4), format_upper(6.0000049), format_upper(6.0)
    ('1.557', '6.00001', '6')
    """
    return _format(bound, digits, ROUND_CEILING)


def format_lower(bound: float, digits: int = 6) -> str:
    """Return a lower bound, such as an ε that is refuted, rounded down.

    >>> format_lower(1.5569, 4)
    '1.556'
    """
    return _format(bound, digits, ROUND_FLOOR)


def format_sum(bound: float, digits: int = 6) -> str:
    """Return a sum of upper bounds as `format_upper` does. A sum of doubles is right in 12 digits
    of each of its parts: further ones are no part of it.

    >>> format_sum(0.1 + 0.2), format_sum(1.55611, 4)
    ('0.3', '1.557')
    """
    return format_upper(float(f"{bound:.12g}"), digits)


# A double is written in full as the shortest decimal that reads as it: 0.1 is 0.1.
def _format(bound: float, digits: int, rounding: str) -> str:
    if not math.isfinite(bound):
        return f"{bound:g}"
    rounded = Context(prec=digits, rounding=rounding).create_decimal(repr(bound))
    # `g` drops zeros at the end, and the decimal has no more digits than it writes.
    return format(float(rounded), f".{digits}g")
