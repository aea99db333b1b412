"""Build the responses to errors, in OpenAI's shape or, for the Messages API, in Anthropic's."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from proxy.errors import ApiError

__all__ = ["MESSAGES_PATH", "error_response", "is_messages", "spell_error"]

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
