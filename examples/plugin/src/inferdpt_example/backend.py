"""An example local model, which repeats the end of the last message."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Any

from extraction.backends.base import Delta


class Parrot:
    """Repeat the last words of the last message.

    Args:
        words: the number of words.
    """

    def __init__(self, words: int = 12) -> None:
        self._words = words

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        """Return the whole answer."""
        return Delta({"content": "".join(self._answer(messages))}, finish_reason="stop")

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        """Yield the answer word by word, then the finish reason."""
        for word in self._answer(messages):
            yield Delta({"content": word})
        yield Delta(finish_reason="stop")

    async def context_tokens(self) -> int | None:
        """Return the size of the context in tokens; the proxy cuts longer input."""
        return 4096

    async def special_tokens(self) -> tuple[str, ...] | None:
        """Return the model's control tokens, which the proxy removes from texts."""
        return ()

    async def ready(self) -> bool:
        """Tell whether the model answers now."""
        return True

    async def aclose(self) -> None:
        """Release the model."""

    def _answer(self, messages: list[dict[str, Any]]) -> list[str]:
        return re.findall(r"\S+\s*", messages[-1]["content"])[-self._words :]
