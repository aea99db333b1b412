"""Define a request for each endpoint with nothing sensitive, list all its positions, and plant a
value at one of them.
"""

from __future__ import annotations

import json
from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

from proxy.verify.values import Value

__all__ = ["BODIES", "PLACES", "Place"]

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


Kind = Literal["text", "string", "name", "number", "label"]
JSON = "<json>"  # a step of a path: into the JSON of a string
KEY = "<key>"  # the last step of a path: the value becomes the key of an object
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Place:
    """Describe a position.

    Attributes:
        endpoint: the path of the endpoint.
        name: its name in the table.
        path: the steps from the body to it.
        kind: `text` takes a value in a sentence, `string` the value alone, `name` the value as
            a function's name, `number` its digits as a number. `label` takes the value alone
            and is not shown to the model, so that no answer can repeat it.
    """

    endpoint: str
    name: str
    path: Path
    kind: Kind = "text"

    def plant(self, value: Value, model: str) -> dict[str, Any] | None:
        """Return a request with the value at this position and nothing sensitive elsewhere; None
        if the position cannot hold it."""
        spelled: Any = {
            "text": f"Please keep {value.text} in mind.",
            "string": value.text,
            "label": value.text,
            "name": value.name,
            "number": value.number,
        }[self.kind]
        return None if spelled is None else self._fill(spelled, model)

    def write(self, text: str, model: str) -> dict[str, Any] | None:
        """Return a request with a whole text at this position; None if that is no place for it."""
        fits = self.kind in ("text", "string") and self.path[-1] != KEY
        return self._fill(text, model) if fits else None

    def _fill(self, spelled: Any, model: str) -> dict[str, Any]:
        body: dict[str, Any] = _put(BODIES[self.endpoint], self.path, spelled)
        return {**body, "model": model}


