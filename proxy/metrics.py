"""Prometheus metrics: counts, sizes and times; labels come from closed sets, never from text."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

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

    def render(self) -> bytes:
        """The text exposition."""
        return generate_latest(self.registry)
