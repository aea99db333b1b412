"""Ask the remote, the only module that sends anything from this machine, and read its answer.

The guard is part of the HTTP client: it checks the finished bytes of every request, retries
included, and refuses a request without clearance. Answers of the Messages API are read as chat
completions; only declared fields are read, and the readers of chats check them.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from extraction.backends.base import (
    Usage,
    read_count,
    read_list,
    read_object,
    read_text,
    read_usage,
)
from extraction.codec import dump
from extraction.http.client import (
    CUT,
    DONE,
    EVENT,
    SMALL,
    CutShort,
    HttpClient,
    HttpError,
    Limit,
    Reply,
    Unreachable,
    Unreadable,
    parse,
)
from perturb.work import SHORT, offload
from proxy.config.settings import Remote
from proxy.config.upstreams.remote import DEFAULT
from proxy.errors import ApiError, GuardRefused
from proxy.remote.errors import RemoteFailure, explain, explain_answer, parse_delay
from proxy.remote.guard import Clearance, Cleared

__all__ = [
    "CHATS",
    "Ending",
    "Generation",
    "MessagesReply",
    "RemoteClient",
    "Transcript",
    "read_answer",
]


CHARACTERS = 1_000_000  # the most kept of an answer: the remote may send anything
NO_CHAT = "The remote's answer is not a chat completion."
Ending = Literal["whole", "cut", "abandoned"]


@dataclass(frozen=True)
class Generation:
    """Hold the remote's answer.

    Attributes:
        ended: `whole`; `cut` where the local model would have seen no more of it; `abandoned`
            where it took longer than the operator's patience.
        usage: the tokens that the remote states.
    """

    text: str
    ended: Ending = "whole"
    usage: Usage | None = None


class Transcript:
    """Collect an answer as it comes, up to so many characters."""

    def __init__(self, most: int = CHARACTERS) -> None:
        self._most = most
        self._parts: list[str] = []
        self._size = 0

    def clear(self) -> None:
        """Forget what a failed attempt has left."""
        self._parts.clear()
        self._size = 0

    def add(self, text: str) -> None:
        """Add the next part."""
        if text:  # a remote may send any number of empty parts
            self._parts.append(text)
            self._size += len(text)

    @property
    def full(self) -> bool:
        """Tell if more would be of no use."""
        return self._size >= self._most

    @property
    def text(self) -> str:
        """Return what has come."""
        return "".join(self._parts)[: self._most]


async def read_answer(
    reply: Reply, seconds: float, transcript: Transcript, *, streamed: bool
) -> Generation:
    """Read an answer into an empty transcript.

    A remote that was asked for a stream may send JSON; that is read as it is.

    Args:
        seconds: how long the next event of a stream may take.

    Raises:
        HttpError: the answer breaks off, or is over a limit.
        ApiError: it is not a chat completion.
    """
    told: Any = None
    try:
        if streamed and not reply.is_json:
            async with aclosing(reply.events(seconds)) as events:
                finished = False
                async for data in events:
                    if data == DONE:
                        return Generation(transcript.text)
                    told = read_object(parse(data, EVENT))
                    finished = _add_step(told, transcript) or finished
                    if transcript.full:
                        return Generation(transcript.text, "cut")
            if not finished:  # a server that dies may close its stream as if it were done
                raise CutShort(CUT)
        else:
            told = await reply.json(SMALL)
            choice = read_object(read_list(read_object(told).get("choices"))[0])
            message = read_object(choice.get("message"))
            text = read_text(message.get("content"))[:CHARACTERS]
            return Generation(text, usage=_read_usage(told))
    except (ValueError, IndexError):
        raise explain_answer(NO_CHAT, reply.status, told) from None
    return Generation(transcript.text)


def _read_usage(told: dict[str, Any]) -> Usage | None:
    """Return the tokens that an answer states; a wrong statement is no reason to refuse it."""
    try:
        return read_usage(told.get("usage"))
    except ValueError:
        return None


def _add_step(step: dict[str, Any], transcript: Transcript) -> bool:
    """Add a step of a stream; return whether it is the last with text. Raises `ValueError`."""
    if step.get("error") or step.get("error_code") or step.get("object") == "error":
        raise ValueError("an error")
    finished = False
    for choice in read_list(step.get("choices") or [])[:1]:
        delta = read_object(read_object(choice).get("delta"))
        transcript.add(read_text(delta.get("content")))
        finished = choice.get("finish_reason") is not None
    return finished


Json = dict[str, Any]
CALLS = 128  # in one answer
FINISH_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
}
_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesReply(Reply):
    """Read an answer as if it were one to a chat."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.status = reply.status
        self.retry_after = reply.retry_after
        self.is_json = reply.is_json

    async def read(self, limit: Limit) -> bytes:
        return await self._reply.read(limit)

    async def json(self, limit: Limit) -> Any:
        told = await self._reply.json(limit)
        try:
            return _read_message(read_object(told))
        except ValueError:
            raise Unreadable("the answer is not a message") from None

    async def events(self, seconds: float) -> AsyncGenerator[bytes]:
        steps = _Steps()
        async with aclosing(self._reply.events(seconds)) as events:
            async for data in events:
                told = parse(data, EVENT)
                try:
                    event = read_object(told)
                    step = steps.read(event)
                except ValueError:
                    raise Unreadable("an event is not one of a message") from None
                if step is not None:
                    yield dump(step)
                if event.get("type") == "message_stop":
                    yield DONE
                    return


