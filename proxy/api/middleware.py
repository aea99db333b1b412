"""Wrap every request: its connection, its id, its tenant, its errors and its one line in the log.

Doors let requests in: they find their client, or refuse them. The API and the console have doors
of their own, which also set headers and answer errors in their own way: the API in OpenAI's shape
or, for the Messages API, in Anthropic's.

aiohttp answers a malformed request in plain text that quotes it, without any middleware. Here it
gets the same JSON, id and log line as any other request.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections import Counter
from typing import Any, Protocol, cast

from aiohttp import web, web_app
from aiohttp.typedefs import Handler
from aiohttp.web_protocol import RequestHandler

from perturb.work import limit_work, remember_texts
from proxy.access.auth import Visit
from proxy.api.app_keys import (
    ADMISSION,
    BODY,
    CONFIG,
    ERROR,
    FINDINGS,
    FINISHED,
    KEYRING,
    LARGE_WORK,
    METRICS,
    PARAM,
    PLAN,
    RATE,
    RATES,
    RECORDER,
    REQUEST_ID,
    TENANT,
)
from proxy.api.render import finish
from proxy.config.settings import is_loopback
from proxy.errors import ApiError, bad_request, internal_error, not_found, not_permitted
from proxy.pipeline.plan import Plan
from proxy.records.chain import write_end
from proxy.tracing import Note

__all__ = [
    "API",
    "CONSOLE",
    "CONSOLE_PATH",
    "MESSAGES_PATH",
    "METHODS",
    "OPEN_PATHS",
    "Door",
    "Runner",
    "check_host",
    "describe_plan",
    "error_response",
    "is_console",
    "is_messages",
    "observe",
    "set_headers",
    "spell_error",
]


MESSAGES_PATH = "/v1/messages"
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def error_response(error: ApiError, request_id: str, path: str = "") -> web.Response:
    """Build the response to an error; every HTTP error is built here.

    Args:
        path: the path of the request, which decides about the shape.
    """
    body = spell_error(error, request_id) if is_messages(path) else error.body()
    response = web.json_response(body, status=error.status, headers=error.response_headers())
    response.headers["x-request-id"] = request_id
    return response


def is_messages(path: str) -> bool:
    """Tell if a path is of the Messages API, whose clients read errors and headers of its own."""
    return path == MESSAGES_PATH or path.startswith(f"{MESSAGES_PATH}/")


def spell_error(error: ApiError, request_id: str | None = None) -> dict[str, Any]:
    """Return the JSON body of an error in Anthropic's shape."""
    default = "api_error" if error.status >= 500 else "invalid_request_error"
    kind = ERROR_TYPES.get(error.status, default)
    body: dict[str, Any] = {
        "type": "error",
        "error": {"type": kind, "message": error.message},
    }
    return body if request_id is None else {**body, "request_id": request_id}


OPEN_PATHS = ("/health", "/ready")
CONSOLE_PATH = "/console"
EXPOSED = (
    "x-request-id, request-id, x-inferdpt-mechanism, x-inferdpt-epsilon, x-inferdpt-tokens, "
    "retry-after, x-should-retry, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, "
    "x-ratelimit-reset-requests"
)
METHODS = ("GET", "POST", "DELETE")
HOST = re.compile(r"(?:\[(?P<address>[0-9a-fA-F:.]+)\]|(?P<name>[^][:@/\s]+))(?::[0-9]*)?")


class Door(Protocol):
    """Guard a part of the paths."""

    async def enter(self, request: web.Request) -> bool:
        """Find the client of a request and set it as `TENANT`. Return True if it is only asked
        whether a request would be served.

        Raises:
            ApiError: 401 or 403.
        """

    def answer_error(self, request: web.Request, error: ApiError) -> web.Response:
        """Return the answer to a request that failed."""

    def set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        """Set the headers of an answer, just before it is sent."""


class _Api:
    """Guard the API: keys in headers, and pages of the origins that the operator names."""

    async def enter(self, request: web.Request) -> bool:
        keyring, closed = request.app[KEYRING], request.path not in OPEN_PATHS
        asks = request.method == "OPTIONS" and "Origin" in request.headers
        if closed and not asks:
            users = request.headers.getall(request.app[CONFIG].server.user_header, ())
            request[TENANT] = await keyring.client(
                _read_authorization(request), users, unnamed=_is_list(request)
            )
        elif closed:
            await keyring.required()
        if not keyring.locked:
            _refuse_foreign_pages(request)
        return asks

    def answer_error(self, request: web.Request, error: ApiError) -> web.Response:
        return error_response(error, request[REQUEST_ID], request.path)

    def set_headers(self, request: web.Request, response: web.StreamResponse) -> None:
        origins = request.app[CONFIG].server.cors_origins
        origin = request.headers.get("Origin")
        if origin is None or not ({origin, "*"} & set(origins)):
            return
        response.headers["Access-Control-Allow-Origin"] = origin
        response.headers["Vary"] = "Origin"
        response.headers["Access-Control-Expose-Headers"] = EXPOSED
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = ", ".join((*METHODS, "OPTIONS"))
            response.headers["Access-Control-Allow-Headers"] = "authorization, *"
            response.headers["Access-Control-Max-Age"] = "600"


