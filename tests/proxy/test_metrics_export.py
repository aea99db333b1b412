"""Metrics over OpenTelemetry: what /metrics shows, once for all workers, without text."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality
from prometheus_client.core import SummaryMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from perturb import EmbeddingTable
from proxy import metrics_export
from proxy.access.auth import Grant
from proxy.api.app_keys import BACKGROUND, KEYRING, METRICS
from proxy.background import Background
from proxy.config.settings import load_config
from proxy.errors import ConfigError
from proxy.metrics import Metrics
from proxy.metrics_export import exporting
from proxy.requests.protocol import ChatRequest
from tests.limits import LIMIT
from tests.proxy.api.test_metrics import be_busy, made, metrics
from tests.proxy.canaries import Canaries, fire
from tests.proxy.conftest import MODEL, running_proxy, table
from tests.proxy.pipeline.test_canaries import bad_body, good_body
from tests.proxy.workers.test_supervisor import chat, post, service
from tests.servers import status

__all__ = ["table"]

SETTINGS = {
    "server": {"operators": ["ops"]},
    "privacy": {"mechanism": "rantext_ldp"},
    "telemetry": {"prices": {MODEL: {"prompt": 2.5, "completion": 10}}},
}
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Collector:
    """Takes metrics over HTTP and keeps the bodies."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.address = ""

    @property
    def exports(self) -> list[ExportMetricsServiceRequest]:
        return [ExportMetricsServiceRequest.FromString(body) for body in self.bodies]


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    collector = Collector()

    async def take(request: web.Request) -> web.Response:
        collector.bodies.append(await request.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/metrics", take)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    collector.address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1/metrics"
    try:
        yield collector
    finally:
        await runner.cleanup()


def read_labels(attributes: Any) -> frozenset[tuple[str, str]]:
    return frozenset((one.key, one.value.string_value) for one in attributes)


def flatten(export: ExportMetricsServiceRequest) -> Series:
    """Return the samples as the page of Prometheus has them, each series once."""
    out: Series = {}

    def put(name: str, labels: frozenset[tuple[str, str]], value: float) -> None:
        assert (name, labels) not in out
        out[name, labels] = value

    (resource,) = export.resource_metrics
    (scope,) = resource.scope_metrics
    for metric in scope.metrics:
        kind = metric.WhichOneof("data")
        for point in getattr(metric, kind).data_points:
            labels = read_labels(point.attributes)
            if kind != "histogram":
                put(metric.name, labels, point.as_double)
                continue
            put(f"{metric.name}_count", labels, point.count)
            put(f"{metric.name}_sum", labels, point.sum)
            bounds, upto = [*point.explicit_bounds, float("inf")], 0
            for bound, count in zip(bounds, point.bucket_counts, strict=True):
                upto += count
                put(f"{metric.name}_bucket", labels | {("le", str(bound))}, upto)
    return out


def read_page(page: str) -> Series:
    return {
        (sample.name, frozenset((k, _le(k, v)) for k, v in sample.labels.items())): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def _le(key: str, value: str) -> str:
    return str(float(value)) if key == "le" else value


async def test_a_collector_gets_what_the_page_shows(table: EmbeddingTable) -> None:
    async with collecting() as collector, running_proxy(table, SETTINGS) as proxy:
        _, ops = await proxy.app[KEYRING].create("ops", Grant())
        async with exporting(collector.address, proxy.app[BACKGROUND]):
            await be_busy(proxy, await made(proxy, "bob", budget_tokens={"request": 99}))
            page = read_page(await metrics(proxy, ops))
        (export,) = collector.exports
    sent = flatten(export)
    assert len(sent) > 100
    name = "inferdpt_requests_total", frozenset({("path", "/metrics"), ("status", "200")})
    busy = "inferdpt_requests_in_flight", frozenset[tuple[str, str]]()
    assert sent.pop(name, None) == 1  # the question itself was counted after it was answered
    assert (sent.pop(busy), page.pop(busy)) == (0, 1)
    assert sent == page


async def test_sums_are_cumulative_from_the_start(table: EmbeddingTable) -> None:
    async with collecting() as collector, running_proxy(table, SETTINGS) as proxy:
        count = proxy.app[METRICS]
        for _ in range(2):
            async with exporting(collector.address, Background(count)):
                count.restarts.inc()
        first, second = collector.exports
    for export in (first, second):
        (resource,) = export.resource_metrics
        named = {one.key: one.value.string_value for one in resource.resource.attributes}
        assert named["service.name"] == "inferdpt"
        assert named["service.instance.id"] == count.instance
        for metric in resource.scope_metrics[0].metrics:
            kind = metric.WhichOneof("data")
            if kind == "gauge":
                continue
            data = getattr(metric, kind)
            assert (
                data.aggregation_temporality
                == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
            )
            assert kind == "histogram" or data.is_monotonic
            for point in data.data_points:
                assert count.started == point.start_time_unix_nano < point.time_unix_nano
    name = "inferdpt_worker_restarts_total", frozenset[tuple[str, str]]()
    assert [flatten(export)[name] for export in (first, second)] == [1, 2]


@pytest.mark.parametrize("leaking", [False, True])
async def test_no_canary_is_in_an_export(table: EmbeddingTable, leaking: bool) -> None:
    """After good, bad and failing requests; a label that holds a text is caught."""
    c = Canaries(23)

    async with collecting() as collector, running_proxy(table, {}) as proxy:

        def make() -> tuple[str, str]:
            bad = c.random.random() < 0.3
            data = json.dumps((bad_body if bad else good_body)(c, ChatRequest))
            if leaking:
                proxy.app[METRICS].errors.labels(data).inc()
            return "chat/completions", data

        async with exporting(collector.address, proxy.app[BACKGROUND]):
            seen = await fire(proxy, c, 60, make)
            proxy.remote.behaviour = status(500)
            seen |= await fire(proxy, c, 5, make)
        assert len(c.found_in(b"\n".join(proxy.local.received))) > 60
    assert {200, 400} <= set(seen)
    assert len(flatten(collector.exports[-1])) > 50
    assert bool(c.found_in(b"\n".join(collector.bodies))) == leaking


async def test_exports_are_repeated_and_survive_a_failure(
    table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics_export, "INTERVAL", 0.01)

    class Failing(Metrics):
        failures = 0

        def collect(self) -> Any:
            if self.failures < 2:
                self.failures += 1
                raise OSError("hidden")
            return super().collect()

    count = Failing()
    async with collecting() as collector, exporting(collector.address, Background(count)):
        async with asyncio.timeout(LIMIT):
            while len(collector.bodies) < 3:
                await asyncio.sleep(0.01)
    assert count.failures == 2


async def test_a_collector_that_is_away_delays_a_stop_for_seconds_only() -> None:
    async with asyncio.timeout(LIMIT):
        async with exporting("http://127.0.0.1:9/v1/metrics", Background(Metrics())):
            pass


def test_a_type_without_a_rule_is_refused() -> None:
    class Odd(Metrics):
        def collect(self) -> Any:
            return [SummaryMetricFamily("odd", "Odd.", count_value=1, sum_value=2)]

    export = metrics_export.open_export("http://127.0.0.1:9/v1/metrics", Odd())
    with pytest.raises(TypeError, match="summary"):
        export.export()


def test_a_wrong_address_is_not_repeated() -> None:
    for address in ("collector:4318", "http://user:hidden@collector/v1/metrics"):
        with pytest.raises(ConfigError, match=r"telemetry\.metrics") as caught:
            load_config(None, {"telemetry": {"metrics": address}}, {})
        assert "hidden" not in str(caught.value)


async def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None
    )
    with pytest.raises(ConfigError, match=r"otel"):
        async with exporting("http://127.0.0.1:9/v1/metrics", Background(Metrics())):
            pass


@pytest.mark.skipif(sys.platform != "linux", reason="several workers need Linux")
async def test_workers_are_counted_once(tmp_path: Path) -> None:
    """Two workers, of which the one that exports is killed: one instance, and sums that go on."""
    async with collecting() as collector:
        over = {"INFERDPT_TELEMETRY__METRICS": collector.address}
        async with service(tmp_path, **over) as served:
            answered = 0
            for number in range(20):
                answered += (await post(served, chat(f"Report {number}.")))[0] == 200
            workers = psutil.Process(served.process.pid).children()
            assert len(workers) == 2
            for worker in workers:
                os.kill(worker.pid, signal.SIGKILL)
                await served.wait_for_log("is started again")
                served.logged.clear()
            for number in range(20):
                with suppress(aiohttp.ClientError):  # while both start
                    answered += (await post(served, chat(f"Report {number}.")))[0] == 200
            await served.end()
    exports = collector.exports
    instances = {
        one.value.string_value
        for export in exports
        for one in export.resource_metrics[0].resource.attributes
        if one.key == "service.instance.id"
    }
    assert len(instances) == 1
    last = flatten(exports[-1])
    chats = (
        "inferdpt_requests_total",
        frozenset({("path", "/v1/chat/completions"), ("status", "200")}),
    )
    assert last[chats] == answered >= 20
    assert last["inferdpt_worker_restarts_total", frozenset()] == 2
    assert re.fullmatch(r"[0-9a-f-]{36}", instances.pop())
