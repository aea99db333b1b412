"""Goals are judged by ratios within a round."""

from __future__ import annotations

import pytest

from benchmarks.load.figures import GOALS, Figures, Verdict
from benchmarks.load.wrk import Case
from tests.benchmarks.load.rows import record, row

OURS = "inferdpt rantext_ldp"
RATE, STREAMED, P50, MEMORY, READY, KEPT, BAD, CPU = GOALS


def _pair(field: str, ours: float, base: float, **case: int) -> Figures:
    return Figures(
        record(row(OURS, **case, **{field: ours}), row("LiteLLM", **case, **{field: base}))
    )


@pytest.mark.parametrize(
    ("goal", "field", "connections", "good", "bad"),
    [
        (RATE, "requests_per_second", 16, 500.0, 499.0),
        (P50, "p50_ms", 1, 40.0, 41.0),
        (MEMORY, "rss_mb", 16, 50.0, 51.0),
        (READY, "ready_seconds", 16, 20.0, 21.0),
    ],
)
def test_ratios_to_the_other_gateway(goal, field, connections, good, bad) -> None:
    for value, met in ((good, True), (bad, False)):
        verdict = goal.judge(_pair(field, value, 100.0, connections=connections), OURS)
        assert verdict == Verdict([value / 100], met)


def test_streamed_answers_are_compared_with_streamed_ones() -> None:
    streamed = _pair("requests_per_second", 500.0, 100.0, stream=True)
    assert STREAMED.judge(streamed, OURS) == Verdict([5.0], True)
    assert RATE.judge(streamed, OURS) is None


def test_every_round_must_meet_the_goal() -> None:
    rows = [
        row(name, round=number, requests_per_second=rate)
        for name, rates in ((OURS, (500.0, 600.0, 480.0)), ("LiteLLM", (100.0, 100.0, 100.0)))
        for number, rate in enumerate(rates)
    ]
    verdict = RATE.judge(Figures(record(*rows)), OURS)
    assert verdict == Verdict([5.0, 6.0, 4.8], False)
    assert str(verdict) == "5 (4.8 to 6), not met"


def test_what_was_not_measured_is_not_judged() -> None:
    assert RATE.judge(Figures(record(row(OURS))), OURS) is None


@pytest.mark.parametrize(("rate", "met"), [(95.0, True), (80.0, False)])
def test_throughput_holds_at_64_connections(rate: float, met: bool) -> None:
    rows = (row(OURS), row(OURS, connections=64, requests_per_second=rate))
    assert KEPT.judge(Figures(record(*rows)), OURS) == Verdict([rate / 100], met)


@pytest.mark.parametrize("field", ["late", "wrong", "failed"])
def test_one_bad_answer_misses_the_goal(field: str) -> None:
    clean, spoiled = row(OURS, connections=64), row(OURS, connections=64, **{field: 1})
    assert BAD.judge(Figures(record(clean)), OURS) == Verdict([0.0], True)
    assert BAD.judge(Figures(record(spoiled)), OURS) == Verdict([1.0], False)


def test_no_answer_at_all_is_not_a_clean_record() -> None:
    none = row(OURS, connections=64, requests=0, requests_per_second=0.0, p50_ms=None, cpu_ms=None)
    assert BAD.judge(Figures(record(none)), OURS) == Verdict([64.0], False)


def test_medians_over_rounds() -> None:
    rows = [row(OURS, round=i, p50_ms=value) for i, value in enumerate((3.0, 9.0, 4.0))]
    figures = Figures(record(*rows))
    assert figures.median(OURS, Case(16), "p50_ms") == 4.0
    assert figures.median(OURS, Case(1), "p50_ms") is None
    assert CPU.judge(figures, OURS) == Verdict([9.0, 9.0, 9.0], False)
