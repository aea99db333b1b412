"""Strict JSON: what a body may not be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import ApiError
from proxy.json_input import parse_object


class TestJson:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b'"x"',
            b"null",
            b'{"a": 1, "a": 2}',
            b'{"a": {"b": 1, "b": 2}}',
            b'{"a": NaN}',
            b'{"a": -Infinity}',
            b'{"a": 1e999}',
            b'{"a": "\xff"}',
            b'{"a": 1} x',
            b'{"a": ' + b"9" * 5000 + b"}",
            b'{"a": ' * 10 + b"1" + b"}" * 10,
            b"[" * 100_000,
        ],
    )
    def test_what_a_lenient_parser_takes_is_refused(self, body: bytes) -> None:
        with pytest.raises(ApiError) as info:
            parse_object(body, max_depth=8)
        assert (info.value.status, info.value.code) == (400, "invalid_json")

    def test_brackets_in_strings_are_no_nesting(self) -> None:
        text = '[{"' * 50 + "\\"
        assert parse_object(json.dumps({"a": text}).encode(), max_depth=2) == {"a": text}

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        found = parse_object(b'{"a": ["\\ud800x", "\\uD83D\\uDE00"]}', max_depth=5)
        assert found == {"a": ["\ufffdx", "😀"]}

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8")),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
            max_leaves=20,
        )
    )
    def test_ordinary_json_is_read_as_json(self, value: Any) -> None:
        data = json.dumps({"a": value}).encode()
        assert parse_object(data, max_depth=50) == {"a": value}
