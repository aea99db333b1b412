"""Count requests, sizes and times for Prometheus. Labels come from closed sets, never from text.

Operators see all metrics, a tenant only its own account.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.samples import Sample

from extraction.backends.base import Usage
from perturb import Sanitizer
from proxy.config.settings import ModelPrice
from proxy.errors import ApiError
from proxy.tracing import Tracing

__all__ = ["Metrics"]

SECONDS = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """Hold the metrics of one application in a registry of its own.

    Args:
        folder: of the files in which worker processes count together (proxy.workers.supervisor);
            None counts in this process alone.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.registry = CollectorRegistry()
        self.tracing: Tracing | None = None  # while the application runs, if it traces
        self.prices: Mapping[str, ModelPrice] = {}
        self._folder = folder
        self.started = time.time_ns()  # and the same in every worker, as is the instance
        self.instance = str(uuid.uuid4())
        self.requests = Counter(
            "inferdpt_requests_total",
            "Requests by path and status.",
            ("path", "status"),
            registry=self.registry,
        )
        self.busy = 0  # requests being served, this one included
        self.errors = Counter(
            "inferdpt_errors_total",
            "Requests that were answered with an error, or left, by its code.",
            ("code",),
            registry=self.registry,
        )
        self.batch_lines = Counter(
            "inferdpt_batch_lines_total",
            "Lines of batches: answered, refused, failed, postponed or too late.",
            ("outcome",),
            registry=self.registry,
        )
        self._in_flight = Gauge(
            "inferdpt_requests_in_flight",
            "Requests being served.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.waiting = Gauge(
            "inferdpt_requests_waiting",
            "Requests that wait for a place, or for memory for their body.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.background_failures = Counter(
            "inferdpt_background_failures_total",
            "Failures of what runs beside requests, which goes on, by its name.",
            ("loop",),
            registry=self.registry,
        )
        self.restarts = Counter(
            "inferdpt_worker_restarts_total",
            "Worker processes that ended and were started again.",
            registry=self.registry,
        )
        self._stages = Histogram(
            "inferdpt_stage_seconds",
            "Time in each stage.",
            ("stage",),
            buckets=SECONDS,
            registry=self.registry,
        )
        # Looking a label up takes longer than counting.
        self._find: Callable[..., Any] = cache(lambda metric, *labels: metric.labels(*labels))
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
        self._charged = Counter(
            "inferdpt_epsilon_charged_total",
            "Epsilon charged to accounts, summed.",
            ("mechanism", "guarantee", "unit"),
            registry=self.registry,
        )
        self._texts = Counter(
            "inferdpt_texts_total",
            "Private texts sent, by whether their release is new or remembered.",
            ("release",),
            registry=self.registry,
        )
        self._remote_tokens = Counter(
            "inferdpt_remote_tokens_total",
            "Tokens of the remote, as far as it states them.",
            ("model", "kind"),
            registry=self.registry,
        )
        self._remote_unstated = Counter(
            "inferdpt_remote_unstated_total",
            "Answers of the remote that stated no tokens, such as streams that were cut.",
            ("model",),
            registry=self.registry,
        )
        self._remote_cost = Counter(
            "inferdpt_remote_cost_total",
            "Price of these tokens, for models with a price in telemetry.prices.",
            ("model",),
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
        self.warmed = Counter(
            "inferdpt_prefix_warmed_total",
            "Prompts that the local model read while the remote wrote, by how that ended.",
            ("end",),
            registry=self.registry,
        )
        self._accounts = {
            name: Gauge(
                f"inferdpt_ledger_{name}",
                text,
                ("tenant",),
                registry=self.registry,
                multiprocess_mode="mostrecent",
            )
            for name, text in (
                ("requests", "Requests charged to a tenant, in all, when it last sent one."),
                ("tokens", "Tokens released for a tenant, in all, when it last sent some."),
                ("unbounded", "Tokens released for a tenant of which nothing is proved."),
                ("proved", "Epsilon charged to a tenant for tokens with a bound, summed."),
                ("nominal", "Epsilon charged to a tenant that is no bound."),
            )
        }
        self._upstream_errors = Counter(
            "inferdpt_upstream_errors_total",
            "Failed calls by side, the remote's alias and code.",
            ("side", "remote", "code"),
            registry=self.registry,
        )

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Count a request as being served."""
        self.busy += 1
        self._in_flight.set(self.busy)
        try:
            yield
        finally:
            self.busy -= 1
            self._in_flight.set(self.busy)

    def stage(
        self, name: str, note: Callable[[str, float], None] | None = None
    ) -> AbstractContextManager[None]:
        """Time a stage and pass its name and its seconds to `note`."""
        span = None if self.tracing is None else self.tracing.stage(name)
        return _Stage(name, self._find(self._stages, name).observe, note, span)

    def count_plan(self, sanitizer: Sanitizer, *, fresh: int, released: int) -> None:
        """Count the tokens of a request: all that are released, and those for the first time."""
        guarantee, name = sanitizer.guarantee, sanitizer.name
        self._find(self.tokens, name).inc(fresh)
        self._find(self.reused, name).inc(released - fresh)
        self._find(self.epsilon, name, guarantee.kind).inc(fresh * guarantee.nominal)

    def count_failure(self, side: str, error: ApiError, remote: str = "") -> None:
        """Count a failed call of a remote, by its alias, or of the local model."""
        self._upstream_errors.labels(side, remote, error.code or "").inc()

    def count_charge(self, sanitizer: Sanitizer, epsilon: float, releases: list[bool]) -> None:
        """Count what a request was charged, and its texts.

        Args:
            releases: for each private text, whether its release is new.
        """
        guarantee = sanitizer.guarantee
        self._find(self._charged, sanitizer.name, guarantee.kind, guarantee.unit).inc(epsilon)
        self._find(self._texts, "new").inc(sum(releases))
        self._find(self._texts, "remembered").inc(len(releases) - sum(releases))

    def count_remote(self, model: str, usage: Usage | None) -> None:
        """Count the tokens of a call of the remote, and their price.

        Args:
            model: as the configuration names it.
            usage: None if the remote did not state it.
        """
        if usage is None:
            self._find(self._remote_unstated, model).inc()
            return
        self._find(self._remote_tokens, model, "prompt").inc(usage.prompt_tokens)
        self._find(self._remote_tokens, model, "completion").inc(usage.completion_tokens)
        if model in self.prices:
            price = self.prices[model]
            cost = price.prompt * usage.prompt_tokens + price.completion * usage.completion_tokens
            self._find(self._remote_cost, model).inc(cost / 1e6)

    def set_account(self, tenant: str, totals: Mapping[str, float]) -> None:
        """Set a tenant's account to these totals."""
        for name, value in totals.items():
            self._find(self._accounts[name], tenant).set(value)

    def render(self, tenant: str | None = None) -> bytes:
        """Return the text exposition: all of it, or only a tenant's own account."""
        return generate_latest(cast("CollectorRegistry", _Own(self._find_source(), tenant)))

    def read(self, name: str) -> list[Sample]:
        """Return the samples of a metric, of all worker processes together."""
        families = self.collect()
        return [each for family in families if family.name == name for each in family.samples]

    def collect(self) -> Iterable[Metric]:
        """Return all metrics, of all worker processes together."""
        return self._find_source().collect()

    def _find_source(self) -> _MetricSource:
        if self._folder is None:
            return self.registry
        return MultiProcessCollector(None, str(self._folder))  # type: ignore[no-untyped-call]


class _Stage:
    """Time a block, and trace it. A generator's context manager takes several times as long."""

    __slots__ = ("_name", "_note", "_observe", "_span", "_start")

    def __init__(
        self,
        name: str,
        observe: Callable[[float], None],
        note: Callable[[str, float], None] | None,
        span: AbstractContextManager[None] | None,
    ) -> None:
        self._name, self._observe, self._note, self._span = name, observe, note, span

    def __enter__(self) -> None:
        if self._span is not None:
            self._span.__enter__()
        self._start = time.perf_counter()

    def __exit__(self, *exc: Any) -> None:
        seconds = time.perf_counter() - self._start
        self._observe(seconds)
        if self._note is not None:
            self._note(self._name, seconds)
        if self._span is not None:
            self._span.__exit__(*exc)


class _MetricSource(Protocol):
    def collect(self) -> Iterable[Metric]: ...


class _Own:
    """Filter metrics: the samples about one tenant, or all of them.

    Samples without a tenant are for operators: a tenant could subtract its own figures from them
    and learn those of the others.
    """

    def __init__(self, source: _MetricSource, tenant: str | None) -> None:
        self._source, self._tenant = source, tenant

    def collect(self) -> Iterator[Metric]:
        for family in self._source.collect():
            if self._tenant is not None:
                family.samples = [
                    sample
                    for sample in family.samples
                    if sample.labels.get("tenant") == self._tenant
                ]
            if family.samples:
                yield family
