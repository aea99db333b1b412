"""Explain failures of the remote in the proxy's own words.

From a remote's error, only the status and three names (`type`, `code`, `param`) are read, each
name only if it is known here. The message is never read, since it could quote the request.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from extraction.http.client import Blocked, HttpError, TimedOut, Unreachable
from proxy.errors import ApiError, remote_error, remote_timeout

__all__ = ["RemoteFailure", "explain", "explain_answer", "parse_delay"]

# The names of OpenAI, Azure, vLLM and the usual gateways.
TYPES = frozenset(
    {
        "api_error",
        "authentication_error",
        "billing_error",
        "BadRequestError",
        "engine_overloaded",
        "insufficient_quota",
        "InternalServerError",
        "invalid_request_error",
        "not_found_error",
        "NotFoundError",
        "overloaded_error",
        "permission_error",
        "rate_limit_error",
        "request_too_large",
        "requests",
        "server_error",
        "timeout_error",
        "tokens",
        "UnprocessableEntityError",
    }
)
# Errors that a client's own numbers may cause, so that the client can fix them.
CLIENTS_CODES = frozenset(
    {
        "invalid_function_parameters",
        "invalid_value",
        "unsupported_parameter",
        "unsupported_value",
    }
)
CODES = CLIENTS_CODES | {
    "account_deactivated",
    "billing_hard_limit_reached",
    "billing_not_active",
    "content_filter",
    "content_policy_violation",
    "context_length_exceeded",
    "DeploymentNotFound",
    "engine_overloaded",
    "insufficient_quota",
    "internal_error",
    "invalid_api_key",
    "invalid_organization",
    "ip_not_authorized",
    "missing_required_parameter",
    "model_not_found",
    "OperationNotSupported",
    "organization_deactivated",
    "rate_limit_exceeded",
    "request_too_large",
    "ResponsibleAIPolicyViolation",
    "server_error",
    "slow_down",
    "unknown_parameter",
    "unsupported_country_region_territory",
    "unsupported_model",
}
# Of the parameters that are sent, those that a client sets.
CLIENTS_PARAMS = frozenset(
    {
        "frequency_penalty",
        "functions",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "seed",
        "stop",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
    }
)
PARAMS = CLIENTS_PARAMS | {"messages", "model", "store", "stream"}
# A 429 that does not pass with time.
QUOTA = frozenset(
    {
        "account_deactivated",
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_quota",
    }
)
LONGEST_DELAY = 3600.0


@dataclass(frozen=True)
class RemoteFailure:
    """Hold a failure of the remote: its HTTP status, and those of its names that are known."""

    status: int
    type: str | None = None
    code: str | None = None
    param: str | None = None

    @classmethod
    def read(cls, status: int, body: Any) -> RemoteFailure:
        """Read an error response of any form."""
        error = body.get("error", body) if isinstance(body, dict) else None
        if not isinstance(error, dict):
            return cls(status)
        known = {"type": TYPES, "code": CODES, "param": PARAMS}
        told = {name: error.get(name) for name in known}
        if isinstance(told["param"], str):  # `tools[0].function.parameters` is told as `tools`
            told["param"] = re.split(r"[.\[]", told["param"], maxsplit=1)[0]
        return cls(
            status,
            **{k: v for k, v in told.items() if isinstance(v, str) and v in known[k]},
        )

    @property
    def passing(self) -> bool:
        """Tell if the same request may succeed a little later."""
        return not self._out_of_quota and (self.status in (408, 409, 429) or self.status >= 500)

    @property
    def renames_limit(self) -> bool:
        """Tell if the model knows `max_tokens` only by its newer name."""
        return self.param == "max_tokens" and self.code == "unsupported_parameter"

    @property
    def refuses_stream(self) -> bool:
        """Tell if the model, or the operator's account, gets whole answers only."""
        return self.param == "stream" and self.code in (
            "unsupported_parameter",
            "unsupported_value",
        )

    @property
    def names(self) -> dict[str, Any]:
        """Return the known names and the status, for the log."""
        return {name: value for name, value in vars(self).items() if value is not None}

    @property
    def _out_of_quota(self) -> bool:
        return self.status == 402 or self.code in QUOTA or self.type in QUOTA

    def to_error(self, retry_after: str | None = None) -> ApiError:
        """Return the client's error. The proxy has already retried, so an SDK must not."""
        names = ", ".join(filter(None, (self.code or self.type, self.param)))
        told = f"HTTP {self.status}, {names}" if names else f"HTTP {self.status}"
        if self._out_of_quota:
            error = remote_error(f"The remote model's quota is used up ({told}).")
            error.status, error.code = 429, "insufficient_quota"
        elif self.status == 429:
            error = ApiError(
                429,
                f"The remote model's rate limit is reached ({told}).",
                type="rate_limit_error",
                code="remote_rate_limited",
                headers=_make_headers(retry_after),
            )
        elif self.status == 401:
            error = remote_error(f"The remote refused the proxy's API key ({told}).")
        elif self.status == 403:
            error = remote_error(f"The remote does not let the proxy's account do this ({told}).")
        elif self.status == 404:
            error = remote_error(f"The remote does not know the path or the model ({told}).")
        elif self.status == 400 and self.code in CLIENTS_CODES and self.param in CLIENTS_PARAMS:
            error = ApiError(
                400,
                f"The remote model does not take this '{self.param}' ({told}).",
                code=self.code,
                param=self.param,
            )
        elif self.status == 400 and self.code == "context_length_exceeded":
            error = ApiError(
                400,
                f"The request does not fit the remote model's context ({told}).",
                code=self.code,
                param="messages",
            )
        else:
            error = remote_error(f"The remote answered with an error ({told}).")
        error.upstream = self.names
        return error


def explain(exc: HttpError) -> ApiError:
    """Return the client's error for a call without an answer."""
    if isinstance(exc, TimedOut):
        error = remote_timeout()
    elif isinstance(exc, Unreachable):
        error = remote_error("The remote cannot be reached.")
    elif isinstance(exc, Blocked):
        error = remote_error(f"The remote cannot be reached: {exc}.")
    else:
        error = remote_error(f"The remote's answer cannot be read: {exc}.")
    error.upstream = {"failure": str(exc)}
    return error


def explain_answer(message: str, status: int, told: Any) -> ApiError:
    """Return the client's error for an answer of another form, or for an error inside a stream.

    Args:
        message: says which form is lacking.
        status: of the answer.
        told: the answer, or its last event; only known names of it go to the log.
    """
    error = remote_error(message)
    error.upstream = RemoteFailure.read(status, told).names
    return error


def parse_delay(retry_after: str | None) -> float | None:
    """Return the delay in seconds that a remote requests; None if it is a date or no number."""
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return seconds if 0.0 <= seconds <= 1e9 else None  # nor for NaN


def _make_headers(value: str | None) -> dict[str, str]:
    seconds = parse_delay(value)
    return {"retry-after": str(math.ceil(min(1.0 if seconds is None else seconds, LONGEST_DELAY)))}
