"""What the extractor asks of a local model. One implementation talks to any OpenAI-compatible
server; a test may bring its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["Backend", "Delta", "Usage"]


@dataclass(frozen=True)
class Usage:
    """Tokens, as the local server counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True)
class Delta:
    """A step of a generation, or the whole of one.

    Attributes:
        message: `content`, `tool_calls`, `function_call`, `refusal`: those that are there, in
            OpenAI's form (with `index` in tool calls when streamed).
        logprobs: in the chat form, or None.
        finish_reason: on the last step.
        usage: on the last step, where the server tells.
    """

    message: dict[str, Any] = field(default_factory=dict)
    logprobs: dict[str, Any] | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


class Backend(Protocol):
    """A local model behind a chat interface.

    Both calls raise `LocalModelError` and stop generating when they are cancelled.
    """

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        """One whole answer."""

    def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncIterator[Delta]:
        """The answer in steps; the last has a `finish_reason`."""

    async def context_tokens(self) -> int | None:
        """How many tokens fit the model's context, where the server tells."""

    async def ready(self) -> bool:
        """Whether the model answers now."""

    async def aclose(self) -> None:
        """Let go of connections."""
