"""The contract of a local model. One implementation talks to any OpenAI-compatible server; a test
may bring its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

__all__ = ["Backend", "Delta", "Scores", "Scoring", "Usage", "Warmable"]


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
    """Define what a backend with a prefix cache has besides. It is optional."""

    async def warm(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        """Read a prompt ahead, without an answer: the next one that begins like it is read from
        there. It waits for no other answer, raises `LocalModelError`, and stops if cancelled."""


@runtime_checkable
class Scoring(Protocol):
    """Define what a backend has besides that tells a prompt's log probabilities. It is
    optional."""

    async def score(self, prompt: str | list[int], *, top: int, generate: bool) -> Scores:
        """Return the log probabilities of a raw prompt, without a chat template.

        Args:
            prompt: a text, or ids of the model's own tokens.
            top: how many of the most likely tokens are named in each place.
            generate: whether one more token is generated and scored.

        Raises:
            LocalModelError: the model cannot, or refused the prompt.
        """
