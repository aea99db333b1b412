"""Define outlines: the JSON of a request with a field in place of each string to sanitize."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxy.errors import bad_request

__all__ = ["DROPPED", "Embedded", "Field", "Joined", "Keyed", "Number", "Outline", "fill"]


@dataclass(frozen=True)
class Field:
    """Hold a raw string that its sanitized form replaces.

    Attributes:
        at: its place, for errors.
        named: whether it is a name of letters, digits, `_` and `-`, and must stay one.
    """

    raw: str
    at: str
    named: bool = False


@dataclass(frozen=True)
class Number:
    """Hold a number that is sanitized by its digits."""

    digits: Field | str
    value: float


@dataclass(frozen=True)
class Embedded:
    """Hold JSON that stands in a string."""

    content: Outline


@dataclass(frozen=True)
class Joined:
    """Hold a string whose parts, joined by slashes, are strings of their own."""

    parts: tuple[Outline, ...]


@dataclass(frozen=True)
class Keyed:
    """Hold an object whose keys are sanitized, too."""

    items: tuple[tuple[Field | str, Outline], ...]


class _Dropped:
    """Mark a value that is left out."""


Outline = Any  # JSON, or one of the classes above, at any depth
DROPPED = _Dropped()
_NAMED = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def fill(outline: Outline, sanitized: Mapping[str, str]) -> Any:
    """Return the JSON that is sent.

    Args:
        sanitized: the sanitized form of each raw string.

    Raises:
        ApiError: 400, a sanitized string cannot stand where it has to.
    """
    match outline:
        case Field(raw=raw, at=at, named=named):
            found = sanitized[raw]
            if named and found != raw and not _NAMED.fullmatch(found):
                raise _refuse(at, "holds a sensitive part that no name can replace")
            return found
        case Number(digits=Field(raw=raw, at=at), value=value):
            return value if sanitized[raw] == raw else _parse(sanitized[raw], at)
        case Number(value=value):
            return value
        case Embedded(content=content):
            return json.dumps(fill(content, sanitized), ensure_ascii=False)
        case Joined(parts=parts):
            return "/".join(fill(part, sanitized) for part in parts)
        case Keyed(items=items):
            pairs = [(fill(key, sanitized), fill(item, sanitized)) for key, item in items]
            out = dict(pairs)
            if len(out) < len(pairs):
                at = next(key.at for key, _ in items if isinstance(key, Field))
                raise _refuse(at, "has two names that are alike once they are sanitized")
            return out
        case dict():
            return {key: fill(item, sanitized) for key, item in outline.items()}
        case list():
            return [fill(item, sanitized) for item in outline]
    return outline


def _parse(digits: str, at: str) -> Any:
    try:
        value = json.loads(digits)
    except ValueError:
        value = None
    if type(value) not in (int, float):
        raise _refuse(at, "holds a sensitive number that no number can replace")
    return value


def _refuse(at: str, why: str) -> Exception:
    return bad_request(
        f"'{at}' {why}; nothing was sent.", param=at, code="unsupported_sensitive_part"
    )