API: Door = _Api()
CONSOLE = web.AppKey[Door]("console")  # absent where the console is off


def is_console(path: str) -> bool:
    """Tell if a path is one of the console's."""
    return path == CONSOLE_PATH or path.startswith(f"{CONSOLE_PATH}/")


def check_host(request: web.Request) -> None:
    """Check that a request to a proxy without keys names this machine.

    A page in a browser here could otherwise call it under a name of its own that resolves to this
    machine.

    Raises:
        ApiError: 403.
    """
    host = HOST.fullmatch(request.host)
    if host is None or not is_loopback(host["address"] or host["name"]):
        raise not_permitted("Without keys, only loopback addresses are served.", param="host")


def _read_authorization(request: web.Request) -> str | None:
    """Return the header with a client's key. Anthropic's clients may have it in one of their
    own."""
    key = request.headers.get("x-api-key")
    own = None if key is None else f"Bearer {key}"
    return request.headers.get("Authorization", own)


def _is_list(request: web.Request) -> bool:
    """Tell if a request asks which models there are.

    Front ends ask that for themselves, too, when they start; the answer is about no user.
    """
    return request.method == "GET" and (request.path + "/").startswith("/v1/models/")


def _refuse_foreign_pages(request: web.Request) -> None:
    """Refuse requests of web pages: a proxy without keys serves everybody on this machine."""
    server = request.app[CONFIG].server
    origin = request.headers.get("Origin")
    if origin is not None and not ({origin, "*"} & set(server.cors_origins)):
        raise not_permitted("This origin is not in server.cors_origins.", param="origin")
    check_host(request)


logger = logging.getLogger("inferdpt.request")


class Runner(web.AppRunner):
    """Run an application on a server that counts connections and answers malformed HTTP."""

    async def _make_server(self) -> web.Server:
        made = await super()._make_server()
        return _Server(self.app, made)

    def use(self, other: Runner) -> None:
        """Serve each request from now on as another runner would, also on open connections.
        Running requests end as they began."""
        assert isinstance(self.server, _Server)
        assert isinstance(other.server, _Server)
        self.server.use(other.server)


class _Server(web.Server):
    """Extend aiohttp's server with connections of our own, and with an application that may be
    replaced between two requests."""

    def __init__(self, app: web.Application, made: web.Server) -> None:
        # Connections keep these two functions for as long as they are open.
        super().__init__(
            lambda request: self._serve(request),  # type: ignore[arg-type]
            request_factory=lambda *args: self._build(*args),
            handler_cancellation=made.handler_cancellation,
            loop=made._loop,
            **made._kwargs,
        )
        self.app = app
        self._serve = _wrap(cast("Handler", made.request_handler))
        self._build = made.request_factory
        self.addresses: Counter[str] = Counter()

    def use(self, other: _Server) -> None:
        """Serve the application of another server."""
        self.app, self._serve, self._build = other.app, other._serve, other._build
        # aiohttp keeps up to a thousand handlers, and with them the applications before. Its name
        # for them is private: where it is another, they stay a little longer.
        if kept := getattr(web_app, "_cached_build_middleware", None):
            kept.cache_clear()

    def __call__(self) -> RequestHandler:
        return _ClientConnection(self, loop=self._loop, **self._kwargs)


class _ClientConnection(RequestHandler):
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


LARGE_BODY = 10_000  # bytes; the work on a larger one may take seconds
CLIENT_CLOSED = 499  # for the log and the metrics: the client is gone


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Serve a request with its id, its tenant, its errors and its line in the log."""
    tracing = request.app[METRICS].tracing
    if tracing is None or request.method != "POST":
        return await _observe(request, handler)
    with tracing.request(request.headers.get("traceparent")) as note:
        return await _observe(request, handler, note)


async def _observe(
    request: web.Request, handler: Handler, note: Note | None = None
) -> web.StreamResponse:
    start = time.perf_counter()
    request[REQUEST_ID] = "req_" + secrets.token_hex(12)
    metrics = request.app[METRICS]
    status = CLIENT_CLOSED
    try:
        with metrics.serving():
            response = await _respond(request, handler)
            status = response.status
            await _finish(request, response)
        return response
    except asyncio.CancelledError:
        request[ERROR] = "client_disconnected"
        raise
    finally:
        if request.get(ERROR) == "client_disconnected":
            status = CLIENT_CLOSED
        metrics.requests.labels(_find_path(request), str(status)).inc()
        if ERROR in request:
            metrics.errors.labels(request[ERROR]).inc()
        seconds = time.perf_counter() - start
        line = _make_line(request, status, seconds)
        logger.info("request", extra={"fields": line})
        if note is not None:
            note(line)
        _record_end(request, status, seconds)
        request.pop(PLAN, None)  # a connection keeps its last request until the next


async def set_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Set the headers of an answer, streamed or not, just before it is sent."""
    if REQUEST_ID in request:
        response.headers["x-request-id"] = request[REQUEST_ID]
        if is_messages(request.path):
            response.headers["request-id"] = request[REQUEST_ID]
    response.headers.update(request.get(RATE, {}))
    _find_door(request).set_headers(request, response)


