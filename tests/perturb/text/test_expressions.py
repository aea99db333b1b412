"""An operator's expression finds what `re` finds, and gives up instead of taking forever."""

from __future__ import annotations

import re

import pytest

from perturb.errors import ExpressionTimeout, PerturbError
from perturb.text.search import Expression
from tests.catastrophe import CATASTROPHIC, ENDLESS


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"CX-[0-9]+", "CX-1 and CX-22, not CX-"),
        (r"(?i)\b(?:project|case)\s+\w+", "Case blue. PROJECT Zephyr; projector"),
        (r"(?<!\w)\d{3}(?!\d)", "123 4567 890"),
        (r"a*", "baac"),
        (r"[\w.]++@\w+", "ann.lee@example, @x"),
    ],
)
def test_it_finds_what_re_finds(pattern: str, text: str) -> None:
    found = [match.span() for match in Expression(pattern, "x", 1.0).finditer(text)]
    assert found == [match.span() for match in re.finditer(pattern, text)]
    start = Expression(pattern, "x", 1.0).match(text)
    assert (start and start.span()) == ((m := re.match(pattern, text)) and m.span())


def test_it_gives_up_by_name_and_without_the_text() -> None:
    expression = Expression(CATASTROPHIC, "patterns.CASE", 0.05)
    with pytest.raises(ExpressionTimeout, match="patterns.CASE ran out of time") as found:
        list(expression.finditer(ENDLESS))
    with pytest.raises(ExpressionTimeout) as matched:
        expression.match(ENDLESS)
    for info in (found, matched):
        assert isinstance(info.value, PerturbError)
        assert "aa" not in str(info.value)


def test_the_time_is_for_all_matches_of_a_text_together() -> None:
    """Each match alone is found in time; a client could write any number of them."""
    expression = Expression(CATASTROPHIC + "|x", "x", 0.1)
    with pytest.raises(ExpressionTimeout):
        list(expression.finditer(("x" + "a" * 20 + "!") * 100_000))


@pytest.mark.parametrize("timeouts", [3, 100])
def test_the_time_of_other_threads_is_not_its_own(
    timeouts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the limit, in processor time of the process, passes while it waits."""
    limits: list[float] = []

    class Waiting:
        def match(self, text: str, timeout: float) -> str:
            limits.append(timeout)
            if len(limits) <= timeouts:
                raise TimeoutError
            return text

    expression = Expression("a", "patterns.CASE", 1.0)
    monkeypatch.setattr(expression, "_compiled", Waiting())
    if timeouts == 3:
        assert expression.match("a") == "a"
        assert limits == [1, 2, 4, 8]
    else:
        with pytest.raises(ExpressionTimeout):
            expression.match("a")
        assert limits[-1] == 32


def test_a_bad_expression_is_refused_with_its_reason() -> None:
    with pytest.raises(ValueError, match="missing"):
        Expression("(", "x", 1.0)
