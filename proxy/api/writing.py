"""Write to clients, and disconnect a client that does not read in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from aiohttp import web

from proxy.api.app_keys import ERROR, FINISHED
from proxy.errors import ApiError

__all__ = ["cut_unfinished", "finish", "limit_time"]

WRITE_SECONDS = 60.0  # how long a client may read nothing


def limit_time(request: web.Request) -> AbstractAsyncContextManager[None]:
    """Bound the time of a write, and cut the connection when it is over.

    Closing the connection instead would wait for the client.

    Raises:
        ConnectionError: the client is gone, from the block.
    """
    return _Limit(request)


class _Limit(AbstractAsyncContextManager[None]):
    """Abort a connection at the end of its time, which ends every write on it."""

    __slots__ = ("_late", "_request", "_timer")

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._late = False

    async def __aenter__(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(WRITE_SECONDS, self._abort)

    async def __aexit__(self, kind: object, exc: BaseException | None, _: object) -> None:
        self._timer.cancel()
        if self._late and exc is None:
            raise ConnectionError("the client does not read")

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
