"""Restore answers outside of the proxy, from what `POST /v1/privacy/sanitize` returned."""

from __future__ import annotations

from typing import Any

from proxy.restoring.json_text import JsonRestorer
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

__all__ = ["AnswerRestorer"]

# The texts of a message. Reasoning is no field of OpenAI's, but others send it.
TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


class AnswerRestorer:
    """Restore the answers to one request, whole or streamed.

    Args:
        done: the answer of `POST /v1/privacy/sanitize`.

    Attributes:
        streamed: whether an event of a stream was restored.
    """

    def __init__(self, done: dict[str, Any]) -> None:
        self.streamed = False
        self._replacements = Replacements(
            done["replacements"],
            done.get("left", ()),
            ordinary=frozenset(done.get("ordinary", ())),
        )
        self._wholes: dict[str, str] = done["wholes"]
        form = (done["body"].get("response_format") or {}).get("type")
        self._writes_json = form in ("json_object", "json_schema")
        self._parts: dict[tuple[int, str, int], TextRestorer | JsonRestorer] = {}

    def restore_content(self, text: str) -> str:
        """Restore the text of a whole answer."""
        return self._restore(text, "content")

    def restore(self, value: Any, key: str = "") -> Any:
        """Restore every text of messages; names stay whole, and arguments of a call JSON."""
        if isinstance(value, str):
            return self._wholes.get(value, value) if key == "name" else self._restore(value, key)
        if isinstance(value, list):
            return [self.restore(item, key) for item in value]
        if isinstance(value, dict):
            return {
                name: self.restore(item, "" if name == "content" else name)
                for name, item in value.items()
            }
        return value

    def restore_choice(self, choice: dict[str, Any]) -> None:
        """Restore a choice of one event of a stream in place."""
        self.streamed = True
        index, delta = choice.get("index") or 0, choice.get("delta") or {}
        for name in TEXTS:
            if isinstance(delta.get(name), str):
                delta[name] = self._feed((index, name, 0), delta[name])
        for call in delta.get("tool_calls") or ():
            function = call.get("function") or {}
            if function.get("name") in self._wholes:
                function["name"] = self._wholes[function["name"]]
            if isinstance(function.get("arguments"), str):
                place = (index, "arguments", call.get("index") or 0)
                function["arguments"] = self._feed(place, function["arguments"])
        if choice.get("finish_reason"):
            choice["delta"] = self._finish(index, delta)

    def _finish(self, index: int, delta: dict[str, Any]) -> dict[str, Any]:
        """Return the last delta of a choice with the rests of its texts and calls."""
        for place in [place for place in self._parts if place[0] == index]:
            rest, (_, name, number) = spell_pieces(self._parts.pop(place).finish()), place
            if rest and name == "arguments":
                call = {"index": number, "function": {"arguments": rest}}
                delta["tool_calls"] = [*(delta.get("tool_calls") or ()), call]
            elif rest:
                delta[name] = (delta.get(name) or "") + rest
        return delta

    def _restore(self, text: str, name: str) -> str:
        restorer = self._start(name)
        return spell_pieces(restorer.feed(text)) + spell_pieces(restorer.finish())

    def _feed(self, place: tuple[int, str, int], text: str) -> str:
        if place not in self._parts:
            self._parts[place] = self._start(place[1])
        return spell_pieces(self._parts[place].feed(text))

    def _start(self, name: str) -> TextRestorer | JsonRestorer:
        if name == "arguments" or (name == "content" and self._writes_json):
            return JsonRestorer(self._replacements, self._wholes)
        return TextRestorer(self._replacements)
