"""Render answers for `POST /v1/messages`: a message, or the events it is built from.

A whole answer is rendered as a stream of one step whose events are discarded, so that the two
forms cannot differ.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from extraction.backends.base import Delta, Usage
from proxy.api.middleware import spell_error
from proxy.api.render import Receipt, Renderer, format_event, make_field
from proxy.errors import ApiError, remote_error
from proxy.pipeline.plan import Answer
from proxy.requests.anthropic import MessagesRequest, list_dropped

__all__ = ["MessagesRenderer"]

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
TEXTS = ("content", "refusal")
# A sign that opens, closes or quotes in JSON, or an escape, whose second half may be yet to come.
_SIGN = re.compile(r'\\(?:.|\Z)|["{}\[\]]', re.DOTALL)


class _Nesting:
    """Follow JSON that comes in pieces, and tell when its outermost bracket is closed.

    A remote chooses the pieces: reading all of them again with each one would take time quadratic
    in their number.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._depth = 0
        self._quoted = self._escaped = False

    def read(self, text: str) -> None:
        """Read the next piece, which is not empty."""
        if self._escaped:
            self._escaped, text = False, text[1:]
        for sign in _SIGN.findall(text):
            if sign[0] == "\\":
                self._escaped = len(sign) == 1
            elif sign == '"':
                self._quoted = not self._quoted
            elif not self._quoted:
                self._depth += 1 if sign in "{[" else -1
                self.is_closed = self.is_closed or self._depth == 0


@dataclass
class _Block:
    """Hold a block of the answer: a text, or a call with the name and arguments so far.

    Attributes:
        key: the call's index; None for a text.
        parts: the pieces of the text, or of the arguments.
        sent: how many of them are in events.
    """

    key: int | None
    name: str = ""
    parts: list[str] = field(default_factory=list)
    sent: int = 0
    opened: bool = False
    id: str = field(default_factory=lambda: f"toolu_{secrets.token_hex(12)}")
    _nesting: _Nesting = field(default_factory=_Nesting)

    @property
    def is_complete(self) -> bool:
        """Tell if nothing can follow in this block, once another has begun."""
        return self.key is None or self._nesting.is_closed

    def add(self, text: str) -> None:
        """Add the next piece."""
        if text:
            self.parts.append(text)
            if self.key is not None:
                self._nesting.read(text)

    def start(self) -> dict[str, Any]:
        """Return the block as it is opened."""
        if self.key is None:
            return {"type": "text", "text": ""}
        return {"type": "tool_use", "id": self.id, "name": self.name, "input": {}}

    def next_delta(self) -> dict[str, Any] | None:
        """Return what is not in events yet; None if there is nothing."""
        rest, self.sent = "".join(self.parts[self.sent :]), len(self.parts)
        if not rest:
            return None
        if self.key is None:
            return {"type": "text_delta", "text": rest}
        return {"type": "input_json_delta", "partial_json": rest}

    def finish(self, *, cut: bool) -> dict[str, Any]:
        """Return the whole block.

        Args:
            cut: whether the answer ended at its limit, perhaps within the arguments.

        Raises:
            ApiError: 502, the arguments are not a JSON object.
        """
        text = "".join(self.parts)
        if self.key is None:
            return {"type": "text", "text": text}
        found = _read_arguments(text or "{}", partial=cut)
        if found is None:
            raise remote_error("The model called a tool with arguments that are no JSON object.")
        return {**self.start(), "input": found}


