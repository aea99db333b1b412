"""Classify the values of a request by where they stand.

A table of rules has an entry for every position of a request. A rule reads the value there and
returns an outline: the same value with a `Field` in place of every string that must be sanitized.
A value without a rule is refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proxy.errors import bad_request
from proxy.gateway.outline import DROPPED, Embedded, Keyed, Number, Outline
from proxy.gateway.reading import Reading
from proxy.requests.cache_marks import read_mark
from proxy.requests.validation import clean_name, unsupported

__all__ = [
    "Drop",
    "Each",
    "Fields",
    "Flag",
    "Free",
    "Identifier",
    "JsonText",
    "Label",
    "Mark",
    "Name",
    "Numeral",
    "OneOf",
    "Public",
    "Refuse",
    "Rule",
    "Tagged",
    "Text",
    "Word",
]

DEPTH = 64  # levels of JSON inside a string
LARGEST = 2**31


class Rule(Protocol):
    """Read a value.

    Args:
        value: of parsed JSON.
        at: its place, as clients spell it: `messages[0].content`.
        reading: collects what has to be sanitized.

    Raises:
        ApiError: 400, the value does not belong there or cannot be read.
    """

    def read(self, value: Any, at: str, reading: Reading) -> Outline: ...


def _refuse(at: str, rule: str) -> Exception:
    return bad_request(f"'{at}' must be {rule}.", param=at, code="invalid_value")


@dataclass(frozen=True)
class Text:
    """Sanitize a text. A `whole` one comes back as it was wherever the answer repeats it."""

    whole: bool = False

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        return reading.add(value, at, whole=self.whole)


@dataclass(frozen=True)
class Name:
    """Sanitize a name, such as a function's, which stays one."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a name")
        return reading.add(value, at, whole=True, named=True)


@dataclass(frozen=True)
class Public:
    """Pass a text that the operator made public."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        reading.public.append((at, value))
        return value


@dataclass(frozen=True)
class Word:
    """Pass one of the protocol's words."""

    words: frozenset[str]

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str) or value not in self.words:
            raise _refuse(at, f"one of {', '.join(sorted(self.words))}")
        return reading.speak(value)


@dataclass(frozen=True)
class Flag:
    """Pass true or false."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, bool):
            raise _refuse(at, "true or false")
        return value


@dataclass(frozen=True)
class Numeral:
    """Pass a number that the protocol defines, of 31 bits and with two decimals: seventeen digits
    of a temperature could carry a message."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if type(value) not in (int, float) or not abs(value) < LARGEST:
            raise _refuse(at, f"a number below {LARGEST}")
        return round(value, 2) if isinstance(value, float) else value


@dataclass(frozen=True)
class Drop:
    """Leave a value out."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        return DROPPED


@dataclass(frozen=True)
class Refuse:
    """Refuse a value that cannot be read."""

    why: str

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        raise unsupported(at, self.why)


@dataclass(frozen=True)
class Label:
    """Replace the name under which a conversation refers to one of its own parts by a number."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        return reading.label(value)


@dataclass(frozen=True)
class Identifier:
    """Replace a name of the client's own user, or leave it out, as the operator configures."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str) or reading.alias is None:
            return DROPPED
        return reading.speak(reading.alias(value))


@dataclass(frozen=True)
class Mark:
    """Pass a mark of the prompt cache to a remote that knows them, or leave it out."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        mark = read_mark(value) if reading.marks else None
        if mark is None:
            return DROPPED
        return {reading.speak(key): reading.speak(word) for key, word in mark.items()}


@dataclass(frozen=True)
class Fields:
    """Read an object with declared fields; others are refused."""

    rules: Mapping[str, Rule]

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, dict):
            raise _refuse(at, "an object")
        out = {}
        for key, item in value.items():
            rule = self.rules.get(key)
            if rule is None:
                name = clean_name(key)
                raise bad_request(
                    f"Unknown field '{name}' in {at or 'the body'}; unknown fields are refused.",
                    param=f"{at}.{name}" if at else name,
                    code="unknown_parameter",
                )
            if item is None:  # SDKs spell "not set" so
                continue
            found = rule.read(item, f"{at}.{key}" if at else key, reading)
            if found is not DROPPED:
                out[reading.speak(key)] = found
        return out


@dataclass(frozen=True)
class Each:
    """Read a list. A `turns` list is a conversation: each item is a turn of its own."""

    rule: Rule
    turns: bool = False

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, list):
            raise _refuse(at, "a list")
        out = []
        for i, item in enumerate(value):
            if self.turns:
                reading.open_turn()
            out.append(self.rule.read(item, f"{at}[{i}]", reading))
        return [item for item in out if item is not DROPPED]


@dataclass(frozen=True)
class Tagged:
    """Read an object by the rule that one of its fields names."""

    tag: str
    rules: Mapping[str, Rule]

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        kind = value.get(self.tag) if isinstance(value, dict) else None
        rule = self.rules.get(kind) if isinstance(kind, str) else None
        if rule is None:
            raise _refuse(f"{at}.{self.tag}", f"one of {', '.join(sorted(self.rules))}")
        return rule.read(value, at, reading)


@dataclass(frozen=True)
class OneOf:
    """Read a string by one rule, a list by another and an object by a third."""

    text: Rule | None = None
    list: Rule | None = None
    object: Rule | None = None

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        rule: Rule | None = None
        for kind, own in ((str, self.text), (list, self.list), (dict, self.object)):
            rule = own if isinstance(value, kind) else rule
        if rule is None:
            raise _refuse(at, "of another kind")
        return rule.read(value, at, reading)


@dataclass(frozen=True)
class Free:
    """Read any JSON: every string, every key and every number of it is sanitized."""

    def read(self, value: Any, at: str, reading: Reading, depth: int = 0) -> Outline:
        if depth > DEPTH:
            raise _refuse(at, f"nested at most {DEPTH} levels deep")
        if isinstance(value, str):
            return reading.add(value, at, whole=True)
        if type(value) in (int, float):
            return Number(reading.add(json.dumps(value), at), value)
        if isinstance(value, list):
            return [self.read(item, at, reading, depth + 1) for item in value]
        if isinstance(value, dict):
            return Keyed(
                tuple(
                    (reading.add(key, at, whole=True), self.read(item, at, reading, depth + 1))
                    for key, item in value.items()
                )
            )
        return value


@dataclass(frozen=True)
class JsonText:
    """Read JSON inside a string; a string that is not JSON is a text."""

    def read(self, value: Any, at: str, reading: Reading) -> Outline:
        if not isinstance(value, str):
            raise _refuse(at, "a text")
        try:
            parsed = json.loads(value, parse_constant=_fail, parse_float=_parse_float)
        except RecursionError:
            raise _refuse(at, f"nested at most {DEPTH} levels deep") from None
        except ValueError:
            return reading.add(value, at)
        if not isinstance(parsed, dict | list):
            return reading.add(value, at)
        return Embedded(Free().read(parsed, at, reading))


def _fail(name: str) -> Any:
    raise ValueError(name)


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("too large")
    return value
