"""Render answers for `POST /v1/responses`: an object, or the events it is built from.

A whole answer is rendered as a stream of one step whose events are discarded, so that the two
forms cannot differ.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Any

from extraction.backends.base import Delta, Usage
from proxy.api.render import Receipt, Renderer, format_event, make_field
from proxy.errors import ApiError
from proxy.pipeline.plan import Answer
from proxy.requests.protocol import Strict
from proxy.requests.responses import LOGPROBS, ResponsesRequest

__all__ = ["ResponsesRenderer"]

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
MESSAGE = -1  # the key of the answer's text among its items; calls have their index
Item = dict[str, Any]


class ResponsesRenderer(Renderer):
    """Render one response: a message, function calls, or both.

    Items stay open until the end: local servers may send a call's arguments, or text, after the
    next item has begun.
    """

    def __init__(self, request: ResponsesRequest) -> None:
        self._request = request
        self._head = {
            "id": f"resp_{secrets.token_hex(24)}",
            "object": "response",
            "created_at": int(time.time()),
            "model": request.model,
        }
        self._items: dict[int, Item] = {}
        self._places: dict[int, int] = {}
        self._events = 0
        self._usage = Usage()
        self._finish: str | None = None

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        (answer,) = answers
        self.step(0, Delta(answer.message, answer.logprobs, answer.finish_reason, answer.usage))
        self.end(receipt)
        return self._close_response(receipt)

    def start(self, receipt: Receipt) -> bytes:
        return self._open_response(self._describe("in_progress"), make_field(receipt))

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        out = b""  # the receipt is in the last event
        if text := step.message.get("content"):
            out += self._add_text(text, step.logprobs)
        for place, call in enumerate(step.message.get("tool_calls") or ()):
            out += self._add_call(call.get("index", place), call)
        self._finish = step.finish_reason or self._finish
        self._usage = step.usage or self._usage
        return out

    def end(self, receipt: Receipt) -> bytes:
        out = b"" if self._items else self._open_item(MESSAGE, _make_message())
        broken_off = list(self._items)[-1] if self._finish in INCOMPLETE else None
        for key in list(self._items):
            out += self._close_item(key, "incomplete" if key == broken_off else "completed")
        response = self._close_response(receipt)
        return out + self._format_event(f"response.{response['status']}", {"response": response})

    def fail(self, error: ApiError) -> bytes:
        """Return an `error` event, which SDKs raise, and the failed response.

        Neither repeats any part of the request, since errors end up in logs.
        """
        failed: dict[str, Any] = {
            **self._head,
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "output": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        out = b"" if self._events else self._open_response(failed, {})
        error_body = error.body()["error"]
        flat = {name: error_body[name] for name in ("code", "message", "param")}
        out += self._format_event("error", {**flat, "error": error_body})
        code = "rate_limit_exceeded" if error.status == 429 else "server_error"
        failed |= {"status": "failed", "error": {"code": code, "message": error.message}}
        return out + self._format_event("response.failed", {"response": failed})

    # -- events -----------------------------------------------------------------------------

    def _format_event(self, kind: str, data: dict[str, Any]) -> bytes:
        event = {"type": kind, "sequence_number": self._events, **data}
        self._events += 1
        return format_event(event, kind)

    def _open_response(self, response: dict[str, Any], receipt: dict[str, Any]) -> bytes:
        created = self._format_event("response.created", {"response": {**response, **receipt}})
        return created + self._format_event("response.in_progress", {"response": response})

    def _open_item(self, key: int, item: Item) -> bytes:
        self._places[key] = len(self._items)
        self._items[key] = item
        out = self._format_event(
            "response.output_item.added", {"output_index": self._places[key], "item": item}
        )
        if key == MESSAGE:
            part = _make_part()
            out += self._format_event(
                "response.content_part.added", {**self._locate_text(), "part": part}
            )
            item["content"].append(part)
        return out

    def _add_text(self, text: str, logprobs: dict[str, Any] | None) -> bytes:
        out = b"" if MESSAGE in self._items else self._open_item(MESSAGE, _make_message())
        (part,) = self._items[MESSAGE]["content"]
        found = self._convert_logprobs(logprobs)
        part["text"] += text
        part["logprobs"] += found
        delta = {**self._locate_text(), "delta": text, "logprobs": found}
        return out + self._format_event("response.output_text.delta", delta)

    def _add_call(self, key: int, call: dict[str, Any]) -> bytes:
        function = call.get("function") or {}
        name, arguments = (function.get(part) or "" for part in ("name", "arguments"))
        out = b""
        if key in self._items:
            self._items[key]["name"] += name
        else:
            out = self._open_item(key, _make_call(call.get("id"), name))
        if arguments:
            self._items[key]["arguments"] += arguments
            delta = {**self._locate(key), "delta": arguments}
            out += self._format_event("response.function_call_arguments.delta", delta)
        return out

    def _close_item(self, key: int, status: str) -> bytes:
        item = self._items[key]
        if key == MESSAGE:
            (part,) = item["content"]
            done = {"text": part["text"], "logprobs": part["logprobs"]}
            out = self._format_event("response.output_text.done", {**self._locate_text(), **done})
            out += self._format_event(
                "response.content_part.done", {**self._locate_text(), "part": part}
            )
        else:
            done = {"name": item["name"], "arguments": item["arguments"]}
            out = self._format_event(
                "response.function_call_arguments.done", {**self._locate(key), **done}
            )
        item["status"] = status
        place = {"output_index": self._places[key]}
        return out + self._format_event("response.output_item.done", {**place, "item": item})

    def _locate(self, key: int) -> dict[str, Any]:
        return {"item_id": self._items[key]["id"], "output_index": self._places[key]}

    def _locate_text(self) -> dict[str, Any]:
        return {**self._locate(MESSAGE), "content_index": 0}

    def _convert_logprobs(self, found: dict[str, Any] | None) -> list[dict[str, Any]]:
        """Convert the chat form's tokens, adding the bytes that this form requires."""
        if LOGPROBS not in (self._request.include or ()):
            return []
        return [
            {
                **_convert_token(item),
                "top_logprobs": [_convert_token(top) for top in item.get("top_logprobs") or ()],
            }
            for item in (found or {}).get("content") or ()
        ]

    # -- the response -----------------------------------------------------------------------

    def _close_response(self, receipt: Receipt) -> dict[str, Any]:
        """Return the response with its answer."""
        reason = INCOMPLETE.get(self._finish or "")
        usage = self._usage
        return {
            **self._describe("incomplete" if reason else "completed"),
            "incomplete_details": {"reason": reason} if reason else None,
            "output": list(self._items.values()),
            "usage": {
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            },
            **make_field(receipt),
        }

    def _describe(self, status: str) -> dict[str, Any]:
        """Return the response without an answer: the request's settings in force here."""
        request = self._request
        effort = request.reasoning.effort if request.reasoning is not None else None
        form = request.text.format if request.text is not None else None
        return {
            **self._head,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": request.instructions,
            "max_output_tokens": request.max_output_tokens,
            "metadata": {},
            "output": [],
            "parallel_tool_calls": request.parallel_tool_calls is not False,
            "previous_response_id": None,
            "reasoning": {"effort": effort, "summary": None},
            "store": False,
            "temperature": request.temperature,
            "text": {"format": _dump(form) if form else {"type": "text"}},
            "tool_choice": _dump(request.tool_choice or "auto"),
            "tools": [_dump(tool) for tool in request.tools or ()],
            "top_logprobs": request.top_logprobs,
            "top_p": request.top_p,
            "truncation": "disabled",
            "usage": None,
        }


def _make_message() -> Item:
    return {
        "id": f"msg_{secrets.token_hex(24)}",
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }


def _make_part() -> dict[str, Any]:
    return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def _make_call(id: str | None, name: str) -> Item:
    return {
        "id": f"fc_{secrets.token_hex(24)}",
        "type": "function_call",
        "status": "in_progress",
        "call_id": id or f"call_{secrets.token_hex(12)}",
        "name": name,
        "arguments": "",
    }


def _convert_token(item: dict[str, Any]) -> dict[str, Any]:
    token = item["token"]
    spelled = item.get("bytes")
    return {
        "token": token,
        "logprob": item["logprob"],
        "bytes": list(token.encode()) if spelled is None else spelled,
    }


def _dump(value: str | Strict) -> Any:
    return value if isinstance(value, str) else value.model_dump(by_alias=True, exclude_unset=True)
