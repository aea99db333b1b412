"""Use a kept connection of aiohttp's without its session.

A session prepares, traces and wraps each request anew, which takes longer than all of the rest.
The first request of a kind goes through the session; here, its head is remembered, and later ones
are written directly on a connection that the session's connector kept. Without such a connection,
or for anything unusual, the session is used again. Answers are parsed by aiohttp's own parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from extraction.http.sessions import BUFFER

__all__ = ["Answer", "Kind", "has_answer_begun", "remember_kind", "send_kept"]

SMALL_BODY = 65_536  # bytes that are written at once
_LENGTH = "content-length"


@dataclass(frozen=True)
class Kind:
    """Hold what requests to one place have in common: a connection's name, and the head."""

    key: ConnectionKey
    head: bytes


@dataclass(frozen=True)
class Answer:
    """Hold an answer whose head has arrived, and its connection until `close`."""

    status: int
    headers: Mapping[str, str]
    content: aiohttp.StreamReader
    connection: Connection

    def close(self) -> None:
        """Give the connection back if the answer was read to its end, else close it."""
        if self.content.is_eof() and self.content.exception() is None:
            self.connection.release()
        else:
            self.connection.close()


def remember_kind(request: aiohttp.ClientRequest) -> Kind | None:
    """Return what a request that a session is about to send has in common with later ones; None
    if it goes through a proxy."""
    if request.proxy is not None:
        return None
    lines = [f"{request.method} {request.url.raw_path_qs} HTTP/1.1"]
    lines += [f"{k}: {v}" for k, v in request.headers.items() if k.lower() != _LENGTH]
    return Kind(request.connection_key, "\r\n".join([*lines, "Content-Length: "]).encode())


async def send_kept(
    session: aiohttp.ClientSession, kind: Kind, body: bytes, *, seconds: float
) -> Answer | None:
    """Send a request on a connection that was kept, and return the answer's head.

    Args:
        session: keeps the connections.
        kind: what the request has in common with an earlier one.
        body: follows the head as it is.
        seconds: between two parts of the answer.

    Returns:
        None if there is no kept connection, or the server closed it before it answered: it may do
        so just when it is used again. The request is then to be sent anew.

    Raises:
        OSError, aiohttp.ClientError, HttpProcessingError: as the session.
    """
    connector: Any = session.connector
    if len(body) > SMALL_BODY or connector is None:
        return None
    connection = await connector._get(kind.key, [])
    if connection is None:
        return None
    protocol = connection.protocol
    try:
        protocol.set_response_params(
            read_until_eof=True, read_timeout=seconds, read_bufsize=BUFFER
        )
        protocol.transport.write(b"%b%d\r\n\r\n%b" % (kind.head, len(body), body))
        protocol.start_timeout()
        while True:
            message, content = await protocol.read()
            if not 100 <= message.code < 200 or message.code == 101:
                return Answer(message.code, message.headers, content, connection)
    except HttpProcessingError:
        connection.close()
        raise
    except (aiohttp.ClientConnectionError, OSError) as exc:
        connection.close()
        if isinstance(exc, TimeoutError) or has_answer_begun(exc):
            raise
        return None
    except BaseException:
        connection.close()
        raise


def has_answer_begun(exc: Exception) -> bool:
    """Return whether part of an answer's head had arrived when the connection ended."""
    return isinstance(exc, aiohttp.ServerDisconnectedError) and not isinstance(exc.message, str)
