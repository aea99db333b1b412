"""Requests with a value at every position of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.proxy.conftest import MODEL

Value = Callable[[], Any]


def schema(text: Value) -> dict[str, Any]:
    """A JSON Schema with a value wherever an author may write one."""
    inner = {
        "type": "string",
        "title": text(),
        "description": text(),
        "enum": [text(), text()],
        "const": text(),
        "default": text(),
        "examples": [text(), {text(): text()}],
        "pattern": text(),
        "$comment": text(),
        "format": text(),
        "x-note": {text(): [text()]},
        text(): text(),
    }
    name, defined = text(), text()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": text(),
        "type": "object",
        "title": text(),
        "properties": {name: inner, text(): {"$ref": f"#/$defs/{defined}"}},
        "patternProperties": {text(): {"type": "string"}},
        "required": [name],
        "additionalProperties": {"anyOf": [{"const": text()}, {"not": {"enum": [text()]}}]},
        "$defs": {defined: {"type": ["array", "null"], "items": {"const": text()}}},
        "type_": text(),
    }


def function(text: Value) -> dict[str, Any]:
    return {
        "name": f"f_{text()}",
        "description": text(),
        "parameters": schema(text),
        "strict": True,
    }


def arguments(text: Value) -> str:
    return json.dumps({text(): [text(), {text(): text()}], "a": {"b": text(), "c": 1.5}})


def chat(text: Value) -> dict[str, Any]:
    """A chat request with a value at every position that takes one."""
    name = f"f_{text()}"
    call_id = text()
    call = {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments(text)},
    }
    legacy = {"name": f"f_{text()}", "arguments": text()}
    return {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": text(), "name": text()},
            {"role": "developer", "content": [{"type": "text", "text": text()}]},
            {"role": "user", "content": text(), "name": text()},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": text(), "annotations": [text()]}],
                "refusal": text(),
                "tool_calls": [call],
                "reasoning_content": text(),
                "provider_specific_fields": {text(): text()},
                "id": text(),
            },
            {"role": "tool", "tool_call_id": call_id, "content": text()},
            {
                "role": "tool",
                "tool_call_id": text(),
                "content": [{"type": "text", "text": arguments(text)}],
            },
            {"role": "assistant", "content": None, "function_call": legacy},
            {"role": "function", "name": f"f_{text()}", "content": text()},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": text()}]},
            {
                "role": "user",
                "content": [{"type": "text", "text": text(), "cache_control": text()}],
            },
        ],
        "tools": [{"type": "function", "function": function(text)}],
        "functions": [function(text)],
        "tool_choice": {"type": "function", "function": {"name": f"f_{text()}"}},
        "function_call": {"name": f"f_{text()}"},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": f"f_{text()}", "description": text(), "schema": schema(text)},
        },
        "stop": [text(), text()],
        "prediction": {"type": "content", "content": [{"type": "text", "text": text()}]},
        "user": text(),
        "safety_identifier": text(),
        "prompt_cache_key": text(),
        "metadata": {text(): text()},
        "client_metadata": {text(): text()},
        "guided_json": schema(text),
        "guided_choice": [text()],
        "guided_regex": text(),
        "guided_grammar": text(),
        "chat_template_kwargs": {text(): {text(): text()}},
        "web_search_options": {text(): text()},
        "models": [text()],
        "route": text(),
        "temperature": 0.123456789,
    }


def completion(text: Value) -> dict[str, Any]:
    return {
        "model": MODEL,
        "prompt": [text(), text()],
        "suffix": text(),
        "stop": text(),
        "user": text(),
        "metadata": {text(): text()},
    }


def response(text: Value) -> dict[str, Any]:
    """A request for a response with a value at every position that takes one."""
    call_id = text()
    return {
        "model": MODEL,
        "instructions": text(),
        "input": [
            {"role": "user", "content": text()},
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text(), "annotations": [text()]}],
            },
            {
                "type": "function_call",
                "call_id": call_id,
                "name": f"f_{text()}",
                "arguments": arguments(text),
            },
            {"type": "function_call_output", "call_id": call_id, "output": text()},
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": text()}],
                "id": text(),
            },
            {"role": "user", "content": [{"type": "input_text", "text": text()}]},
        ],
        "tools": [{"type": "function", **function(text)}],
        "tool_choice": {"type": "function", "name": f"f_{text()}"},
        "text": {
            "format": {
                "type": "json_schema",
                "name": f"f_{text()}",
                "description": text(),
                "schema": schema(text),
            }
        },
        "user": text(),
        "safety_identifier": text(),
        "prompt_cache_key": text(),
        "metadata": {text(): text()},
        "client_metadata": {text(): text()},
    }


def message(text: Value) -> dict[str, Any]:
    """A request of the Messages API with a value at every position that takes one."""
    call_id = text()
    return {
        "model": MODEL,
        "max_tokens": 100,
        "system": [{"type": "text", "text": text(), "cache_control": {"type": text()}}],
        "messages": [
            {"role": "user", "content": text()},
            {"role": "system", "content": text()},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": text(), "signature": text()},
                    {"type": "redacted_thinking", "data": text()},
                    {"type": "text", "text": text(), "citations": [{text(): text()}]},
                    {
                        "type": "tool_use",
                        "id": call_id,
                        "name": f"f_{text()}",
                        "input": json.loads(arguments(text)),
                        "caller": {"type": text()},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call_id, "content": text()},
                    {
                        "type": "tool_result",
                        "tool_use_id": text(),
                        "content": [{"type": "text", "text": arguments(text)}],
                        "is_error": True,
                        "cache_control": text(),
                    },
                    {"type": "text", "text": text()},
                ],
            },
        ],
        "tools": [
            {
                "name": f"f_{text()}",
                "description": text(),
                "input_schema": schema(text),
                "input_examples": [{text(): text()}],
                "strict": True,
            }
        ],
        "tool_choice": {"type": "tool", "name": f"f_{text()}"},
        "output_config": {"format": {"type": "json_schema", "schema": schema(text)}},
        "stop_sequences": [text(), text()],
        "metadata": {"user_id": text()},
        "thinking": {text(): text()},
        "context_management": {text(): text()},
        "service_tier": text(),
    }


MAKERS = {
    "chat/completions": chat,
    "completions": completion,
    "responses": response,
    "messages": message,
}
