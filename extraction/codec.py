"""Read and write JSON: what is ordinary by a fast library, the rest by the standard one.

Models and remotes may write what strict JSON cannot hold (halves of surrogate pairs, NaN, integers
of any length), so nothing may fail on it.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from typing import Any

import orjson

__all__ = ["dump", "dump_ascii", "is_written_whole", "load", "load_finite"]

DIGITS = 20  # of an integer
_NO_DIGIT = re.compile(r"\D")
_ESCAPED = "inferdpt.json"  # a handler of characters that an encoding lacks
_SLOW = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def dump(value: Any) -> bytes:
    """Return a value as compact JSON in UTF-8. Half a surrogate pair becomes a question mark.

    >>> dump({"text": "naïve"}).decode()
    '{"text":"naïve"}'
    """
    try:
        return orjson.dumps(value)
    except TypeError:  # half a surrogate pair, a long integer, a key that is no text
        return _SLOW.encode(value).encode("utf-8", "replace")


def dump_ascii(value: Any) -> str:
    """Return a value as compact JSON in ASCII, with which half a surrogate pair can be stored.

    >>> dump_ascii(["naïve"])
    '["na\\\\u00efve"]'
    """
    try:
        data = orjson.dumps(value)
    except TypeError:
        return json.dumps(value, separators=(",", ":"))
    return data.decode() if data.isascii() else data.decode().encode("ascii", _ESCAPED).decode()


def load(data: bytes | str) -> Any:
    """Parse JSON. NaN and the infinities, which are not JSON, become None, and so do integers of
    more than 20 digits: reading one takes time quadratic in its length.

    >>> load(b'{"a": [1, NaN]}')
    {'a': [1, None]}

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        return orjson.loads(data)
    except ValueError:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        return json.loads(text, parse_int=_parse_integer, parse_constant=lambda name: None)


def load_finite(data: bytes | str) -> Any:
    """Parse JSON with integers of any length and finite numbers alone.

    >>> load_finite('[1, 2.5]')
    [1, 2.5]

    Raises:
        ValueError: it is not JSON, or a number of it is not finite.
        RecursionError: it is nested too deeply.
    """
    return json.loads(data, parse_constant=_refuse, parse_float=_parse_float)


def is_written_whole(written: str, number: float) -> bool:
    """Tell if a number of JSON has, as it is written, no digits that its value has not: what looks
    at the value sees all of it.

    >>> is_written_whole("1.50", 1.5), is_written_whole("0e1234", 0.0)
    (True, False)
    """
    (long, _, power), (own, _, _) = (
        text.lower().partition("e") for text in (written, json.dumps(number))
    )
    shown, held = (_NO_DIGIT.sub("", part).strip("0") for part in (long, own))
    return shown == held and not (power and not held)  # zero has every exponent


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Spell characters outside ASCII as JSON does; only they lead here."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPED, _escape)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not finite")


def _parse_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _refuse("a number")
    return value


def _parse_integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= DIGITS else None
