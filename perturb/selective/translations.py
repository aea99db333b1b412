"""Leave the values of a program's translations, which are the words of its forms: `"password":
"Passwort"`. The names of the keys say what the words mean, not that they are somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from perturb.release import Span
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labels import INTERFACE, LABELS, NAMES, spell
from perturb.text.marks import MARKS

__all__ = ["drop_translated"]

# What a key may be evidence for. A value with a digit or another sign is no translation.
_TYPES = frozenset(("LOCATION", "NAME", "ORGANIZATION", "PASSWORD", "PERSON", "USERNAME"))
_VALUE = re.compile(
    r"(?:[:=]>?[ \t]{0,8}|>|\bmsg(?:id|str) )(?P<quote>\\?[\"'`]?)"
    rf"(?P<value>[¿¡]?[^\W\d_](?:[^\W\d_]|[{MARKS} .,'’?!…()/-]){{0,60}}?)(?P=quote)"
    r"[ \t]{0,4}(?:[,;}<\n]|\\n|\Z)"
)
_WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")
_NEAR = 8  # values before and after one
_FEW, _SHARE = 3, 0.4  # so many labels among them say that the text is one of translations


class _Value(NamedTuple):
    start: int
    end: int
    label: bool


def drop_translated(text: str, findings: Iterable[Span]) -> tuple[Span, ...]:
    """Return the findings without those that lie in the value of a translation: it is a label of
    forms, and another is near; or many near it are, and it has no given name.

    >>> text = '{"user": "Benutzer", "city": "Ort"}'
    >>> drop_translated(text, [Span(10, 18, "USERNAME")])
    ()
    """
    findings = tuple(findings)
    if not any(span.type in _TYPES for span in findings):
        return findings
    values = list(_read_values(text))
    starts = [value.start for value in values]
    return tuple(
        span
        for span in findings
        if span.type not in _TYPES or not _is_translated(text, span, values, starts)
    )


def _read_values(text: str) -> Iterator[_Value]:
    for match in _VALUE.finditer(text):
        yield _Value(*match.span("value"), _is_label(match["value"]))


def _is_label(value: str) -> bool:
    """Tell if a value is a label or holds one of several words, as in `Confirm password`."""
    words = [spell(word) for word in _WORD.findall(value)]
    phrases = (
        "_".join(words[i:j])
        for i in range(len(words))
        for j in range(i + 1, min(i + 4, len(words) + 1))
    )
    return len(words) < 8 and any(p in LABELS or p in INTERFACE or p in NAMES for p in phrases)


def _is_translated(text: str, span: Span, values: list[_Value], starts: list[int]) -> bool:
    place = bisect_right(starts, span.start) - 1
    if place < 0 or span.end > values[place].end:
        return False
    near = (*values[max(0, place - _NEAR) : place], *values[place + 1 : place + 1 + _NEAR])
    labels = sum(value.label for value in near)
    if values[place].label:
        return labels > 0
    named = any(is_given(word) for word in _WORD.findall(text, span.start, span.end))
    return labels >= max(_FEW, _SHARE * len(near)) and not named
