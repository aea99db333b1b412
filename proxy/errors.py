"""Errors a client sees, in OpenAI's shape.

    ApiError                 carries status, message, type, code, param
    └── GuardRefused         the outgoing body failed the last check; nothing was sent

Every HTTP error is built here. Messages name fields and rules, never what a client wrote and
never what an upstream answered.
"""

from __future__ import annotations

import logging
import traceback
from typing import Any

from extraction.errors import (
    LocalModelError,
    LocalModelRefused,
    LocalModelTimeout,
)

__all__ = [
    "ApiError",
    "ConfigError",
    "GuardRefused",
    "bad_request",
    "from_local",
    "internal_error",
    "local_unavailable",
    "model_not_found",
    "not_found",
    "not_permitted",
    "remote_error",
    "remote_timeout",
    "store_unavailable",
    "too_large",
    "unauthorized",
]


logger = logging.getLogger("inferdpt.errors")


class ConfigError(Exception):
    """The configuration is invalid; the message names the key and the file."""


class ApiError(Exception):
    """An error answer.

    Attributes:
        status: HTTP status.
        type, code, param: OpenAI's error fields.
        retry: whether the same request may succeed later; if not, SDKs are told so.
        headers: extra response headers.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        retry: bool = False,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.type = type
        self.code = code
        self.param = param
        self.retry = retry
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """The JSON body, `{"error": {message, type, param, code}}`."""
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "code": self.code,
            }
        }

    def response_headers(self) -> dict[str, str]:
        """Headers of the error answer."""
        return self.headers if self.retry else {**self.headers, "x-should-retry": "false"}


class GuardRefused(ApiError):
    """The last check before sending failed.

    Attributes:
        rule: which rule, for the log.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(
            500,
            f"The outgoing request did not pass the privacy guard ({rule}); nothing was sent.",
            type="server_error",
            code="guard_refused",
        )
        self.rule = rule


def internal_error(exc: Exception) -> ApiError:
    """500 for a bug, logged by where it is and not by what it says: its text could quote the
    request."""
    frames = "".join(traceback.format_tb(exc.__traceback__))
    logger.error("internal error %s at\n%s", type(exc).__name__, frames)
    return ApiError(500, "Internal error.", type="server_error", code="internal_error")


def bad_request(message: str, *, param: str | None = None, code: str | None = None) -> ApiError:
    """400: a field breaks its rule."""
    return ApiError(400, message, param=param, code=code)


def unauthorized() -> ApiError:
    """401: no key, or an unknown one."""
    return ApiError(401, "Incorrect API key provided.", code="invalid_api_key")


def not_permitted(message: str, *, param: str) -> ApiError:
    """403: the operator does not allow what a client asked for."""
    return ApiError(403, message, type="permission_error", code="not_permitted", param=param)


def not_found(message: str = "Unknown path; see GET /v1/models for what is served.") -> ApiError:
    """404: this path is not served."""
    return ApiError(404, message, code="not_found")


def model_not_found() -> ApiError:
    """404: the model is not on the allow-list."""
    return ApiError(
        404,
        "The model does not exist or is not served here; see GET /v1/models.",
        code="model_not_found",
        param="model",
    )


def too_large(message: str, *, param: str | None = None) -> ApiError:
    """413: the body, or the document in it, is over a limit."""
    return ApiError(413, message, code="request_too_large", param=param)


def remote_error(message: str, *, headers: dict[str, str] | None = None) -> ApiError:
    """502: the remote model failed."""
    return ApiError(
        502, message, type="upstream_error", code="remote_error", retry=True, headers=headers
    )


def remote_timeout() -> ApiError:
    """504: the remote model did not answer in time."""
    return ApiError(
        504,
        "The remote model did not answer in time.",
        type="upstream_error",
        code="remote_timeout",
        retry=True,
    )


def local_unavailable(message: str = "The local model is not available.") -> ApiError:
    """503: the local model cannot answer now."""
    return ApiError(
        503, message, type="upstream_error", code="local_model_unavailable", retry=True
    )


def store_unavailable() -> ApiError:
    """503: the database cannot be reached, so nothing is sent."""
    return ApiError(
        503,
        "The proxy's store cannot be reached; nothing was sent.",
        type="server_error",
        code="store_unavailable",
        retry=True,
    )


def from_local(error: LocalModelError) -> ApiError:
    """Map an error of the extraction layer, most specific first."""
    if isinstance(error, LocalModelTimeout):
        return ApiError(
            504,
            "The local model did not answer in time.",
            type="upstream_error",
            code="local_model_timeout",
            retry=True,
        )
    if isinstance(error, LocalModelRefused):
        if error.too_long:
            return bad_request(
                "The request does not fit the local model's context, even when cut; ask for "
                "fewer tokens or send less.",
                code="context_length_exceeded",
            )
        return bad_request(
            f"The local model refused the request (HTTP {error.status}); one of its options is "
            "not supported there.",
            code="local_model_refused",
        )
    return local_unavailable()
