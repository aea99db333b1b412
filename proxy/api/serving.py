"""Serve one request: read its body, plan it, send its answer.

Clients ask for chats in several forms. Each becomes a chat request here, and everything behind
knows only chats: to serve another form, add its `Dialect`, and a route. A line of a batch is read,
planned and answered here, too, without a request of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from aiohttp import web

from extraction.codec import dump
from perturb import PerturbError
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.work import offload
from proxy.access.grants import Client
from proxy.api.app_keys import (
    BODY,
    CONFIG,
    ERROR,
    HOUSEKEEPING,
    LOCAL,
    PIPELINE,
    PLAN,
    TABLE,
    TENANT,
)
from proxy.api.messages_render import MessagesRenderer
from proxy.api.render import ChatRenderer, CompletionRenderer, Renderer
from proxy.api.responses_render import ResponsesRenderer
from proxy.api.sse import SSE_HEADERS, stream_answer
from proxy.errors import ApiError, bad_request
from proxy.gateway.gateway import Gateway
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan
from proxy.pipeline.receipt import format_epsilon
from proxy.requests.anthropic import chat as anthropic
from proxy.requests.anthropic.protocol import MessagesRequest, validate_messages
from proxy.requests.attachments import note_attachments
from proxy.requests.hosted_tools import keep_functions
from proxy.requests.json_input import TOOLS, check_counts, parse_object
from proxy.requests.protocol import ChatRequest, CompletionRequest, Json
from proxy.requests.responses import chat as responses
from proxy.requests.responses.protocol import ResponsesRequest, validate_response
from proxy.requests.validation import unsupported, validate
from proxy.scoring import wants_scores

__all__ = [
    "CHAT",
    "MESSAGES",
    "RESPONSES",
    "Dialect",
    "answer_chat",
    "answer_plan",
    "plan_chat",
    "plan_completion",
    "read_body",
    "read_completion",
    "read_plan",
    "read_texts",
    "send_answer",
    "send_page",
]

Body = TypeVar("Body")


@dataclass(frozen=True)
class Dialect(Generic[Body]):
    """Describe a form.

    Attributes:
        lists: the lists that count as messages.
        read: validates a body; the flag leaves out tools that are not served, in place of an
            error.
        convert: returns the chat that a request stands for.
        find_place: returns the name that a field of the chat has in the request, for errors.
        render: makes the renderer of one answer.
    """

    lists: tuple[str, ...]
    read: Callable[[Mapping[str, Any], bool], Body]
    convert: Callable[[Body], ChatRequest]
    find_place: Callable[[str | None, Body], str | None]
    render: Callable[[Body, Plan], Renderer]


def _read_chat(body: Mapping[str, Any], ignore: bool) -> ChatRequest:
    return validate(ChatRequest, keep_functions(body, ignore=ignore))


def _read_response(body: Mapping[str, Any], ignore: bool) -> ResponsesRequest:
    return validate_response(keep_functions(body, ignore=ignore), ignore=ignore)


def _read_messages(body: Mapping[str, Any], ignore: bool) -> MessagesRequest:
    return validate_messages(MessagesRequest, body, ignore=ignore)


CHAT = Dialect[ChatRequest](
    lists=("messages",),
    read=_read_chat,
    convert=lambda request: request,
    find_place=lambda param, _: param,
    render=lambda _, plan: ChatRenderer(plan),
)
RESPONSES = Dialect[ResponsesRequest](
    lists=("input",),
    read=_read_response,
    convert=responses.convert_to_chat,
    find_place=responses.find_place,
    render=lambda request, _: ResponsesRenderer(request),
)
MESSAGES = Dialect[MessagesRequest](
    lists=("messages", "system"),
    read=_read_messages,
    convert=anthropic.convert_to_chat,
    find_place=anthropic.find_place,
    render=lambda request, _: MessagesRenderer(request),
)


INLINE_BYTES = 100_000  # longer bodies are parsed and validated off the event loop
T = TypeVar("T")


async def read_body(
    request: web.Request,
    read: Callable[[Json], T],
    most: Mapping[str, int],
    tokens: str | None = None,
) -> T:
    """Parse the body of a request, count its contents, and only then validate it.

    Args:
        read: converts the body to a request; it may run in a thread.
        most, tokens: see `check_counts`.

    Raises:
        ApiError: `read` refused the body, or it exceeds a limit.
    """
    # Parsing holds the text in memory a second time, so the request does not keep it.
    return await _parse(request.app, request.pop(BODY), read, most, tokens)


async def _parse(
    app: web.Application,
    data: bytes,
    read: Callable[[Json], T],
    most: Mapping[str, int],
    tokens: str | None = None,
) -> T:
    limits = app[CONFIG].limits

    def parse(data: bytes) -> T:
        body = parse_object(data, limits)
        lists = {**most, "tools": TOOLS, "functions": TOOLS}
        check_counts(body, lists, parts=limits.parts, tokens=tokens)
        noted = app[CONFIG].server.attachments == "note"
        return read(note_attachments(body) if noted else body)

    return await offload(len(data) <= INLINE_BYTES, parse, data)


async def answer_chat(request: web.Request, dialect: Dialect[T]) -> web.StreamResponse:
    """Answer a chat, streamed or in full, in the form in which it was asked. Raises `ApiError`."""
    found = await plan_chat(request.app, request[TENANT], request.pop(BODY), dialect)
    return await send_answer(request, *found)


async def plan_chat(
    app: web.Application, client: Client, data: bytes, dialect: Dialect[T]
) -> tuple[Plan, Renderer]:
    """Read a chat, plan it, and return the renderer of its answer, too. Raises `ApiError`."""
    asked, plan = await read_plan(app, client, data, dialect)
    return plan, dialect.render(asked, plan)


async def read_plan(
    app: web.Application, client: Client, data: bytes, dialect: Dialect[T]
) -> tuple[T, Plan]:
    """Read a chat and plan it. Raises `ApiError`."""
    config = app[CONFIG]

    def read(body: Json) -> tuple[T, ChatRequest]:
        asked = dialect.read(body, config.server.ignore_unsupported_tools)
        return asked, dialect.convert(asked)

    most = dict.fromkeys(dialect.lists, config.limits.messages)
    asked, chat = await _parse(app, data, read, most)
    del data
    known = app[HOUSEKEEPING]
    try:
        # A client's housekeeping is planned without the remote.
        housekeeping = await offload(known.brief, known.recognises, chat)
        pipeline: Pipeline | Gateway = app[PIPELINE]
        plan = await pipeline.plan_chat(chat, client, housekeeping=housekeeping)
    except ApiError as exc:
        exc.rename(dialect.find_place(exc.param, asked))
        raise
    return asked, plan


async def read_completion(app: web.Application, data: bytes) -> CompletionRequest:
    """Read the body of a text completion. Raises `ApiError`."""
    limit = app[CONFIG].limits.prompts
    body = await _parse(
        app, data, partial(validate, CompletionRequest), {"prompt": limit}, "prompt"
    )
    if body.suffix and LOCAL in app:
        raise unsupported("suffix", "a local model that writes the answer cannot insert text")
    return body


async def plan_completion(
    app: web.Application, client: Client, body: CompletionRequest
) -> tuple[Plan, Renderer]:
    """Plan a text completion, and return the renderer of its answer, too.

    Raises:
        ApiError: as `plan_chat`.
    """
    if body.best_of not in (None, body.choices):
        raise bad_request(
            "'best_of' is served only where it equals n.",
            param="best_of",
            code="unsupported_parameter",
        )
    if wants_scores(body):
        raise unsupported("echo", "a prompt's own log probabilities are not known here")
    if body.max_tokens == 0:
        raise bad_request("'max_tokens' must be >= 1.", param="max_tokens", code="invalid_value")
    prompts = read_texts(body.prompt, "prompt", app[TABLE].vocabulary)
    plan = await app[PIPELINE].plan_completion(body, prompts, client)
    return plan, CompletionRenderer(plan, prompts)


def read_texts(
    given: str | list[str] | list[int] | list[list[int]],
    name: str,
    vocabulary: Vocabulary,
) -> list[str]:
    """Return a field's texts as strings; token ids are those of cl100k_base."""
    if isinstance(given, str):
        return [given]
    if not given:
        raise bad_request(f"'{name}' must not be an empty list.", param=name)
    lists = [given] if isinstance(given[0], int) else given
    return [p if isinstance(p, str) else _decode(p, name, vocabulary) for p in lists]


