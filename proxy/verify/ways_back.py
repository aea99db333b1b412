"""Ask for answers that repeat a value, and tell if the client gets the value back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from proxy.verify.values import Value

__all__ = ["WAYS", "Way"]

CHAT, MESSAGES = "chat/completions", "messages"
_SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}


@dataclass(frozen=True)
class Way:
    """Describe a way back: an endpoint, and where in its answer the value is.

    Attributes:
        calls: whether the value is in the call of a tool; else in the text.
    """

    endpoint: str
    calls: bool
    streamed: bool

    @property
    def name(self) -> str:
        """Return its name in the table."""
        form = "tool call" if self.calls else "answer"
        owner = "" if self.endpoint == CHAT else f"{self.endpoint}: "
        return f"{owner}{form}{', streamed' if self.streamed else ''}"

    def ask(self, value: Value, model: str) -> dict[str, Any]:
        """Return a request whose answer repeats the value."""
        message = {"role": "user", "content": f"Please keep {value.text} in mind."}
        body: dict[str, Any] = {"model": model, "messages": [message], "stream": self.streamed}
        if self.endpoint == MESSAGES:
            body["max_tokens"] = 1000
            tool: dict[str, Any] = {"name": "send_note", "input_schema": _SCHEMA}
        else:
            function = {"name": "send_note", "parameters": _SCHEMA}
            tool = {"type": "function", "function": function}
        return {**body, "tools": [tool]} if self.calls else body

    def judge(self, status: int, told: str, value: Value) -> str:
        """Tell if an answer holds the value again, in valid JSON where it is JSON."""
        if status >= 400:
            return "refused" if status < 500 else "error"
        read = _read_messages if self.endpoint == MESSAGES else _read_chat
        try:
            text, arguments = read(_read_parts(told))
            shown = json.loads(arguments)["to"] if arguments else text
        except (ValueError, KeyError, TypeError):
            return "broken"
        return "restored" if value.text in shown else "replaced"


WAYS = tuple(
    Way(endpoint, calls, streamed)
    for endpoint in (CHAT, MESSAGES)
    for calls in (False, True)
    for streamed in (False, True)
)


def _read_parts(told: str) -> list[dict[str, Any]]:
    """Return an answer, or the events of a stream."""
    lines = [line[5:] for line in told.splitlines() if line.startswith("data:")]
    return [json.loads(line) for line in lines if line.strip() != "[DONE]"] or [json.loads(told)]


def _read_chat(parts: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the text and the arguments of an answer to a chat."""
    text, arguments = "", ""
    for choice in (choice for part in parts for choice in part.get("choices", ())):
        message = choice.get("message") or choice.get("delta") or {}
        text += message.get("content") or ""
        for call in message.get("tool_calls") or ():
            arguments += call["function"].get("arguments") or ""
    return text, arguments


def _read_messages(parts: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the text and the arguments of a message."""
    text, arguments = "", ""
    for part in parts:
        for block in part.get("content", ()):
            text += block.get("text", "")
            arguments += json.dumps(block["input"]) if "input" in block else ""
        delta = part.get("delta") or {}
        text += delta.get("text", "")
        arguments += delta.get("partial_json", "")
    return text, arguments
