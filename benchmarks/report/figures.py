"""Draw the figures of a report as PNG files: the frontier, and one per experiment that has one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments import list_experiments
from benchmarks.harness.datasets import DataError
from benchmarks.harness.records import Estimate, Record, select
from benchmarks.report.frontier import Point, make_curves, pool
from benchmarks.report.opening import draw_opening
from benchmarks.utility.answers import Utility
from perturb.install import install_command

__all__ = ["draw_all"]

PROVED, UNPROVED = "-", "--"


def draw_all(records: Sequence[Record], folder: Path) -> dict[str, Path]:
    """Draw what the records hold; return the files: `opening`, `frontier` and, by their names,
    those of experiments.

    Raises:
        DataError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError(f"figures need matplotlib: {install_command('bench')}") from None
    out = {}
    drawings = [("opening", draw_opening, records), ("frontier", _draw_frontier, records)]
    drawings += [(name, e.draw, select(records, name)) for name, e in list_experiments().items()]
    for name, draw, some in drawings:
        canvas = Figure(figsize=(10, 4.2), layout="constrained")
        if draw(canvas, some):
            out[name] = folder / f"{name}.png"
            canvas.savefig(out[name], dpi=130)
    return out


def _draw_frontier(canvas: Any, records: Sequence[Record]) -> bool:
    """Draw the utility of the document and of the answer against the strongest attack."""
    found = make_curves(records)
    if not found:
        return False
    left, right = canvas.subplots(1, 2)
    for label, points in found.items():
        style = UNPROVED if points[0].proved == float("inf") else PROVED
        _draw_curve(left, label, points, [p.document for p in points], style)
        answered = [p for p in points if p.answer is not None]
        if answered:
            _draw_curve(right, label, answered, [p.answer for p in answered if p.answer], style)
    local = Utility.read_similarities(records)
    if local:
        blind = pool(local, rate=False)
        right.axhline(blind.value, color="0.4", linewidth=1, label="local model alone")
        right.axhspan(blind.low, blind.high, color="0.9")
    left.set(ylabel="similarity of document and perturbed document")
    right.set(ylabel="similarity of answer and reference")
    for axes in (left, right):
        axes.set(xlabel="words the strongest attack reads (%)", xlim=(0, None))
        if axes.get_legend_handles_labels()[1]:
            axes.legend(frameon=False, fontsize="small")
    canvas.suptitle("The frontier: up is better, left is safer (dashed: nothing proved)")
    return True


def _draw_curve(
    axes: Any, label: str, points: Sequence[Point], utility: Sequence[Estimate], style: str
) -> None:
    x = [100 * p.attack.value for p in points]
    y = [u.value for u in utility]
    errors = [[u.value - u.low for u in utility], [u.high - u.value for u in utility]]
    axes.errorbar(x, y, yerr=errors, marker="o", markersize=4, linestyle=style, label=label)
    for at, value, point in zip(x, y, points, strict=True):
        axes.annotate(f"{point.epsilon:g}", (at, value), (3, 3), textcoords="offset points")
