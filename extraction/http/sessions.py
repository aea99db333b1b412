"""Sessions of the HTTP client, which read little at once, keep no cookie, and log nothing."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from typing import Any

import aiohttp

__all__ = ["open_session", "silence_library"]

BUFFER = 2**16  # bytes read ahead; aiohttp decompresses at most 2**18 at once
RECEIVED = 2**13  # bytes taken from a connection at once: heads are parsed as they are read


def open_session(
    headers: Mapping[str, str], before: aiohttp.ClientMiddlewareType, *, kept: bool
) -> aiohttp.ClientSession:
    """Open a session inside a running event loop.

    Args:
        headers: sent with every request.
        before: runs around every request that names nothing else to do so.
        kept: whether connections are kept. A request that reuses one appends to the list in its
            `trace_request_ctx`.
    """
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_reuse)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=0, force_close=not kept, socket_factory=_narrow_socket
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers=headers,
        read_bufsize=BUFFER,
        middlewares=[before],
        trace_configs=[trace],
    )


def silence_library() -> None:
    """Keep aiohttp's client from logging what it receives, whatever else the process logs."""
    for name in ("aiohttp.client", "aiohttp.internal"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


async def _note_reuse(
    _: aiohttp.ClientSession, context: Any, __: aiohttp.TraceConnectionReuseconnParams
) -> None:
    if context.trace_request_ctx is not None:
        context.trace_request_ctx.append(None)


class _NarrowSocket(socket.socket):
    """Receive little at once. A flood of interim answers is parsed in one go, and all other tasks
    wait meanwhile."""

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        return super().recv(min(size, RECEIVED), flags)

    def recv_into(self, buffer: Any, size: int = 0, flags: int = 0, /) -> int:
        most = size or memoryview(buffer).nbytes
        return super().recv_into(buffer, min(most, RECEIVED), flags)


def _narrow_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, *_ = address
    return _NarrowSocket(family, kind, protocol)