def _decode(tokens: list[int], name: str, vocabulary: Vocabulary) -> str:
    try:
        return vocabulary.decode(tokens)
    except PerturbError as exc:
        raise bad_request(f"'{name}': {exc}.", param=name, code="invalid_value") from None


async def answer_plan(app: web.Application, plan: Plan, renderer: Renderer) -> Json:
    """Return the body of the answer to a plan, in full. Raises `ApiError`."""
    answers, receipt = await app[PIPELINE].answer(plan)
    return renderer.body(answers, receipt)


async def send_answer(request: web.Request, plan: Plan, renderer: Renderer) -> web.StreamResponse:
    """Answer a plan, streamed or in full. Raises `ApiError`."""
    request[PLAN] = plan
    headers = {
        "x-inferdpt-mechanism": plan.sanitizer.name if plan.is_sent else "none",
        "x-inferdpt-tokens": str(plan.released),
    }
    if plan.is_sent:
        headers["x-inferdpt-epsilon"] = format_epsilon(plan.sanitizer)
    if not plan.request.stream:
        body = dump(await answer_plan(request.app, plan, renderer))
        return web.Response(body=body, content_type="application/json", headers=headers)
    response = web.StreamResponse(headers={**headers, **SSE_HEADERS})
    return await _stream(request, plan, renderer, response)


async def send_page(request: web.Request, plan: Plan, renderer: Renderer) -> web.StreamResponse:
    """Stream the answer to a plan as a page. Raises `ApiError`."""
    headers = {"Content-Type": "text/html; charset=utf-8", "X-Accel-Buffering": "no"}
    return await _stream(request, plan, renderer, web.StreamResponse(headers=headers))


async def _stream(
    request: web.Request, plan: Plan, renderer: Renderer, response: web.StreamResponse
) -> web.StreamResponse:
    pings = request.app[CONFIG].server.ping_seconds
    pipeline = request.app[PIPELINE]
    failed = await stream_answer(request, response, pipeline, plan, renderer, ping_seconds=pings)
    if failed is not None:
        request[ERROR] = failed.code or failed.type
    return response
