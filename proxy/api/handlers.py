"""Handle the endpoints: parse, plan, run, render."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelError
from perturb import PerturbError
from perturb.vocabulary.vocabulary import Vocabulary
from proxy.api.app_keys import (
    BODY,
    CONFIG,
    ERROR,
    EXTRACTOR,
    HOUSEKEEPING,
    KEYRING,
    LOCAL,
    METRICS,
    PIPELINE,
    PLAN,
    POLICY,
    STARTED,
    STORE,
    TABLE,
    TENANT,
)
from proxy.api.embeddings import EmbeddingsRequest, choose_model, write_embeddings
from proxy.api.render import ChatRenderer, CompletionRenderer, Renderer
from proxy.api.responses_render import ResponsesRenderer
from proxy.api.sse import SSE_HEADERS, stream_answer
from proxy.errors import (
    ApiError,
    bad_request,
    from_local,
    local_unavailable,
    model_not_found,
)
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan
from proxy.pipeline.receipt import format_epsilon
from proxy.requests.counts import INPUTS, TOOLS, check_counts
from proxy.requests.hosted_tools import keep_functions
from proxy.requests.json_input import parse_object
from proxy.requests.protocol import (
    ChatRequest,
    CompletionRequest,
    Json,
    Options,
    PerturbRequest,
)
from proxy.requests.responses_chat import convert_to_chat, find_place
from proxy.requests.responses_protocol import ResponsesRequest, validate_response
from proxy.requests.validation import validate

__all__ = [
    "chat_completions",
    "completions",
    "embeddings",
    "error_response",
    "health",
    "metrics",
    "model",
    "models",
    "perturb",
    "ready",
    "responses",
    "routes",
]

routes = web.RouteTableDef()
READY_SECONDS = 5.0
INLINE_BYTES = 100_000  # longer bodies are parsed and validated off the event loop
T = TypeVar("T")


@routes.post("/v1/chat/completions")
async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Answer a chat, streamed or in full."""
    config = request.app[CONFIG]

    def read(body: Json) -> ChatRequest:
        ignore = config.server.ignore_unsupported_tools
        return validate(ChatRequest, keep_functions(body, ignore=ignore))

    body = await _read(request, read, {"messages": config.limits.messages})
    plan = await _plan_chat(request, body)
    return await _answer(request, plan, ChatRenderer(plan))


@routes.post("/v1/responses")
async def responses(request: web.Request) -> web.StreamResponse:
    """Answer a request for a response, streamed or in full, as a chat of another form."""
    config = request.app[CONFIG]

    def read(body: Json) -> tuple[ResponsesRequest, ChatRequest]:
        ignore = config.server.ignore_unsupported_tools
        response = validate_response(keep_functions(body, ignore=ignore))
        return response, convert_to_chat(response)

    body, chat = await _read(request, read, {"input": config.limits.messages})
    try:
        plan = await _plan_chat(request, chat)
    except ApiError as exc:
        exc.param = find_place(exc.param, body)
        raise
    return await _answer(request, plan, ResponsesRenderer(body))


@routes.post("/v1/completions")
async def completions(request: web.Request) -> web.StreamResponse:
    """Complete texts, streamed or in full; prompts are strings or token ids."""
    limit = request.app[CONFIG].limits.prompts
    body = await _read(request, partial(validate, CompletionRequest), {"prompt": limit}, "prompt")
    if body.best_of not in (None, body.choices):
        raise bad_request(
            "'best_of' is served only where it equals n.",
            param="best_of",
            code="unsupported_parameter",
        )
    if body.echo and body.logprobs is not None:
        raise bad_request(
            "'echo' with 'logprobs' is not served: the prompt's own log probabilities are not "
            "known.",
            param="echo",
            code="unsupported_parameter",
        )
    prompts = _read_texts(body.prompt, "prompt", request.app[TABLE].vocabulary)
    plan = await request.app[PIPELINE].plan_completion(body, prompts, request[TENANT])
    return await _answer(request, plan, CompletionRenderer(plan, prompts))


