"""The contract of a local model, and how answers in OpenAI's form are read.

One backend talks to any OpenAI-compatible server; a test may bring its own. A server's JSON may be
wrong: only the fields in use are read, each must have its type, numbers must be finite, and lone
surrogates are replaced. Anything else is a `ValueError`; its message holds nothing of the answer.
"""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from perturb.text.fold import replace_halves

__all__ = [
    "Backend",
    "Delta",
    "Scores",
    "Scoring",
    "Usage",
    "Warmable",
    "count_characters",
    "read_count",
    "read_finish_reason",
    "read_list",
    "read_logprob",
    "read_logprobs",
    "read_message",
    "read_object",
    "read_stop",
    "read_text",
    "read_usage",
    "read_vector",
]


@dataclass(frozen=True)
class Usage:
    """Hold the local server's token counts."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True)
class Delta:
    """Hold a step of a generation, or a whole one.

    Attributes:
        message: `content`, `tool_calls`, `function_call` and `refusal`, where present, in
            OpenAI's form (with `index` in tool calls when streamed).
        logprobs: in the chat form, or None.
        finish_reason: on the last step.
        usage: on the last step, where the server sends it.
        stop: on the last step, the stop sequence that ended it, where the server names it.
    """

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    stop: str | None = None


@dataclass(frozen=True)
class Scores:
    """Hold the log probabilities of a prompt's tokens, and of those generated after them.

    Attributes:
        text: the prompt and what was generated.
        tokens: the text in tokens of the model.
        logprobs: of each token, given those before it; None for the first.
        top: for each token, the most likely ones in its place with their log probabilities,
            itself included; None for the first.
        finish_reason: `stop` or `length`.
        usage: the tokens of the prompt and the generated ones.
    """

    text: str
    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]
    top: tuple[dict[str, float] | None, ...]
    finish_reason: str
    usage: Usage


class Backend(Protocol):
    """Define a local model behind a chat interface.

    Both calls raise `LocalModelError` and stop generating when they are cancelled.
    """

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        """Return one whole answer."""

    def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        """Yield the answer in steps; the last has a `finish_reason`. Whoever leaves the steps
        before the last one closes them, which stops the generation."""

    async def context_tokens(self) -> int | None:
        """Return the size of the context in tokens; None if the server does not report it."""

    async def special_tokens(self) -> tuple[str, ...] | None:
        """Return the model's own control tokens (`extraction.control.read_tokens`), or None if
        the server cannot be asked now."""

    async def ready(self) -> bool:
        """Return whether the model answers now."""

    async def aclose(self) -> None:
        """Close all connections."""


@runtime_checkable
class Warmable(Protocol):
    """Optional: read a prompt ahead into a prefix cache."""

    async def warm(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        """Read a prompt ahead, without an answer: the next one that begins like it is read from
        there. It waits for no other answer, raises `LocalModelError`, and stops if cancelled."""


@runtime_checkable
class Scoring(Protocol):
    """Optional: tell the log probabilities of a prompt's tokens."""

    async def score(self, prompt: str | list[int], *, top: int, generate: bool) -> Scores:
        """Return the log probabilities of a raw prompt, without a chat template.

        Args:
            prompt: a text, or ids of the model's own tokens.
            top: how many of the most likely tokens are named in each place.
            generate: whether one more token is generated and scored.

        Raises:
            LocalModelError: the model cannot, or refused the prompt.
        """


CALLS = 128  # tool calls in one answer
COUNT = 10**9  # no request has as many tokens
UNLIKELY = -9999.0  # OpenAI's log probability of an impossible token
FINISH_REASONS = ("stop", "length", "tool_calls", "content_filter", "function_call")


def read_object(value: Any) -> dict[str, Any]:
    """Return a value that must be a JSON object. Raises `ValueError`."""
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def read_list(value: Any, most: int | None = None) -> list[Any]:
    """Return a value that must be a JSON list of at most `most` items. Raises `ValueError`."""
    if not isinstance(value, list) or (most is not None and len(value) > most):
        raise ValueError("not a list, or too long")
    return value


def read_text(value: Any) -> str:
    """Return a text. A list of parts is joined; parts that are not text are left out. Raises
    `ValueError`."""
    if isinstance(value, list):
        parts = [part for part in value if read_object(part).get("type") == "text"]
        return "".join(_read_string(part.get("text")) for part in parts)
    return _read_string(value)


