"""Read the remote's answers of each form, whole and streamed. Only declared fields are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from extraction.backends.answers import (
    read_finish_reason,
    read_list,
    read_logprob,
    read_logprobs,
    read_message,
    read_object,
    read_stop,
    read_text,
)
from extraction.backends.base import Delta
from proxy.requests.protocol import CompletionRequest, SamplingRequest

__all__ = ["CHAT", "COMPLETION", "Wire", "choose_wire"]


@dataclass(frozen=True)
class Wire:
    """Describe an endpoint of the remote.

    Attributes:
        path: appended to the remote's address.
        completes: whether its answers are text completions; else they are chat completions.
    """

    path: str
    completes: bool = False

    def read(self, choice: Mapping[str, Any], *, streamed: bool) -> Delta:
        """Read one choice, or a step of it. Raises `ValueError`."""
        finish = read_finish_reason(choice.get("finish_reason"))
        if self.completes:
            text = read_text(choice.get("text"))
            logprobs = _read_completion_logprobs(choice.get("logprobs"))
            return Delta({"content": text} if text else {}, logprobs, finish)
        told = (
            choice.get("message") if not streamed or "message" in choice else choice.get("delta")
        )
        message = read_message(told, streamed=streamed)
        stop = read_stop(choice.get("stop_reason"))
        return Delta(message, read_logprobs(choice.get("logprobs")), finish, stop=stop)


CHAT = Wire("/chat/completions")
COMPLETION = Wire("/completions", completes=True)


def choose_wire(request: SamplingRequest) -> Wire:
    """Return the endpoint of the remote that a request goes to."""
    return COMPLETION if isinstance(request, CompletionRequest) else CHAT


def _read_completion_logprobs(value: Any) -> dict[str, Any] | None:
    """Read the parallel lists of text completions, and return them in the chat form. Raises
    `ValueError`."""
    if value is None:
        return None
    told = read_object(value)
    tokens, numbers = read_list(told.get("tokens")), read_list(told.get("token_logprobs"))
    others = read_list(told.get("top_logprobs") or [None] * len(tokens))
    return {
        "content": [
            {
                **_token(token, number),
                "top_logprobs": [_token(*each) for each in read_object(other or {}).items()],
            }
            for token, number, other in zip(tokens, numbers, others, strict=True)
        ],
        "refusal": None,
    }


def _token(token: Any, logprob: Any) -> dict[str, Any]:
    return {"token": read_text(token), "bytes": None, "logprob": read_logprob(logprob)}
