"""Define a request for each endpoint, with every position and nothing sensitive."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["BODIES"]

_INPUT = {"to": "x", "list": ["x", {"deep": "x"}], "count": 1}
_ARGUMENTS = json.dumps(_INPUT)
_SCHEMA = {
    "type": "object",
    "title": "Note",
    "description": "a note",
    "properties": {
        "to": {
            "type": "string",
            "title": "x",
            "description": "x",
            "enum": ["x"],
            "default": "x",
            "examples": ["x"],
            "pattern": "x",
        },
        "count": {"type": "integer", "enum": [1], "const": 1},
    },
    "$defs": {"note": {"type": "string", "const": "x"}},
}
_FUNCTION = {"name": "send_note", "description": "sends a note", "parameters": _SCHEMA}
_CALL = {
    "id": "call_a",
    "type": "function",
    "function": {"name": "send_note", "arguments": _ARGUMENTS},
}
_CHAT = {
    "messages": [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hello", "name": "x"},
        {"role": "assistant", "content": "yes", "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "call_a", "content": '{"result": "done", "count": 1}'},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
    ],
    "tools": [{"type": "function", "function": _FUNCTION}],
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "note", "description": "a note", "schema": _SCHEMA},
    },
    "stop": ["x"],
    "prediction": {"type": "content", "content": "x"},
    "metadata": {"x": "x"},
}
_RESPONSE = {
    "instructions": "be brief",
    "input": [
        {"role": "user", "content": "hello"},
        {
            "type": "function_call",
            "call_id": "call_a",
            "name": "send_note",
            "arguments": _ARGUMENTS,
        },
        {"type": "function_call_output", "call_id": "call_a", "output": "done"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "done", "annotations": []}],
        },
        {"role": "user", "content": [{"type": "input_text", "text": "thanks"}]},
    ],
    "tools": [{"type": "function", "strict": False, **_FUNCTION}],
    "text": {"format": {"type": "json_schema", "name": "note", "schema": _SCHEMA}},
    "metadata": {"x": "x"},
}
_COMPLETION = {"prompt": ["hello", "thanks"], "stop": ["x"]}
_MESSAGES = {
    "max_tokens": 100,
    "system": [{"type": "text", "text": "be brief", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        {"role": "user", "content": "hello"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "x", "signature": "x"},
                {"type": "text", "text": "yes"},
                {"type": "tool_use", "id": "toolu_a", "name": "send_note", "input": _INPUT},
                {"type": "tool_use", "id": "toolu_b", "name": "send_note", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "content": "done"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_b",
                    "content": [{"type": "text", "text": "failed"}],
                    "is_error": True,
                },
                {"type": "text", "text": "thanks"},
            ],
        },
    ],
    "tools": [{"name": "send_note", "description": "sends a note", "input_schema": _SCHEMA}],
    "tool_choice": {"type": "tool", "name": "send_note"},
    "output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}},
    "stop_sequences": ["x"],
    "metadata": {"user_id": "x"},
}
BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": _CHAT,
    "completions": _COMPLETION,
    "responses": _RESPONSE,
    "messages": _MESSAGES,
}
