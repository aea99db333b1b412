"""JSON by two libraries: what the fast one refuses, the standard one reads or writes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.codec import dump, dump_ascii, load

TEXTS = st.text(st.characters(codec=None), max_size=20)  # with halves of surrogate pairs
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_stored_comes_back(value: object) -> None:
    text = dump_ascii(value)
    assert text.isascii()
    assert json.loads(text) == value


@given(VALUES)
def test_what_is_sent_is_what_the_standard_library_would_send(value: object) -> None:
    slow = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    assert json.loads(dump(value)) == json.loads(slow)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": NaN, "b": [Infinity, -Infinity]}', {"a": None, "b": [None, None]}),
        (b"\xef\xbb\xbf[1]", [1]),
        (b'"\\ud800"', "\ud800"),
        ("[1, 2]", [1, 2]),
    ],
)
def test_what_models_write_is_read(data: bytes | str, value: object) -> None:
    assert load(data) == value


def test_no_integer_is_read_in_quadratic_time() -> None:
    """Strict JSON with a long integer goes to the fast library, anything else to the other."""
    digits = b"7" * 1_000_000
    assert load(b"[NaN, " + digits + b"]") == [None, None]
    assert load(b"[" + digits + b"]") == [None]


@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b"nul", b"\xff"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="char|decode"):
        load(data)
