"""Strict JSON: what a body may not be."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from proxy.config.settings import Limits
from proxy.errors import ApiError
from proxy.requests.validation import ITEMS, KEYS, parse_object

LIMITS = Limits()
SMALL = Limits(json_values=80_000)


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
            parse_object(body, Limits(json_depth=8))
        assert (info.value.status, info.value.code) == (400, "invalid_json")

    def test_brackets_in_strings_are_no_nesting(self) -> None:
        text = '[{"' * 50 + "\\"
        assert parse_object(json.dumps({"a": text}).encode(), Limits(json_depth=2)) == {"a": text}

    def test_lone_surrogates_become_replacement_characters(self) -> None:
        found = parse_object(b'{"a": ["\\ud800x", "\\uD83D\\uDE00"]}', Limits(json_depth=5))
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
        assert parse_object(data, LIMITS) == {"a": value}


def body_of(value: Any) -> bytes:
    return json.dumps({"a": value}).encode()


class TestCounts:
    @pytest.mark.parametrize(
        "value",
        [
            [1] * (SMALL.json_values + 1),
            [1.5] * (SMALL.json_values + 1),
            ["x"] * (ITEMS + 1),
            [*[1] * ITEMS, "x"],
            [[] for _ in range(ITEMS + 1)],
            [[{}] * 5000] * 100,
            [["x"] * ITEMS] * 6,
            [{str(i): i for i in range(KEYS)}] * 30,
            {str(i): 1 for i in range(KEYS + 1)},
            {"b": [{str(i): {} for i in range(KEYS + 1)}]},
        ],
    )
    def test_too_much_of_one_kind_is_413_before_it_is_built(self, value: Any) -> None:
        data = body_of(value)
        for _ in range(3):  # again: a thread of an earlier test may allocate, too
            tracemalloc.start()
            try:
                with pytest.raises(ApiError) as info:
                    parse_object(data, SMALL)
                peak = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert info.value.status == 413
            if peak < 100_000:
                break
        assert peak < 100_000  # parsed, each of them takes more than a million bytes

    @pytest.mark.parametrize(
        "value",
        [
            [1] * (LIMITS.json_values - 10),
            ["x"] * ITEMS,
            [["x"] * ITEMS] * 4,
            {str(i): i for i in range(KEYS)},
            [{str(i): "," for i in range(KEYS)}] * 20,
            "[{,:" * 200_000,
            '\\"[,' * 200_000,
        ],
    )
    def test_what_is_within_the_limits_is_read(self, value: Any) -> None:
        assert parse_object(body_of(value), LIMITS) == {"a": value}

    @pytest.mark.parametrize("junk", [b'""', b"]", b"{}", b"[]", b"]}", b",", b'"a":'])
    def test_what_is_no_json_is_not_counted_for_ever(self, junk: bytes) -> None:
        with pytest.raises(ApiError) as info:
            parse_object(b'{"a":[' + junk * (8_000_000 // len(junk)), LIMITS)
        assert info.value.status in (400, 413)

    def test_a_lone_number_before_strings_makes_no_list_of_numbers(self) -> None:
        with pytest.raises(ApiError):
            parse_object(body_of([1, *["x"] * ITEMS]), LIMITS)

    def test_no_depth_that_can_be_configured_is_too_deep_for_python(self) -> None:
        deepest = Limits(json_depth=128)
        data = b'{"a":' * 128 + b'"\\ud800"' + b"}" * 128
        found: Any = parse_object(data, deepest)
        for _ in range(127):
            found = found["a"]
        assert found == {"a": "\ufffd"}
        with pytest.raises(ValidationError):
            Limits(json_depth=129)
