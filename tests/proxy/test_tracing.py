"""Traces: a span for each stage under the client's own trace, without text."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from perturb import EmbeddingTable
from proxy.api.app_keys import METRICS
from proxy.config.settings import load_config
from proxy.errors import ConfigError
from proxy.requests.protocol import ChatRequest
from proxy.tracing import FIELDS, Note, Tracing
from tests.perturb.marking import WORDS
from tests.proxy.canaries import Canaries, fire
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.pipeline.test_canaries import bad_body, good_body
from tests.servers import status

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
STAGES = {"commit", "extract", "perturb", "remote"}
GATEWAY = {"local": {"mode": "none"}, "privacy": {"mechanism": "selective", "parameters": WORDS}}
ROOT = Path(__file__).parents[2]


class Collected(InMemorySpanExporter):
    """The spans of an application."""

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.get_finished_spans()}

    @property
    def shown(self) -> bytes:
        """Everything that is exported of them."""
        return "\n".join(span.to_json() for span in self.get_finished_spans()).encode()


def tracing_to(
    exporter: Collected, kind: type[Tracing] = Tracing
) -> Callable[[web.Application], None]:
    def prepare(app: web.Application) -> None:
        app[METRICS].tracing = kind(SimpleSpanProcessor(exporter))

    return prepare


async def ask(proxy: Proxy, **settings: Any) -> None:
    await proxy.client().chat.completions.create(
        model=MODEL, messages=user("The board met on Monday."), **settings
    )


@pytest.mark.parametrize("settings", [{}, GATEWAY], ids=["pipeline", "gateway"])
async def test_each_stage_has_a_span_under_the_clients_trace(
    table: EmbeddingTable, settings: dict[str, Any]
) -> None:
    collected = Collected()
    async with running_proxy(table, settings, tracing_to(collected)) as proxy:
        await ask(proxy, extra_headers={"traceparent": TRACEPARENT})
    spans = collected.spans
    request = spans.pop("POST /v1/chat/completions")
    assert set(spans) - {"queue"} == STAGES - ({"extract"} if settings else set())
    assert request.parent is not None
    assert (f"{request.parent.trace_id:032x}", f"{request.parent.span_id:016x}") == (TRACE, PARENT)
    own = request.get_span_context()
    assert own is not None
    for span in spans.values():
        assert span.parent is not None
        assert (span.parent.trace_id, span.parent.span_id) == (own.trace_id, own.span_id)
    attributes = dict(request.attributes or {})
    assert attributes["http.route"] == "/v1/chat/completions"
    assert attributes["http.response.status_code"] == 200
    assert set(attributes) <= set(FIELDS.values())
    assert all(not span.attributes and not span.events for span in spans.values())


async def test_requests_at_once_keep_their_traces_apart(table: EmbeddingTable) -> None:
    collected = Collected()
    async with running_proxy(table, {}, tracing_to(collected)) as proxy:
        await asyncio.gather(*(ask(proxy, stream=False) for _ in range(5)))
    traces: dict[int, list[str]] = {}
    for span in collected.get_finished_spans():
        context = span.get_span_context()
        assert context is not None
        traces.setdefault(context.trace_id, []).append(span.name)
    assert len(traces) == 5
    assert all(set(names) >= STAGES for names in traces.values())


async def test_nothing_of_a_trace_reaches_the_remote(table: EmbeddingTable) -> None:
    headers = {
        "traceparent": TRACEPARENT,
        "tracestate": "vendor=quarfle-state",
        "baggage": "user=quarfle-user",
    }
    collected = Collected()
    async with running_proxy(table, {}, tracing_to(collected)) as proxy:
        await ask(proxy, extra_headers=headers)
        received = b"\n".join([*proxy.remote.received, *proxy.local.received]).lower()
    ids = {
        f"{context.span_id:016x}"
        for span in collected.get_finished_spans()
        if (context := span.get_span_context())
    }
    assert len(ids) >= len(STAGES)
    assert proxy.remote.bodies
    for word in ("traceparent", "tracestate", "baggage", "quarfle", TRACE, PARENT, *ids):
        assert word.encode() not in received, word
    assert TRACE.encode() in collected.shown
    assert b"quarfle" not in collected.shown


@pytest.mark.parametrize("parent", ["", "x", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-hidden-1"])
async def test_a_malformed_parent_is_left_out(table: EmbeddingTable, parent: str) -> None:
    collected = Collected()
    async with running_proxy(table, {}, tracing_to(collected)) as proxy:
        await ask(proxy, extra_headers={"traceparent": parent})
    assert collected.spans["POST /v1/chat/completions"].parent is None
    assert b"hidden" not in collected.shown


class Leaking(Tracing):
    """Makes spans that hold the header as the client sent it."""

    @contextmanager
    def request(self, parent: str | None) -> Iterator[Note]:
        with super().request(parent) as note:
            yield lambda line: note({**line, "error": parent or ""})


@pytest.mark.parametrize("kind", [Tracing, Leaking])
async def test_no_canary_is_in_a_span(table: EmbeddingTable, kind: type[Tracing]) -> None:
    """In good, bad and failing requests; spans that hold a header as it came are caught."""
    c, collected = Canaries(19), Collected()

    def make() -> tuple[str, str]:
        bad = c.random.random() < 0.3
        body = (bad_body if bad else good_body)(c, ChatRequest)
        return "chat/completions", json.dumps(body)

    async with running_proxy(table, {}, tracing_to(collected, kind)) as proxy:
        seen = await fire(proxy, c, 60, make)
        proxy.remote.behaviour = status(500)
        seen |= await fire(proxy, c, 5, make)
        assert len(c.found_in(b"\n".join(proxy.local.received))) > 60
    assert {200, 400} <= set(seen)
    assert len(collected.get_finished_spans()) > 65
    assert bool(c.found_in(collected.shown)) == (kind is Leaking)


async def test_a_failure_is_a_status_and_a_code(table: EmbeddingTable) -> None:
    collected = Collected()
    async with running_proxy(table, {}, tracing_to(collected)) as proxy:
        proxy.remote.behaviour = status(500)
        with pytest.raises(openai.InternalServerError):
            await ask(proxy)
    span = collected.spans["POST /v1/chat/completions"]
    assert (span.attributes or {})["error.type"] == "remote_error"
    assert (span.status.is_ok, span.status.description) == (False, None)
    assert not any(one.events for one in collected.get_finished_spans())


async def test_spans_are_sent_to_a_collector(table: EmbeddingTable) -> None:
    """Over HTTP, as OpenTelemetry's protocol has it, and before the proxy ends."""
    bodies: list[bytes] = []

    async def take(request: web.Request) -> web.Response:
        bodies.append(await request.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/traces"
        async with running_proxy(table, {"telemetry": {"traces": address}}) as proxy:
            await ask(proxy)
            async with aiohttp.ClientSession() as session:
                await session.get(f"{proxy.root}/health")
    finally:
        await runner.cleanup()
    found = [
        (attribute.value.string_value, span.name)
        for body in bodies
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for attribute in resource.resource.attributes
        if attribute.key == "service.name"
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert {service for service, _ in found} == {"inferdpt"}
    names = [name for _, name in found]
    assert set(names) >= {*STAGES, "POST /v1/chat/completions"}
    assert "GET /health" not in names


def test_without_traces_nothing_is_imported() -> None:
    code = (
        "import sys\n"
        "from proxy.app import build_app\n"
        "from proxy.config.settings import load_config\n"
        "build_app(load_config(None, {}, {}))\n"
        "print(sorted(name for name in sys.modules if name.startswith('opentelemetry')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_wrong_address_is_not_repeated() -> None:
    for address in ("collector:4318", "http://user:hidden@collector/v1/traces"):
        with pytest.raises(ConfigError, match=r"telemetry\.traces") as caught:
            load_config(None, {"telemetry": {"traces": address}}, {})
        assert "hidden" not in str(caught.value)
