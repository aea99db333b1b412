"""The remote client: the only place from which anything leaves this machine.

The guard hangs on the HTTP client itself: every request, retries included, is looked at as
finished bytes, and a request without clearance is refused.
"""

from __future__ import annotations

import asyncio
import math
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from extraction.openai_server import quiet_libraries
from proxy.config import Remote
from proxy.errors import ApiError, GuardRefused, remote_error, remote_timeout
from proxy.guard import Clearance, check

__all__ = ["Generation", "RemoteClient"]

GENERATION_CHARACTERS = 1_000_000  # kept of an answer: the remote may send anything
_clearance: ContextVar[Clearance | None] = ContextVar("clearance", default=None)


@dataclass(frozen=True)
class Generation:
    """What the remote answered: its text and what it counted."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class RemoteClient:
    """The untrusted model behind an OpenAI-compatible API."""

    def __init__(self, config: Remote) -> None:
        quiet_libraries()
        self._slots = asyncio.Semaphore(config.concurrency)
        self._total_seconds = config.timeout_seconds * (config.retries + 1)
        self._client = AsyncOpenAI(
            base_url=config.base_url,
            api_key=config.key or "none",
            max_retries=config.retries,
            timeout=config.timeout_seconds,
            http_client=DefaultAsyncHttpxClient(
                follow_redirects=False, event_hooks={"request": [_look]}
            ),
        )

    async def generate(self, body: dict[str, Any], clearance: Clearance) -> Generation:
        """Send one body and return the generation.

        Raises:
            GuardRefused: the finished bytes failed the guard; nothing was sent.
            ApiError: 429, 502 or 504, for what the remote did.
        """
        async with self._slots:
            token = _clearance.set(clearance)
            try:
                # The SDK's timeout is for each read: a remote that trickles needs a limit, too.
                async with asyncio.timeout(self._total_seconds):
                    answer: Any = await self._client.chat.completions.create(**body)
                choice = answer.choices[0]
                usage = answer.usage
                return Generation(
                    str(choice.message.content or "")[:GENERATION_CHARACTERS],
                    (usage.prompt_tokens or 0) if usage else 0,
                    (usage.completion_tokens or 0) if usage else 0,
                )
            except openai.OpenAIError as exc:
                raise _mapped(exc) from exc
            except TimeoutError as exc:
                raise remote_timeout() from exc
            except (AttributeError, IndexError, TypeError, ValueError) as exc:
                raise remote_error("The remote's answer is not a chat completion.") from exc
            finally:
                _clearance.reset(token)

    async def reachable(self) -> str | None:
        """None if the remote lists its models to us, else what is wrong; sends no text."""
        token = _clearance.set(Clearance((), (), ()))
        try:
            await self._client.with_options(max_retries=0, timeout=10.0).models.list()
        except openai.OpenAIError as exc:
            return _mapped(exc).message
        finally:
            _clearance.reset(token)
        return None

    async def aclose(self) -> None:
        """Let go of connections."""
        await self._client.close()


async def _look(request: Any) -> None:
    """The HTTP client's last step before the socket."""
    clearance = _clearance.get()
    if clearance is None:
        raise GuardRefused("no clearance")
    if request.content:
        await asyncio.to_thread(check, request.content, clearance)


def _mapped(exc: openai.OpenAIError) -> ApiError:
    """The SDK's errors as ours, most specific first; no upstream text is repeated."""
    if isinstance(exc, openai.APITimeoutError):
        return remote_timeout()
    if isinstance(exc, openai.RateLimitError):
        return ApiError(
            429,
            "The remote model's rate limit is reached.",
            type="rate_limit_error",
            code="remote_rate_limited",
            retry=True,
            headers=_retry_after(exc.response.headers.get("retry-after")),
        )
    if isinstance(exc, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return _final("The remote refused the proxy's API key.")
    if isinstance(exc, openai.NotFoundError):
        return _final("The remote does not know the path or the model.")
    if isinstance(exc, openai.APIStatusError):
        message = f"The remote answered with HTTP {exc.status_code}."
        passing = exc.status_code >= 500 or exc.status_code in (408, 409)
        return remote_error(message) if passing else _final(message)
    if isinstance(exc, openai.APIConnectionError):
        return remote_error("The remote cannot be reached.")
    return remote_error("The remote's answer cannot be read.")


def _final(message: str) -> ApiError:
    """502 that a retry cannot cure."""
    error = remote_error(message)
    error.retry = False
    return error


def _retry_after(value: str | None) -> dict[str, str]:
    """The remote's delay, if it is a number of seconds."""
    try:
        seconds = float(value or "")
    except ValueError:
        seconds = 1.0
    return {"retry-after": str(math.ceil(min(max(seconds, 0.0), 3600.0)))}
