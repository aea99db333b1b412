"""Send requests to the remote: the only module that sends anything from this machine.

The guard is part of the HTTP client: it checks the finished bytes of every request, retries
included, and refuses a request without clearance.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any

from extraction.codec import dump
from extraction.http.client import SMALL, HttpClient, HttpError, Reply, Unreachable
from perturb.work import SHORT, offload
from proxy.config.settings import Remote
from proxy.config.upstreams.remote import DEFAULT
from proxy.errors import ApiError, GuardRefused
from proxy.remote.errors import RemoteFailure, explain, parse_delay
from proxy.remote.generation import Generation, Transcript, read_answer
from proxy.remote.guard import Clearance, Cleared
from proxy.remote.messages.answer import MessagesReply

__all__ = ["RemoteClient"]

PROBE_SECONDS = 10.0
CHATS = "/chat/completions"
VERSION = "2023-06-01"  # of the Messages API
MESSAGES_PATHS = {CHATS: "/messages", "/models": "/models?limit=1000"}
SHORT_BODY = 4 * SHORT  # bytes
BACK_OFF = (
    0.5,
    8.0,
)  # seconds before the first retry, doubled for each, and their limit
STREAM = ("stream", "stream_options")
LONGEST_WAIT = 60.0  # a remote that requests a longer delay is not called again
_clearance: ContextVar[Cleared | None] = ContextVar("clearance", default=None)


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
    """Call one untrusted model, behind OpenAI's API or the Messages API. In both cases, its
    answers are read as chats.

    Attributes:
        config: its settings.
        alias: its name in the configuration.
    """

    def __init__(self, config: Remote, alias: str = DEFAULT) -> None:
        self.config = config
        self.alias = alias
        self._slots = asyncio.Semaphore(config.concurrency)
        self._seconds = config.timeout_seconds
        self._patience = config.patience_seconds
        self._retries = config.retries
        self._renamed: set[str] = set()  # models that know `max_tokens` only by its newer name
        self._unstreamed: set[str] = set()  # models that answer only as a whole
        self._speaks_messages = config.api == "messages"
        key, headers = config.key or "none", {}
        if self._speaks_messages:
            headers = {"anthropic-version": VERSION, "x-api-key": key.strip()}
        self._http = HttpClient(
            config.base_url,
            key=None if self._speaks_messages else key,
            headers=headers,
            inspect=_guard,
            proxied=True,
            kept=True,
        )

    async def generate(
        self, body: dict[str, Any], clearance: Clearance, *, most: int | None = None
    ) -> Generation:
        """Send one body and return the generation.

        A stream is requested only where it may be left before its end: every event of it is read
        and parsed by itself, which a short answer is not worth.

        Args:
            most: the characters of the generation that are used. If there are more, the
                connection is closed. None: the generation is expected to be shorter.

        Raises:
            GuardRefused: the finished bytes failed the guard; nothing was sent.
            ApiError: 400, 429, 502 or 504, the remote failed.
        """
        token = _clearance.set(clearance)
        transcript = Transcript() if most is None else Transcript(most)
        body = self._ask_stream(body, most is not None)
        try:
            async with asyncio.timeout(self._patience):
                return await self._retry(body, transcript)
        except TimeoutError:  # only the patience's: `_retry` maps every other
            return Generation(transcript.text, "abandoned")
        finally:
            _clearance.reset(token)

    def write(self, body: dict[str, Any], *, limited: bool | None = None) -> bytes:
        """Return the bytes of a request for a body, as they are sent first.

        Args:
            limited: for `generate`: whether it gets a limit; None for `open`.
        """
        return dump(self._spell(body if limited is None else self._ask_stream(body, limited)))

    @asynccontextmanager
    async def open(
        self, path: str, body: dict[str, Any], clearance: Cleared, *, streamed: bool
    ) -> AsyncIterator[Reply]:
        """Send one body and hold the answer open, once the remote has accepted the request.

        Args:
            path: of the endpoint, appended to the remote's address; chats have another in the
                Messages API.
            streamed: whether the answer is a stream of events.

        Raises:
            GuardRefused: the finished bytes failed the guard; nothing was sent.
            ApiError: 400, 429, 502 or 504, the remote failed, also within the block.
        """
        tried = 0
        async with AsyncExitStack() as stack:
            while True:
                sent = self._spell(body)
                try:
                    await stack.enter_async_context(self._slots)
                    reply = await self._accept(
                        stack, path, dump(sent), clearance, streamed=streamed, fresh=tried > 0
                    )
                    break
                except _Failed as exc:
                    failed = exc
                await stack.aclose()
                if not self._learns(failed, sent):
                    await self._pause(failed, tried)
                    tried += 1
            try:
                yield reply
            except HttpError as exc:
                raise explain(exc) from exc

    async def _accept(
        self,
        stack: AsyncExitStack,
        path: str,
        body: bytes,
        clearance: Cleared,
        *,
        streamed: bool,
        fresh: bool,
    ) -> Reply:
        """Send a body, and return the answer if the remote accepted it; raise `_Failed`."""
        token = _clearance.set(clearance)
        try:
            reply = await stack.enter_async_context(
                self._http.open(
                    self._locate(path),
                    body,
                    seconds=self._seconds,
                    streamed=streamed,
                    fresh=fresh,
                )
            )
        except HttpError as exc:
            raise _Failed(explain(exc), passing=isinstance(exc, Unreachable)) from exc
        finally:
            _clearance.reset(token)
        if not reply.ok:
            raise await _make_failure(reply)
        return self._read_as_chat(reply)

    async def list_models(self) -> Any:
        """Request the remote's models without sending any text, and return what it tells.

        Raises:
            ApiError: it failed, or its answer is no JSON.
        """
        token = _clearance.set(Clearance((), (), ()))
        try:
            async with self._http.open(self._locate("/models"), seconds=PROBE_SECONDS) as reply:
                if not reply.ok:
                    raise (await _read_failure(reply)).to_error()
                return await reply.json(SMALL)
        except HttpError as exc:
            raise explain(exc) from exc
        finally:
            _clearance.reset(token)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._http.aclose()

    def _locate(self, path: str) -> str:
        """Return the path of an endpoint in the remote's API."""
        return MESSAGES_PATHS.get(path, path) if self._speaks_messages else path

    def _read_as_chat(self, reply: Reply) -> Reply:
        return MessagesReply(reply) if self._speaks_messages else reply

    async def _retry(self, body: dict[str, Any], transcript: Transcript) -> Generation:
        """Send a body, again and unchanged while its failures may pass; raise `ApiError`."""
        tried = 0
        while True:
            sent = self._spell(body)
            try:
                async with self._slots:
                    return await self._call(sent, transcript, fresh=tried > 0)
            except _Failed as exc:
                failed = exc
            if not self._learns(failed, sent):
                await self._pause(failed, tried)
                tried += 1

    def _learns(self, failed: _Failed, sent: dict[str, Any]) -> bool:
        """Tell if a body is to be sent again, spelled as its model is now known to take it."""
        if failed.told is None:
            return False
        if failed.told.renames_limit and "max_tokens" in sent:
            self._renamed.add(sent["model"])
            return True
        if failed.told.refuses_stream and "stream" in sent:
            self._unstreamed.add(sent["model"])
            return True
        return False

    async def _pause(self, failed: _Failed, tried: int) -> None:
        """Wait before the next attempt, or raise the failure's error."""
        if not failed.passing or tried == self._retries:
            raise failed.error from failed
        first, longest = BACK_OFF
        wait = failed.delay or min(first * 2**tried, longest) * random.uniform(0.75, 1)  # noqa: S311
        if wait > LONGEST_WAIT:
            raise failed.error from failed
        await asyncio.sleep(wait)

    def _ask_stream(self, body: dict[str, Any], limited: bool) -> dict[str, Any]:
        """Return a body that requests a stream, if its answer may be left before the end."""
        return {**body, "stream": True} if limited or self._patience is not None else body

    def _spell(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body as its model knows it."""
        if body["model"] in self._unstreamed:
            body = {name: value for name, value in body.items() if name not in STREAM}
        if body["model"] not in self._renamed or "max_tokens" not in body:
            return body
        limit = {"max_completion_tokens": body["max_tokens"]}
        return limit | {name: value for name, value in body.items() if name != "max_tokens"}

    async def _call(
        self, body: dict[str, Any], transcript: Transcript, *, fresh: bool
    ) -> Generation:
        streamed = "stream" in body
        transcript.clear()
        try:
            async with self._http.open(
                self._locate(CHATS),
                dump(body),
                seconds=self._seconds,
                streamed=streamed,
                total=self._seconds,
                fresh=fresh,
            ) as reply:
                if not reply.ok:
                    raise await _make_failure(reply)
                answer = self._read_as_chat(reply)
                return await read_answer(answer, self._seconds, transcript, streamed=streamed)
        except HttpError as exc:
            raise _Failed(explain(exc), passing=isinstance(exc, Unreachable)) from exc


async def _make_failure(reply: Reply) -> _Failed:
    """Return the failure that an error response reports."""
    told = await _read_failure(reply)
    return _Failed(
        told.to_error(reply.retry_after),
        passing=told.passing,
        told=told,
        delay=parse_delay(reply.retry_after),
    )


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
        await offload(clearance.brief and len(body) <= SHORT_BODY, clearance.check, body)
