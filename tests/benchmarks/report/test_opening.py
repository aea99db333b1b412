"""The opening figure and the advice that follows from it, from records made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.harness.records import Estimate, Record
from benchmarks.report.advice import render_advice
from benchmarks.report.opening import draw_opening, find_gains, group_curves, render_opening

SETS = ("a", "b")


def record(experiment: str, case: dict[str, Any], **values: Any) -> Record:
    return Record(experiment, case, values, (), 1, "suite", "data", "commit", 0.5)


def lift(value: float) -> Estimate:
    return Estimate(value, value - 0.02, value + 0.02, 100)


def worth(remote: str, mechanism: str, epsilon: float, value: float, **more: str) -> list[Record]:
    case = {"remote": remote, "mechanism": mechanism, "epsilon": epsilon, **more}
    return [record("worth", {**case, "dataset": d}, lift_two=lift(value)) for d in SETS]


def exposed(label: str, epsilon: float, proved: float | None, named: float) -> list[Record]:
    case = {"mechanism": label, "epsilon": epsilon}
    exact = None if proved is None else named
    unit = "document" if label.startswith("surrogate") else "token"
    found = record(
        "which_document", case, success=lift(named), exact=exact, unit=unit, epsilon=proved
    )
    return [found, *(record("released", {**case, "dataset": d}, epsilon=proved) for d in SETS)]


RECORDS = [
    *worth("covering", "surrogate", 8.0, 0.01, encoder="bundled"),
    *worth("covering", "surrogate", 12.0, 0.05, encoder="bundled"),
    *worth("covering", "surrogate", 16.0, 0.09, encoder="bundled"),
    *worth("bundled", "rantext", 6.0, -0.07),
    *worth("knowing", "rantext", 6.0, 0.0),
    *(record("worth", {"remote": "truth", "dataset": d}, lift_two=lift(0.2)) for d in SETS),
    *exposed("surrogate corpus", 8.0, 8.0, 0.2),
    *exposed("surrogate corpus", 12.0, 12.0, 0.7),
    *exposed("rantext", 6.0, None, 0.6),
]


def test_gains_are_pooled_over_sets_and_know_what_they_reveal():
    curves = group_curves(find_gains(RECORDS))
    assert [len(gains) for gains in curves.values()] == [1, 1, 3]
    near = curves["surrogate, remote knows the subject"]
    assert [gain.epsilon for gain in near] == [8, 12, 16]
    assert [gain.proved for gain in near] == [8, 12, None]
    assert near[1].named == Estimate.exact(0.7, 100)
    assert near[2].named is None  # not measured
    assert near[1].lift.value == pytest.approx(0.05)
    assert near[1].lift.high - 0.05 == pytest.approx(0.02 / 2**0.5)
    [words] = curves["rantext, remote is the bundled model"]
    assert (words.proved, words.named) == (None, lift(0.6))


def test_the_proof_of_a_text_is_known_without_what_leaves():
    """And that of words is not: it depends on how many there are."""
    words = exposed("rantext_ldp", 6.0, 120.0, 0.8) + worth("knowing", "rantext_ldp", 6.0, 0.0)
    for records, proved in ((RECORDS, [8, 12]), (words, [])):
        some = [r for r in records if r.experiment != "released"]
        assert [g.proved for g in find_gains(some) if g.proved is not None] == proved
    assert [gain.proved for gain in find_gains(words)] == [120]


def test_the_advice_is_the_smallest_epsilon_that_helps_and_local_only_elsewhere():
    text = "\n".join(render_advice(RECORDS, {}))
    assert text.startswith("## Choice of mechanism and ε\n**Which mode?**")
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert "| knows the subject | `surrogate` | `surrogate` at ε = 12 | +0.050" in rows[-1]
    assert "| 12 | 70.0 |" in rows[-1]
    assert [row.count("`local_only`") for row in rows] == [1, 1, 0]
    assert "Shown to be worse than the local model alone: rantext, remote is the bundled" in text


def test_where_nothing_helps_every_row_says_local_only():
    """Negative control."""
    poor = [*worth("knowing", "surrogate", 8.0, 0.0), *worth("bundled", "surrogate", 8.0, 0.01)]
    text = "\n".join(render_advice(poor, {}))
    assert text.count("| `local_only` |") == 2
    assert "Shown to be worse" not in text


def test_the_figure_has_a_curve_for_each_mechanism_and_remote():
    matplotlib = pytest.importorskip("matplotlib.figure")
    canvas = matplotlib.Figure(figsize=(10, 4.2), layout="constrained")
    assert draw_opening(canvas, RECORDS)
    left, right = canvas.axes
    assert len(left.containers) == 1  # of the proved
    assert len(right.containers) == 3
    assert left.containers[0].lines[0].get_xdata().tolist() == [8, 12]
    assert right.containers[-1].lines[0].get_xdata().tolist() == [20, 70]
    assert not draw_opening(matplotlib.Figure(), [])
    [opening] = render_opening(RECORDS, {"opening": "opening.png"})
    assert "![gain over the local model alone](opening.png)" in opening
    assert list(render_opening([], {})) == []
