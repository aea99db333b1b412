"""Limit connections and answer malformed HTTP, below the application.

aiohttp answers a malformed request in plain text that quotes it, without any middleware. Here it
gets the same JSON, id and log line as any other request.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from typing import Any, cast

from aiohttp import web
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler

from proxy.api.app_keys import CONFIG, METRICS
from proxy.api.doors import error_response
from proxy.errors import ApiError, bad_request, internal_error

__all__ = ["Runner"]

logger = logging.getLogger("inferdpt.request")


class Runner(web.AppRunner):
    """Run an application on a server that counts connections and answers malformed HTTP."""

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(self.app, made)


class _Server(web.Server):
    """Extend aiohttp's server with connections of our own."""

    def __init__(self, app: web.Application, made: web.Server) -> None:
        super().__init__(
            _wrap(cast("Handler", made.request_handler)),  # type: ignore[arg-type]
            request_factory=made.request_factory,
            handler_cancellation=made.handler_cancellation,
            loop=made._loop,
            **made._kwargs,
        )
        self.app = app
        self.addresses: Counter[str] = Counter()

    def __call__(self) -> RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(RequestHandler):
    """Serve one client's connection."""

    __slots__ = ("_address", "_server")

    def __init__(self, server: _Server, **settings: Any) -> None:
        super().__init__(server, **settings)
        self._server = server
        self._address: str | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Serve the connection, or close it at once if its address has too many."""
        peer = transport.get_extra_info("peername")
        address = str(peer[0]) if isinstance(peer, tuple) else ""
        if (
            self._server.addresses[address]
            >= self._server.app[CONFIG].server.connections_per_address
        ):
            cast("asyncio.Transport", transport).abort()
            return
        self._address = address
        self._server.addresses[address] += 1
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Forget the connection."""
        if self._address is not None:
            self._server.addresses[self._address] -= 1
            self._server.addresses += Counter()  # removes the zeros
            self._address = None
        super().connection_lost(exc)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer a request that did not reach the application or was not answered there."""
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun, so no other can follow")
        if status == 400:
            error = bad_request("The request is not valid HTTP.", code="invalid_http")
        else:
            error = internal_error(exc if isinstance(exc, Exception) else TimeoutError())
        response = _build_failure(self._server.app, error)
        response.force_close()
        return response


def _wrap(handler: Handler) -> Handler:
    """Wrap the application to answer unknown `Expect` headers.

    aiohttp refuses them before any middleware runs, and would quote them.
    """

    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as exc:
            error = ApiError(
                exc.status, "The request's 'Expect' header is not known.", code="invalid_http"
            )
            return _build_failure(request.app, error)

    return handle


def _build_failure(app: web.Application, error: ApiError) -> web.Response:
    """Build the answer to a request that no middleware saw, and write its log line."""
    id_ = "req_" + secrets.token_hex(12)
    line = {
        "request_id": id_,
        "method": "unknown",
        "path": "unknown",
        "status": error.status,
        "error": error.code,
    }
    logger.info("request", extra={"fields": line})
    app[METRICS].requests.labels("unknown", str(error.status)).inc()
    return error_response(error, id_)
