"""The contract of a local model. One implementation talks to any OpenAI-compatible server; a test
may bring its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

__all__ = ["Backend", "Delta", "Usage", "Warmable"]


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


class Backend(Protocol):
    """Define a local model behind a chat interface.

    Both calls raise `LocalModelError` and stop generating when they are cancelled.
    """

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        """Return one whole answer."""

    def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncIterator[Delta]:
        """Yield the answer in steps; the last has a `finish_reason`."""

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
    """Define what a backend with a prefix cache has besides. It is optional."""

    async def warm(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        """Read a prompt ahead, without an answer: the next one that begins like it is read from
        there. It waits for no other answer, raises `LocalModelError`, and stops if cancelled."""
