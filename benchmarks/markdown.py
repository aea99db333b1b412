"""Figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.records import Estimate

__all__ = ["figure", "inline", "number", "percent", "table"]

ESCAPED = r"\`*_{}[]<>#|"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def figure(estimate: Estimate, digits: int = 3, *, sign: bool = False) -> str:
    """A figure with its interval; without one where it is computed."""
    plus = "+" if sign else ""
    value, low, high = (
        f"{x:{plus}.{digits}f}" for x in (estimate.value, estimate.low, estimate.high)
    )
    return value if low == high else f"{value} ({low} to {high})"


def percent(estimate: Estimate) -> str:
    """A rate in per cent with its interval."""
    value, low, high = (100 * x for x in (estimate.value, estimate.low, estimate.high))
    return figure(Estimate(value, low, high, estimate.n), 1)


def number(value: object) -> str:
    """A plain number in four digits; ∞ as the records spell it; anything else as it is."""
    if value == "infinity":
        return "∞"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def inline(text: str) -> str:
    """Text on one line, and nothing in it read as Markdown."""
    return "".join("\\" + c if c in ESCAPED else c for c in " ".join(text.split()))
