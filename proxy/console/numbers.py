"""Write numbers for people, alike on every page of the console."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from perturb.release import format_sum

__all__ = ["format_epsilon", "format_number", "format_percent", "format_time"]


def format_number(value: Any) -> str:
    """Write a number for people: 4 digits that count, ∞ for the infinite."""
    if value is None:
        return "–"
    if value == "infinity" or math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def format_epsilon(value: Any) -> str:
    """Write an ε for people, in 4 digits that count and rounded up: it is a bound."""
    if value is None or value == "infinity" or math.isinf(value):
        return format_number(value)
    shown = format_sum(value, 4)
    return f"{float(shown):,.0f}" if value >= 1000 else shown


def format_percent(value: float) -> str:
    """Write a share.

    >>> format_percent(0.1234)
    '12.3 %'
    """
    return f"{100 * value:.1f} %"


def format_time(seconds: float) -> str:
    """Write a time (seconds since 1970) in UTC, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(" ", "minutes")[:16]
