"""Derive advice from a run's records: the mechanism and the ε to choose."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.attacks.bayes import Bayes
from benchmarks.harness.markdown import format_figure, format_percent, format_table
from benchmarks.harness.records import Record
from benchmarks.report.frontier import Point, interpolate, make_curves
from benchmarks.report.opening import Gain, find_gains, group_curves
from benchmarks.utility.answers import Lift

__all__ = ["render_advice"]

LEVELS = (0.05, 0.10, 0.20, 0.40)  # of the strongest attack


def render_advice(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    """Yield the page's first sections: the advice, and the frontier on which it rests."""
    found, gains = make_curves(records), group_curves(find_gains(records))
    mode = [_render_mode(gains)] if gains else list(Lift.render_advice(records))
    if not found and not mode:
        return
    yield "## Choice of mechanism and ε"
    yield from mode
    if found:
        yield _render_choice(records, found)
    if "frontier" in figures:
        yield (
            "## The frontier\n\nThe nominal ε of two mechanisms cannot be compared; the success "
            "of an attacker can.\n\n"
            f"![utility against the strongest attack]({figures['frontier']})"
        )
    if found:
        yield _render_at_attack(found)
        yield _render_at_proof(found)


def _render_mode(curves: dict[str, list[Gain]]) -> str:
    rows = []
    for gains in curves.values():
        best = next((gain for gain in gains if gain.lift.low > 0), None)
        mode = "`local_only`" if best is None else f"`{best.mechanism}` at ε = {best.epsilon:g}"
        rows.append([gains[0].remote, f"`{gains[0].mechanism}`", mode, *_describe(best, gains)])
    head = ["remote", "mechanism", "mode", "gain", "proved ε of the text", "documents named, %"]
    worse = [g for gains in curves.values() for g in gains if g.lift.high < 0]
    text = (
        "**Which mode?** For each remote and mechanism, the smallest ε at which the answer is "
        "shown to be nearer to the truth than the local model's own, that is, at which the 95 % "
        "interval of the gain lies above zero. Where there is none, `local_only` is as good and "
        "reveals nothing; the row then has the largest gain that was measured.\n\n"
        + format_table(head, rows)
    )
    if worse:
        shown = "; ".join(
            f"{g.curve} at {g.epsilon:g}: {format_figure(g.lift, sign=True)}" for g in worse
        )
        text += f"\n\nShown to be worse than the local model alone: {shown}."
    return text


def _describe(best: Gain | None, gains: Sequence[Gain]) -> list[str]:
    gain = best or max(gains, key=lambda gain: gain.lift.value)
    return [
        format_figure(gain.lift, sign=True) + ("" if best else f" at ε = {gain.epsilon:g}"),
        "none" if gain.proved is None else f"{gain.proved:.3g}",
        "" if gain.named is None else format_percent(gain.named),
    ]


def _render_choice(records: Sequence[Record], found: dict[str, list[Point]]) -> str:
    read = Bayes.read_blind_success(records)
    text = (
        "The more words an attacker may read, the more of the document's meaning reaches the "
        "remote. For each level of risk, the table names the mechanism that keeps the most "
        "meaning (the similarity of the document and the perturbed one) and its ε, interpolated "
        "linearly between measurements. A blind guess, which names the most frequent word "
        f"everywhere, reads {100 * read:.1f} % of these texts.\n\n"
    )
    rows = []
    for level in LEVELS:
        cells = [f"{100 * level:g} %"]
        for kind in (True, False):
            best = max(
                (
                    (*at, label)
                    for label, points in found.items()
                    if not kind or math.isfinite(points[0].proved)
                    if (at := interpolate(points, level))
                ),
                default=None,
            )
            cells.append(
                f"`{best[2]}` at ε ≈ {best[1]:.1f} (similarity {best[0]:.2f})" if best else "none"
            )
        rows.append(cells)
    head = ["words an attacker may read", "best with a proof", "best of all"]
    return text + format_table(head, rows)


def _render_at_attack(found: dict[str, list[Point]]) -> str:
    rows = []
    for label, points in found.items():
        cells = [f"`{label}`"]
        for level in LEVELS:
            at = interpolate(points, level)
            cells.append(f"{at[0]:.2f} (ε ≈ {at[1]:.1f})" if at else "not reached")
        rows.append(cells)
    head = ["similarity at equal success", *(f"{100 * level:g} % read" for level in LEVELS)]
    return format_table(head, rows)


def _render_at_proof(found: dict[str, list[Point]]) -> str:
    rows = [
        [
            f"{point.proved:.3g}",
            f"`{label}` {point.epsilon:g}",
            format_figure(point.document),
            f"{100 * point.attack.value:.1f} % ({point.attacker})",
        ]
        for label, points in found.items()
        for point in points
        if math.isfinite(point.proved)
    ]
    rows.sort(key=lambda row: float(row[0]))
    head = ["proved ε per token", "mechanism and its ε", "similarity", "strongest attack"]
    return "At equal proved ε (mechanisms without a proof are left out):\n\n" + format_table(
        head, rows
    )
