"""Draw charts as SVG. Text is escaped by the templates that show them; colours are classes of the
style sheet, since the pages forbid styles of their own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proxy.console.numbers import format_epsilon, format_number

__all__ = ["Bar", "Chart", "draw_stacks"]

WIDE, NARROW = 720, 340  # pixels; the style sheet shows one of them
HEIGHT, TOP, BOTTOM, LEFT = 220, 12, 28, 48
TICKS = 4
LONGEST_GAP = 0.35  # of a column: the space between two


@dataclass(frozen=True)
class Bar:
    """Hold a part of a stack: its rectangle, its series by number, and its title."""

    x: float
    y: float
    width: float
    height: float
    series: int
    title: str


@dataclass(frozen=True)
class Chart:
    """Hold a chart of stacked columns, ready for the template `chart.svg`.

    Attributes:
        ticks: heights of the grid's lines, with their labels.
        labels: places of the columns' labels.
    """

    width: int
    height: int
    bars: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]
    labels: tuple[tuple[float, str], ...]


def draw_stacks(
    columns: Sequence[tuple[str, Mapping[str, float]]], series: Sequence[str]
) -> tuple[Chart, Chart] | None:
    """Draw stacked columns, wide and narrow; None if there is nothing above zero.

    Args:
        columns: each column's label, and its ε (≥ 0) by series.
        series: in the order in which they are stacked.
    """
    highest = max((sum(values.values()) for _, values in columns), default=0.0)
    if highest <= 0:
        return None
    step = _choose_step(highest)
    return _draw(columns, series, step, WIDE), _draw(columns, series, step, NARROW)


def _draw(
    columns: Sequence[tuple[str, Mapping[str, float]]],
    series: Sequence[str],
    step: float,
    width: int,
) -> Chart:
    top = step * TICKS
    room = HEIGHT - TOP - BOTTOM
    each = (width - LEFT) / len(columns)
    wide = min(each * (1 - LONGEST_GAP), 48.0)
    bars, labels = [], []
    every = math.ceil(len(columns) * 64 / (width - LEFT))  # labels of 64 pixels do not overlap
    for i, (label, values) in enumerate(columns):
        x, y = LEFT + each * i + (each - wide) / 2, float(HEIGHT - BOTTOM)
        for number, name in enumerate(series):
            value = values.get(name, 0.0)
            if value <= 0:
                continue
            height = room * value / top
            y -= height
            title = f"{label}: {name} {format_epsilon(value)}"
            bars.append(
                Bar(round(x, 2), round(y, 2), round(wide, 2), round(height, 2), number, title)
            )
        if (len(columns) - 1 - i) % every == 0:
            labels.append((round(x + wide / 2, 2), label))
    ticks = [
        (round(TOP + room * (1 - n / TICKS), 2), format_number(step * n)) for n in range(TICKS + 1)
    ]
    return Chart(width, HEIGHT, tuple(bars), tuple(ticks), tuple(labels))


def _choose_step(highest: float) -> float:
    """Return a round step between grid lines: 1, 2, 2.5 or 5 times a power of ten."""
    rough = highest / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if rough <= power * factor)
