"""Wrap every request: its id, its tenant, its errors and its one line in the log."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from dataclasses import replace
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from perturb.selective.once import remember_marks
from proxy.access.grants import Visit
from proxy.api.app_keys import (
    ADMISSION,
    BODY,
    CONFIG,
    ERROR,
    FINISHED,
    KEYRING,
    METRICS,
    PARAM,
    PLAN,
    RATE,
    RATES,
    RECORDER,
    REQUEST_ID,
    TENANT,
)
from proxy.api.error_responses import error_response, is_messages
from proxy.api.writing import finish
from proxy.config.settings import is_loopback
from proxy.errors import ApiError, internal_error, not_found, not_permitted
from proxy.records.entries import write_end
from proxy.tracing import Note

__all__ = ["observe", "set_headers"]

logger = logging.getLogger("inferdpt.request")
OPEN_PATHS = ("/health", "/ready")
EXPOSED = (
    "x-request-id, request-id, x-inferdpt-mechanism, x-inferdpt-epsilon, x-inferdpt-tokens, "
    "retry-after, x-should-retry, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, "
    "x-ratelimit-reset-requests"
)
HOST = re.compile(r"(?:\[(?P<address>[0-9a-fA-F:.]+)\]|(?P<name>[^][:@/\s]+))(?::[0-9]*)?")
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


async def set_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Set the headers of an answer, streamed or not, just before it is sent."""
    if REQUEST_ID in request:
        response.headers["x-request-id"] = request[REQUEST_ID]
        if is_messages(request.path):
            response.headers["request-id"] = request[REQUEST_ID]
    response.headers.update(request.get(RATE, {}))
    _allow_origin(request, response)


async def _respond(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Return the handler's answer, or the response to its error."""
    try:
        keyring, closed = request.app[KEYRING], request.path not in OPEN_PATHS
        asks = request.method == "OPTIONS" and "Origin" in request.headers
        if closed and not asks:
            request[TENANT] = await keyring.client(_read_authorization(request))
        elif closed:
            await keyring.required()
        if not keyring.locked:
            _refuse_foreign_pages(request)
        if asks:
            return web.Response(status=204)
        if request.method != "POST" or not closed:
            return await handler(request)
        request[RATE] = await request.app[RATES].take(request[TENANT])
        if request.match_info.http_exception is not None:
            return await handler(request)  # no such path: nothing to wait for
        client = request[TENANT].tenant if keyring.locked else request.remote or ""
        async with request.app[ADMISSION].admit(request, client) as body:
            request[BODY] = body
            del body
            visit = Visit(request[REQUEST_ID], _find_path(request), time.time())
            request[TENANT] = replace(request[TENANT], visit=visit)
            with remember_marks():
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


def _read_authorization(request: web.Request) -> str | None:
    """Return the header with a client's key. Anthropic's clients may have it in one of their
    own."""
    key = request.headers.get("x-api-key")
    own = None if key is None else f"Bearer {key}"
    return request.headers.get("Authorization", own)


def _refuse_foreign_pages(request: web.Request) -> None:
    """Refuse requests of web pages.

    A proxy without keys serves everybody on this machine. A page in a browser here must not be
    served, neither across origins nor under a name of its own that resolves to this machine.
    """
    server = request.app[CONFIG].server
    origin = request.headers.get("Origin")
    if origin is not None and not ({origin, "*"} & set(server.cors_origins)):
        raise not_permitted("This origin is not in server.cors_origins.", param="origin")
    host = HOST.fullmatch(request.host)
    if host is None or not is_loopback(host["address"] or host["name"]):
        raise not_permitted("Without keys, only loopback addresses are served.", param="host")


def _answer_error(request: web.Request, error: ApiError) -> web.Response:
    request[ERROR] = error.code or error.type
    if error.param is not None:
        request[PARAM] = error.param
    return error_response(error, request[REQUEST_ID], request.path)


def _allow_origin(request: web.Request, response: web.StreamResponse) -> None:
    origins = request.app[CONFIG].server.cors_origins
    origin = request.headers.get("Origin")
    if origin is None or not ({origin, "*"} & set(origins)):
        return
    response.headers["Access-Control-Allow-Origin"] = origin
    response.headers["Vary"] = "Origin"
    response.headers["Access-Control-Expose-Headers"] = EXPOSED
    if request.method == "OPTIONS":
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, OPTIONS"
        response.headers["Access-Control-Allow-Headers"] = "authorization, *"
        response.headers["Access-Control-Max-Age"] = "600"


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
        "method": request.method if request.method in ("GET", "POST") else "other",
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
        if plan.is_sent:
            guarantee = plan.sanitizer.guarantee
            line |= {
                "sent_to": plan.sent_to,
                "mechanism": plan.sanitizer.name,
                "epsilon_nominal": guarantee.nominal,
                "guarantee": guarantee.kind,
            }
        line |= {
            "released": plan.released,
            "public_findings": plan.public_findings or None,
            "stream": bool(plan.request.stream),
            "choices": plan.request.choices * len(plan.exchanges),
            "remote": plan.trace.outcomes,
            "remote_endings": plan.trace.endings or None,
            "remote_failures": plan.trace.failures or None,
            "stage_ms": {k: round(v * 1000, 1) for k, v in plan.trace.seconds.items()},
        }
    return {k: v for k, v in line.items() if v is not None}
