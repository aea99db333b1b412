"""Send requests to the remote: the only module that sends anything from this machine.

The guard is part of the HTTP client: it checks the finished bytes of every request, retries
included, and refuses a request without clearance.
"""

from __future__ import annotations

import asyncio
import random
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from extraction.backends.answers import read_list, read_object, read_text
from extraction.http.client import SMALL, HttpClient, HttpError, Reply, Unreachable, dump
from perturb.offload import SHORT, offload
from proxy.config.settings import Remote
from proxy.errors import ApiError, GuardRefused, remote_error
from proxy.release import Release
from proxy.remote.errors import RemoteFailure, explain, parse_delay
from proxy.remote.guard import Clearance, check

__all__ = ["Generation", "RemoteClient"]

GENERATION_CHARACTERS = 1_000_000  # the most kept of an answer: the remote may send anything
PROBE_SECONDS = 10.0
SHORT_BODY = 4 * SHORT  # bytes
BACK_OFF = (
    0.5,
    8.0,
)  # seconds before the first retry, doubled for each, and their limit
LONGEST_WAIT = 60.0  # a remote that requests a longer delay is not called again
_clearance: ContextVar[Clearance | None] = ContextVar("clearance", default=None)


@dataclass(frozen=True)
class Generation:
    """Hold the remote's answer."""

    text: str


class _Failed(Exception):
    """Report that one call failed."""

    def __init__(
        self,
        error: ApiError,
        *,
        passing: bool,
        told: RemoteFailure | None = None,
        delay: float | None = None,
    ) -> None:
        super().__init__()
        self.error = error
        self.passing = passing
        self.told = told
        self.delay = delay


class RemoteClient:
    """Call the untrusted model behind an OpenAI-compatible API."""

    def __init__(self, config: Remote) -> None:
        self._slots = asyncio.Semaphore(config.concurrency)
        self._seconds = config.timeout_seconds
        self._retries = config.retries
        self._renamed: set[str] = set()  # models that know `max_tokens` only by its newer name
        self._http = HttpClient(
            config.base_url, key=config.key or "none", inspect=_guard, proxied=True, kept=True
        )

    async def generate(self, body: dict[str, Any], clearance: Clearance) -> Generation:
        """Send one body and return the generation.

        Raises:
            GuardRefused: the finished bytes failed the guard; nothing was sent.
            ApiError: 400, 429, 502 or 504, the remote failed.
        """
        token = _clearance.set(clearance)
        try:
            return await self._retry(body)
        finally:
            _clearance.reset(token)

    async def probe(self) -> str | None:
        """Request the remote's models without sending any text. Return None if it lists them,
        else the problem."""
        token = _clearance.set(Clearance((), (), ()))
        try:
            async with self._http.open("/models", seconds=PROBE_SECONDS) as reply:
                if not reply.ok:
                    return (await _read_failure(reply)).to_error().message
                await reply.json(SMALL)
        except HttpError as exc:
            return explain(exc).message
        finally:
            _clearance.reset(token)
        return None

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    async def _retry(self, body: dict[str, Any]) -> Generation:
        """Send a body, again and unchanged while its failures may pass; raise `ApiError`."""
        tried = 0
        while True:
            sent = self._spell(body)
            try:
                async with self._slots:
                    return await self._call(sent, fresh=tried > 0)
            except _Failed as exc:
                failed = exc
            if failed.told is not None and failed.told.renames_limit and "max_tokens" in sent:
                self._renamed.add(body["model"])
                continue
            if not failed.passing or tried == self._retries:
                raise failed.error from failed
            first, longest = BACK_OFF
            wait = failed.delay or min(first * 2**tried, longest) * random.uniform(0.75, 1)  # noqa: S311
            if wait > LONGEST_WAIT:
                raise failed.error from failed
            tried += 1
            await asyncio.sleep(wait)

    def _spell(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with the names that its model knows."""
        if body["model"] not in self._renamed or "max_tokens" not in body:
            return body
        limit = {"max_completion_tokens": body["max_tokens"]}
        return limit | {name: value for name, value in body.items() if name != "max_tokens"}

    async def _call(self, body: dict[str, Any], *, fresh: bool) -> Generation:
        try:
            async with self._http.open(
                "/chat/completions", dump(body), seconds=self._seconds, fresh=fresh
            ) as reply:
                if not reply.ok:
                    told = await _read_failure(reply)
                    raise _Failed(
                        told.to_error(reply.retry_after),
                        passing=told.passing,
                        told=told,
                        delay=parse_delay(reply.retry_after),
                    )
                answer = await reply.json(SMALL)
        except HttpError as exc:
            raise _Failed(explain(exc), passing=isinstance(exc, Unreachable)) from exc
        try:
            choice = read_object(read_list(read_object(answer).get("choices"))[0])
            text = read_text(read_object(choice.get("message")).get("content"))
        except (ValueError, IndexError):
            error = remote_error("The remote's answer is not a chat completion.")
            error.upstream = RemoteFailure.read(reply.status, answer).names
            raise error from None
        return Generation(text[:GENERATION_CHARACTERS])


async def _read_failure(reply: Reply) -> RemoteFailure:
    """Read an error response; its status is enough."""
    try:
        body = await reply.json(SMALL)
    except HttpError:
        body = None
    return RemoteFailure.read(reply.status, body)


async def _guard(body: bytes | None) -> None:
    """Guard a request at the HTTP client's last step before the socket."""
    clearance = _clearance.get()
    if clearance is None or body is None:
        raise GuardRefused("no clearance")
    if body:
        raw = sum(map(len, clearance.private))
        releases = [piece for piece in clearance.pieces if isinstance(piece, Release)]
        brief = raw <= SHORT and all(r.sanitizer.is_brief(r.raw) for r in releases)
        await offload(brief and len(body) <= SHORT_BODY, check, body, clearance)
