"""Serve one request: read its body, plan it, send its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from aiohttp import web

from perturb.offload import offload
from proxy.api.app_keys import BODY, CONFIG, ERROR, HOUSEKEEPING, PIPELINE, PLAN, TENANT
from proxy.api.dialects import Dialect
from proxy.api.render import Renderer
from proxy.api.sse import SSE_HEADERS, stream_answer
from proxy.errors import ApiError
from proxy.gateway.gateway import Gateway
from proxy.pipeline.pipeline import Pipeline
from proxy.pipeline.plan import Plan
from proxy.pipeline.receipt import format_epsilon
from proxy.requests.counts import TOOLS, check_counts
from proxy.requests.json_input import parse_object
from proxy.requests.protocol import ChatRequest, Json

__all__ = ["answer_chat", "read_body", "read_plan", "send_answer", "send_page"]

INLINE_BYTES = 100_000  # longer bodies are parsed and validated off the event loop
T = TypeVar("T")


async def read_body(
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


async def answer_chat(request: web.Request, dialect: Dialect[T]) -> web.StreamResponse:
    """Answer a chat, streamed or in full, in the form in which it was asked. Raises `ApiError`."""
    asked, plan = await read_plan(request, dialect)
    return await send_answer(request, plan, dialect.render(asked, plan))


async def read_plan(request: web.Request, dialect: Dialect[T]) -> tuple[T, Plan]:
    """Read a chat and plan it. Raises `ApiError`."""
    config = request.app[CONFIG]

    def read(body: Json) -> tuple[T, ChatRequest]:
        asked = dialect.read(body, config.server.ignore_unsupported_tools)
        return asked, dialect.convert(asked)

    most = dict.fromkeys(dialect.lists, config.limits.messages)
    asked, chat = await read_body(request, read, most)
    try:
        plan = await _plan_chat(request, chat)
    except ApiError as exc:
        exc.rename(dialect.find_place(exc.param, asked))
        raise
    return asked, plan


async def send_answer(request: web.Request, plan: Plan, renderer: Renderer) -> web.StreamResponse:
    """Answer a plan, streamed or in full. Raises `ApiError`."""
    request[PLAN] = plan
    pipeline: Pipeline | Gateway = request.app[PIPELINE]
    headers = {
        "x-inferdpt-mechanism": plan.sanitizer.name if plan.is_sent else "none",
        "x-inferdpt-tokens": str(plan.released),
    }
    if plan.is_sent:
        headers["x-inferdpt-epsilon"] = format_epsilon(plan.sanitizer)
    if not plan.request.stream:
        answers, receipt = await pipeline.answer(plan)
        return web.json_response(renderer.body(answers, receipt), headers=headers)
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


async def _plan_chat(request: web.Request, body: ChatRequest) -> Plan:
    """Plan a chat; a client's housekeeping is planned without the remote. Raises `ApiError`."""
    known = request.app[HOUSEKEEPING]
    housekeeping = await offload(known.brief, known.recognises, body)
    return await request.app[PIPELINE].plan_chat(body, request[TENANT], housekeeping=housekeeping)