@routes.post("/v1/embeddings")
async def embeddings(request: web.Request) -> web.Response:
    """Embed texts with the local server; nothing is sent to the remote."""
    configured = request.app[CONFIG].local.embeddings_model
    choose_model(configured)
    body = await _read(request, partial(validate, EmbeddingsRequest), {"input": INPUTS}, "input")
    name = choose_model(configured, body.model)
    if not request[TENANT].serves(name):
        raise model_not_found()
    texts = _read_texts(body.input, "input", request.app[TABLE].vocabulary)
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
    body = await _read(request, partial(validate, PerturbRequest), {})
    options = Options(mechanism=body.mechanism, epsilon=body.epsilon)
    sanitizer = request.app[POLICY].sanitizer(options)
    done = await request.app[PIPELINE].preview(body.text, sanitizer, request[TENANT])
    return web.json_response(
        {"object": "privacy.perturbation", "text": done.text, "receipt": done.receipt.to_dict()}
    )


@routes.get("/v1/models")
async def models(request: web.Request) -> web.Response:
    """List the models that the client may use."""
    names = filter(request[TENANT].serves, request.app[POLICY].models)
    data = [_describe_model(request, name) for name in names]
    return web.json_response({"object": "list", "data": data})


@routes.get("/v1/models/{id:.+}")
async def model(request: web.Request) -> web.Response:
    """Describe one model."""
    name = request.match_info["id"]
    if name not in request.app[POLICY].models or not request[TENANT].serves(name):
        raise model_not_found()
    return web.json_response(_describe_model(request, name))


@routes.get("/health")
async def health(_: web.Request) -> web.Response:
    """Tell that the process is up."""
    return web.json_response({"status": "ok"})


@routes.get("/ready")
async def ready(request: web.Request) -> web.Response:
    """Tell if the store and the local model answer; the table is loaded at start."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            await request.app[STORE].ping()
            answers = await request.app[EXTRACTOR].backend.ready()
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


async def _read(
    request: web.Request,
    read: Callable[[Json], T],
    most: Mapping[str, int],
    tokens: str | None = None,
) -> T:
    """Parse the body, count its contents, and only then validate it.

    Args:
        read: converts the body to a request; it may run in a thread.
        most, tokens: see `check_counts`.

    Raises:
        ApiError: `read` refused the body, or it exceeds a limit.
    """
    limits = request.app[CONFIG].limits
    data = request.pop(BODY)  # parsing holds the text in memory a second time

    def parse(data: bytes) -> T:
        body = parse_object(data, limits)
        lists = {**most, "tools": TOOLS, "functions": TOOLS}
        check_counts(body, lists, parts=limits.parts, tokens=tokens)
        return read(body)

    if len(data) > INLINE_BYTES:
        return await asyncio.to_thread(parse, data)
    return parse(data)


async def _answer(request: web.Request, plan: Plan, renderer: Renderer) -> web.StreamResponse:
    request[PLAN] = plan
    pipeline: Pipeline = request.app[PIPELINE]
    headers = {
        "x-inferdpt-mechanism": plan.sanitizer.name if plan.is_sent else "none",
        "x-inferdpt-tokens": str(plan.released),
    }
    if plan.is_sent:
        headers["x-inferdpt-epsilon"] = format_epsilon(plan.sanitizer)
    if not plan.request.stream:
        consultation = await pipeline.consult(plan)
        answers = await pipeline.complete(consultation)
        body = renderer.body(answers, consultation.make_receipt())
        return web.json_response(body, headers=headers)
    response = web.StreamResponse(headers={**headers, **SSE_HEADERS})
    failed = await stream_answer(
        request,
        response,
        pipeline,
        plan,
        renderer,
        ping_seconds=request.app[CONFIG].server.ping_seconds,
    )
    if failed is not None:
        request[ERROR] = failed.code or failed.type
    return response


async def _plan_chat(request: web.Request, body: ChatRequest) -> Plan:
    """Plan a chat; a client's housekeeping is planned without the remote. Raises `ApiError`."""
    # In a thread: an operator's expressions may take a quarter of a second each.
    housekeeping = await asyncio.to_thread(request.app[HOUSEKEEPING].recognises, body)
    return await request.app[PIPELINE].plan_chat(body, request[TENANT], housekeeping=housekeeping)


def _read_texts(
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


def _describe_model(request: web.Request, name: str) -> dict[str, Any]:
    created = int(time.time() - (time.monotonic() - request.app[STARTED]))
    return {"id": name, "object": "model", "created": created, "owned_by": "inferdpt"}


def error_response(error: ApiError) -> web.Response:
    """Build the response to an error; every HTTP error is built here."""
    return web.json_response(error.body(), status=error.status, headers=error.response_headers())
