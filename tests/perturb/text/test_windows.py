"""A long text is searched window by window, with the results of a search of the whole."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perturb import PerturbError
from perturb.errors import OutOfTime
from perturb.selective.patterns import SHIPPED
from perturb.selective.patterns.shape import Lazy
from perturb.text.search import LONGEST, find_all
from perturb.work import charge_work, limit_work

# Runs of any length end a match; the rest of an attempt, look-ahead included, has at most 12.
EXPRESSIONS = [
    re.compile(pattern)
    for pattern in (
        r"\d+",
        r"(?<![\w.])\w{1,5}@[\w.]++",
        r"(?<!\w)a[b ]{2,8}c?(?= ?b)",
        r"b++(?!a)",
        r"\bab?\b",
        r"a.{0,6}?b{2}",
        r"(?<=a)b{1,3}(?!\s{1,3}a)",
    )
]
# Matches that a border of two windows may cut, for the shipped expressions.
PARTS = (
    "anna.schmidt@example.org",
    "https://example.org/a/b?c=d.",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
    "sk-proj-" + "aB3-" * 40,
    "-----BEGIN PRIVATE KEY-----\nMIIE" + "ab1/" * 1000 + "\n-----END PRIVATE KEY-----",
    "twenty-three million euros",
    "3, 4 and 5 May 2021",
    "12 Long Acre Street, London",
    "1,234,567.89",
    "Berliner Straße 12, 10115 Berlin",
    "password: hunter2x",
    "GB29 NWBK 6016 1331 9268 19",
)


@given(
    st.text("ab1@. c", max_size=200),
    st.sampled_from(EXPRESSIONS),
    st.integers(1, 30),
)
@example("1" * 150, EXPRESSIONS[0], 1)
@example("x ab b ab b", EXPRESSIONS[2], 3)
def test_windows_find_what_one_search_finds(
    text: str, pattern: re.Pattern[str], step: int
) -> None:
    found = [match.span() for match in find_all(pattern, text, step=step, longest=12)]
    assert found == [match.span() for match in pattern.finditer(text)]


def test_shipped_expressions_find_what_crosses_a_border() -> None:
    step = 1501
    text = "".join(f"{part} so it was said. " for part in PARTS * 6)
    assert len(text) > LONGEST + 3 * step
    for shape in SHIPPED:
        assert isinstance(shape.pattern, Lazy)
        pattern = shape.pattern.compiled
        found = [match.span() for match in find_all(pattern, text, step=step)]
        assert found == [match.span() for match in pattern.finditer(text)], shape.source


def test_a_run_of_any_length_is_one_match() -> None:
    text = "x " + "1" * (20 * LONGEST) + " y"
    assert [match.span() for match in find_all(re.compile(r"\d+"), text)] == [(2, len(text) - 2)]


def test_a_search_stops_when_the_time_is_up() -> None:
    found = find_all(re.compile("1"), "1 " * 40_000)
    with limit_work(0.0), pytest.raises(OutOfTime), charge_work():
        next(found)
    assert issubclass(OutOfTime, PerturbError)

    def spend() -> None:
        next(found_late)
        begun = time.thread_time()
        while time.thread_time() < begun + 0.2:
            pass
        for _ in found_late:
            pass
        pytest.fail("it went on")

    found_late = find_all(re.compile("1"), "1 " * 40_000)
    with limit_work(0.1), pytest.raises(OutOfTime), charge_work():
        spend()
