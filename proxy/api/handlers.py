"""Handle the endpoints: parse, plan, run, render."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

from aiohttp import web

from extraction.backends.openai_server import OpenAIServer
from extraction.errors import LocalModelError
from perturb.work import offload
from proxy.api.app_keys import (
    BACKGROUND,
    BODY,
    CONFIG,
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
from proxy.api.doors import MESSAGES_PATH
from proxy.api.embeddings import EmbeddingsRequest, choose_model, write_embeddings
from proxy.api.serving import (
    CHAT,
    MESSAGES,
    RESPONSES,
    answer_chat,
    plan_completion,
    read_body,
    read_completion,
    read_plan,
    read_texts,
    send_answer,
)
from proxy.config.upstreams.local import DEMO_MODEL
from proxy.errors import (
    ApiError,
    from_local,
    local_unavailable,
    model_not_found,
)
from proxy.gateway.gateway import Gateway
from proxy.pipeline.pipeline import Pipeline
from proxy.requests.anthropic import chat as anthropic
from proxy.requests.anthropic.protocol import Conversation, validate_messages
from proxy.requests.anthropic.tokens import count_tokens
from proxy.requests.json_input import INPUTS
from proxy.requests.protocol import (
    ChatRequest,
    Json,
    Options,
    PerturbRequest,
)
from proxy.requests.responses.items import COMPACTION
from proxy.requests.validation import validate
from proxy.scoring import check_scoring, score, wants_scores, write_scores

__all__ = [
    "account_routes",
    "chat_completions",
    "compact",
    "completions",
    "count_message_tokens",
    "embeddings",
    "health",
    "ledger",
    "messages",
    "metrics",
    "model",
    "models",
    "perturb",
    "ready",
    "responses",
    "routes",
    "sanitize",
]

routes = web.RouteTableDef()
READY_SECONDS = 5.0


@routes.post("/v1/chat/completions")
async def chat_completions(request: web.Request) -> web.StreamResponse:
    """Answer a chat, streamed or in full."""
    return await answer_chat(request, CHAT)


@routes.post("/v1/responses")
async def responses(request: web.Request) -> web.StreamResponse:
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
    gateway: Pipeline | Gateway = request.app[PIPELINE]
    if not isinstance(gateway, Gateway):
        raise ApiError(
            404,
            "Only a proxy without a local model (local.mode: none) releases chats to others.",
            code="not_found",
        )
    _, plan = await read_plan(request.app, request[TENANT], request.pop(BODY), CHAT)
    request[PLAN] = plan
    return web.json_response(await gateway.release(plan))


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


account_routes = web.RouteTableDef()


@account_routes.get("/v1/privacy/ledger")
async def ledger(request: web.Request) -> web.Response:
    """Return the account of the key's own tenant, see `Ledger.figures`."""
    figures = await request.app[LEDGER].figures(request[TENANT].tenant)
    return web.json_response({"object": "privacy.ledger", **figures})
