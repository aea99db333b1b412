"""Prometheus metrics: counts, sizes and times; labels come from closed sets, never from text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric

__all__ = ["Metrics"]

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """One registry for one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "inferdpt_requests_total",
            "Requests by path and status.",
            ("path", "status"),
            registry=self.registry,
        )
        self.busy = 0  # requests being served, this one included
        in_flight = Gauge(
            "inferdpt_requests_in_flight", "Requests being served.", registry=self.registry
        )
        in_flight.set_function(lambda: self.busy)
        self._stages = Histogram(
            "inferdpt_stage_seconds",
            "Time in each stage.",
            ("stage",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.tokens = Counter(
            "inferdpt_tokens_perturbed_total",
            "Words released for the first time.",
            ("mechanism",),
            registry=self.registry,
        )
        self.reused = Counter(
            "inferdpt_tokens_reused_total",
            "Words whose earlier release was sent again.",
            ("mechanism",),
            registry=self.registry,
        )
        self.epsilon = Counter(
            "inferdpt_epsilon_nominal_total",
            "Nominal epsilon summed over words released for the first time.",
            ("mechanism", "guarantee"),
            registry=self.registry,
        )
        self.refused = Counter(
            "inferdpt_budget_exceeded_total",
            "Requests that would have cost more than a limit leaves.",
            ("limit",),
            registry=self.registry,
        )
        self._accounts = {
            name: Gauge(f"inferdpt_ledger_{name}", text, ("tenant",), registry=self.registry)
            for name, text in (
                ("requests", "Requests charged to a tenant, in all, when it last sent one."),
                ("tokens", "Tokens released for a tenant, in all, when it last sent some."),
                ("proved", "Epsilon charged to a tenant, proved bounds, basic composition."),
                ("nominal", "Epsilon charged to a tenant that is no bound."),
            )
        }
        self.upstream_errors = Counter(
            "inferdpt_upstream_errors_total",
            "Failed calls by side and code.",
            ("side", "code"),
            registry=self.registry,
        )

    @contextmanager
    def stage(self, name: str, timings: dict[str, float] | None = None) -> Iterator[None]:
        """Time a stage, also into `timings` (seconds, summed) for the log line."""
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self._stages.labels(name).observe(seconds)
            if timings is not None:
                timings[name] = timings.get(name, 0.0) + seconds

    def charged(self, tenant: str, totals: Mapping[str, float]) -> None:
        """Show a tenant's account as it is now."""
        for name, value in totals.items():
            self._accounts[name].labels(tenant).set(value)

    def render(self, tenant: str | None = None) -> bytes:
        """The text exposition; for a tenant, without the accounts of the others."""
        return generate_latest(cast("CollectorRegistry", _Own(self.registry, tenant)))


class _Own:
    """A registry without the samples of other tenants."""

    def __init__(self, registry: CollectorRegistry, tenant: str | None) -> None:
        self._registry, self._tenant = registry, tenant

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            if self._tenant is not None:
                family.samples = [
                    sample
                    for sample in family.samples
                    if sample.labels.get("tenant", self._tenant) == self._tenant
                ]
            yield family
