"""Count requests, sizes and times for Prometheus. Labels come from closed sets, never from text.

Operators see all metrics, a tenant only its own account.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric

__all__ = ["Metrics"]

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Hold the metrics of one application in a registry of its own."""

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
        self.chosen = Counter(
            "inferdpt_candidates_chosen_total",
            "Answers chosen among several candidates, by what they were written from.",
            ("source",),
            registry=self.registry,
        )
        self._accounts = {
            name: Gauge(f"inferdpt_ledger_{name}", text, ("tenant",), registry=self.registry)
            for name, text in (
                ("requests", "Requests charged to a tenant, in all, when it last sent one."),
                ("tokens", "Tokens released for a tenant, in all, when it last sent some."),
                ("unbounded", "Tokens released for a tenant of which nothing is proved."),
                ("proved", "Epsilon charged to a tenant for tokens with a bound, summed."),
                ("nominal", "Epsilon charged to a tenant that is no bound."),
            )
        }
        self.upstream_errors = Counter(
            "inferdpt_upstream_errors_total",
            "Failed calls by side and code.",
            ("side", "code"),
            registry=self.registry,
        )

    def count_waiting(self, count: Callable[[], int]) -> None:
        """Add a gauge of the requests that wait to be served."""
        gauge = Gauge(
            "inferdpt_requests_waiting",
            "Requests that wait for a place, or for memory for their body.",
            registry=self.registry,
        )
        gauge.set_function(count)

    @contextmanager
    def stage(self, name: str, note: Callable[[str, float], None] | None = None) -> Iterator[None]:
        """Time a stage and pass its name and its seconds to `note`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self._stages.labels(name).observe(seconds)
            if note is not None:
                note(name, seconds)

    def set_account(self, tenant: str, totals: Mapping[str, float]) -> None:
        """Set a tenant's account to these totals."""
        for name, value in totals.items():
            self._accounts[name].labels(tenant).set(value)

    def render(self, tenant: str | None = None) -> bytes:
        """Return the text exposition: all of it, or only a tenant's own account."""
        return generate_latest(cast("CollectorRegistry", _Own(self.registry, tenant)))


class _Own:
    """Filter a registry: the samples about one tenant, or all of them.

    Samples without a tenant are for operators: a tenant could subtract its own figures from them
    and learn those of the others.
    """

    def __init__(self, registry: CollectorRegistry, tenant: str | None) -> None:
        self._registry, self._tenant = registry, tenant

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            if self._tenant is not None:
                family.samples = [
                    sample
                    for sample in family.samples
                    if sample.labels.get("tenant") == self._tenant
                ]
            if family.samples:
                yield family