def _put(node: Any, path: Path, value: Any) -> Any:
    """Return JSON with a value at the end of a path; what lies beside the path is shared."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if step == JSON:
        return json.dumps(_put(json.loads(node), rest, value))
    if step == KEY:
        return {**node, value: next(iter(node.values()))}  # beside its like
    made = copy(node)
    made[step] = _put(node[step] if rest else None, rest, value)
    return made


def _list_arguments(endpoint: str, path: Path) -> list[Place]:
    """List the positions in the arguments of a call, which are JSON in a string."""
    broken = Place(endpoint, "tool call: arguments that are not JSON", path)
    return [*_list_input(endpoint, (*path, JSON)), broken]


def _list_input(endpoint: str, inside: Path) -> list[Place]:
    """List the positions in the object that a tool is called with."""
    return [
        Place(endpoint, "tool call: argument", (*inside, "to"), "string"),
        Place(endpoint, "tool call: text argument", (*inside, "to")),
        Place(endpoint, "tool call: nested argument", (*inside, "list", 1, "deep"), "string"),
        Place(endpoint, "tool call: key", (*inside, KEY), "string"),
        Place(endpoint, "tool call: number", (*inside, "count"), "number"),
    ]


def _list_schema(endpoint: str, owner: str, path: Path) -> list[Place]:
    """List the positions in a JSON Schema."""
    to, count = (*path, "properties", "to"), (*path, "properties", "count")
    return [
        Place(endpoint, f"{owner}: title", (*path, "title")),
        Place(endpoint, f"{owner}: description", (*path, "description")),
        Place(endpoint, f"{owner}: property name", (*path, "properties", KEY), "string"),
        Place(endpoint, f"{owner}: property description", (*to, "description")),
        Place(endpoint, f"{owner}: enum", (*to, "enum", 0), "string"),
        Place(endpoint, f"{owner}: default", (*to, "default"), "string"),
        Place(endpoint, f"{owner}: example", (*to, "examples", 0), "string"),
        Place(endpoint, f"{owner}: const", (*path, "$defs", "note", "const"), "string"),
        Place(endpoint, f"{owner}: number in an enum", (*count, "enum", 0), "number"),
    ]


def _list_chat() -> list[Place]:
    end, messages = "chat/completions", "messages"
    call: Path = (messages, 2, "tool_calls", 0)
    function: Path = ("tools", 0, "function")
    return [
        Place(end, "system message", (messages, 0, "content")),
        Place(end, "user message", (messages, 1, "content")),
        Place(end, "name of a user", (messages, 1, "name"), "name"),
        Place(end, "assistant message in the history", (messages, 4, "content")),
        Place(end, "text part of the last message", (messages, 5, "content", 0, "text")),
        Place(end, "tool call: function name", (*call, "function", "name"), "name"),
        *_list_arguments(end, (*call, "function", "arguments")),
        Place(end, "tool result", (messages, 3, "content")),
        Place(end, "tool result: JSON", (messages, 3, "content", JSON, "result"), "string"),
        Place(end, "tool: name", (*function, "name"), "name"),
        Place(end, "tool: description", (*function, "description")),
        *_list_schema(end, "tool schema", (*function, "parameters")),
        *_list_schema(end, "answer schema", ("response_format", "json_schema", "schema")),
        Place(end, "stop", ("stop", 0), "string"),
        Place(end, "prediction", ("prediction", "content")),
        Place(end, "user", ("user",), "label"),
        Place(end, "safety_identifier", ("safety_identifier",), "label"),
        Place(end, "prompt_cache_key", ("prompt_cache_key",), "label"),
        Place(end, "metadata: value", ("metadata", "x"), "label"),
        Place(end, "metadata: key", ("metadata", KEY), "label"),
    ]


def _list_responses() -> list[Place]:
    end = "responses"
    return [
        Place(end, "instructions", ("instructions",)),
        Place(end, "user message", ("input", 0, "content")),
        Place(end, "tool call: function name", ("input", 1, "name"), "name"),
        *_list_arguments(end, ("input", 1, "arguments")),
        Place(end, "tool result", ("input", 2, "output")),
        Place(end, "assistant message in the history", ("input", 3, "content", 0, "text")),
        Place(end, "text part of the last message", ("input", 4, "content", 0, "text")),
        Place(end, "tool: name", ("tools", 0, "name"), "name"),
        Place(end, "tool: description", ("tools", 0, "description")),
        *_list_schema(end, "tool schema", ("tools", 0, "parameters")),
        *_list_schema(end, "answer schema", ("text", "format", "schema")),
        Place(end, "user", ("user",), "label"),
        Place(end, "metadata: value", ("metadata", "x"), "label"),
    ]


def _list_completions() -> list[Place]:
    end = "completions"
    return [
        Place(end, "prompt", ("prompt", 1)),
        Place(end, "stop", ("stop", 0), "string"),
        Place(end, "user", ("user",), "label"),
    ]


def _list_messages() -> list[Place]:
    end = "messages"
    answer: Path = ("messages", 1, "content")
    results: Path = ("messages", 2, "content")
    return [
        Place(end, "system", ("system",)),
        Place(end, "system block", ("system", 0, "text")),
        Place(end, "user message", ("messages", 0, "content")),
        Place(end, "thinking in the history", (*answer, 0, "thinking"), "label"),
        Place(end, "assistant text in the history", (*answer, 1, "text")),
        Place(end, "tool call: name", (*answer, 2, "name"), "name"),
        *_list_input(end, (*answer, 2, "input")),
        Place(end, "tool result", (*results, 0, "content")),
        Place(end, "tool result: block", (*results, 1, "content", 0, "text")),
        Place(end, "text block of the last message", (*results, 2, "text")),
        Place(end, "tool: name", ("tools", 0, "name"), "name"),
        Place(end, "tool: description", ("tools", 0, "description")),
        *_list_schema(end, "tool schema", ("tools", 0, "input_schema")),
        Place(end, "tool_choice: name", ("tool_choice", "name"), "name"),
        *_list_schema(end, "answer schema", ("output_config", "format", "schema")),
        Place(end, "stop_sequences", ("stop_sequences", 0), "string"),
        Place(end, "metadata: user_id", ("metadata", "user_id"), "label"),
    ]


PLACES: tuple[Place, ...] = (
    *_list_chat(),
    *_list_completions(),
    *_list_responses(),
    *_list_messages(),
)
