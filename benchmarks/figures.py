"""The figures of a report, as PNG files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.datasets import DataError
from benchmarks.frontier import Point, curves, pooled, select
from benchmarks.records import Estimate, Record

__all__ = ["draw_all"]

PROVED, UNPROVED = "-", "--"


def draw_all(records: Sequence[Record], folder: Path) -> dict[str, Path]:
    """Draw what the records hold; return the files by name.

    Raises:
        DataError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataError("figures need matplotlib: pip install 'inferdpt[bench]'") from None
    out = {}
    for name, draw in (
        ("frontier", _frontier),
        ("averaging", _averaging),
        ("list_sizes", _list_sizes),
    ):
        canvas = Figure(figsize=(10, 4.2), layout="constrained")
        if draw(canvas, records):
            out[name] = folder / f"{name}.png"
            canvas.savefig(out[name], dpi=130)
    return out


def _frontier(canvas: Any, records: Sequence[Record]) -> bool:
    """Utility of the document and of the answer against the strongest attack."""
    found = curves(records)
    if not found:
        return False
    left, right = canvas.subplots(1, 2)
    for label, points in found.items():
        style = UNPROVED if points[0].proved == float("inf") else PROVED
        _curve(left, label, points, [p.document for p in points], style)
        answered = [p for p in points if p.answer is not None]
        if answered:
            _curve(right, label, answered, [p.answer for p in answered if p.answer], style)
    blind = _local(records)
    if blind:
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


def _curve(
    axes: Any, label: str, points: Sequence[Point], utility: Sequence[Estimate], style: str
) -> None:
    x = [100 * p.attack.value for p in points]
    y = [u.value for u in utility]
    errors = [[u.value - u.low for u in utility], [u.high - u.value for u in utility]]
    axes.errorbar(x, y, yerr=errors, marker="o", markersize=4, linestyle=style, label=label)
    for at, value, point in zip(x, y, points, strict=True):
        axes.annotate(f"{point.epsilon:g}", (at, value), (3, 3), textcoords="offset points")


def _local(records: Sequence[Record]) -> Estimate | None:
    alone = [r.values["similarity"] for r in select(records, "utility", arm="local")]
    return pooled(alone, rate=False) if alone else None


def _averaging(canvas: Any, records: Sequence[Record]) -> bool:
    """One release, fifty fresh ones, and fifty retries through the proxy, side by side."""
    found = select(records, "averaging")
    if not found:
        return False
    canvas.set_size_inches(8, 1.2 + 0.24 * len(found))
    axes = canvas.subplots()
    rows = range(len(found))
    shown = (("fresh_1", "o", "1 release"), ("fresh_50", "D", "50 fresh releases"))
    ends = [[100 * r.values[name].value for name, *_ in shown] for r in found]
    axes.hlines(rows, [min(e) for e in ends], [max(e) for e in ends], color="0.8")
    for at, (_, marker, label) in enumerate(shown):
        axes.plot([e[at] for e in ends], rows, marker, label=label)
    memo = [100 * r.values["memo_50"].value for r in found]
    axes.plot(memo, rows, "x", color="black", label="50 retries through the proxy")
    axes.set_yticks(rows, [f"{r.case['mechanism']} {r.case['epsilon']:g}" for r in found])
    axes.invert_yaxis()
    axes.set(xlabel="words read (%)", xlim=(0, 100), title="Many releases of one text")
    axes.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.08), ncols=3)
    return True


def _list_sizes(canvas: Any, records: Sequence[Record]) -> bool:
    """Distribution of the size of RANTEXT's list (InferDPT, figure 4)."""
    found = select(records, "list_sizes")
    if not found:
        return False
    axes = canvas.subplots()
    for record in found:
        shares = [100 * share for share in record.values["shares"]]
        axes.plot(shares, record.values["levels"], label=f"ε = {record.case['epsilon']:g}")
    axes.set(
        xlabel="words in the list (% of the vocabulary)",
        ylabel="share of lists that are smaller",
        title="rantext: how many words can be released for one",
    )
    axes.legend(frameon=False)
    return True
