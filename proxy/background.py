"""Run what goes on beside requests for as long as the process does.

A loop does its work in `survive`, so no failure ends it: the next round tries again. Loops that
have ended nevertheless are named by `GET /health`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

from proxy.errors import ApiError, internal_error
from proxy.metrics import Metrics

__all__ = ["Background"]

logger = logging.getLogger("inferdpt.background")


class Background:
    """Hold the loops of one process. Use it from one event loop."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self._loops: dict[str, asyncio.Task[None]] = {}

    @property
    def stopped(self) -> list[str]:
        """Return the names of the loops that have ended and should be running."""
        return [name for name, task in self._loops.items() if task.done()]

    @contextmanager
    def survive(self, name: str) -> Iterator[None]:
        """Log and count whatever fails in the block, and go on.

        Args:
            name: of the loop; the metric's label.
        """
        try:
            yield
        except Exception as exc:
            self.note(name, exc)

    def note(self, name: str, exc: Exception) -> None:
        """Log and count a failure of a loop, which goes on."""
        self.metrics.background_failures.labels(name).inc()
        reason = exc.code if isinstance(exc, ApiError) else type(exc).__name__
        logger.warning("%s failed (%s) and goes on", name, reason)
        if not isinstance(exc, ApiError):
            internal_error(exc)  # logs where

    def repeating(
        self, name: str, seconds: float, step: Callable[[], Awaitable[object]]
    ) -> AbstractAsyncContextManager[None]:
        """Do a step during the block, at once and whenever so many seconds have passed."""

        async def repeat() -> None:
            while True:
                with self.survive(name):
                    await step()
                await asyncio.sleep(seconds)

        return self.running(name, repeat())

    @asynccontextmanager
    async def running(
        self,
        name: str,
        loop: Coroutine[Any, Any, None],
        *,
        stop: Callable[[], None] | None = None,
    ) -> AsyncIterator[None]:
        """Run a loop during the block.

        Args:
            stop: makes the loop finish its work and return; None cancels it.
        """
        task = self._loops[name] = asyncio.create_task(loop)
        try:
            yield
        finally:
            del self._loops[name]
            if stop is None:
                task.cancel()
            else:
                stop()
            await asyncio.wait([task])
