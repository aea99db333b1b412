"""Ask for answers that repeat a text, and read what the client gets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["WAYS", "Way", "read_answer"]

CHAT, MESSAGES = "chat/completions", "messages"
_SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}


@dataclass(frozen=True)
class Way:
    """Describe a way back: an endpoint, and where in its answer the text is.

    Attributes:
        calls: whether it is in the call of a tool; else in the answer itself.
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

    def ask(self, text: str, model: str) -> dict[str, Any]:
        """Return a request whose answer repeats a text."""
        message = {"role": "user", "content": text}
        body: dict[str, Any] = {"model": model, "messages": [message], "stream": self.streamed}
        if self.endpoint == MESSAGES:
            body["max_tokens"] = 1000
            tool: dict[str, Any] = {"name": "send_note", "input_schema": _SCHEMA}
        else:
            function = {"name": "send_note", "parameters": _SCHEMA}
            tool = {"type": "function", "function": function}
        return {**body, "tools": [tool]} if self.calls else body


WAYS = tuple(
    Way(endpoint, calls, streamed)
    for endpoint in (CHAT, MESSAGES)
    for calls in (False, True)
    for streamed in (False, True)
)


def read_answer(endpoint: str, answer: str) -> str:
    """Return the text of an answer, whole or streamed, or the argument `to` of the call in it.

    Raises:
        ValueError: it has not the form of its endpoint.
    """
    try:
        text, arguments = _READERS[endpoint](_read_parts(answer))
        found = json.loads(arguments)["to"] if arguments else text
    except (AttributeError, KeyError, TypeError) as exc:
        raise ValueError(f"the answer has not the form of {endpoint}") from exc
    if not isinstance(found, str):
        raise ValueError("the argument of the call is no text")
    return found


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


def _read_completion(parts: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the text of a completion; of several, which are of several prompts, the longest."""
    return max((choice["text"] for part in parts for choice in part["choices"]), key=len), ""


def _read_response(parts: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the text and the arguments of a response."""
    text, arguments = "", ""
    for item in (item for part in parts for item in part["output"]):
        text += "".join(part["text"] for part in item.get("content", ()))
        arguments += item.get("arguments", "")
    return text, arguments


_READERS = {
    CHAT: _read_chat,
    MESSAGES: _read_messages,
    "completions": _read_completion,
    "responses": _read_response,
}
