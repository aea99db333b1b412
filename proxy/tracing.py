"""Trace requests with OpenTelemetry: a span for each request, and one for each of its stages.

A span holds names from closed sets, ids and numbers, as a line of the log does. A client's
`traceparent` is accepted as the parent. Nothing of a trace is sent to the remote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from perturb.install import install_command
from proxy.errors import ConfigError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

__all__ = ["Note", "Tracing", "open_tracing"]

Note = Callable[[Mapping[str, Any]], None]  # takes the fields of the request's line in the log
# What a span holds of that line, and the name under which it does.
FIELDS = {
    "request_id": "inferdpt.request",
    "method": "http.request.method",
    "path": "http.route",
    "status": "http.response.status_code",
    "error": "error.type",
    "mechanism": "inferdpt.mechanism",
    "epsilon_nominal": "inferdpt.epsilon",
    "guarantee": "inferdpt.guarantee",
    "released": "inferdpt.tokens",
    "stream": "inferdpt.stream",
    "choices": "inferdpt.choices",
    "remote": "inferdpt.remote",
}


class Tracing:
    """Make spans, and hand them to a processor.

    No span records an exception: its message may quote a text.
    """

    def __init__(self, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        resource = Resource.create({"service.name": "inferdpt"})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("inferdpt")
        self._parents = TraceContextTextMapPropagator()
        self._server = SpanKind.SERVER
        self._failed = Status(StatusCode.ERROR)

    @contextmanager
    def request(self, parent: str | None) -> Iterator[Note]:
        """Trace a request; yield a function that takes its line in the log at its end.

        Args:
            parent: the client's `traceparent`. Its `tracestate`, which may hold anything, and a
                malformed one are left out.
        """
        context = self._parents.extract({} if parent is None else {"traceparent": parent})
        with self._tracer.start_as_current_span(
            "request",
            context,
            kind=self._server,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:

            def note(line: Mapping[str, Any]) -> None:
                span.update_name(f"{line['method']} {line['path']}")
                for field, name in FIELDS.items():
                    if line.get(field) is not None:
                        span.set_attribute(name, line[field])
                if line["status"] >= 500:
                    span.set_status(self._failed)

            yield note

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Trace a stage of the request that runs."""
        with self._tracer.start_as_current_span(
            name, record_exception=False, set_status_on_exception=False
        ):
            yield

    def close(self) -> None:
        """Send what waits. It may take seconds, so call it in a thread."""
        self._provider.shutdown()


def open_tracing(address: str) -> Tracing:
    """Trace to an address that takes OTLP over HTTP.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigError(
            f"telemetry.traces: needs OpenTelemetry: {install_command('otel')}"
        ) from None
    return Tracing(BatchSpanProcessor(OTLPSpanExporter(endpoint=address)))