class _Steps:
    """Read the events of one message as the steps of a chat."""

    def __init__(self) -> None:
        self._calls: dict[int, int] = {}  # the numbers of calls, by their blocks
        self._inputs: dict[int, Json] = {}  # of calls of which no arguments have come
        self._usage: Json = {}

    def read(self, event: Json) -> Json | None:
        """Return the step of an event; None if it says nothing. Raises `ValueError`."""
        match event.get("type"):
            case "error":
                return {"error": read_object(event.get("error"))}
            case "message_start":
                message = read_object(event.get("message"))
                self._usage = read_object(message.get("usage") or {})
                return _make_step({"role": "assistant"})
            case "content_block_start":
                return self._open(_read_place(event), read_object(event.get("content_block")))
            case "content_block_delta":
                return self._continue(_read_place(event), read_object(event.get("delta")))
            case "content_block_stop":
                return self._close(_read_place(event))
            case "message_delta":
                told = read_object(event.get("usage") or {})
                self._usage |= {name: item for name, item in told.items() if item is not None}
                ending = _read_ending(read_object(event.get("delta")))
                return _make_step({}, **ending) | {"usage": _convert_usage(self._usage)}
        return None

    def _open(self, place: int, block: Json) -> Json | None:
        if block.get("type") == "text":
            return _make_step({"content": read_text(block.get("text"))})
        if block.get("type") != "tool_use":
            return None
        number = self._calls.setdefault(place, len(self._calls))
        if number >= CALLS:
            raise ValueError("too many calls")
        self._inputs[place] = _read_input(block)
        function = {"name": read_text(block.get("name")), "arguments": ""}
        call = {"id": read_text(block.get("id")), "type": "function", "function": function}
        return _make_step({"tool_calls": [{"index": number, **call}]})

    def _continue(self, place: int, delta: Json) -> Json | None:
        if delta.get("type") == "text_delta":
            return _make_step({"content": read_text(delta.get("text"))})
        if delta.get("type") != "input_json_delta" or place not in self._calls:
            return None
        arguments = read_text(delta.get("partial_json"))
        if not arguments:
            return None
        self._inputs.pop(place, None)
        return self._add_arguments(place, arguments)

    def _close(self, place: int) -> Json | None:
        """Some servers send a call's arguments with its beginning, and a call may have none."""
        if place not in self._inputs:
            return None
        return self._add_arguments(place, _dump(self._inputs.pop(place)))

    def _add_arguments(self, place: int, arguments: str) -> Json:
        call = {"index": self._calls[place], "function": {"arguments": arguments}}
        return _make_step({"tool_calls": [call]})


