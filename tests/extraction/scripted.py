"""An extractor over a backend that follows a script; conversations in short."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from extraction.backends.base import Delta, Usage
from extraction.extractor import (
    Extractor,
    Job,
    Tokenizer,
)
from extraction.prompts import Prompts

SHORT = Prompts(
    remote_continuation="Go on:{document}",
    local_continuation="P:{document}G:{generation}E:",
    local_answer="{document}|{generation}|",
)


class ScriptedBackend:
    """Remembers what it was asked; raises what the script says, else answers."""

    def __init__(
        self,
        *script: Exception,
        context: int | None = None,
        tokens: tuple[str, ...] | None = (),
    ) -> None:
        self.script = list(script)
        self.calls: list[tuple[list[dict[str, Any]], dict[str, Any]]] = []
        self.context = context
        self.context_asked = 0
        self.tokens = tokens
        self.tokens_asked = 0

    def _turn(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        self.calls.append((messages, options))
        if self.script:
            raise self.script.pop(0)

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        self._turn(messages, options)
        return Delta({"content": "answer"}, finish_reason="stop", usage=Usage(1, 2))

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        self._turn(messages, options)
        yield Delta({"content": "ans"})
        yield Delta({"content": "wer"})
        yield Delta(finish_reason="stop")

    async def context_tokens(self) -> int | None:
        self.context_asked += 1
        return self.context

    async def special_tokens(self) -> tuple[str, ...] | None:
        self.tokens_asked += 1
        return self.tokens

    async def ready(self) -> bool:
        return True

    async def aclose(self) -> None:
        pass


def characters(ratio: float = 1.0) -> Tokenizer:
    """Every character is a token: counts are exact and cuts lose nothing."""
    return Tokenizer(
        encode=lambda text: [ord(c) for c in text],
        decode=lambda tokens: "".join(map(chr, tokens)),
        ratio=ratio,
    )


def extractor(backend: ScriptedBackend, **settings: Any) -> Extractor:
    prompts = settings.pop("prompts", SHORT)
    tokenizer = settings.pop("tokenizer", characters())
    return Extractor(backend, prompts, tokenizer, **settings)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def call(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids
    ]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def result(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


async def composed(job: Job, options: dict[str, Any] | None = None, **settings: Any) -> Any:
    """Messages and options of the one call that a job leads to."""
    backend = ScriptedBackend()
    await extractor(backend, **{"context": 100_000, **settings}).complete(job, options or {})
    [made] = backend.calls
    return made


def compose(job: Job, options: dict[str, Any], **settings: Any) -> Any:
    """The same outside of an event loop, for properties."""
    return asyncio.run(composed(job, options, **settings))