class MessagesRenderer(Renderer):
    """Render one message: texts, tool calls, or both.

    The API has one open block at a time. The first block that is not closed is streamed; what
    comes for a later one waits until it is closed.
    """

    ping = b'event: ping\ndata: {"type": "ping"}\n\n'

    def __init__(self, request: MessagesRequest) -> None:
        self._request = request
        self._id = f"msg_{secrets.token_hex(12)}"
        self._blocks: list[_Block] = []
        self._closed: list[dict[str, Any]] = []
        self._usage = Usage()
        self._finish: str | None = None
        self._stop: str | None = None
        self._refused = False

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        (answer,) = answers
        whole = Delta(answer.message, None, answer.finish_reason, answer.usage, answer.stop)
        self.step(0, whole)
        self.end(receipt)
        return {
            **self._describe(),
            "content": self._closed,
            **self._make_end(),
            "usage": self._count_tokens(),
            **self._make_field(receipt),
        }

    def start(self, receipt: Receipt) -> bytes:
        message = {
            **self._describe(),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._count_tokens(),
        }
        return _format_event("message_start", message={**message, **self._make_field(receipt)})

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        for name in TEXTS:
            if text := step.message.get(name):
                self._refused = self._refused or name == "refusal"
                self._find_text().add(text)
        for place, call in enumerate(step.message.get("tool_calls") or ()):
            self._add_call(call.get("index", place), call.get("function") or {})
        if function := step.message.get("function_call"):
            self._add_call(-1, function)
        self._finish = step.finish_reason or self._finish
        self._stop = step.stop or self._stop
        self._usage = step.usage or self._usage
        return self._advance()

    def end(self, receipt: Receipt) -> bytes:
        """Return the end of the stream. Raises `ApiError`: the arguments of a call are no JSON."""
        out = self._advance(last=True)
        usage = self._count_tokens()
        field = self._make_field(receipt)
        out += _format_event("message_delta", delta=self._make_end(), usage=usage, **field)
        return out + _format_event("message_stop")

    def fail(self, error: ApiError) -> bytes:
        return _format_event("error", error=spell_error(error)["error"])

    # -- blocks -----------------------------------------------------------------------------

    def _find_text(self) -> _Block:
        """Return the text that is being written, or a new one."""
        if not self._blocks or self._blocks[-1].key is not None:
            self._blocks.append(_Block(None))
        return self._blocks[-1]

    def _add_call(self, key: int, function: dict[str, Any]) -> None:
        block = next((block for block in self._blocks if block.key == key), None)
        if block is None:
            block = _Block(key)
            self._blocks.append(block)
        block.name += function.get("name") or ""
        block.add(function.get("arguments") or "")

    def _advance(self, *, last: bool = False) -> bytes:
        """Write what may be written now; close the blocks that nothing can follow."""
        out = b""
        while (place := len(self._closed)) < len(self._blocks):
            block = self._blocks[place]
            ends = last or (place + 1 < len(self._blocks) and block.is_complete)
            if not block.opened and (block.parts or ends):  # by then, the name is whole
                block.opened = True
                out += _format_event(
                    "content_block_start", index=place, content_block=block.start()
                )
            if block.opened and (delta := block.next_delta()):
                out += _format_event("content_block_delta", index=place, delta=delta)
            if not ends:
                break
            self._closed.append(block.finish(cut=last and self._finish == "length"))
            out += _format_event("content_block_stop", index=place)
        return out

    # -- the message ------------------------------------------------------------------------

    def _describe(self) -> dict[str, Any]:
        model = self._request.model
        return {"id": self._id, "type": "message", "role": "assistant", "model": model}

    def _make_end(self) -> dict[str, Any]:
        reason = STOP_REASONS[self._finish or "stop"]
        if reason == "end_turn" and any(block.key is not None for block in self._blocks):
            reason = "tool_use"  # some servers end calls like texts
        if reason == "end_turn" and self._refused:
            reason = "refusal"
        if reason == "end_turn" and self._stop in (self._request.stop_sequences or ()):
            return {"stop_reason": "stop_sequence", "stop_sequence": self._stop}
        return {"stop_reason": reason, "stop_sequence": None}

    def _count_tokens(self) -> dict[str, int]:
        return {
            "input_tokens": self._usage.prompt_tokens,
            "output_tokens": self._usage.completion_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }

    def _make_field(self, receipt: Receipt) -> dict[str, Any]:
        """Return the receipt, with the names of what the request held and nobody read."""
        if receipt is None:
            return {}
        return make_field({**receipt, "dropped": list_dropped(self._request)})


def _format_event(kind: str, **data: Any) -> bytes:
    return format_event({"type": kind, **data}, kind)


def _read_arguments(text: str, *, partial: bool = False) -> dict[str, Any] | None:
    """Read the arguments of a call; None if they are no JSON object.

    Args:
        partial: read what there is of an object that is cut off.
    """
    try:
        found = from_json(text, allow_partial=partial)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
