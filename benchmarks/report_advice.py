"""Which mechanism, which ε? Answered from a run's records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.frontier import Point, curves, matched, select
from benchmarks.markdown import figure, table
from benchmarks.records import Record

__all__ = ["advice"]

LEVELS = (0.05, 0.10, 0.20, 0.40)  # of the strongest attack


def advice(records: Sequence[Record], figures: dict[str, str]) -> Iterable[str]:
    """The page's first sections: what to pick, and the frontier it follows from."""
    found = curves(records)
    lift = select(records, "lift", arm="pipeline", minus="local")
    if not found and not lift:
        return
    yield "## Which mechanism, which ε?"
    if found:
        yield _pick(records, found)
    if lift:
        yield _worth(lift)
    if "frontier" in figures:
        yield (
            "## The frontier\n\nEqual ε of two mechanisms means nothing; equal success of an "
            "attacker does.\n\n"
            f"![utility against the strongest attack]({figures['frontier']})"
        )
    if found:
        yield _at_attack(found)
        yield _at_proof(found)


def _pick(records: Sequence[Record], found: dict[str, list[Point]]) -> str:
    lines = [
        "The more of your words an attacker may read, the more of the document's meaning the "
        "remote gets. Say how much you can bear; the table names what then keeps most of the "
        "meaning (the similarity of the document and the perturbed one), and the ε, on straight "
        "lines between what was measured. " + _blind(records),
        "",
        "",
    ]
    rows = []
    for level in LEVELS:
        cells = [f"{100 * level:g} %"]
        for kind in (True, False):
            best = max(
                (
                    (*at, label)
                    for label, points in found.items()
                    if not kind or math.isfinite(points[0].proved)
                    if (at := matched(points, level))
                ),
                default=None,
            )
            cells.append(
                f"`{best[2]}` at ε ≈ {best[1]:.1f} (similarity {best[0]:.2f})" if best else "none"
            )
        rows.append(cells)
    head = ["words an attacker may read", "best with a proof", "best of all"]
    return "\n".join(lines) + table(head, rows)


def _blind(records: Sequence[Record]) -> str:
    """What an attacker reads who looks at nothing, over all sets."""
    sets = {r.case["dataset"]: r.values for r in select(records, "bayes")}
    words = sum(v["success"].n for v in sets.values())
    read = sum(v["success"].n * v["success_blind"] for v in sets.values()) / words
    return (
        "Without looking at anything, naming the most frequent word everywhere reads "
        f"{100 * read:.1f} % of these texts."
    )


def _worth(lift: Sequence[Record]) -> str:
    """Whether the remote is worth asking, by the models of this run."""
    helps = []
    for record in lift:
        gain = record.values["similarity"]
        said = (
            f"`{record.case['mechanism']}` {record.case['epsilon']:g} on "
            f"{record.case['dataset']}: {figure(gain, 3, sign=True)}"
        )
        if gain.low > 0:
            helps.append(said)
    if not helps:
        return (
            "**Is the remote worth asking at all?** With the models of this run it was shown in "
            f"none of {len(lift)} cases that the answer comes closer to the reference than the "
            "local model's own: every interval of the difference holds zero, or lies below. With "
            "models like these the answer is `local_only`, which leaks nothing."
        )
    return (
        f"**Is the remote worth asking at all?** In {len(helps)} of {len(lift)} cases the answer "
        "came closer to the reference than the local model's own: "
        + "; ".join(helps)
        + ". Everywhere else the answer is `local_only`, which leaks nothing."
    )


def _at_attack(found: dict[str, list[Point]]) -> str:
    rows = []
    for label, points in found.items():
        cells = [f"`{label}`"]
        for level in LEVELS:
            at = matched(points, level)
            cells.append(f"{at[0]:.2f} (ε ≈ {at[1]:.1f})" if at else "not reached")
        rows.append(cells)
    head = ["similarity at equal success", *(f"{100 * level:g} % read" for level in LEVELS)]
    return table(head, rows)


def _at_proof(found: dict[str, list[Point]]) -> str:
    rows = [
        [
            f"{point.proved:.3g}",
            f"`{label}` {point.epsilon:g}",
            figure(point.document),
            f"{100 * point.attack.value:.1f} % ({point.attacker})",
        ]
        for label, points in found.items()
        for point in points
        if math.isfinite(point.proved)
    ]
    rows.sort(key=lambda row: float(row[0]))
    head = ["proved ε per token", "mechanism and its ε", "similarity", "strongest attack"]
    return "At equal proved ε; mechanisms of which nothing is proved are missing:\n\n" + table(
        head, rows
    )
