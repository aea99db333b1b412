"""Build the errors that a client sees, in OpenAI's shape.

    ApiError                 carries status, message, type, code, param
    ├── GuardRefused         the outgoing body failed the last check; nothing was sent
    └── PartsRefused         a text holds parts of a type whose action is `refuse`

Every HTTP error is built here. Messages name fields and rules. They never hold a client's text or
an upstream's answer.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from extraction.errors import (
    LocalModelError,
    LocalModelRefused,
    LocalModelTimeout,
    TooManyNumbers,
)
from perturb.errors import ExpressionTimeout, OutOfTime, PluginError

__all__ = [
    "ApiError",
    "ConfigError",
    "GuardRefused",
    "PartsRefused",
    "bad_request",
    "from_local",
    "internal_error",
    "local_unavailable",
    "model_not_found",
    "not_found",
    "not_permitted",
    "out_of_time",
    "remote_error",
    "remote_timeout",
    "store_unavailable",
    "too_large",
    "unauthorized",
    "unsupported",
]


logger = logging.getLogger("inferdpt.errors")


class ConfigError(Exception):
    """Report an invalid configuration; the message names the key and the file."""


class ApiError(Exception):
    """Carry an error response.

    Attributes:
        status: HTTP status.
        type, code, param: OpenAI's error fields.
        retry: whether the same request may succeed later; if not, SDKs are told so.
        headers: extra response headers.
        upstream: what the remote reported about its failure, in known names, for the log.
    """

    upstream: dict[str, Any] | None = None

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
        """Return the JSON body, `{"error": {message, type, param, code}}`."""
        return {
            "error": {
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "code": self.code,
            }
        }

    def rename(self, param: str | None) -> None:
        """Name the field as the client knows it."""
        if param is not None:
            self.message = self.message.replace(f"'{self.param}'", f"'{param}'")
        self.param = param

    def response_headers(self) -> dict[str, str]:
        """Return the headers of the error response."""
        return self.headers if self.retry else {**self.headers, "x-should-retry": "false"}


class GuardRefused(ApiError):
    """Report that the last check before sending failed.

    Attributes:
        rule: the rule that was broken, for the log.
    """

    def __init__(self, rule: str) -> None:
        super().__init__(
            500,
            f"The outgoing request did not pass the privacy guard ({rule}); nothing was sent.",
            type="server_error",
            code="guard_refused",
        )
        self.rule = rule


class PartsRefused(ApiError):
    """Report a text with parts of a type whose action is `refuse`.

    Args:
        text: the raw text, by which its place is found. No message shows it.
        lines: the line of the first such part of each type, from 1.
    """

    def __init__(self, text: str, lines: Mapping[str, int]) -> None:
        self.text = text
        self._lines = lines
        super().__init__(400, self._describe("A text", lines), code="refused_part")

    def place(self, param: str, first: int = 1) -> None:
        """Name the place of the text, which begins in the line `first` there."""
        lines = {type_: line + first - 1 for type_, line in self._lines.items()}
        self.param, self.message = param, self._describe(f"'{param}'", lines)

    def _describe(self, subject: str, lines: Mapping[str, int]) -> str:
        parts = ", ".join(f"{type_} (line {line})" for type_, line in lines.items())
        return f"{subject} holds parts of a type that is refused: {parts}. Nothing was sent."


def internal_error(exc: Exception) -> ApiError:
    """Return 500 for an exception that nothing handled, and 504 where a request's time is up.

    The log shows where it was raised but not its text, which could quote the request. It names
    an operator's expression that ran out of time, and a plug-in that failed.
    """
    if isinstance(exc, ExpressionTimeout):
        logger.error("%s", exc)
        return ApiError(
            500,
            f"The operator's configuration failed: {exc}; nothing was sent.",
            type="server_error",
            code="expression_timeout",
        )
    if isinstance(exc, OutOfTime):
        return out_of_time(exc)
    frames = "".join(traceback.format_tb(exc.__traceback__))
    said = str(exc) if isinstance(exc, PluginError) else type(exc).__name__
    logger.error("internal error %s at\n%s", said, frames)
    return ApiError(500, "Internal error.", type="server_error", code="internal_error")


def bad_request(message: str, *, param: str | None = None, code: str | None = None) -> ApiError:
    """Return 400: a field breaks its rule."""
    return ApiError(400, message, param=param, code=code)


def unsupported(param: str, why: str) -> ApiError:
    """Return a 400 for a known field, or value of a field, that is not supported."""
    return bad_request(
        f"'{param}' is not supported: {why}.", param=param, code="unsupported_parameter"
    )


def unauthorized() -> ApiError:
    """Return 401: no key, or an unknown one."""
    return ApiError(401, "Incorrect API key provided.", code="invalid_api_key")


def not_permitted(message: str, *, param: str) -> ApiError:
    """Return 403: the operator does not allow the request."""
    return ApiError(403, message, type="permission_error", code="not_permitted", param=param)


def not_found(message: str = "Unknown path; see GET /v1/models for what is served.") -> ApiError:
    """Return 404: this path is not served."""
    return ApiError(404, message, code="not_found")


def model_not_found() -> ApiError:
    """Return 404: the model is not on the allow-list."""
    return ApiError(
        404,
        "The model does not exist or is not served here; see GET /v1/models.",
        code="model_not_found",
        param="model",
    )


def too_large(message: str, *, param: str | None = None) -> ApiError:
    """Return 413: the body, or the document in it, is over a limit."""
    return ApiError(413, message, code="request_too_large", param=param)


def out_of_time(exc: OutOfTime) -> ApiError:
    """Return 504: the texts of a request take more processor time than they may."""
    return ApiError(
        504,
        f"The request took too long: {exc} (limits.work_seconds).",
        type="server_error",
        code="out_of_time",
    )


def remote_error(message: str) -> ApiError:
    """Return 502: the remote model failed, also on the last attempt."""
    return ApiError(502, message, type="upstream_error", code="remote_error")


def remote_timeout() -> ApiError:
    """Return 504: the remote model did not answer in time."""
    return ApiError(
        504,
        "The remote model did not answer in time.",
        type="upstream_error",
        code="remote_timeout",
    )


def local_unavailable() -> ApiError:
    """Return 503: the local model cannot answer now."""
    return ApiError(
        503,
        "The local model is not available.",
        type="upstream_error",
        code="local_model_unavailable",
        retry=True,
    )


def store_unavailable() -> ApiError:
    """Return 503: the database cannot be reached, so nothing is sent."""
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
    if isinstance(error, TooManyNumbers):
        return too_large(f"'input': {error}; send fewer inputs at once.", param="input")
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
