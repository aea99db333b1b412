"""Read files with one object of strict JSON in each line. Errors name the line and the rule, and
hold nothing of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

__all__ = ["check_text", "read_lines", "read_object"]

T = TypeVar("T")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def read_lines(
    data: bytes, keys: tuple[str, ...], required: str, make: Callable[[dict[str, Any]], T]
) -> Iterator[T]:
    """Yield what is made of the object in each line that is not blank.

    Args:
        data: of the file.
        keys: that an object may have.
        required: the key that it has to have.
        make: raises `ValueError` for a value that breaks its rule.

    Raises:
        ValueError: a line is not of that form.
    """
    # Lines end at \n alone: str.splitlines would also cut at U+2028 within a string.
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            yield make(_check_keys(read_object(line), keys, required))
        except ValueError as exc:
            raise ValueError(f"line {number}: {exc}") from None


def check_text(name: str, value: Any) -> str:
    """Return a value that is a text; raise `ValueError` for any other."""
    if not isinstance(value, str):
        raise ValueError(f"'{name}' must be a string, got {type(value).__name__}")
    if not value.strip() or _LONE_SURROGATE.search(value):
        raise ValueError(f"'{name}' must hold a text in Unicode that is not blank")
    return value


def read_object(line: bytes) -> dict[str, Any]:
    """Return the object of strict JSON in a line; raise `ValueError` for anything else."""
    try:
        found = json.loads(
            line.decode("utf-8"), object_pairs_hook=_build_object, parse_constant=_refuse
        )
    except _NotStrict:
        raise
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON in UTF-8") from None
    if not isinstance(found, dict):
        raise ValueError("must be an object of JSON")
    return found


def _check_keys(found: dict[str, Any], keys: tuple[str, ...], required: str) -> dict[str, Any]:
    if not found.keys() <= {*keys}:
        raise ValueError(f"must have no key but {' and '.join(map(repr, keys))}")
    if required not in found:
        raise ValueError(f"{required!r} is required")
    return found


class _NotStrict(ValueError):
    """Report what a lenient parser would accept."""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise _NotStrict("has a duplicate key")
    return out


def _refuse(name: str) -> NoReturn:
    raise _NotStrict(f"numbers must be finite, got {name}")
