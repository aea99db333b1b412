"""Answers in the form of `POST /v1/responses`: an object, or the events it is built from.

Both are made in one way: a whole answer is rendered as a stream of one step whose events nobody
reads, so that the two cannot differ.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from typing import Any

from extraction.backend import Delta, Usage
from proxy.errors import ApiError
from proxy.plan import Answer, Plan
from proxy.protocol import Strict
from proxy.render import Renderer
from proxy.responses_protocol import LOGPROBS, ResponsesRequest

__all__ = ["ResponsesRenderer"]

INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}
MESSAGE = -1  # the key of the answer's text among its items; calls have their index
Item = dict[str, Any]


class ResponsesRenderer(Renderer):
    """One response: a message, function calls, or both.

    Items stay open until the end: local servers may send a call's arguments, or text, after the
    next item has begun.
    """

    def __init__(self, plan: Plan, request: ResponsesRequest) -> None:
        self._plan = plan
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

    def body(self, answers: Sequence[Answer]) -> dict[str, Any]:
        (answer,) = answers
        self.step(0, Delta(answer.message, answer.logprobs, answer.finish_reason, answer.usage))
        self.end()
        return self._closed()

    def start(self) -> bytes:
        return self._opening(self._response("in_progress"), self._receipt())

    def step(self, index: int, step: Delta) -> bytes:
        out = b""
        if text := step.message.get("content"):
            out += self._text(text, step.logprobs)
        for place, call in enumerate(step.message.get("tool_calls") or ()):
            out += self._call(call.get("index", place), call)
        self._finish = step.finish_reason or self._finish
        self._usage = step.usage or self._usage
        return out

    def end(self) -> bytes:
        out = b"" if self._items else self._open(MESSAGE, _message())
        broken_off = list(self._items)[-1] if self._finish in INCOMPLETE else None
        for key in list(self._items):
            out += self._close(key, "incomplete" if key == broken_off else "completed")
        response = self._closed()
        return out + self._event(f"response.{response['status']}", {"response": response})

    def fail(self, error: ApiError) -> bytes:
        """An `error` event, which SDKs raise, and the failed response. Neither repeats anything
        of the request: errors end up in logs."""
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
        out = b"" if self._events else self._opening(failed, {})
        told = error.body()["error"]
        flat = {name: told[name] for name in ("code", "message", "param")}
        out += self._event("error", {**flat, "error": told})
        code = "rate_limit_exceeded" if error.status == 429 else "server_error"
        failed |= {"status": "failed", "error": {"code": code, "message": error.message}}
        return out + self._event("response.failed", {"response": failed})

    # -- events -----------------------------------------------------------------------------

    def _event(self, kind: str, data: dict[str, Any]) -> bytes:
        line = json.dumps({"type": kind, "sequence_number": self._events, **data})
        self._events += 1
        return f"event: {kind}\ndata: {line}\n\n".encode()

    def _opening(self, response: dict[str, Any], receipt: dict[str, Any]) -> bytes:
        created = self._event("response.created", {"response": {**response, **receipt}})
        return created + self._event("response.in_progress", {"response": response})

    def _open(self, key: int, item: Item) -> bytes:
        self._places[key] = len(self._items)
        self._items[key] = item
        out = self._event(
            "response.output_item.added", {"output_index": self._places[key], "item": item}
        )
        if key == MESSAGE:
            part = _part()
            out += self._event("response.content_part.added", {**self._text_at(), "part": part})
            item["content"].append(part)
        return out

    def _text(self, text: str, logprobs: dict[str, Any] | None) -> bytes:
        out = b"" if MESSAGE in self._items else self._open(MESSAGE, _message())
        (part,) = self._items[MESSAGE]["content"]
        found = self._logprobs(logprobs)
        part["text"] += text
        part["logprobs"] += found
        delta = {**self._text_at(), "delta": text, "logprobs": found}
        return out + self._event("response.output_text.delta", delta)

    def _call(self, key: int, call: dict[str, Any]) -> bytes:
        function = call.get("function") or {}
        name, arguments = (function.get(part) or "" for part in ("name", "arguments"))
        out = b""
        if key in self._items:
            self._items[key]["name"] += name
        else:
            out = self._open(key, _function_call(call.get("id"), name))
        if arguments:
            self._items[key]["arguments"] += arguments
            delta = {**self._at(key), "delta": arguments}
            out += self._event("response.function_call_arguments.delta", delta)
        return out

    def _close(self, key: int, status: str) -> bytes:
        item = self._items[key]
        if key == MESSAGE:
            (part,) = item["content"]
            done = {"text": part["text"], "logprobs": part["logprobs"]}
            out = self._event("response.output_text.done", {**self._text_at(), **done})
            out += self._event("response.content_part.done", {**self._text_at(), "part": part})
        else:
            done = {"name": item["name"], "arguments": item["arguments"]}
            out = self._event("response.function_call_arguments.done", {**self._at(key), **done})
        item["status"] = status
        place = {"output_index": self._places[key]}
        return out + self._event("response.output_item.done", {**place, "item": item})

    def _at(self, key: int) -> dict[str, Any]:
        return {"item_id": self._items[key]["id"], "output_index": self._places[key]}

    def _text_at(self) -> dict[str, Any]:
        return {**self._at(MESSAGE), "content_index": 0}

    def _logprobs(self, found: dict[str, Any] | None) -> list[dict[str, Any]]:
        """The chat form's tokens, with the bytes that this form insists on."""
        if LOGPROBS not in (self._request.include or ()):
            return []
        return [
            {
                **_token(item),
                "top_logprobs": [_token(top) for top in item.get("top_logprobs") or ()],
            }
            for item in (found or {}).get("content") or ()
        ]

    # -- the response -----------------------------------------------------------------------

    def _closed(self) -> dict[str, Any]:
        """The response once the answer is there."""
        reason = INCOMPLETE.get(self._finish or "")
        usage = self._usage
        return {
            **self._response("incomplete" if reason else "completed"),
            "incomplete_details": {"reason": reason} if reason else None,
            "output": list(self._items.values()),
            "usage": {
                "input_tokens": usage.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": usage.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            },
            **self._receipt(),
        }

    def _response(self, status: str) -> dict[str, Any]:
        """The response without an answer: what was asked for, and what it came to here."""
        asked = self._request
        effort = asked.reasoning.effort if asked.reasoning is not None else None
        form = asked.text.format if asked.text is not None else None
        return {
            **self._head,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": asked.instructions,
            "max_output_tokens": asked.max_output_tokens,
            "metadata": {},
            "output": [],
            "parallel_tool_calls": asked.parallel_tool_calls is not False,
            "previous_response_id": None,
            "reasoning": {"effort": effort, "summary": None},
            "store": False,
            "temperature": asked.temperature,
            "text": {"format": _plain(form) if form else {"type": "text"}},
            "tool_choice": _plain(asked.tool_choice or "auto"),
            "tools": [_plain(tool) for tool in asked.tools or ()],
            "top_logprobs": asked.top_logprobs,
            "top_p": asked.top_p,
            "truncation": "disabled",
            "usage": None,
        }

    def _receipt(self) -> dict[str, Any]:
        found = self._plan.receipt()
        return {} if found is None else {"inferdpt": found}


def _message() -> Item:
    return {
        "id": f"msg_{secrets.token_hex(24)}",
        "type": "message",
        "role": "assistant",
        "status": "in_progress",
        "content": [],
    }


def _part() -> dict[str, Any]:
    return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def _function_call(id: str | None, name: str) -> Item:
    return {
        "id": f"fc_{secrets.token_hex(24)}",
        "type": "function_call",
        "status": "in_progress",
        "call_id": id or f"call_{secrets.token_hex(12)}",
        "name": name,
        "arguments": "",
    }


def _token(item: dict[str, Any]) -> dict[str, Any]:
    token = item["token"]
    spelled = item.get("bytes")
    return {
        "token": token,
        "logprob": item["logprob"],
        "bytes": list(token.encode()) if spelled is None else spelled,
    }


def _plain(value: str | Strict) -> Any:
    return value if isinstance(value, str) else value.model_dump(by_alias=True, exclude_unset=True)
