"""Negative controls of the kit: each test of the contract refuses a policy with one mistake."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable
from typing import Any

import pytest

from perturb import ParameterError, Span
from perturb.testing import PolicyContract

HOSTILE_TEXT = {"unit": "a", "length": 2_000, "seconds": 0.05}


class Sound:
    """Marks order numbers."""

    version: Any = "1"

    def find(self, text: str) -> Iterable[Span]:
        return [Span(*found.span(), "ORDER") for found in re.finditer(r"\bAC-\d{6}\b", text)]


class MarksNothing(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return []


class MarksEveryCapital(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return [Span(*found.span(), "ORDER") for found in re.finditer(r"[A-Z]", text)]


class LeavesTheText(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return [Span(0, len(text) + 1, "ORDER")]


class MarksTheEmptyPart(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return [*super().find(text), Span(0, 0, "ORDER")]


class SmallType(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return [Span(span.start, span.end, "order") for span in super().find(text)]


class Tuples(Sound):
    def find(self, text: str) -> Any:
        return [(span.start, span.end, span.type) for span in super().find(text)]


class Moody(Sound):
    def find(self, text: str) -> Iterable[Span]:
        return super().find(text) if secrets.randbits(1) else []


class Remembers(Sound):
    """Marks a text only when it sees it first."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def find(self, text: str) -> Iterable[Span]:
        new = text not in self.seen
        self.seen.add(text)
        return super().find(text) if new else []


class NumbersItsVersions(Sound):
    version = 3


class Slow(Sound):
    """Takes processor time that grows with the square of the length."""

    def find(self, text: str) -> Iterable[Span]:
        until = time.thread_time() + (len(text) / 2_000) ** 2 / 4
        while time.thread_time() < until:
            pass
        return super().find(text)


class Contract(PolicyContract):
    marks = (("order AC-123456 is late", (("AC-123456", "ORDER"),)),)
    leaves = ("order AC-1 and order NASA",)
    seconds = 1.0

    def __init__(self, kind: type[Sound]) -> None:
        self.kind = kind

    def build(self) -> Sound:
        return self.kind()


CONTROLS: list[tuple[str, type[Sound], dict[str, Any]]] = [
    ("test_examples_are_marked", MarksNothing, {}),
    ("test_ordinary_text_is_left", MarksEveryCapital, {}),
    ("test_spans_are_parts_of_the_text", LeavesTheText, {}),
    ("test_spans_are_parts_of_the_text", MarksTheEmptyPart, {}),
    ("test_spans_are_parts_of_the_text", SmallType, {}),
    ("test_spans_are_parts_of_the_text", Tuples, {}),
    ("test_settled_spans_are_disjoint_in_order_and_cover", LeavesTheText, {}),
    ("test_equal_texts_get_equal_spans", Moody, {}),
    ("test_equal_texts_get_equal_spans", Remembers, {}),
    ("test_version_is_a_string", NumbersItsVersions, {}),
    ("test_hostile_texts_cost_what_their_length_says", Slow, HOSTILE_TEXT),
]


@pytest.mark.parametrize(("test", "kind", "given"), CONTROLS)
def test_mistake_is_caught(test: str, kind: type[Sound], given: dict[str, Any]) -> None:
    getattr(Contract(Sound), test)(**given)
    for _ in range(20):  # a mistake that shows now and then
        try:
            getattr(Contract(kind), test)(**given)
        except (AssertionError, ParameterError):
            return
    pytest.fail("nobody saw it")


def test_every_test_of_the_contract_has_a_control() -> None:
    tests = {name for name in dir(PolicyContract) if name.startswith("test_")}
    assert {test for test, *_ in CONTROLS} == tests


def test_a_contract_without_examples_fails() -> None:
    class Empty(Contract):
        marks = ()

    with pytest.raises(AssertionError, match="must set `marks`"):
        Empty(Sound).test_examples_are_marked()
