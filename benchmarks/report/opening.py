"""Open the results: what the remote adds to the local model alone, against what it reveals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.harness.records import Estimate, Record
from benchmarks.report.frontier import pool
from benchmarks.whole.released import Released
from benchmarks.whole.which_document import WhichDocument
from benchmarks.whole.worth import Worth

__all__ = ["Gain", "draw_opening", "find_gains", "group_curves", "render_opening"]

TICKS = (6, 8, 10, 12, 16, 24, 50, 100, 200, 400)


@dataclass(frozen=True)
class Gain:
    """Hold the figures of one mechanism with one remote at one ε, over all sets.

    Attributes:
        mechanism: its label.
        remote: what the remote knows, in a few words.
        epsilon: the nominal ε.
        proved: the ε that is proved for the whole text; None if nothing is.
        named: the share of documents that an attacker names; None if it was not measured.
        lift: similarity of the answer to the truth, minus that of the local model alone with as
            many candidates.
    """

    mechanism: str
    remote: str
    epsilon: float
    proved: float | None
    named: Estimate | None
    lift: Estimate

    @property
    def curve(self) -> str:
        """Return the title of its curve."""
        return f"{self.mechanism}, remote {self.remote}"


def find_gains(records: Sequence[Record]) -> list[Gain]:
    """Return the gains of every mechanism with every remote, in the order of the records."""
    points: dict[tuple[str, str, str, float], list[Estimate]] = {}
    for record in Worth.select(records):
        if point := Worth.read_point(record):
            points.setdefault(point, []).append(Worth.read_lift(record))
    return [
        Gain(
            mechanism,
            remote,
            epsilon,
            Released.read_epsilon(records, exposed, epsilon)
            or WhichDocument.read_epsilon(records, exposed, epsilon),
            WhichDocument.read_named(records, exposed, epsilon),
            pool(lifts, rate=False),
        )
        for (mechanism, remote, exposed, epsilon), lifts in points.items()
    ]


def group_curves(gains: Sequence[Gain]) -> dict[str, list[Gain]]:
    """Return the gains of each curve, by ε."""
    curves: dict[str, list[Gain]] = {}
    for gain in sorted(gains, key=lambda gain: gain.epsilon):
        curves.setdefault(gain.curve, []).append(gain)
    return curves


def draw_opening(canvas: Any, records: Sequence[Record]) -> bool:
    """Draw the gain against the proved ε of the whole text, and against the documents named."""
    curves = group_curves(find_gains(records))
    if not curves:
        return False
    left, right = canvas.subplots(1, 2, sharey=True)
    for number, (title, gains) in enumerate(curves.items()):
        proved = [(g.proved, g) for g in gains if g.proved is not None]
        named = [(100 * g.named.value, g) for g in gains if g.named is not None]
        for axes, points in ((left, proved), (right, named)):
            if points:
                _draw_curve(axes, title, points, f"C{number % 10}")
    for axes in (left, right):
        axes.axhline(0, color="0.3", linewidth=1)
        axes.annotate("local_only", (0.45, 0), (0, 3), ("axes fraction", "data"), "offset points")
    left.set(
        xscale="log", xlabel="proved ε of the whole text", xlim=(TICKS[0] - 1, TICKS[-1] * 1.5)
    )
    left.set_xticks(TICKS, map(str, TICKS))
    left.minorticks_off()
    left.set(ylabel="similarity to the truth − local alone")
    right.set(xlabel="documents named among the candidates (%)", xlim=(0, 104))
    handles = {
        label: handle
        for axes in (left, right)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    canvas.legend(
        handles.values(), handles, loc="outside lower center", ncols=2, frameon=False,
        fontsize="small",
    )  # fmt: skip
    canvas.suptitle("What the remote adds: up is better, left is safer")
    return True


def _draw_curve(axes: Any, title: str, points: Sequence[tuple[float, Gain]], color: str) -> None:
    x = [at for at, _ in points]
    lifts = [gain.lift for _, gain in points]
    errors = [[e.value - e.low for e in lifts], [e.high - e.value for e in lifts]]
    y = [e.value for e in lifts]
    axes.errorbar(x, y, yerr=errors, marker="o", markersize=4, color=color, label=title)
    for at, value, (_, gain) in zip(x, y, points, strict=True):
        axes.annotate(f"{gain.epsilon:g}", (at, value), (3, 3), textcoords="offset points")


def render_opening(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    """Yield the page's first section: the figure of gain and exposure."""
    if "opening" in figures and find_gains(records):
        yield (
            "## What the remote adds, and what it reveals\n\n"
            "Similarity of the final answer to the truth, minus that of the local model alone "
            "with as many candidates, over all sets. Every point is marked with its nominal ε. A "
            "mechanism without a proof for the text is on the right only.\n\n"
            f"![gain over the local model alone]({figures['opening']})"
        )
