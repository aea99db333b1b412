"""Stream an answer: steps as they come, pings while none comes, errors in the stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from extraction.backends.base import Delta
from proxy.api.render import PING, Renderer
from proxy.api.writing import limit_time
from proxy.errors import ApiError, internal_error
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan

__all__ = ["SSE_HEADERS", "stream_answer"]

SSE_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
QUEUE = 64  # steps queued for a slow client before its generation waits


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

    The status line is sent with the first step or the first ping. An earlier failure is an
    ordinary HTTP error, so that SDKs can retry. A later failure is an error event, which is also
    returned for the log.

    Raises:
        ApiError: the plan failed before anything was sent.
    """
    steps = _follow(pipeline, plan, ping_seconds)
    opened, receipt = False, None

    async def write(data: bytes) -> None:
        async with limit_time(request):
            if not response.prepared:
                await response.prepare(request)
            await response.write(data)

    try:
        try:
            async for item in steps:
                if item is None:
                    await write(PING)
                    continue
                if isinstance(item, _Consulted):
                    receipt = item.receipt
                    continue
                if not opened:
                    opened = True
                    await write(renderer.start(receipt))
                await write(renderer.step(*item))
            await write(renderer.end(receipt))
            return None
        except ConnectionError:
            raise
        except Exception as exc:
            if not response.prepared:
                raise
            error = exc if isinstance(exc, ApiError) else internal_error(exc)
            await write(renderer.fail(error))
            return error
    except ConnectionError:
        return ApiError(499, "The client disconnected.", code="client_disconnected")
    finally:
        await steps.aclose()


@dataclass(frozen=True)
class _Consulted:
    """Report that the remote calls are over."""

    receipt: dict[str, Any] | None


async def _follow(
    pipeline: Pipeline, plan: Plan, ping_seconds: float
) -> AsyncGenerator[_Consulted | tuple[int, Delta] | None]:
    """Yield the end of the remote calls, then the steps of all choices as they come; None
    whenever nothing comes for `ping_seconds`.

    The plan runs in a task of its own, so that waiting with a time limit never cancels it. The
    task is cancelled, upstream calls included, when the reader stops.
    """
    queue: asyncio.Queue[_Consulted | tuple[int, Delta] | Exception | None]
    queue = asyncio.Queue(QUEUE)

    async def emit(index: int, step: Delta) -> None:
        await queue.put((index, step))

    async def run() -> None:
        try:
            consultation = await pipeline.consult(plan)
            await queue.put(_Consulted(consultation.make_receipt()))
            await pipeline.stream(consultation, emit)
        except Exception as exc:  # the reader raises it
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
