"""The frontier and the figures as Markdown, by hand."""

from __future__ import annotations

import math

import pytest

from benchmarks.harness.markdown import (
    escape,
    format_figure,
    format_number,
    format_percent,
    format_table,
)
from benchmarks.harness.records import Estimate, Record
from benchmarks.report.frontier import (
    Point,
    find_strongest,
    interpolate,
    make_curves,
    pool,
)
from perturb.audit.intervals import clopper_pearson


def record(experiment: str, case: dict[str, object], **values: object) -> Record:
    return Record(experiment, case, values, (), 1, "suite", "data", "commit", 0.5)


def rate(hits: int, n: int) -> Estimate:
    return Estimate(hits / n, *clopper_pearson(hits, n, 0.05), n)


def point(epsilon: float, attack: float, document: float) -> Point:
    exact = Estimate.exact
    return Point(epsilon, epsilon, exact(attack), "bayes", exact(document), None)


def test_matched_lies_on_the_line_between_two_points() -> None:
    points = [point(3, 0.1, 0.2), point(6, 0.3, 0.6), point(9, 0.5, 0.7)]
    assert interpolate(points, 0.2) == pytest.approx((0.4, 4.5))
    assert interpolate(points, 0.3) == pytest.approx((0.6, 6.0))
    assert interpolate(points, 0.09) is None
    assert interpolate(points, 0.51) is None
    assert interpolate(points[:1], 0.1) is None


def test_rates_are_pooled_by_their_hits() -> None:
    assert pool([rate(1, 10), rate(8, 30)], rate=True) == rate(9, 40)


def test_means_are_pooled_by_their_texts_and_errors_by_their_squares() -> None:
    found = pool([Estimate(1.0, 0.7, 1.4, 30), Estimate(3.0, 2.6, 3.3, 10)], rate=False)
    assert found.value == pytest.approx(1.5)
    assert found.low == pytest.approx(1.5 - math.hypot(0.75 * 0.3, 0.25 * 0.4))
    assert found.high == pytest.approx(1.5 + math.hypot(0.75 * 0.4, 0.25 * 0.3))
    assert found.n == 40


def attacked(contextual: int) -> list[Record]:
    case = {"mechanism": "m", "epsilon": 3.0}
    return [
        record("channel", case, epsilon_proved="infinity"),
        *(
            record("similarity", {**case, "dataset": d}, **{"cosine minilm": rate(5, 10)})
            for d in "ab"
        ),
        *(record("inversion", {**case, "dataset": d}, top_1=rate(1, 10)) for d in "ab"),
        *(record("bayes", {**case, "dataset": d}, success=rate(2, 10)) for d in "ab"),
        record(
            "contextual", {**case, "dataset": "a", "model": "bigram"}, success=rate(contextual, 10)
        ),
    ]


def test_the_strongest_attack_is_the_one_that_reads_most() -> None:
    assert find_strongest(attacked(9), "m", 3.0) == ("bigram", rate(9, 10))
    assert find_strongest(attacked(1), "m", 3.0) == ("bayes", rate(4, 20))


def test_a_curve_needs_its_document_and_its_attack() -> None:
    records = attacked(9)
    ((only,),) = make_curves(records).values()
    assert only.proved == math.inf
    assert only.attacker == "bigram"
    assert only.document.value == 0.5
    assert make_curves([r for r in records if r.experiment != "similarity"]) == {}
    assert make_curves([r for r in records if r.experiment != "bayes"]) == {}


def test_markdown() -> None:
    assert format_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert format_figure(Estimate(0.5, 0.25, 0.75, 4), 2) == "0.50 (0.25 to 0.75)"
    assert format_figure(Estimate.exact(0.5), 2, sign=True) == "+0.50"
    assert format_percent(Estimate(0.5, 0.25, 0.75, 4)) == "50.0 (25.0 to 75.0)"
    assert [format_number(x) for x in ("infinity", 0.123456, 3, "x")] == ["∞", "0.1235", "3", "x"]
    assert escape("a\n *b* | c") == r"a \*b\* \| c"
