"""Let requests in: find their client, or refuse them. The API and the console have doors of their
own, which also set headers and answer errors in their own way: the API in OpenAI's shape or, for
the Messages API, in Anthropic's."""

from __future__ import annotations

import re
from typing import Any, Protocol

from aiohttp import web

from proxy.api.app_keys import CONFIG, KEYRING, REQUEST_ID, TENANT
from proxy.config.settings import is_loopback
from proxy.errors import ApiError, not_permitted

__all__ = [
    "API",
    "CONSOLE",
    "CONSOLE_PATH",
    "MESSAGES_PATH",
    "METHODS",
    "OPEN_PATHS",
    "Door",
    "check_host",
    "error_response",
    "is_console",
    "is_messages",
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
