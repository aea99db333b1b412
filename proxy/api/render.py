"""Render chat and text completions in OpenAI's shapes, whole and streamed."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from extraction.backends.base import Delta, Usage
from extraction.codec import dump_ascii
from proxy.errors import ApiError
from proxy.pipeline.plan import Answer, Plan
from proxy.requests.protocol import CompletionRequest

__all__ = [
    "ChatRenderer",
    "ChoicesRenderer",
    "CompletionRenderer",
    "Receipt",
    "Renderer",
    "format_event",
    "make_field",
]

DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
Receipt = dict[str, Any] | None  # None if the client requests none


def format_event(data: dict[str, Any], kind: str = "") -> bytes:
    """Return one server-sent event, of a kind where the API names them, in ASCII.

    Some clients end a line at every line break that Unicode knows.
    """
    named = f"event: {kind}\n" if kind else ""
    return f"{named}data: {dump_ascii(data)}\n\n".encode()


def make_field(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as the field of an answer, or no field without a receipt."""
    return {} if receipt is None else {"inferdpt": receipt}


class Renderer(ABC):
    """Render one request's answers, whole or as the bytes of an event stream.

    Attributes:
        ping: what a stream shows while there is nothing to show.
    """

    ping = PING

    @abstractmethod
    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        """Return the whole answer."""

    @abstractmethod
    def start(self, receipt: Receipt) -> bytes:
        """Return the beginning of the stream, once the remote has been called."""

    @abstractmethod
    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        """Return one step of one choice, the last of a stream perhaps with the receipt."""

    @abstractmethod
    def end(self, receipt: Receipt) -> bytes:
        """Return the end of the stream."""

    @abstractmethod
    def fail(self, error: ApiError) -> bytes:
        """Return the end of a stream that failed, opened or not."""


class ChoicesRenderer(Renderer):
    """Render an answer with choices under one id, time and model name."""

    prefix = ""
    object = ""
    chunk_object = ""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._head = {
            "id": f"{self.prefix}-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": plan.request.model,
        }
        self._shows_usage = plan.request.include_usage
        self._usage: dict[int, Usage] = {}

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        self._usage = {i: a.usage for i, a in enumerate(answers) if a.usage is not None}
        return {
            **self._head,
            "object": self.object,
            "choices": [self._render_choice(i, answer) for i, answer in enumerate(answers)],
            "usage": self._count_tokens(),
            **make_field(receipt),
        }

    def start(self, receipt: Receipt) -> bytes:
        """Return one chunk for each choice; the first carries the receipt."""
        n = len(self._plan.exchanges) * self._plan.request.choices
        first, *others = (self._make_chunk(self._open_choice(i)) for i in range(n))
        return b"".join(map(format_event, ({**first, **make_field(receipt)}, *others)))

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        if step.usage is not None:
            self._usage[index] = step.usage
        chunk = self._make_chunk(self._render_delta(index, step))
        return format_event({**chunk, **make_field(receipt)})

    def end(self, receipt: Receipt) -> bytes:
        """Return the usage, if the client requested it, and the end marker."""
        del receipt  # it is in the first chunk
        if not self._shows_usage:
            return DONE
        return format_event({**self._make_chunk(None), "usage": self._count_tokens()}) + DONE

    def fail(self, error: ApiError) -> bytes:
        return format_event(error.body()) + DONE

    def _make_chunk(self, choice: dict[str, Any] | None) -> dict[str, Any]:
        out = {**self._head, "object": self.chunk_object, "choices": [choice] if choice else []}
        if self._shows_usage:
            out["usage"] = None
        return out

    def _count_tokens(self) -> dict[str, int]:
        """Return the usage in local tokens: each prompt once, all choices."""
        n = self._plan.request.choices
        prompt = sum(u.prompt_tokens for i, u in self._usage.items() if i % n == 0)
        completion = sum(u.completion_tokens for u in self._usage.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    @abstractmethod
    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        """Return a whole choice."""

    @abstractmethod
    def _open_choice(self, index: int) -> dict[str, Any]:
        """Return the first delta of a choice."""

    @abstractmethod
    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        """Return the delta of a step."""


class ChatRenderer(ChoicesRenderer):
    """Render `chat.completion` and its chunks."""

    prefix = "chatcmpl"
    object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "message": {"role": "assistant", "content": None, "refusal": None, **answer.message},
            "logprobs": answer.logprobs,
            "finish_reason": answer.finish_reason,
        }

    def _open_choice(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }

    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "delta": step.message,
            "logprobs": step.logprobs,
            "finish_reason": step.finish_reason,
        }


class CompletionRenderer(ChoicesRenderer):
    """Render `text_completion`, whole and in chunks."""

    prefix = "cmpl"
    object = "text_completion"
    chunk_object = "text_completion"

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        super().__init__(plan)
        assert isinstance(plan.request, CompletionRequest)
        n = plan.request.choices
        echoed = prompts if plan.request.echo else [""] * len(prompts)
        self._echo = [text for text in echoed for _ in range(n)]
        self._offset = [len(text) for text in self._echo]

    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "text": self._echo[index] + (answer.message.get("content") or ""),
            "logprobs": self._convert_logprobs(index, answer.logprobs),
            "finish_reason": answer.finish_reason,
        }

    def _open_choice(self, index: int) -> dict[str, Any]:
        return {"index": index, "text": self._echo[index], "logprobs": None, "finish_reason": None}

    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "text": step.message.get("content") or "",
            "logprobs": self._convert_logprobs(index, step.logprobs),
            "finish_reason": step.finish_reason,
        }

    def _convert_logprobs(self, index: int, found: dict[str, Any] | None) -> dict[str, Any] | None:
        """Convert the chat form (a list of tokens) to the completions form (parallel lists)."""
        if not found or not found.get("content"):
            return None
        out: dict[str, Any] = {
            "tokens": [],
            "token_logprobs": [],
            "top_logprobs": [],
            "text_offset": [],
        }
        for item in found["content"]:
            out["tokens"].append(item["token"])
            out["token_logprobs"].append(item["logprob"])
            out["top_logprobs"].append(
                {top["token"]: top["logprob"] for top in item.get("top_logprobs") or ()}
            )
            out["text_offset"].append(self._offset[index])
            self._offset[index] += len(item["token"])
        return out
