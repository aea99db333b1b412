"""Render answers in OpenAI's shapes, and write them: whole, or as a stream.

A stream shows steps as they come, pings while none comes, and errors. A client that does not read
in time is disconnected.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiohttp import web

from extraction.backends.base import Delta, Usage
from extraction.codec import dump_ascii
from extraction.http.client import Patience
from proxy.api.app_keys import ERROR, FINISHED
from proxy.errors import ApiError, internal_error
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Answer, Plan
from proxy.requests.protocol import CompletionRequest

__all__ = [
    "SSE_HEADERS",
    "ChatRenderer",
    "ChoicesRenderer",
    "CompletionRenderer",
    "Receipt",
    "Renderer",
    "cut_unfinished",
    "finish",
    "format_event",
    "limit_time",
    "make_field",
    "stream_answer",
]


DONE = b"data: [DONE]\n\n"
PING = b": ping\n\n"
Receipt = dict[str, Any] | None  # None if the client requests none


def format_event(data: dict[str, Any], kind: str = "") -> bytes:
    """Return one server-sent event, of a kind where the API names them, in ASCII.

    Some clients end a line at every line break that Unicode knows.
    """
    named = f"event: {kind}\n" if kind else ""
    return f"{named}data: {dump_ascii(data)}\n\n".encode()


def make_field(receipt: Receipt) -> dict[str, Any]:
    """Return a receipt as the field of an answer, or no field without a receipt."""
    return {} if receipt is None else {"inferdpt": receipt}


class Renderer(ABC):
    """Render one request's answers, whole or as the bytes of an event stream.

    Attributes:
        ping: what a stream shows while there is nothing to show.
    """

    ping = PING

    @abstractmethod
    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        """Return the whole answer."""

    @abstractmethod
    def start(self, receipt: Receipt) -> bytes:
        """Return the beginning of the stream, once the remote has been called."""

    @abstractmethod
    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        """Return one step of one choice, the last of a stream perhaps with the receipt."""

    @abstractmethod
    def end(self, receipt: Receipt) -> bytes:
        """Return the end of the stream."""

    @abstractmethod
    def fail(self, error: ApiError) -> bytes:
        """Return the end of a stream that failed, opened or not."""


class ChoicesRenderer(Renderer):
    """Render an answer with choices under one id, time and model name."""

    prefix = ""
    object = ""
    chunk_object = ""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._head = {
            "id": f"{self.prefix}-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": plan.request.model,
        }
        self._shows_usage = plan.request.include_usage
        self._usage: dict[int, Usage] = {}

    def body(self, answers: Sequence[Answer], receipt: Receipt) -> dict[str, Any]:
        self._usage = {i: a.usage for i, a in enumerate(answers) if a.usage is not None}
        return {
            **self._head,
            "object": self.object,
            "choices": [self._render_choice(i, answer) for i, answer in enumerate(answers)],
            "usage": self._count_tokens(),
            **make_field(receipt),
        }

    def start(self, receipt: Receipt) -> bytes:
        """Return one chunk for each choice; the first carries the receipt."""
        n = len(self._plan.exchanges) * self._plan.request.choices
        first, *others = (self._make_chunk(self._open_choice(i)) for i in range(n))
        return b"".join(map(format_event, ({**first, **make_field(receipt)}, *others)))

    def step(self, index: int, step: Delta, receipt: Receipt = None) -> bytes:
        if step.usage is not None:
            self._usage[index] = step.usage
        chunk = self._make_chunk(self._render_delta(index, step))
        return format_event({**chunk, **make_field(receipt)})

    def end(self, receipt: Receipt) -> bytes:
        """Return the usage, if the client requested it, and the end marker."""
        del receipt  # it is in the first chunk
        if not self._shows_usage:
            return DONE
        return format_event({**self._make_chunk(None), "usage": self._count_tokens()}) + DONE

    def fail(self, error: ApiError) -> bytes:
        return format_event(error.body()) + DONE

    def _make_chunk(self, choice: dict[str, Any] | None) -> dict[str, Any]:
        out = {**self._head, "object": self.chunk_object, "choices": [choice] if choice else []}
        if self._shows_usage:
            out["usage"] = None
        return out

    def _count_tokens(self) -> dict[str, int]:
        """Return the usage in local tokens: each prompt once, all choices."""
        n = self._plan.request.choices
        prompt = sum(u.prompt_tokens for i, u in self._usage.items() if i % n == 0)
        completion = sum(u.completion_tokens for u in self._usage.values())
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    @abstractmethod
    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        """Return a whole choice."""

    @abstractmethod
    def _open_choice(self, index: int) -> dict[str, Any]:
        """Return the first delta of a choice."""

    @abstractmethod
    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        """Return the delta of a step."""


class ChatRenderer(ChoicesRenderer):
    """Render `chat.completion` and its chunks."""

    prefix = "chatcmpl"
    object = "chat.completion"
    chunk_object = "chat.completion.chunk"

    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "message": {"role": "assistant", "content": None, "refusal": None, **answer.message},
            "logprobs": answer.logprobs,
            "finish_reason": answer.finish_reason,
        }

    def _open_choice(self, index: int) -> dict[str, Any]:
        return {
            "index": index,
            "delta": {"role": "assistant", "content": ""},
            "logprobs": None,
            "finish_reason": None,
        }

    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "delta": step.message,
            "logprobs": step.logprobs,
            "finish_reason": step.finish_reason,
        }


class CompletionRenderer(ChoicesRenderer):
    """Render `text_completion`, whole and in chunks."""

    prefix = "cmpl"
    object = "text_completion"
    chunk_object = "text_completion"

    def __init__(self, plan: Plan, prompts: Sequence[str]) -> None:
        super().__init__(plan)
        assert isinstance(plan.request, CompletionRequest)
        n = plan.request.choices
        echoed = prompts if plan.request.echo else [""] * len(prompts)
        self._echo = [text for text in echoed for _ in range(n)]
        self._offset = [len(text) for text in self._echo]

    def _render_choice(self, index: int, answer: Answer) -> dict[str, Any]:
        return {
            "index": index,
            "text": self._echo[index] + (answer.message.get("content") or ""),
            "logprobs": self._convert_logprobs(index, answer.logprobs),
            "finish_reason": answer.finish_reason,
        }

    def _open_choice(self, index: int) -> dict[str, Any]:
        return {"index": index, "text": self._echo[index], "logprobs": None, "finish_reason": None}

    def _render_delta(self, index: int, step: Delta) -> dict[str, Any]:
        return {
            "index": index,
            "text": step.message.get("content") or "",
            "logprobs": self._convert_logprobs(index, step.logprobs),
            "finish_reason": step.finish_reason,
        }

    def _convert_logprobs(self, index: int, found: dict[str, Any] | None) -> dict[str, Any] | None:
        """Convert the chat form (a list of tokens) to the completions form (parallel lists)."""
        if not found or not found.get("content"):
            return None
        out: dict[str, Any] = {
            "tokens": [],
            "token_logprobs": [],
            "top_logprobs": [],
            "text_offset": [],
        }
        for item in found["content"]:
            out["tokens"].append(item["token"])
            out["token_logprobs"].append(item["logprob"])
            out["top_logprobs"].append(
                {top["token"]: top["logprob"] for top in item.get("top_logprobs") or ()}
            )
            out["text_offset"].append(self._offset[index])
            self._offset[index] += len(item["token"])
        return out


WRITE_SECONDS = 60.0  # how long a client may read nothing


@asynccontextmanager
async def limit_time(request: web.Request) -> AsyncIterator[None]:
    """Bound the time of a write, and cut the connection when it is over.

    Closing the connection instead would wait for the client.

    Raises:
        ConnectionError: the client is gone, from the block.
    """
    with closing(_Limit(request)) as limit, limit:
        yield


class _Limit:
    """Bound the time of each of several writes (see `limit_time`): aborting the connection ends
    every write on it."""

    __slots__ = ("_late", "_patience", "_request")

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._late = False
        self._patience = Patience(self._abort)

    def __enter__(self) -> None:
        self._patience.begin(asyncio.get_running_loop().time() + WRITE_SECONDS)

    def __exit__(self, kind: object, exc: BaseException | None, _: object) -> None:
        self._patience.deadline = None
        if self._late and exc is None:
            raise ConnectionError("the client does not read")

    def close(self) -> None:
        self._patience.close()

    def _abort(self) -> None:
        self._late = True
        if self._request.transport is not None:
            self._request.transport.abort()


@asynccontextmanager
async def cut_unfinished(
    request: web.Request, response: web.StreamResponse
) -> AsyncIterator[None]:
    """Cut the connection if an answer fails that has begun: whatever follows would look like its
    rest.

    Raises:
        ApiError: the answer failed before it began.
    """
    try:
        yield
    except (ApiError, ConnectionError) as exc:
        if isinstance(exc, ApiError) and not response.prepared:
            raise
        request[ERROR] = (exc.code if isinstance(exc, ApiError) else None) or "client_disconnected"
        request[FINISHED] = True
        if request.transport is not None:
            request.transport.abort()


async def finish(request: web.Request, response: web.StreamResponse) -> None:
    """Write the rest of an answer, and wait until all of it is sent.

    Raises:
        ConnectionError: the client is gone.
    """
    async with limit_time(request):
        if request.transport is not None:
            request.transport.set_write_buffer_limits(high=0)  # `drain` then waits for all of it
        await response.prepare(request)
        await response.write_eof()
        await request.writer.drain()


SSE_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}
QUEUE = 64  # steps queued for a slow client before its generation waits


async def stream_answer(
    request: web.Request,
    response: web.StreamResponse,
    pipeline: Pipeline,
    plan: Plan,
    renderer: Renderer,
    *,
    ping_seconds: float,
) -> ApiError | None:
    """Stream one answer.

    The status line is sent with the first step or the first ping. An earlier failure is an
    ordinary HTTP error, so that SDKs can retry. A later failure is an error event, which is also
    returned for the log.

    Raises:
        ApiError: the plan failed before anything was sent.
    """
    steps, limit = _follow(pipeline, plan, ping_seconds), _Limit(request)
    opened, receipt = False, None

    async def write(data: bytes) -> None:
        with limit:
            if not response.prepared:
                await response.prepare(request)
            await response.write(data)

    try:
        try:
            async for items in steps:
                shown = b""
                for item in items:
                    if isinstance(item, _Announced):
                        receipt = item.receipt
                        continue
                    if not opened:
                        opened = True
                        shown += renderer.start(receipt)
                    shown += renderer.step(item.choice, item.step, item.receipt)
                    receipt = item.receipt or receipt
                if shown or not items:
                    await write(shown or renderer.ping)
            await write(renderer.end(receipt))
            return None
        except ConnectionError:
            raise
        except Exception as exc:
            if not response.prepared:
                raise
            error = exc if isinstance(exc, ApiError) else internal_error(exc)
            await write(renderer.fail(error))
            return error
    except ConnectionError:
        return ApiError(499, "The client disconnected.", code="client_disconnected")
    finally:
        limit.close()
        await steps.aclose()


class _Step(NamedTuple):
    """Hold a step of one choice, the last of them perhaps with the receipt."""

    choice: int
    step: Delta
    receipt: dict[str, Any] | None


@dataclass(frozen=True)
class _Announced:
    """Hold the receipt as far as it is known before the first step."""

    receipt: dict[str, Any] | None


class _Silence:
    """Say that nothing has come for a while."""


async def _follow(
    pipeline: Pipeline, plan: Plan, ping_seconds: float
) -> AsyncGenerator[list[_Announced | _Step]]:
    """Yield the receipt and the steps of all choices, together what has come meanwhile; an empty
    list whenever nothing comes for `ping_seconds`.

    The plan runs in a task of its own, so that waiting with a time limit never cancels it. The
    task is cancelled, upstream calls included, when the reader stops.
    """
    queue: asyncio.Queue[_Announced | _Step | _Silence | Exception | None]
    queue = asyncio.Queue(QUEUE)
    clock = asyncio.get_running_loop().time

    def note_silence() -> None:
        if queue.empty():
            queue.put_nowait(_Silence())

    async def announce(receipt: dict[str, Any] | None) -> None:
        await queue.put(_Announced(receipt))

    async def emit(index: int, step: Delta, receipt: dict[str, Any] | None = None) -> None:
        await queue.put(_Step(index, step, receipt))

    async def run() -> None:
        try:
            await pipeline.stream(plan, announce, emit)
        except Exception as exc:  # the reader raises it
            await queue.put(exc)
        else:
            await queue.put(None)

    task = asyncio.create_task(run())
    patience = Patience(note_silence)
    try:
        while True:
            items: list[_Announced | _Step] = []
            if queue.empty():
                patience.begin(clock() + ping_seconds)
            item = await queue.get()
            patience.deadline = None
            if isinstance(item, _Silence):
                yield items
                continue
            while isinstance(item, _Announced | _Step):
                items.append(item)
                if queue.empty():
                    break
                item = queue.get_nowait()
            if items:
                yield items
            if item is None:
                return
            if isinstance(item, Exception):
                raise item
    finally:
        patience.close()
        task.cancel()
        await asyncio.wait([task])
