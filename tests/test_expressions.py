"""Every regular expression of the product means the same on every Python that is supported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from tests.shipped_expressions import find_expressions

SIMPLE = (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN)


def find_possessive_groups(parsed: Any) -> Iterator[Any]:
    """Yield the possessive repetitions of more than one character in a parse tree.

    Python before 3.11.5 matches them wrongly where the group goes back inside (CPython's issue
    106052): `<public>a</public>` is not found. An atomic group, `(?>(?:…)*)`, means the same.
    """
    for kind, content in parsed:
        if kind is op.POSSESSIVE_REPEAT:
            inner = content[2]
            if len(inner) != 1 or inner[0][0] not in SIMPLE:
                yield content
        for part in _list_parts(content):
            yield from find_possessive_groups(part)


def _list_parts(content: Any) -> Iterator[Any]:
    if isinstance(content, _parser.SubPattern):
        yield content
    elif isinstance(content, tuple | list):
        for part in content:
            yield from _list_parts(part)


def test_no_expression_repeats_a_group_possessively() -> None:
    own = {name: p for name, p in find_expressions().items() if isinstance(p, re.Pattern)}
    assert len(own) > 100
    found = [
        name
        for name, pattern in own.items()
        if list(find_possessive_groups(_parser.parse(pattern.pattern, pattern.flags)))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("(?:ab|c)*+", 1),
        ("x(y(?:ab){1,3}+)?", 1),
        ("(?=(?:ab|c)?+)|(?<!c)(?>(?:ab)++)", 2),
        ("a*+[bc]++.?+[^d]{2,}+", 0),
        ("(?>(?:ab|c)*)", 0),
    ],
)
def test_they_are_found_wherever_they_stand(pattern: str, wrong: int) -> None:
    assert len(list(find_possessive_groups(_parser.parse(pattern)))) == wrong
