"""Streaming an answer: steps as they come, pings while nothing comes, errors in the stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from aiohttp import web

from extraction.backend import Delta
from proxy.errors import ApiError, internal_error
from proxy.pipeline import Pipeline
from proxy.plan import Plan
from proxy.render import PING, Renderer

__all__ = ["SSE_HEADERS", "stream_answer"]

SSE_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
WRITE_SECONDS = 60.0  # a client that reads nothing for so long is gone
QUEUE = 64  # steps held for a slow client before its generation waits


async def stream_answer(
    request: web.Request,
    response: web.StreamResponse,
    pipeline: Pipeline,
    plan: Plan,
    renderer: Renderer,
    *,
    ping_seconds: float,
) -> ApiError | None:
    """Stream one answer.

    The status line goes out with the first step or the first ping, whichever comes first: what
    fails before is an ordinary HTTP error, so that SDKs can retry it; what fails later is an
    error event, returned for the log.

    Raises:
        ApiError: the plan failed before anything was sent.
    """
    steps = _steps(pipeline, plan, ping_seconds)
    opened = False

    async def write(data: bytes) -> None:
        async with asyncio.timeout(WRITE_SECONDS):
            await response.write(data)

    try:
        async for item in steps:
            if not response.prepared:
                await response.prepare(request)
            if item is None:
                await write(PING)
                continue
            if not opened:
                opened = True
                await write(renderer.start())
            await write(renderer.step(*item))
        await write(renderer.end())
        return None
    except (ConnectionError, TimeoutError):
        return ApiError(499, "The client went away.", code="client_disconnected")
    except Exception as exc:
        if not response.prepared:
            raise
        error = exc if isinstance(exc, ApiError) else internal_error(exc)
        await write(renderer.fail(error))
        return error
    finally:
        await steps.aclose()


async def _steps(
    pipeline: Pipeline, plan: Plan, ping_seconds: float
) -> AsyncGenerator[tuple[int, Delta] | None]:
    """The steps of all choices as they come; None whenever nothing came for `ping_seconds`.

    The plan runs in a task of its own, so that waiting with a time limit never cancels it; it is
    cancelled, upstream calls included, when the reader goes away.
    """
    queue: asyncio.Queue[tuple[int, Delta] | Exception | None] = asyncio.Queue(QUEUE)

    async def emit(index: int, step: Delta) -> None:
        await queue.put((index, step))

    async def run() -> None:
        try:
            await pipeline.stream(plan, emit)
        except Exception as exc:  # whatever it is, the reader raises it
            await queue.put(exc)
        else:
            await queue.put(None)

    task = asyncio.create_task(run())
    try:
        while True:
            try:
                item = await asyncio.wait_for(queue.get(), ping_seconds)
            except TimeoutError:
                yield None
                continue
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
            yield item
    finally:
        task.cancel()
        await asyncio.wait([task])
