"""Restore one choice of the remote's answer, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from extraction.backends.base import Delta
from proxy.restoring.way_back import Restored, RestoredText, WayBack

__all__ = ["Choice"]

TEXTS = ("content", "refusal")


class Choice:
    """Restore one choice. Each text and each tool call in it is restored by itself.

    Attributes:
        finish_reason: the reason with which the remote ended the choice; None before that.
        stop: the client's stop sequence that ended it, if the remote names it.
    """

    def __init__(self, way_back: WayBack) -> None:
        self._back = way_back
        self._texts: dict[str, RestoredText] = {}
        self._calls: dict[int, _Call] = {}
        self._function: _Call | None = None
        self.finish_reason: str | None = None
        self.stop: str | None = None

    @property
    def begun(self) -> bool:
        """Tell if the remote has sent a part of a text or of a call."""
        return bool(self._texts or self._calls or self._function)

    def step(self, step: Delta) -> Delta:
        """Return a step as far as it is certain, without its end."""
        self.finish_reason = step.finish_reason or self.finish_reason
        if step.stop is not None:
            self.stop = self._back.wholes.get(step.stop, step.stop)
        message: dict[str, Any] = {}
        for name in TEXTS:
            if text := step.message.get(name):
                restorer = self._texts.setdefault(name, self._back.read_content())
                if shown := restorer.feed(text):
                    message[name] = shown
        calls = []
        for place, call in enumerate(step.message.get("tool_calls") or ()):
            index = call.get("index", place)
            own = self._calls.setdefault(index, _Call(self._back))
            function = own.step(call.get("function") or {})
            if function or "id" in call or "type" in call:
                calls.append({**call, "function": function})
        if calls:
            message["tool_calls"] = calls
        if legacy := step.message.get("function_call"):
            self._function = self._function or _Call(self._back)
            if shown_call := self._function.step(legacy):
                message["function_call"] = shown_call
        return Delta(message, step.logprobs)

    def finish(self) -> Delta:
        """Return what was held back."""
        rests = {name: self._texts[name].finish() for name in TEXTS if name in self._texts}
        message: dict[str, Any] = {name: rest for name, rest in rests.items() if rest}
        calls = [
            {"index": index, "function": rest}
            for index, call in sorted(self._calls.items())
            if (rest := call.finish())
        ]
        if calls:
            message["tool_calls"] = calls
        if self._function is not None and (rest := self._function.finish()):
            message["function_call"] = rest
        return Delta(message)

    def restore(self, whole: Delta) -> Delta:
        """Return a whole choice, restored."""
        first, rest = self.step(whole), self.finish()
        message = dict(first.message)
        for name in TEXTS:
            if text := message.get(name, "") + rest.message.get(name, ""):
                message[name] = text
        calls = message.get("tool_calls", [])
        for late in rest.message.get("tool_calls", ()):
            _extend(calls[late["index"]]["function"], late["function"])
        if "function_call" in whole.message:
            function = message.setdefault("function_call", {})
            _extend(function, rest.message.get("function_call", {}))
        return replace(whole, message=message, stop=self.stop)

    def count(self) -> Restored:
        """Count what was restored, once the choice is finished."""
        calls = [*self._calls.values(), *([self._function] if self._function else [])]
        texts = [*self._texts.values(), *(call.arguments for call in calls)]
        return sum((text.count() for text in texts), Restored(sum(c.renamed for c in calls)))


class _Call:
    """Restore one call: its name as a whole, its arguments as JSON."""

    def __init__(self, way_back: WayBack) -> None:
        self._names = way_back.names
        self._name = ""  # held back: it may yet become one that was replaced
        self.arguments = way_back.read_json()
        self.renamed = 0

    def step(self, function: Mapping[str, str]) -> dict[str, str]:
        shown: dict[str, str] = {}
        self._name += function.get("name", "")
        arguments = function.get("arguments", "")
        waits = any(known.startswith(self._name) for known in self._names if known != self._name)
        if self._name and (arguments or not waits):
            shown["name"] = self._take_name()
        if "arguments" in function:
            text = self.arguments.feed(arguments)
            if text or not arguments:
                shown["arguments"] = text
        return shown

    def finish(self) -> dict[str, str]:
        shown = {"name": self._take_name()} if self._name else {}
        rest = self.arguments.finish()
        return {**shown, "arguments": rest} if rest else shown

    def _take_name(self) -> str:
        name, self._name = self._name, ""
        self.renamed += name in self._names
        return self._names.get(name, name)


def _extend(function: dict[str, str], rest: Mapping[str, str]) -> None:
    for part in ("name", "arguments"):
        function[part] = function.get(part, "") + rest.get(part, "")