async def _respond(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return the handler's answer, or the response to its error."""
    try:
        if await _find_door(request).enter(request):
            return web.Response(status=204)
        if request.method != "POST" or request.path in OPEN_PATHS:
            return await handler(request)
        known = request.get(TENANT)  # nobody, where a key is being typed
        if known is not None:
            request[RATE] = await request.app[RATES].take(known)
        if request.match_info.http_exception is not None:
            return await handler(request)  # no such path: nothing to wait for
        named = known is not None and request.app[KEYRING].locked
        client = known.tenant if known is not None and named else request.remote or ""
        async with request.app[ADMISSION].admit(request, client) as body:
            request[BODY] = body
            executor = request.app[LARGE_WORK] if len(body) > LARGE_BODY else None
            del body
            if known is not None:
                visit = Visit(request[REQUEST_ID], _find_path(request), time.time())
                request[TENANT] = known.during(visit)
            seconds, findings = request.app[CONFIG].limits.work_seconds, request.app[FINDINGS]
            with remember_texts(findings, client), limit_work(seconds, executor):
                response = await handler(request)
            await _finish(request, response)  # the place and the memory are held until it is sent
            return response
    except ApiError as exc:
        return _answer_error(request, exc)
    except web.HTTPException as exc:
        if exc.status == 405:
            error = ApiError(
                405, "This path does not take this method.", code="method_not_allowed"
            )
            error.headers["Allow"] = exc.headers.get("Allow", "")
            return _answer_error(request, error)
        return _answer_error(request, not_found())
    except Exception as exc:
        return _answer_error(request, internal_error(exc))


async def _finish(request: web.Request, response: web.StreamResponse) -> None:
    """Write the rest of an answer, once, unless its client is gone."""
    if FINISHED in request:
        return
    request[FINISHED] = True
    try:
        await finish(request, response)
    except ConnectionError:
        request.setdefault(ERROR, "client_disconnected")


def _find_door(request: web.Request) -> Door:
    """Return the door that a request's path lies behind."""
    console = request.app.get(CONSOLE)
    return console if console is not None and is_console(request.path) else API


def _answer_error(request: web.Request, error: ApiError) -> web.Response:
    request[ERROR] = error.code or error.type
    if error.param is not None:
        request[PARAM] = error.param
    return _find_door(request).answer_error(request, error)


def _find_path(request: web.Request) -> str:
    """Return the route's own path. The path in the URL is neither logged nor counted."""
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else "unknown"


def _record_end(request: web.Request, status: int, seconds: float) -> None:
    """Record the end of a request that was admitted."""
    if TENANT not in request or not request[TENANT].visit.request:
        return
    client, plan = request[TENANT], request.get(PLAN)
    entry = write_end(
        client,
        status=status,
        error=request.get(ERROR),
        seconds=seconds,
        model=None if plan is None else plan.request.model,
        remote=[] if plan is None else plan.trace.outcomes,
    )
    request.app[RECORDER].end(client.tenant, entry)


def _make_line(request: web.Request, status: int, seconds: float) -> dict[str, Any]:
    """Return the fields of the request's line in the log."""
    line: dict[str, Any] = {
        "request_id": request[REQUEST_ID],
        "method": request.method if request.method in METHODS else "other",
        "path": _find_path(request),
        "status": status,
        "ms": round(seconds * 1000, 1),
        "bytes_in": request.content_length or 0,
        "tenant": request[TENANT].tenant if TENANT in request else None,
        "error": request.get(ERROR),
        "param": request.get(PARAM),
    }
    plan = request.get(PLAN)
    if plan is not None:
        line |= describe_plan(plan)
    return {k: v for k, v in line.items() if v is not None}


def describe_plan(plan: Plan) -> dict[str, Any]:
    """Return the fields of a plan for the log."""
    line: dict[str, Any] = {}
    if plan.is_sent:
        guarantee = plan.sanitizer.guarantee
        line |= {
            "sent_to": plan.sent_to,
            "mechanism": plan.sanitizer.name,
            "epsilon_nominal": guarantee.nominal,
            "guarantee": guarantee.kind,
        }
    return line | {
        "released": plan.released,
        "public_findings": plan.public_findings or None,
        "stream": bool(plan.request.stream),
        "choices": plan.request.choices * len(plan.exchanges),
        "remote": plan.trace.outcomes,
        "remote_endings": plan.trace.endings or None,
        "remote_failures": plan.trace.failures or None,
        "stage_ms": {k: round(v * 1000, 1) for k, v in plan.trace.seconds.items()},
    }
