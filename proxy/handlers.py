"""The endpoints. Thin: parse, plan, run, render."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from extraction.errors import LocalModelError
from perturb import PerturbError
from perturb.vocabulary import Vocabulary
from proxy.embeddings import INPUTS, EmbeddingsRequest, embeddings_body, embeddings_model
from proxy.errors import (
    ApiError,
    bad_request,
    from_local,
    local_unavailable,
    model_not_found,
    too_large,
)
from proxy.housekeeping import local_only
from proxy.json_input import parse_object
from proxy.keys import (
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
from proxy.pipeline import Pipeline
from proxy.plan import Plan
from proxy.protocol import ChatRequest, CompletionRequest, Options, PerturbRequest, validate
from proxy.receipt import epsilon_header
from proxy.render import ChatRenderer, CompletionRenderer, Renderer
from proxy.responses_chat import as_chat
from proxy.responses_protocol import validate_response
from proxy.responses_render import ResponsesRenderer
from proxy.sse import SSE_HEADERS, stream_answer

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
INLINE_BYTES = 200_000  # longer bodies are parsed off the event loop


@routes.post("/v1/chat/completions")
async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Chat completions, streamed or whole."""
    body = validate(ChatRequest, await _json(request))
    plan = await _plan_chat(request, body)
    return await _answer(request, plan, ChatRenderer(plan))


@routes.post("/v1/responses")
async def responses(request: web.Request) -> web.StreamResponse:
    """Responses, streamed or whole: a chat in another spelling."""
    body = validate_response(await _json(request))
    try:
        plan = await _plan_chat(request, as_chat(body))
    except ApiError as exc:
        exc.param = "input" if exc.param == "messages" else exc.param
        raise
    return await _answer(request, plan, ResponsesRenderer(plan, body))


@routes.post("/v1/completions")
async def completions(request: web.Request) -> web.StreamResponse:
    """Text completions, streamed or whole; prompts as strings or token ids."""
    body = validate(CompletionRequest, await _json(request))
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
    limit = request.app[CONFIG].limits.prompts
    prompts = _texts(body.prompt, "prompt", request.app[TABLE].vocabulary, limit)
    plan = await request.app[PIPELINE].plan_completion(body, prompts, request[TENANT])
    return await _answer(request, plan, CompletionRenderer(plan, prompts))


@routes.post("/v1/embeddings")
async def embeddings(request: web.Request) -> web.Response:
    """Embeddings by the local server; nothing leaves."""
    configured = request.app[CONFIG].local.embeddings_model
    embeddings_model(configured)
    body = validate(EmbeddingsRequest, await _json(request))
    name = embeddings_model(configured, body.model)
    if not request[TENANT].serves(name):
        raise model_not_found()
    texts = _texts(body.input, "input", request.app[TABLE].vocabulary, INPUTS)
    try:
        found = await request.app[LOCAL].embed(texts, name, dimensions=body.dimensions)
    except LocalModelError as exc:
        raise from_local(exc) from exc
    return web.json_response(embeddings_body(body, found))


@routes.post("/v1/privacy/perturb")
async def perturb(request: web.Request) -> web.Response:
    """What would leave for a text; nothing leaves."""
    body = validate(PerturbRequest, await _json(request))
    wish = Options(mechanism=body.mechanism, epsilon=body.epsilon)
    sanitizer = request.app[POLICY].sanitizer(wish)
    done = await request.app[PIPELINE].preview(body.text, sanitizer, request[TENANT])
    return web.json_response(
        {"object": "privacy.perturbation", "text": done.text, "receipt": done.receipt.to_dict()}
    )


@routes.get("/v1/models")
async def models(request: web.Request) -> web.Response:
    """The models clients may ask for."""
    names = filter(request[TENANT].serves, request.app[POLICY].models)
    data = [_model(request, name) for name in names]
    return web.json_response({"object": "list", "data": data})


@routes.get("/v1/models/{id:.+}")
async def model(request: web.Request) -> web.Response:
    """One model."""
    name = request.match_info["id"]
    if name not in request.app[POLICY].models or not request[TENANT].serves(name):
        raise model_not_found()
    return web.json_response(_model(request, name))


@routes.get("/health")
async def health(_: web.Request) -> web.Response:
    """The process is up."""
    return web.json_response({"status": "ok"})


@routes.get("/ready")
async def ready(request: web.Request) -> web.Response:
    """The table is loaded, and the store and the local model answer."""
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
    """Prometheus exposition; of the accounts the client's own, unless it is an operator's."""
    client = request[TENANT]
    tenant = None if request.app[KEYRING].sees_all(client) else client.tenant
    return web.Response(
        body=request.app[METRICS].render(tenant),
        headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"},
    )


async def _json(request: web.Request) -> dict[str, Any]:
    """The body, within the limits. Raises `ApiError`."""
    limits = request.app[CONFIG].limits
    try:
        data = await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise too_large(f"The body may have at most {limits.body_bytes} bytes.") from None
    except (web.RequestPayloadError, HttpProcessingError):
        raise bad_request("The body cannot be read.", code="invalid_body") from None
    if len(data) > INLINE_BYTES:
        return await asyncio.to_thread(parse_object, data, max_depth=limits.json_depth)
    return parse_object(data, max_depth=limits.json_depth)


async def _answer(request: web.Request, plan: Plan, renderer: Renderer) -> web.StreamResponse:
    request[PLAN] = plan
    pipeline: Pipeline = request.app[PIPELINE]
    headers = {
        "x-inferdpt-mechanism": plan.sanitizer.name,
        "x-inferdpt-epsilon": epsilon_header(plan.sanitizer.guarantee),
        "x-inferdpt-tokens": str(plan.released),
    }
    if not plan.request.stream:
        answers = await pipeline.complete(plan)
        return web.json_response(renderer.body(answers), headers=headers)
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
    limit = request.app[CONFIG].limits.messages
    if len(body.messages) > limit:
        raise too_large(f"A conversation may have at most {limit} messages.", param="messages")
    chore = request.app[HOUSEKEEPING].recognises(body)
    asked = local_only(body) if chore else body
    plan = await request.app[PIPELINE].plan_chat(asked, request[TENANT])
    for exchange in plan.exchanges if chore else ():
        exchange.outcome = "housekeeping"
    return plan


def _texts(
    given: str | list[str] | list[int] | list[list[int]],
    name: str,
    vocabulary: Vocabulary,
    limit: int,
) -> list[str]:
    """The field's texts as strings; token ids are cl100k_base's."""
    if isinstance(given, str):
        return [given]
    if not given:
        raise bad_request(f"'{name}' must not be an empty list.", param=name)
    lists = [given] if isinstance(given[0], int) else given
    if len(lists) > limit:
        raise too_large(f"A request may have at most {limit} of '{name}'.", param=name)
    return [p if isinstance(p, str) else _decode(p, name, vocabulary) for p in lists]


def _decode(tokens: list[int], name: str, vocabulary: Vocabulary) -> str:
    try:
        return vocabulary.decode(tokens)
    except PerturbError as exc:
        raise bad_request(f"'{name}': {exc}.", param=name, code="invalid_value") from None


def _model(request: web.Request, name: str) -> dict[str, Any]:
    created = int(time.time() - (time.monotonic() - request.app[STARTED]))
    return {"id": name, "object": "model", "created": created, "owned_by": "inferdpt"}


def error_response(error: ApiError) -> web.Response:
    """The one place where an HTTP error is built."""
    return web.json_response(error.body(), status=error.status, headers=error.response_headers())
