"""Handle the endpoints: read a body, plan it, send its answer.

Clients ask for chats in several forms. Each becomes a chat request here, and everything behind
knows only chats: to serve another form, add its `Dialect`, and a route. A line of a batch is read,
planned and answered here, too, without a request of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.codec import dump
from extraction.errors import LocalModelError
from perturb import PerturbError
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.work import offload
from proxy.access.auth import Client
from proxy.api.app_keys import (
    BACKGROUND,
    BODY,
    CONFIG,
    ERROR,
    HOUSEKEEPING,
    KEYRING,
    LEDGER,
    LOCAL,
    METRICS,
    PIPELINE,
    PLAN,
    POLICY,
    REMOTES,
    STARTED,
    STORE,
    TABLE,
    TENANT,
)
from proxy.api.embeddings import EmbeddingsRequest, choose_model, write_embeddings
from proxy.api.messages_render import MessagesRenderer
from proxy.api.middleware import MESSAGES_PATH
from proxy.api.render import SSE_HEADERS, ChatRenderer, CompletionRenderer, Renderer, stream_answer
from proxy.api.responses_render import ResponsesRenderer
from proxy.config.upstreams.local import DEMO_MODEL
from proxy.errors import (
    ApiError,
    bad_request,
    from_local,
    local_unavailable,
    model_not_found,
    unsupported,
)
from proxy.gateway.gateway import release
from proxy.pipeline.plan import Plan, format_epsilon
from proxy.requests import anthropic, responses
from proxy.requests.anthropic import Conversation, MessagesRequest, count_tokens, validate_messages
from proxy.requests.protocol import (
    ChatRequest,
    CompletionRequest,
    Json,
    Options,
    PerturbRequest,
)
from proxy.requests.responses import COMPACTION, ResponsesRequest, validate_response
from proxy.requests.validation import (
    INPUTS,
    TOOLS,
    check_counts,
    keep_functions,
    note_attachments,
    parse_object,
    validate,
)
from proxy.scoring import check_scoring, score, wants_scores, write_scores

__all__ = [
    "CHAT",
    "MESSAGES",
    "RESPONSES",
    "Dialect",
    "answer_chat",
    "answer_plan",
    "chat_completions",
    "compact",
    "completions",
    "count_message_tokens",
    "create_response",
    "embeddings",
    "health",
    "ledger",
    "messages",
    "metrics",
    "model",
    "models",
    "perturb",
    "plan_chat",
    "plan_completion",
    "read_body",
    "read_completion",
    "read_plan",
    "read_texts",
    "ready",
    "routes",
    "sanitize",
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
        plan = await app[PIPELINE].plan_chat(chat, client, housekeeping=housekeeping)
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


routes = web.RouteTableDef()
READY_SECONDS = 5.0


@routes.post("/v1/chat/completions")
async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Answer a chat, streamed or in full."""
    return await answer_chat(request, CHAT)


@routes.post("/v1/responses")
async def create_response(request: web.Request) -> web.StreamResponse:
    """Answer a request for a response, streamed or in full, as a chat of another form."""
    return await answer_chat(request, RESPONSES)


@routes.post("/v1/responses/compact")
async def compact(request: web.Request) -> web.Response:
    """Refuse to compact a conversation, and tell what the client can do instead."""
    raise ApiError(404, f"'{request.path}' is not served. {COMPACTION}", code="not_found")


@routes.post(MESSAGES_PATH)
async def messages(request: web.Request) -> web.StreamResponse:
    """Answer a request of the Messages API, streamed or in full, as a chat of another form."""
    return await answer_chat(request, MESSAGES)


@routes.post(f"{MESSAGES_PATH}/count_tokens")
async def count_message_tokens(request: web.Request) -> web.Response:
    """Estimate the tokens of a conversation on this machine; nothing is sent to the remote."""
    config = request.app[CONFIG]

    def read(body: Json) -> ChatRequest:
        ignore = config.server.ignore_unsupported_tools
        return anthropic.convert_to_chat(validate_messages(Conversation, body, ignore=ignore))

    most = dict.fromkeys(MESSAGES.lists, config.limits.messages)
    chat = await read_body(request, read, most)
    if not request[TENANT].serves(chat.model):
        raise model_not_found()
    await request.app[REMOTES].find(chat.model)
    vocabulary = request.app[TABLE].vocabulary
    tokens = await offload(False, count_tokens, chat, vocabulary)
    return web.json_response({"input_tokens": tokens})


@routes.post("/v1/completions")
async def completions(request: web.Request) -> web.StreamResponse:
    """Complete texts, streamed or in full; prompts are strings or token ids."""
    app, client = request.app, request[TENANT]
    body = await read_completion(app, request.pop(BODY))
    local = app.get(LOCAL)
    if local is None or not wants_scores(body):
        return await send_answer(request, *await plan_completion(app, client, body))
    prompts = check_scoring(body, allowed=app[CONFIG].local.score_prompts)
    sanitizer = app[POLICY].sanitizer(body.inferdpt, client.grant)
    client.check(body.model, sanitizer)
    await app[REMOTES].find(body.model)
    scores = await score(local, body, prompts)
    return web.Response(
        body=await write_scores(body, scores, sanitizer),
        content_type="application/json",
        headers={"x-inferdpt-mechanism": "none", "x-inferdpt-tokens": "0"},
    )


