"""Send the metrics to an OpenTelemetry collector: what /metrics shows, under the same names.

The registry of `proxy.metrics` is read, and nothing is counted a second time. One process reads
it for all workers, so that no request is in two series.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Sample

from perturb.install import install_command
from proxy.background import Background
from proxy.errors import ConfigError
from proxy.metrics import Metrics

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import (
        HistogramDataPoint,
        Metric,
        MetricExporter,
        NumberDataPoint,
    )

__all__ = ["MetricsExport", "exporting", "open_export"]

INTERVAL = 15.0  # seconds between two exports, as deploy/prometheus scrapes
TIMEOUT = 3.0  # seconds for an export: a stop waits for the last one


class MetricsExport:
    """Read the metrics and hand them to an exporter.

    Args:
        exporter: sends them.
        metrics: those of the application, or of all its worker processes.
    """

    def __init__(self, exporter: MetricExporter, metrics: Metrics) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._exporter = exporter
        self._metrics = metrics
        # Replicas of one name would overwrite each other's series.
        identity = {"service.name": "inferdpt", "service.instance.id": metrics.instance}
        self._resource = Resource.create(identity)
        self._scope = InstrumentationScope("inferdpt")

    def export(self) -> None:
        """Send the metrics as they are now. It may take seconds, so call it in a thread."""
        from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics

        now = time.time_ns()
        found = [_convert(each, self._metrics.started, now) for each in self._metrics.collect()]
        kept = [metric for metric in found if metric.data.data_points]
        scope = ScopeMetrics(self._scope, kept, "")
        self._exporter.export(MetricsData([ResourceMetrics(self._resource, [scope], "")]))

    def close(self) -> None:
        """Send the metrics for the last time. Call it in a thread, too."""
        self.export()
        self._exporter.shutdown()


def open_export(address: str, metrics: Metrics) -> MetricsExport:
    """Open the export to an address that takes OTLP over HTTP.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    except ImportError:
        raise ConfigError(
            f"telemetry.metrics: needs OpenTelemetry: {install_command('otel')}"
        ) from None
    return MetricsExport(OTLPMetricExporter(endpoint=address, timeout=TIMEOUT), metrics)


@asynccontextmanager
async def exporting(address: str | None, background: Background) -> AsyncIterator[None]:
    """Send the metrics during the block and once after it; without an address, nothing.

    Raises:
        ConfigError: the extra is not installed.
    """
    if address is None:
        yield
        return
    export = open_export(address, background.metrics)

    async def repeat() -> None:
        while True:
            await asyncio.sleep(INTERVAL)
            with background.survive("metrics export"):
                await asyncio.to_thread(export.export)

    try:
        async with background.running("metrics export", repeat()):
            yield
    finally:
        await asyncio.to_thread(export.close)


def _convert(family: Family, started: int, now: int) -> Metric:
    """Return a metric of Prometheus as OpenTelemetry's; sums count from `started`, in ns."""
    from opentelemetry.sdk.metrics.export import (
        AggregationTemporality,
        Gauge,
        Histogram,
        Metric,
        NumberDataPoint,
        Sum,
    )

    def points(name: str) -> list[NumberDataPoint]:
        return [
            NumberDataPoint(sample.labels, started, now, sample.value)
            for sample in family.samples
            if sample.name == name
        ]

    total = AggregationTemporality.CUMULATIVE
    name = family.name
    data: Sum | Gauge | Histogram
    if family.type == "counter":
        name = f"{family.name}_total"
        data = Sum(points(name), total, is_monotonic=True)
    elif family.type == "gauge":
        data = Gauge(points(name))
    elif family.type == "histogram":
        data = Histogram(list(_read_histogram(family, started, now)), total)
    else:
        raise TypeError(f"no rule for a metric of type {family.type}")
    return Metric(name, family.documentation, "", data)


def _read_histogram(family: Family, started: int, now: int) -> Iterator[HistogramDataPoint]:
    """Yield a point for each set of labels. Prometheus adds buckets up, OpenTelemetry does not."""
    from opentelemetry.sdk.metrics.export import HistogramDataPoint

    series: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in family.samples:
        labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
        series.setdefault(labels, []).append(sample)
    for labels, samples in series.items():
        upto = sorted(
            (float(sample.labels["le"]), int(sample.value))
            for sample in samples
            if sample.name == f"{family.name}_bucket"
        )
        counts = [count for _, count in upto]
        yield HistogramDataPoint(
            dict(labels),
            started,
            now,
            count=counts[-1],
            sum=next(s.value for s in samples if s.name == f"{family.name}_sum"),
            bucket_counts=[b - a for a, b in zip([0, *counts], counts, strict=False)],
            explicit_bounds=[bound for bound, _ in upto[:-1]],  # the last one is infinite
            min=None,  # type: ignore[arg-type]  # optional in the protocol, unknown here
            max=None,  # type: ignore[arg-type]
        )
