"""Let the local server read a prompt while the remote is still writing.

The raw document stands before the generation in most prompts. A server with a prefix cache (vLLM,
llama.cpp) that has read it once reads only the rest when the answer is asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Literal

from extraction.backends.base import Warmable
from extraction.extractor import Extractor, Job

__all__ = ["Warmer", "WhenToWarm"]

# About 500 tokens: fewer are read in so little time that a further request is not worth it.
LONG = 2_000
READING_SECONDS = 30.0  # for a server that still reads when the remote has finished
WhenToWarm = Literal["auto", "always", "never"]


class Warmer:
    """Fill the prefix cache of the local server.

    A warm-up is worth nothing by itself: its failure changes nothing but the time of the answer.

    Args:
        extractor: composes the prompts.
        when: `auto` warms for prompts of 2,000 characters or more, `always` for any.
        places: the prompts that the server holds at once. A warm-up begins only where fewer than
            that are being answered or wait, warmed, for their generation.
        note: called with the end of each: `done`, `failed` or `cancelled`.
    """

    def __init__(
        self,
        extractor: Extractor,
        when: WhenToWarm,
        *,
        places: int,
        note: Callable[[str], None] = lambda end: None,
    ) -> None:
        self._extractor = extractor
        self._when = when
        self._places = places
        self._note = note
        self._held = 0

    @asynccontextmanager
    async def warming(self, job: Job, options: dict[str, Any]) -> AsyncIterator[None]:
        """Read a job's prompt ahead while the block runs, which waits for its generation.

        At the end of the block, a warm-up that has not begun is cancelled. One that the server
        has begun is waited for: reading the same text again would take longer.
        """
        backend = self._extractor.backend
        if not (self._is_worthwhile(job) and isinstance(backend, Warmable)):
            yield
            return
        self._held += 1
        sent = asyncio.Event()
        task = asyncio.create_task(self._warm(backend, job, options, sent))
        try:
            yield
            if sent.is_set():
                await asyncio.wait([task], timeout=READING_SECONDS)
        finally:
            self._held -= 1
            task.cancel()
            await asyncio.wait([task])
            end = "cancelled" if task.cancelled() else task.result()
            if end is not None:
                self._note(end)

    def _is_worthwhile(self, job: Job) -> bool:
        if self._when == "never" or self._extractor.running + self._held >= self._places:
            return False
        size = sum(len(message.get("content") or "") for message in job.messages)
        return self._when == "always" or size >= LONG

    async def _warm(
        self, backend: Warmable, job: Job, options: dict[str, Any], sent: asyncio.Event
    ) -> str | None:
        """Return `done` or `failed`; None if the prompt cannot be warmed."""
        try:
            opening = await self._extractor.compose_opening(job, options)
            if opening is None:
                return None
            sent.set()
            await backend.warm(*opening)
        except Exception:  # a plug-in may raise anything
            return "failed"
        return "done"
