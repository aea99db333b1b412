"""Format figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.harness.records import Case, Estimate
from perturb.release import format_upper

__all__ = [
    "escape",
    "format_bound",
    "format_figure",
    "format_number",
    "format_percent",
    "format_point",
    "format_table",
]

ESCAPED = r"\`*_{}[]<>#|"


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_figure(
    estimate: Estimate, digits: int = 3, *, sign: bool = False, scale: float = 1
) -> str:
    """Return a figure with its interval; a figure that is computed has none."""
    plus = "+" if sign else ""
    value, low, high = (
        f"{scale * x:{plus}.{digits}f}" for x in (estimate.value, estimate.low, estimate.high)
    )
    return value if low == high else f"{value} ({low} to {high})"


def format_percent(estimate: Estimate) -> str:
    """Return a rate as a percentage with its interval."""
    return format_figure(estimate, 1, scale=100)


def format_number(value: object) -> str:
    """Return a plain number in four digits, `infinity` as ∞, and anything else as it is."""
    if value == "infinity":
        return "∞"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def format_bound(bound: float, scale: float = 100) -> str:
    """Return a bound on a rate, as a percentage; one that allows every success is no bound."""
    return format_upper(scale * bound, 3) if bound < 1 else "no bound"


def format_point(case: Case) -> list[str]:
    """Return the two cells that name a case's mechanism and its ε."""
    return [f"`{case['mechanism']}`", f"{case['epsilon']:g}"]


def escape(text: str) -> str:
    """Return a text on one line, with nothing in it that Markdown would interpret."""
    return "".join("\\" + c if c in ESCAPED else c for c in " ".join(text.split()))
