"""Strict JSON: what a lenient parser would accept silently is refused with a reason."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from proxy.errors import ApiError, bad_request

__all__ = ["parse_object"]

# A string literal, or one bracket: nesting is counted outside strings before parsing.
# Possessive: a backtracking string literal would keep a frame for every character.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def parse_object(body: bytes, *, max_depth: int) -> dict[str, Any]:
    """Parse a request body into an object.

    Raises:
        ApiError: 400 for invalid UTF-8 or JSON, a duplicate key, NaN or Infinity, nesting
            beyond `max_depth`, or anything but an object at the top.
    """
    depth = 0
    for token in _TOKENS.finditer(body):
        bracket = token.group()[:1]
        if bracket in b"[{":
            depth += 1
            if depth > max_depth:
                raise bad_request(
                    f"The body is nested deeper than {max_depth} levels.", code="invalid_json"
                )
        elif bracket in b"]}":
            depth -= 1
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
    except ApiError:
        raise
    except (ValueError, RecursionError):
        raise bad_request("The body is not valid JSON.", code="invalid_json") from None
    if not isinstance(value, dict):
        raise bad_request("The body must be a JSON object.", code="invalid_json")
    if b"\\ud" in body.lower():  # only an escape can spell half of a surrogate pair
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    return value


def _whole_characters(value: Any) -> Any:
    """The value with U+FFFD for every lone surrogate: UTF-8 has no way to pass one on."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_whole_characters(key): _whole_characters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_characters(item) for item in value]
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise bad_request("An object in the body has a duplicate key.", code="invalid_json")
    return out


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _constant("a number too large")
    return value


def _constant(name: str) -> NoReturn:
    raise bad_request(f"Numbers must be finite, got {name}.", code="invalid_json")