def _read_message(message: Json) -> Json:
    """Read a whole message as a chat completion; an error stays one. Raises `ValueError`."""
    if message.get("type") == "error":
        return message
    texts: list[str] = []
    calls: list[Json] = []
    for item in read_list(message.get("content")):
        block = read_object(item)
        if block.get("type") == "text":
            texts.append(read_text(block.get("text")))
        elif block.get("type") == "tool_use":
            arguments = _dump(_read_input(block))
            function = {"name": read_text(block.get("name")), "arguments": arguments}
            calls.append(
                {"id": read_text(block.get("id")), "type": "function", "function": function}
            )
    answer = {"role": "assistant", "content": "".join(texts), "tool_calls": calls}
    choice = {"index": 0, "message": answer, **_read_ending(message)}
    usage = _convert_usage(read_object(message.get("usage") or {}))
    return {"object": "chat.completion", "choices": [choice], "usage": usage}


def _make_step(delta: Json, **ending: Any) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None, **ending}]}


def _read_ending(told: Json) -> Json:
    """Return the reason of an end, and the stop sequence where that is the reason."""
    reason = told.get("stop_reason")
    if reason is None:
        return {"finish_reason": None}
    return {
        "finish_reason": FINISH_REASONS.get(read_text(reason), "stop"),
        "stop_reason": told.get("stop_sequence"),
    }


def _convert_usage(told: Json) -> Json:
    return {
        "prompt_tokens": sum(read_count(told.get(name)) for name in _INPUT),
        "completion_tokens": read_count(told.get("output_tokens")),
    }


def _read_input(block: Json) -> Json:
    given = block.get("input")
    return {} if given is None else read_object(given)


def _read_place(event: Json) -> int:
    place = event.get("index")
    if type(place) is not int:
        raise ValueError("not a place")
    return place


def _dump(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


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
_clearance: ContextVar[list[Cleared] | None] = ContextVar("clearance", default=None)


@contextmanager
def _allow(clearance: Cleared) -> Iterator[None]:
    """Let the guard pass what a clearance permits during the block. It is held in a list, which is
    empty afterwards: timers and connections keep the context that they were made in, some of them
    for minutes, and with it the texts of the request."""
    held = [clearance]
    token = _clearance.set(held)
    try:
        yield
    finally:
        held.clear()
        _clearance.reset(token)


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
        transcript = Transcript() if most is None else Transcript(most)
        body = self._ask_stream(body, most is not None)
        with _allow(clearance):
            try:
                async with asyncio.timeout(self._patience):
                    return await self._retry(body, transcript)
            except TimeoutError:  # only the patience's: `_retry` maps every other
                return Generation(transcript.text, "abandoned")

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
        try:
            with _allow(clearance):
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
        if not reply.ok:
            raise await _make_failure(reply)
        return self._read_as_chat(reply)

    async def list_models(self) -> Any:
        """Request the remote's models without sending any text, and return what it tells.

        Raises:
            ApiError: it failed, or its answer is no JSON.
        """
        try:
            with _allow(Clearance((), (), ())):
                opened = self._http.open(self._locate("/models"), seconds=PROBE_SECONDS)
                async with opened as reply:
                    if not reply.ok:
                        raise (await _read_failure(reply)).to_error()
                    return await reply.json(SMALL)
        except HttpError as exc:
            raise explain(exc) from exc

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
    held = _clearance.get()
    if not held or body is None:
        raise GuardRefused("no clearance")
    (clearance,) = held
    if body:
        await offload(clearance.brief and len(body) <= SHORT_BODY, clearance.check, body)
