"""Answers in OpenAI's shapes, whole and streamed: chat and text completions."""

from __future__ import annotations

import json
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from extraction.backend import Delta, Usage
from proxy.errors import ApiError
from proxy.plan import Answer, Plan
from proxy.protocol import CompletionRequest

__all__ = ["ChatRenderer", "ChoicesRenderer", "CompletionRenderer", "Renderer", "event"]

DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"


def event(data: dict[str, Any]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(data).encode() + b"\n\n"


class Renderer(ABC):
    """Renders one request's answers, whole or as the bytes of an event stream."""

    @abstractmethod
    def body(self, answers: Sequence[Answer]) -> dict[str, Any]:
        """The whole answer."""

    @abstractmethod
    def start(self) -> bytes:
        """What opens the stream, once the remote has been called."""

    @abstractmethod
    def step(self, index: int, step: Delta) -> bytes:
        """One step of one choice."""

    @abstractmethod
    def end(self) -> bytes:
        """What closes the stream."""

    @abstractmethod
    def fail(self, error: ApiError) -> bytes:
        """What closes a stream that failed, opened or not."""


class ChoicesRenderer(Renderer):
    """What chat and text completions share: one id, time and model name, and choices."""

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
        self._usage: dict[int, Usage] = {}

    def body(self, answers: Sequence[Answer]) -> dict[str, Any]:
        self._usage = {i: a.usage for i, a in enumerate(answers) if a.usage is not None}
        return self._with_receipt(
            {
                **self._head,
                "object": self.object,
                "choices": [self._choice(i, answer) for i, answer in enumerate(answers)],
                "usage": self._total(),
            }
        )

    def start(self) -> bytes:
        """One chunk for each choice; the first carries the receipt."""
        n = len(self._plan.exchanges) * self._plan.request.choices
        chunks = [self._chunk(self._opening(i)) for i in range(n)]
        self._with_receipt(chunks[0])
        return b"".join(map(event, chunks))

    def step(self, index: int, step: Delta) -> bytes:
        if step.usage is not None:
            self._usage[index] = step.usage
        return event(self._chunk(self._delta(index, step)))

    def end(self) -> bytes:
        """The usage, where the client asked for it."""
        if not self._plan.request.include_usage:
            return DONE
        return event({**self._chunk(None), "usage": self._total()}) + DONE

    def fail(self, error: ApiError) -> bytes:
        return event(error.body()) + DONE

    def _chunk(self, choice: dict[str, Any] | None) -> dict[str, Any]:
        out = {**self._head, "object": self.chunk_object, "choices": [choice] if choice else []}
        if self._plan.request.include_usage:
            out["usage"] = None
        return out

    def _total(self) -> dict[str, int]:
        """Local tokens: each prompt once, all choices."""
        n = self._plan.request.choices
        prompt = sum(u.prompt_tokens for i, u in self._usage.items() if i % n == 0)
        completion = sum(u.completion_tokens for u in self._usage.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    def _with_receipt(self, out: dict[str, Any]) -> dict[str, Any]:
        found = self._plan.receipt()
        if found is not None:
            out["inferdpt"] = found
        return out

    @abstractmethod
    def _choice(self, index: int, answer: Answer) -> dict[str, Any]:
        """A whole choice."""

    @abstractmethod
    def _opening(self, index: int) -> dict[str, Any]:
        """The first delta of a choice."""

    @abstractmethod
    def _delta(self, index: int, step: Delta) -> dict[str, Any]:
        """The delta of a step."""


class ChatRenderer(ChoicesRenderer):
    """`chat.completion` and its chunks."""

    prefix = "chatcmpl"
    object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def _choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "message": {"role": "assistant", "content": None, "refusal": None, **answer.message},
            "logprobs": answer.logprobs,
            "finish_reason": answer.finish_reason,
        }

    def _opening(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }

    def _delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "delta": step.message,
            "logprobs": step.logprobs,
            "finish_reason": step.finish_reason,
        }


class CompletionRenderer(ChoicesRenderer):
    """`text_completion`, whole and in chunks."""

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

    def _choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "text": self._echo[index] + (answer.message.get("content") or ""),
            "logprobs": self._logprobs(index, answer.logprobs),
            "finish_reason": answer.finish_reason,
        }

    def _opening(self, index: int) -> dict[str, Any]:
        return {"index": index, "text": self._echo[index], "logprobs": None, "finish_reason": None}

    def _delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "text": step.message.get("content") or "",
            "logprobs": self._logprobs(index, step.logprobs),
            "finish_reason": step.finish_reason,
        }

    def _logprobs(self, index: int, found: dict[str, Any] | None) -> dict[str, Any] | None:
        """The chat form (a list of tokens) in the completions form (parallel lists)."""
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
