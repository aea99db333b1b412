"""Leave the values of a program's translations, which are the words of its forms: `"password":
"Passwort"`. The names of the keys say what the words mean, not that they are somebody's.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from perturb.release import Span
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.labels import INTERFACE, LABELS, NAMES, ROLES, spell
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.text.marks import MARKS, WORD

__all__ = ["drop_translated"]

# What a key may be evidence for. A value with a digit or another sign is no translation.
_TYPES = frozenset(("LOCATION", "NAME", "ORGANIZATION", "PASSWORD", "PERSON", "USERNAME"))
_VALUE = re.compile(
    r"(?:[:=]>?[ \t]{0,8}|>|\bmsgstr )(?P<quote>\\?[\"'`]?)"
    rf"(?P<value>[¿¡]?[^\W\d_](?:[^\W\d_]|[{MARKS} .,'’?!…()/-]){{0,60}}?)(?P=quote)"
    r"[ \t]{0,4}(?:[,;}<\n]|\\n|\Z)"
)
_KEY = re.compile(r"([\w.-]{1,60})[\"'`\])]*\s{0,4}(?:[:=]>?[ \t]{0,8}|>)\Z")
_NEAR = 16  # values before and after one
_FEW, _SHARE = 3, 0.3  # so many labels among them say that the text is one of translations
# Labels in other languages than English, whose words are the values of logs and records as well;
# and not what people are: a customer, a patient.
_EVIDENCE = frozenset(
    label
    for label in ({*LABELS} | INTERFACE | NAMES) - ROLES
    if not is_ordinary_word(label.replace("_", ""))
)
# Also inside words, and where words have no blanks: 确认密码, Şifreyi.
_SECRETS = [label for label in _EVIDENCE if LABELS.get(label) == "PASSWORD" and len(label) != 3]
_WHOLE = {*LABELS} | INTERFACE | NAMES | ROLES


class _Value(NamedTuple):
    start: int
    end: int
    key: str
    label: bool  # the whole value is one
    told: bool  # it is evidence, or a part of it is
    role: bool  # it is what somebody is


def drop_translated(
    text: str, findings: Iterable[Span], own: Collection[str] = ()
) -> tuple[Span, ...]:
    """Return the findings without those that lie in the value of a translation. The values near
    it have a key each, as in no log, and many of them are labels of forms, in another language
    than English. It is one itself, or has a label's words, or it is no password and has no given
    name.

    Args:
        own: types that the operator named, of which every finding counts.

    >>> text = '{"user": "Benutzer", "phone": "Telefon", "save": "Speichern", "find": "Suchen"}'
    >>> drop_translated(text, [Span(10, 18, "USERNAME")])
    ()
    """
    findings, types = tuple(findings), _TYPES.difference(own)
    if not any(span.type in types for span in findings):
        return findings
    values = list(_read_values(text))
    starts = [value.start for value in values]
    return tuple(
        span
        for span in findings
        if span.type not in types or not _is_translated(text, span, values, starts)
    )


def _read_values(text: str) -> Iterator[_Value]:
    for match in _VALUE.finditer(text):
        key = _KEY.search(text, max(0, match.start("value") - 72), match.start("quote"))
        words = [spell(word) for word in WORD.findall(match["value"])]
        sizes = range(1, 4) if len(words) < 8 else ()
        phrases = {"_".join(words[i : i + size]) for i in range(len(words)) for size in sizes}
        whole = "_".join(words)
        name = key[1] if key else f"{match.start()}"
        told = not _EVIDENCE.isdisjoint(phrases) or any(label in whole for label in _SECRETS)
        yield _Value(*match.span("value"), name, whole in _WHOLE, told, whole in ROLES)


def _is_translated(text: str, span: Span, values: list[_Value], starts: list[int]) -> bool:
    place = bisect_right(starts, span.start) - 1
    if place < 0 or span.end > values[place].end:
        return False
    near = [*values[max(0, place - _NEAR) : place], *values[place + 1 : place + 1 + _NEAR]]
    told = sum(value.told for value in near)
    keys = [value.key for value in (*near, values[place])]
    counted = sum(not value.role for value in near)
    if told < max(_FEW, _SHARE * counted) or len(set(keys)) < len(keys):
        return False
    if values[place].label or values[place].told:
        return True
    named = any(is_given(word) for word in WORD.findall(text, span.start, span.end))
    return span.type != "PASSWORD" and not named
