"""Chats spelled as messages: every part has its place, and only words of the API are added."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from proxy.errors import ApiError
from proxy.remote.messages import WORDS, spell_messages
from proxy.verify.upstream import list_strings
from tests.proxy.anthropic_remote import WHOLE, unroll
from tests.proxy.gateway.everywhere import chat

USER = [{"role": "user", "content": "Hi"}]
TOOL = {"type": "function", "function": {"name": "f"}}


def spell(**fields: Any) -> dict[str, Any]:
    return spell_messages({"model": "m", "messages": USER, **fields})


def assistant(arguments: str) -> list[dict[str, Any]]:
    function = {"name": "f", "arguments": arguments}
    call = {"id": "call_0", "type": "function", "function": function}
    return [*USER, {"role": "assistant", "content": None, "tool_calls": [call]}, *USER]


def test_only_words_of_the_api_are_added() -> None:
    numbers = count()
    body = chat(lambda: f"text {next(numbers)}")
    for name in [name for name in body if name.startswith(("guided_", "function", "web_search"))]:
        del body[name]
    for name in ("chat_template_kwargs", "metadata", "client_metadata", "models", "route"):
        del body[name]
    body["messages"] = [
        m for m in body["messages"] if "function_call" not in m and m["role"] != "function"
    ]
    for message in body["messages"]:  # as the gateway leaves them
        if isinstance(message["content"], list):
            message["content"] = [p for p in message["content"] if p["type"] == "text"]
            for part in message["content"]:
                if "cache_control" in part:
                    part["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    made = spell_messages(body)
    kept = set(list_strings(body))
    added = {text for text in list_strings(made) if text not in kept}
    assert added - {"1.5", "4096"} <= WORDS  # and numbers
    del made["temperature"]  # later models have none, nor have the types
    assert unroll(WHOLE.validate_python(made)) == made


@pytest.mark.parametrize(
    ("choice", "more", "expected"),
    [
        ("none", {}, {"type": "none"}),
        ("auto", {}, {"type": "auto"}),
        ("required", {}, {"type": "any"}),
        ({"type": "function", "function": {"name": "f"}}, {}, {"type": "tool", "name": "f"}),
        ("none", {"parallel_tool_calls": False}, {"type": "none"}),
        (
            "required",
            {"parallel_tool_calls": False},
            {"type": "any", "disable_parallel_tool_use": True},
        ),
        ("auto", {"parallel_tool_calls": True}, {"type": "auto"}),
    ],
)
def test_a_choice_of_tools_is_spelled(choice: Any, more: Any, expected: Any) -> None:
    assert spell(tools=[TOOL], tool_choice=choice, **more)["tool_choice"] == expected
    assert "tool_choice" not in spell(tool_choice=choice, **more)  # it needs tools


def test_one_call_at_a_time_needs_no_choice() -> None:
    made = spell(tools=[TOOL], parallel_tool_calls=False)["tool_choice"]
    assert made == {"type": "auto", "disable_parallel_tool_use": True}
    assert "tool_choice" not in spell(tools=[TOOL])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": [1.5, null, "é"], "b": {}}', {"a": [1.5, None, "é"], "b": {}}),
        ("", {}),
        (" ", {}),
        ("[1, 2]", {"arguments": [1, 2]}),
        ("Call Jane.", {"arguments": "Call Jane."}),
        ('"Jane"', {"arguments": '"Jane"'}),
        ("5", {"arguments": "5"}),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}),
        ('{"a": 1e999}', {"arguments": '{"a": 1e999}'}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
)
def test_arguments_are_an_object(arguments: str, expected: dict[str, Any]) -> None:
    made = spell(messages=assistant(arguments))["messages"][1]["content"][0]
    assert made["input"] == expected
    json.dumps(made, allow_nan=False)


def test_messages_of_one_role_are_one_and_blank_texts_none() -> None:
    texts = ["One.", "", " \n", "Two."]
    messages = [{"role": "user", "content": text} for text in texts]
    late = {"role": "system", "content": "Late."}
    made = spell(messages=[{"role": "system", "content": " "}, *messages, late])
    assert "system" not in made
    assert made["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": text} for text in ("One.", "Two.", "Late.")],
        }
    ]


def test_limits_and_stops_are_spelled() -> None:
    assert spell(max_tokens=5)["max_tokens"] == 5
    assert spell(max_completion_tokens=6)["max_tokens"] == 6
    assert spell(stop="x")["stop_sequences"] == ["x"]
    assert "stop_sequences" not in spell(stop=[])
    assert spell(reasoning_effort="none").keys() == {"model", "max_tokens", "messages"}


@pytest.mark.parametrize(
    "fields",
    [
        {"logprobs": False, "frequency_penalty": 0, "functions": []},
        {"seed": 5, "store": False, "verbosity": "low", "prediction": {"type": "content"}},
        {"response_format": {"type": "text"}, "stream_options": {"include_usage": True}},
        {"prompt_cache_key": "x", "safety_identifier": "y"},
    ],
)
def test_what_has_no_effect_is_left_out(fields: dict[str, Any]) -> None:
    assert spell(**fields) == spell()


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"unheard_of": 1}, "unheard_of"),
        ({"tools": [TOOL], "tool_choice": {"type": "allowed_tools"}}, "tool_choice"),
        ({"tools": [TOOL], "tool_choice": "some"}, "tool_choice"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages[0].function_call"),
    ],
)
def test_what_the_api_lacks_is_refused(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as info:
        spell(**fields)
    assert (info.value.status, info.value.param) == (400, param)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"messages": [{"role": "tool", "content": "x"}]}, "tool_call_id"),
        ({"tools": [{"type": "function"}]}, "function"),
        ({"tools": [{"type": "function", "function": {}}]}, "name"),
        ({"tools": [TOOL], "tool_choice": {"type": "function"}}, "function"),
        ({"response_format": {"type": "json_schema"}}, "json_schema"),
    ],
)
def test_a_field_that_the_api_needs_is_named(fields: dict[str, Any], name: str) -> None:
    with pytest.raises(ApiError, match=f"lacks a field '{name}'") as info:
        spell(**fields)
    assert info.value.status == 400
