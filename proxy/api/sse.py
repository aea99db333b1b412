"""Stream an answer: steps as they come, pings while none comes, errors in the stream.

A client that does not read in time is disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiohttp import web

from extraction.backends.base import Delta
from extraction.http.client import Patience
from proxy.api.app_keys import ERROR, FINISHED
from proxy.api.render import Renderer
from proxy.errors import ApiError, internal_error
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan

__all__ = ["SSE_HEADERS", "cut_unfinished", "finish", "limit_time", "stream_answer"]

WRITE_SECONDS = 60.0  # how long a client may read nothing


@asynccontextmanager
async def limit_time(request: web.Request) -> AsyncIterator[None]:
    """Bound the time of a write, and cut the connection when it is over.

    Closing the connection instead would wait for the client.

    Raises:
        ConnectionError: the client is gone, from the block.
    """
    with closing(_Limit(request)) as limit, limit:
        yield


class _Limit:
    """Bound the time of each of several writes (see `limit_time`): aborting the connection ends
    every write on it."""

    __slots__ = ("_late", "_patience", "_request")

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._late = False
        self._patience = Patience(self._abort)

    def __enter__(self) -> None:
        self._patience.begin(asyncio.get_running_loop().time() + WRITE_SECONDS)

    def __exit__(self, kind: object, exc: BaseException | None, _: object) -> None:
        self._patience.deadline = None
        if self._late and exc is None:
            raise ConnectionError("the client does not read")

    def close(self) -> None:
        self._patience.close()

    def _abort(self) -> None:
        self._late = True
        if self._request.transport is not None:
            self._request.transport.abort()


@asynccontextmanager
async def cut_unfinished(
    request: web.Request, response: web.StreamResponse
) -> AsyncIterator[None]:
    """Cut the connection if an answer fails that has begun: whatever follows would look like its
    rest.

    Raises:
        ApiError: the answer failed before it began.
    """
    try:
        yield
    except (ApiError, ConnectionError) as exc:
        if isinstance(exc, ApiError) and not response.prepared:
            raise
        request[ERROR] = (exc.code if isinstance(exc, ApiError) else None) or "client_disconnected"
        request[FINISHED] = True
        if request.transport is not None:
            request.transport.abort()


async def finish(request: web.Request, response: web.StreamResponse) -> None:
    """Write the rest of an answer, and wait until all of it is sent.

    Raises:
        ConnectionError: the client is gone.
    """
    async with limit_time(request):
        if request.transport is not None:
            request.transport.set_write_buffer_limits(high=0)  # `drain` then waits for all of it
        await response.prepare(request)
        await response.write_eof()
        await request.writer.drain()


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
    steps, limit = _follow(pipeline, plan, ping_seconds), _Limit(request)
    opened, receipt = False, None

    async def write(data: bytes) -> None:
        with limit:
            if not response.prepared:
                await response.prepare(request)
            await response.write(data)

    try:
        try:
            async for items in steps:
                shown = b""
                for item in items:
                    if isinstance(item, _Announced):
                        receipt = item.receipt
                        continue
                    if not opened:
                        opened = True
                        shown += renderer.start(receipt)
                    shown += renderer.step(item.choice, item.step, item.receipt)
                    receipt = item.receipt or receipt
                if shown or not items:
                    await write(shown or renderer.ping)
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
        limit.close()
        await steps.aclose()


class _Step(NamedTuple):
    """Hold a step of one choice, the last of them perhaps with the receipt."""

    choice: int
    step: Delta
    receipt: dict[str, Any] | None


@dataclass(frozen=True)
class _Announced:
    """Hold the receipt as far as it is known before the first step."""

    receipt: dict[str, Any] | None


class _Silence:
    """Say that nothing has come for a while."""


async def _follow(
    pipeline: Pipeline, plan: Plan, ping_seconds: float
) -> AsyncGenerator[list[_Announced | _Step]]:
    """Yield the receipt and the steps of all choices, together what has come meanwhile; an empty
    list whenever nothing comes for `ping_seconds`.

    The plan runs in a task of its own, so that waiting with a time limit never cancels it. The
    task is cancelled, upstream calls included, when the reader stops.
    """
    queue: asyncio.Queue[_Announced | _Step | _Silence | Exception | None]
    queue = asyncio.Queue(QUEUE)
    clock = asyncio.get_running_loop().time

    def note_silence() -> None:
        if queue.empty():
            queue.put_nowait(_Silence())

    async def announce(receipt: dict[str, Any] | None) -> None:
        await queue.put(_Announced(receipt))

    async def emit(index: int, step: Delta, receipt: dict[str, Any] | None = None) -> None:
        await queue.put(_Step(index, step, receipt))

    async def run() -> None:
        try:
            await pipeline.stream(plan, announce, emit)
        except Exception as exc:  # the reader raises it
            await queue.put(exc)
        else:
            await queue.put(None)

    task = asyncio.create_task(run())
    patience = Patience(note_silence)
    try:
        while True:
            items: list[_Announced | _Step] = []
            if queue.empty():
                patience.begin(clock() + ping_seconds)
            item = await queue.get()
            patience.deadline = None
            if isinstance(item, _Silence):
                yield items
                continue
            while isinstance(item, _Announced | _Step):
                items.append(item)
                if queue.empty():
                    break
                item = queue.get_nowait()
            if items:
                yield items
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
    finally:
        patience.close()
        task.cancel()
        await asyncio.wait([task])
