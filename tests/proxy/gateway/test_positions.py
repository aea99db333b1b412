"""The tables of positions: every field of a request has a rule, and outlines keep JSON's form."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from perturb.work import LIGHT
from proxy.errors import ApiError
from proxy.gateway.gateway import is_short
from proxy.gateway.positions import MESSAGE_FIELDS, chat_positions, completion_positions
from proxy.gateway.rules import BodyReading, Drop, Free, JsonText, Name, Rule, Schema, fill
from proxy.requests.protocol import ChatRequest, CompletionRequest, Message


@pytest.mark.parametrize(
    ("model", "rules"),
    [
        (ChatRequest, chat_positions(public_system=False).rules),
        (ChatRequest, chat_positions(public_system=True).rules),
        (CompletionRequest, completion_positions().rules),
        (Message, {**MESSAGE_FIELDS, "content": Drop()}),
    ],
)
def test_every_field_has_a_rule(model: type[BaseModel], rules: dict[str, Rule]) -> None:
    assert set(rules) == set(model.model_fields)


LONG = "x" * LIGHT


@pytest.mark.parametrize(
    "more",
    [
        {"messages": [{"role": "user", "content": LONG}]},
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": LONG}]},
        {"messages": [{"tool_calls": [{"function": {"name": "f", "arguments": LONG}}]}]},
        {"messages": [{"role": "user", "content": [{"text": "x" * 100}] * 1000}]},
        {"tools": [{"function": {"parameters": {"properties": {LONG: {}}}}}]},
        {"stop": [1] * LIGHT},
    ],
)
def test_a_long_request_is_long_wherever_it_is(more: dict[str, Any]) -> None:
    """It is read beside the event loop: all other requests would wait."""
    short = {"model": "m", "messages": [{"role": "user", "content": "x" * 1000}], "n": 1}
    assert is_short(short)
    assert not is_short(short | more)


def treat(
    rule: Rule, value: Any, change: Any = str.upper, *, at: str = "x", most: int = 100
) -> Any:
    """The value as it would be sent if every text in it were changed."""
    reading = BodyReading(most=most)
    outline = rule.read(value, at, reading)
    return fill(outline, {raw: change(raw) for turn in reading.turns for raw in turn})


def test_json_in_a_string_stays_json() -> None:
    raw = json.dumps({"a": ["b", {"c": "d"}], "e": None, "f": True, "g": " "})
    made = {"A": ["B", {"C": "D"}], "E": None, "F": True, "G": " "}
    assert json.loads(treat(JsonText(), raw)) == made
    for plain in ("not {json", "NaN", "[1e999]", '"x"', "12"):
        assert treat(JsonText(), plain) == plain.upper()


def test_numbers_are_sanitized_by_their_digits() -> None:
    def next_number(raw: str) -> str:
        return raw.replace("1", "2")

    assert treat(Free(), [1, 21, 1.5, -1, "1"], next_number) == [2, 22, 2.5, -2, "2"]
    with pytest.raises(ApiError) as info:
        treat(Free(), [1], lambda raw: "one")
    assert info.value.code == "unsupported_sensitive_part"


def test_a_name_that_cannot_stay_a_name_is_refused() -> None:
    assert treat(Name(), "f_x") == "F_X"
    with pytest.raises(ApiError) as info:
        treat(Name(), "f_x", lambda raw: "f x")
    assert (info.value.status, info.value.param) == (400, "x")


def test_keys_that_become_alike_are_refused() -> None:
    with pytest.raises(ApiError, match="alike"):
        treat(Free(), {"a": 1, "A": 2})


def test_deep_json_in_a_string_is_refused() -> None:
    for depth in (100, 100_000):
        with pytest.raises(ApiError) as info:
            treat(JsonText(), "[" * depth + "]" * depth)
        assert info.value.status == 400


def test_too_many_texts_are_refused() -> None:
    with pytest.raises(ApiError) as info:
        treat(Free(), [str(i) for i in range(20)], most=19)
    assert info.value.status == 413


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "a": {"type": ["string", "null"], "format": "date", "minLength": 2, "description": "d"},
        "b": {"$ref": "#/$defs/t", "nullable": True},
        "type": {"type": "own"},
        "n": {"type": "integer", "minimum": 1900, "maximum": 10**12},
        "f": {"multipleOf": 0.25, "minimum": 0.4095260993934932},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
    "$defs": {"t": {"enum": ["x", 1, None], "format": "own", "x-own": {"type": "string"}}},
}


def test_a_schema_keeps_its_keywords_and_nothing_else() -> None:
    """Bounds that could be somebody's number are sanitized with their keyword."""

    def mark(raw: str) -> str:
        return raw if raw[0].isdigit() else f"<{raw}>"

    assert treat(Schema(), SCHEMA, mark) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "<a>": {
                "type": ["string", "null"],
                "format": "date",
                "minLength": 2,
                "description": "<d>",
            },
            "<b>": {"$ref": "#/$defs/<t>", "nullable": True},
            "<type>": {"<type>": "<own>"},
            "<n>": {"type": "integer", "minimum": 1900, "<maximum>": 10**12},
            "<f>": {"multipleOf": 0.25, "<minimum>": 0.4095260993934932},
        },
        "required": ["<a>", "<b>"],
        "additionalProperties": False,
        "$defs": {
            "<t>": {
                "enum": ["<x>", 1, None],
                "<format>": "<own>",
                "<x-own>": {"<type>": "<string>"},
            }
        },
    }


def test_malformed_values_are_named_and_not_repeated() -> None:
    wrong: list[Any] = [
        {"messages": [{"role": "secret"}]},
        {"messages": "secret"},
        {"tool_choice": "secret"},
        {"tools": [{"type": "function", "function": {"name": ["secret"]}}]},
        {"temperature": "secret"},
        {"top_k": 4095260993934932},
        {"parallel_tool_calls": "secret"},
        {"response_format": "secret"},
        {"stop": {"secret": 1}},
    ]
    for body in wrong:
        with pytest.raises(ApiError) as info:
            treat(chat_positions(public_system=False), body, at="")
        assert (info.value.status, "secret" in info.value.message) == (400, False)
        assert (info.value.param or "").startswith(next(iter(body)))
