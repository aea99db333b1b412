"""Around every request: its id, its tenant, its errors, its one line in the log."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from proxy.config import is_loopback
from proxy.errors import ApiError, internal_error, not_found, not_permitted
from proxy.handlers import error_response
from proxy.keys import (
    CONFIG,
    ERROR,
    KEYRING,
    METRICS,
    PLAN,
    RATE,
    RATES,
    REQUEST_ID,
    TENANT,
)

__all__ = ["observe", "stamp"]

logger = logging.getLogger("inferdpt.request")
OPEN_PATHS = ("/health", "/ready")
EXPOSED = (
    "x-request-id, x-inferdpt-mechanism, x-inferdpt-epsilon, x-inferdpt-tokens, retry-after, "
    "x-should-retry, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, "
    "x-ratelimit-reset-requests"
)
CLIENT_CLOSED = 499  # for the log and the metrics: nobody is left to read it


@web.middleware
async def observe(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The outermost middleware."""
    start = time.perf_counter()
    request[REQUEST_ID] = "req_" + secrets.token_hex(12)
    metrics = request.app[METRICS]
    status = CLIENT_CLOSED
    metrics.busy += 1
    try:
        response = await _respond(request, handler)
        status = response.status
        return response
    except asyncio.CancelledError:
        request[ERROR] = "client_disconnected"
        raise
    finally:
        if request.get(ERROR) == "client_disconnected":
            status = CLIENT_CLOSED
        metrics.busy -= 1
        metrics.requests.labels(_path(request), str(status)).inc()
        _log(request, status, time.perf_counter() - start)


async def stamp(request: web.Request, response: web.StreamResponse) -> None:
    """Headers of every answer, streams included; runs when an answer is about to go out."""
    if REQUEST_ID in request:
        response.headers["x-request-id"] = request[REQUEST_ID]
    response.headers.update(request.get(RATE, {}))
    _cors(request, response)


async def _respond(request: web.Request, handler: Handler) -> web.StreamResponse:
    """The handler's answer, or its error as an answer."""
    try:
        keyring, closed = request.app[KEYRING], request.path not in OPEN_PATHS
        if not (await keyring.required() if closed else keyring.locked):
            _refuse_foreign_pages(request)
        if request.method == "OPTIONS" and "Origin" in request.headers:
            return web.Response(status=204)
        if closed:
            request[TENANT] = await keyring.client(request.headers.get("Authorization"))
        limit = request.app[CONFIG].limits.concurrent_requests
        if request.method == "POST" and request.app[METRICS].busy > limit:
            raise _busy()
        if request.method == "POST" and closed:
            request[RATE] = request.app[RATES].take(request[TENANT])
        return await handler(request)
    except ApiError as exc:
        return _failed(request, exc)
    except web.HTTPException as exc:
        if exc.status == 405:
            error = ApiError(
                405, "This path does not take this method.", code="method_not_allowed"
            )
            error.headers["Allow"] = exc.headers.get("Allow", "")
            return _failed(request, error)
        return _failed(request, not_found())
    except Exception as exc:
        return _failed(request, internal_error(exc))


def _refuse_foreign_pages(request: web.Request) -> None:
    """A proxy without keys answers anybody on this machine, so a web page open in a browser here
    must not pass for somebody: neither by calling across origins, nor by a name of its own that
    resolves to this machine."""
    server = request.app[CONFIG].server
    origin = request.headers.get("Origin")
    if origin is not None and not ({origin, "*"} & set(server.cors_origins)):
        raise not_permitted("This origin is not in server.cors_origins.", param="origin")
    name = request.host.rsplit(":", 1)[0].strip("[]")
    if not is_loopback(name):
        raise not_permitted("Without keys, only loopback addresses are served.", param="host")


def _failed(request: web.Request, error: ApiError) -> web.Response:
    request[ERROR] = error.code or error.type
    return error_response(error)


def _busy() -> ApiError:
    return ApiError(
        429,
        "The proxy is serving as many requests as it may; try again.",
        type="rate_limit_error",
        code="rate_limit_exceeded",
        retry=True,
        headers={"retry-after": "1"},
    )


def _cors(request: web.Request, response: web.StreamResponse) -> None:
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


def _path(request: web.Request) -> str:
    """The route's own path: what a client wrote into the URL is neither logged nor counted."""
    resource = request.match_info.route.resource
    return resource.canonical if resource is not None else "unknown"


def _log(request: web.Request, status: int, seconds: float) -> None:
    line: dict[str, Any] = {
        "request_id": request[REQUEST_ID],
        "method": request.method if request.method in ("GET", "POST") else "other",
        "path": _path(request),
        "status": status,
        "ms": round(seconds * 1000, 1),
        "bytes_in": request.content_length or 0,
        "tenant": request[TENANT].tenant if TENANT in request else None,
        "error": request.get(ERROR),
    }
    plan = request.get(PLAN)
    if plan is not None:
        guarantee = plan.sanitizer.guarantee
        line |= {
            "mechanism": plan.sanitizer.name,
            "epsilon_nominal": guarantee.nominal,
            "guarantee": guarantee.kind,
            "released": plan.released,
            "stream": bool(plan.request.stream),
            "choices": plan.request.choices * len(plan.exchanges),
            "remote": [exchange.outcome for exchange in plan.exchanges],
            "stage_ms": {k: round(v * 1000, 1) for k, v in plan.timings.items()},
        }
    logger.info("request", extra={"fields": {k: v for k, v in line.items() if v is not None}})