def _read_string(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError("not a text")
    return replace_halves(value)


def read_count(value: Any) -> int:
    """Return a number of tokens; 0 if none is given. Raises `ValueError`."""
    if value is None:
        return 0
    if type(value) is not int or not 0 <= value <= COUNT:
        raise ValueError("not a count")
    return value


def read_logprob(value: Any) -> float:
    """Return a finite log probability. Raises `ValueError`."""
    if value is None or value == -math.inf:
        return UNLIKELY
    if type(value) not in (int, float) or not abs(value) < COUNT:
        raise ValueError("not a log probability")
    return float(value)


def read_vector(value: Any) -> array[float]:
    """Return a vector of finite 32-bit floats. Raises `ValueError`."""
    try:
        vector = array("f", read_list(value))
    except (TypeError, OverflowError):
        raise ValueError("not a vector") from None
    if not all(map(math.isfinite, vector)):
        raise ValueError("not finite")
    return vector


def read_usage(value: Any) -> Usage | None:
    """Return the server's token counts, or None if it gives none. Raises `ValueError`."""
    if value is None:
        return None
    usage = read_object(value)
    return Usage(
        read_count(usage.get("prompt_tokens")), read_count(usage.get("completion_tokens"))
    )


def read_finish_reason(value: Any) -> str | None:
    """Return one of OpenAI's finish reasons; any other reason becomes `stop`. Raises
    `ValueError`."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("not a reason")
    return value if value in FINISH_REASONS else "stop"


def read_stop(value: Any) -> str | None:
    """Return the stop sequence that ended an answer, which vLLM names; others are None."""
    return replace_halves(value) if isinstance(value, str) else None


def read_message(value: Any, *, streamed: bool = False) -> dict[str, Any]:
    """Return the fields of a message, or of a delta, that are present and not empty.

    Raises:
        ValueError: one is not of its form.
    """
    message = read_object(value)
    found: dict[str, Any] = {
        "content": read_text(message.get("content")),
        "refusal": read_text(message.get("refusal")),
        "tool_calls": [
            _read_streamed_call(call, place) if streamed else _read_call(call)
            for place, call in enumerate(read_list(message.get("tool_calls") or [], CALLS))
        ],
    }
    if message.get("function_call"):
        found["function_call"] = _read_function(message["function_call"], whole=not streamed)
    return {name: item for name, item in found.items() if item}


def count_characters(message: dict[str, Any]) -> int:
    """Return the number of characters that `read_message` found."""
    size = len(message.get("content", "")) + len(message.get("refusal", ""))
    if message.keys() <= _TEXTS:  # nearly always
        return size
    calls = [call.get("function", {}) for call in message.get("tool_calls", ())]
    functions = [*calls, message.get("function_call", {})]
    return size + sum(len(text) for function in functions for text in function.values())


_TEXTS = {"content", "refusal"}


def read_logprobs(value: Any) -> dict[str, Any] | None:
    """Return the log probabilities of a chat choice. Raises `ValueError`."""
    told = None if value is None else read_object(value).get("content")
    if told is None:
        return None
    tokens = []
    for item in read_list(told):
        others = read_list(read_object(item).get("top_logprobs") or [])
        tokens.append(
            {**_read_token(item), "top_logprobs": [_read_token(other) for other in others]}
        )
    return {"content": tokens, "refusal": None}


def _read_token(value: Any) -> dict[str, Any]:
    token = read_object(value)
    spelled = token.get("bytes")
    if spelled is not None:
        spelled = [byte for byte in read_list(spelled) if type(byte) is int]
    number = {"id": token["id"]} if type(token.get("id")) is int else {}  # llama.cpp's
    return {
        **number,
        "token": read_text(token.get("token")),
        "bytes": spelled,
        "logprob": read_logprob(token.get("logprob")),
    }


def _read_call(value: Any) -> dict[str, Any]:
    call = read_object(value)
    return {
        "id": read_text(call.get("id")),
        "type": "function",
        "function": _read_function(call.get("function"), whole=True),
    }


def _read_streamed_call(value: Any, place: int) -> dict[str, Any]:
    """Return a fragment of a tool call. Some servers send a call whole and leave out its index."""
    call = read_object(value)
    index = call.get("index")
    if index is None:
        index = place
    if type(index) is not int or not 0 <= index < CALLS:
        raise ValueError("not a place")
    found: dict[str, Any] = {"index": index}
    if call.get("id"):
        found["id"] = read_text(call["id"])
    if call.get("type"):
        found["type"] = "function"
    if call.get("function"):
        found["function"] = _read_function(call["function"], whole=False)
    return found


def _read_function(value: Any, *, whole: bool) -> dict[str, str]:
    function = read_object(value)
    readers: dict[str, Callable[[Any], str]] = {"name": read_text, "arguments": _read_arguments}
    return {
        name: read(function.get(name))
        for name, read in readers.items()
        if whole or function.get(name) is not None
    }


def _read_arguments(value: Any) -> str:
    """Return a call's arguments as JSON text. Some servers send the object itself."""
    if isinstance(value, dict):
        return replace_halves(json.dumps(value, ensure_ascii=False))
    return read_text(value)
