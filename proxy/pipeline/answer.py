"""Hold an answer of the local model and the key by which the proxy recognises it later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from extraction.backends.base import Delta, Usage
from proxy.requests.messages import spell_turn

__all__ = ["Answer"]


@dataclass
class Answer:
    """Hold one choice, whole in `message` or assembled from its steps."""

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    stop: str | None = None
    _texts: list[str] = field(default_factory=list)
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)

    def add(self, step: Delta) -> None:
        """Add a streamed step: the text and tool calls that `key` needs."""
        self._texts.append(step.message.get("content") or "")
        for call in step.message.get("tool_calls", ()):
            function = self._calls.setdefault(call["index"], {"name": "", "arguments": ""})
            for part in function:
                function[part] += (call.get("function") or {}).get(part) or ""

    @property
    def text(self) -> str:
        """Return the answer's text, without surrounding blanks."""
        return (self.message.get("content") or "".join(self._texts)).strip()

    @property
    def key(self) -> str:
        """Return the answer as `messages.spell_assistant` spells the client's copy of it."""
        calls = [call["function"] for call in self.message.get("tool_calls") or ()]
        if self.message.get("function_call"):
            calls.append(self.message["function_call"])
        calls += [self._calls[index] for index in sorted(self._calls)]
        return spell_turn(self.text, ((c["name"], c["arguments"]) for c in calls))
