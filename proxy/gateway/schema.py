"""Read JSON Schemas: keywords are public, and everything that an author writes is sanitized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proxy.errors import bad_request
from proxy.gateway.outline import DROPPED, Joined, Keyed, Outline
from proxy.gateway.reading import Reading
from proxy.gateway.rules import DEPTH, Flag, Free, Text

__all__ = ["Schema"]

TYPES = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
FORMATS = frozenset(
    (
        *("date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname"),
        *("int32", "int64", "float", "double", "ipv4", "ipv6", "iri", "iri-reference"),
        *("json-pointer", "regex", "relative-json-pointer", "time", "uri", "uri-reference"),
        *("uri-template", "uuid"),
    )
)
DIALECTS = frozenset(
    (
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    )
)
_TEXTS = ("$anchor", "$comment", "$id", "description", "pattern", "title")
_VALUES = ("const", "default", "dependentRequired", "enum", "example", "examples", "required")
_BY_NAME = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_INNER = (
    *("additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema"),
    *("else", "if", "items", "not", "oneOf", "prefixItems", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
_FLAGS = ("deprecated", "nullable", "readOnly", "strict", "uniqueItems", "writeOnly")
_BOUNDS = (
    *("exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength"),
    *("maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties"),
    *("minimum", "multipleOf"),
)
_KEYWORDS = frozenset((*_BY_NAME, *_INNER))
LARGEST = 10**6


@dataclass(frozen=True)
class Schema:
    """Read a schema. Names of properties are sanitized as texts; a keyword that is unknown here is
    sanitized with all that it holds."""

    def read(self, value: Any, at: str, reading: Reading, depth: int = 0) -> Outline:
        if depth > DEPTH:
            raise bad_request(f"'{at}' is nested too deeply.", param=at, code="invalid_value")
        if isinstance(value, list):
            return [self.read(item, at, reading, depth + 1) for item in value]
        if not isinstance(value, dict):
            return Flag().read(value, at, reading)
        items = []
        for key, item in value.items():
            known = self._read_keyword(key, item, at, reading, depth)
            if known is DROPPED:
                own = reading.add(key, at, whole=True)
                items.append((own, Free().read(item, at, reading, depth)))
            else:
                items.append((reading.speak(key), known))
        return Keyed(tuple(items))

    def _read_keyword(self, key: str, item: Any, at: str, reading: Reading, depth: int) -> Outline:
        """Return the outline of a keyword's value; `DROPPED` if it is unknown or malformed."""
        place = f"{at}.{key}"
        if key in _TEXTS and isinstance(item, str):
            return Text().read(item, place, reading)
        if key in _VALUES:
            return Free().read(item, place, reading, depth)
        if key in _BY_NAME and isinstance(item, dict):
            return Keyed(
                tuple(
                    (
                        reading.add(name, place, whole=True),
                        self.read(inner, at, reading, depth + 1),
                    )
                    for name, inner in item.items()
                )
            )
        if key in _INNER and isinstance(item, dict | list | bool):
            return self.read(item, at, reading, depth + 1)
        if key in _FLAGS and isinstance(item, bool):
            return item
        if key in _BOUNDS and _is_bound(item):
            return item
        if key == "type" and all(kind in TYPES for kind in _list(item)):
            return item
        if not isinstance(item, str):
            return DROPPED
        if (key == "format" and item in FORMATS) or (key == "$schema" and item in DIALECTS):
            return reading.speak(item)
        if key == "$ref" and item.startswith("#"):
            return _read_pointer(item, place, reading)
        return DROPPED


def _is_bound(value: Any) -> bool:
    """Tell if a number is too short to be a number of somebody's."""
    return type(value) in (int, float) and abs(value) <= LARGEST and round(value, 2) == value


def _list(value: Any) -> list[Any]:
    """Return the items of a list, or a value as the only one; only strings can be compared."""
    items = value if isinstance(value, list) else [value]
    return [item if isinstance(item, str) else None for item in items]


def _read_pointer(pointer: str, at: str, reading: Reading) -> Outline:
    """Read a pointer into the schema: the names on its way are names of properties."""
    if pointer == "#":
        return reading.speak(pointer)
    parts: list[Outline] = []
    for part in pointer.split("/"):
        if part == "#" or part in _KEYWORDS:
            parts.append(reading.speak(part))
        else:
            parts.append(reading.add(part, at, whole=True))
    return Joined(tuple(parts))