@routes.post("/v1/embeddings")
async def embeddings(request: web.Request) -> web.Response:
    """Embed texts with the local server; nothing is sent to the remote."""
    configured = request.app[CONFIG].local.embeddings_model
    choose_model(configured)
    body = await read_body(
        request, partial(validate, EmbeddingsRequest), {"input": INPUTS}, "input"
    )
    name = choose_model(configured, body.model)
    if not request[TENANT].serves(name):
        raise model_not_found()
    texts = read_texts(body.input, "input", request.app[TABLE].vocabulary)
    local = request.app[LOCAL]
    assert isinstance(local, OpenAIServer)  # the configuration allows no plug-in here
    try:
        found = await local.embed(texts, name, dimensions=body.dimensions)
    except LocalModelError as exc:
        raise from_local(exc) from exc
    return web.Response(body=write_embeddings(body, found), content_type="application/json")


@routes.post("/v1/privacy/perturb")
async def perturb(request: web.Request) -> web.Response:
    """Show the release of a text; nothing is sent to the remote."""
    body = await read_body(request, partial(validate, PerturbRequest), {})
    asked = body.model_dump(include={"mechanism", "epsilon", "actions", "deny", "thresholds"})
    options = Options.model_validate(asked)
    sanitizer = request.app[POLICY].sanitizer(options, request[TENANT].grant)
    done = await request.app[PIPELINE].preview(body.text, sanitizer, request[TENANT])
    return web.json_response(
        {"object": "privacy.perturbation", "text": done.text, "receipt": done.receipt.to_dict()}
    )


@routes.post("/v1/privacy/sanitize")
async def sanitize(request: web.Request) -> web.Response:
    """Release a chat to a caller who sends it; nothing is sent to the remote from here."""
    if LOCAL in request.app:
        raise ApiError(
            404,
            "Only a proxy without a local model (local.mode: none) releases chats to others.",
            code="not_found",
        )
    _, plan = await read_plan(request.app, request[TENANT], request.pop(BODY), CHAT)
    request[PLAN] = plan
    return web.json_response(await release(plan))


@routes.get("/v1/models")
async def models(request: web.Request) -> web.Response:
    """List the models that the client may use."""
    names = filter(request[TENANT].serves, request.app[REMOTES].models)
    data = [_describe_model(request, name) for name in names]
    return web.json_response({"object": "list", "data": data})


@routes.get("/v1/models/{id:.+}")
async def model(request: web.Request) -> web.Response:
    """Describe one model."""
    name = request.match_info["id"]
    if not request[TENANT].serves(name):
        raise model_not_found()
    await request.app[REMOTES].find(name)
    return web.json_response(_describe_model(request, name))


@routes.get("/health")
async def health(request: web.Request) -> web.Response:
    """Tell that the process is up, and all of its loops; a new process mends one that is not."""
    if stopped := request.app[BACKGROUND].stopped:
        return web.json_response({"status": "stopped", "loops": stopped}, status=503)
    # A probe, and whoever reads it, must not take the bundled model for one that can answer.
    demo = {"local": DEMO_MODEL} if request.app[CONFIG].local.is_bundled else {}
    return web.json_response({"status": "ok", **demo})


@routes.get("/ready")
async def ready(request: web.Request) -> web.Response:
    """Tell if the store and the local model answer; the table is loaded at start."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            await request.app[STORE].ping()
            local = request.app.get(LOCAL)
            answers = local is None or await local.ready()
    except TimeoutError:
        answers = False
    if not answers:
        raise local_unavailable()
    return web.json_response({"status": "ready"})


@routes.get("/metrics")
async def metrics(request: web.Request) -> web.Response:
    """Return the Prometheus exposition: all of it for an operator, else the client's account."""
    client = request[TENANT]
    tenant = None if request.app[KEYRING].sees_all(client) else client.tenant
    return web.Response(
        body=request.app[METRICS].render(tenant),
        headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
    )


def _describe_model(request: web.Request, name: str) -> dict[str, Any]:
    created = int(time.time() - (time.monotonic() - request.app[STARTED]))
    return {"id": name, "object": "model", "created": created, "owned_by": "inferdpt"}


@routes.get("/v1/privacy/ledger")
async def ledger(request: web.Request) -> web.Response:
    """Return the account of the key's own tenant, see `Ledger.figures`."""
    figures = await request.app[LEDGER].figures(request[TENANT].tenant)
    return web.json_response({"object": "privacy.ledger", **figures})
