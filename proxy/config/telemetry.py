"""Define the settings of what operators observe: traces, metrics, the prices of the remote."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from proxy.config.section import Section

__all__ = ["ModelPrice", "Telemetry"]


class ModelPrice(Section):
    """Hold the price of a model of the remote, in a currency of the operator's."""

    model_config = ConfigDict(allow_inf_nan=False)

    prompt: float = Field(0.0, ge=0, description="Price of a million tokens that it reads.")
    completion: float = Field(0.0, ge=0, description="Price of a million tokens that it writes.")


class Telemetry(Section):
    """Hold what is logged, the places for traces and metrics, and prices for the metrics."""

    log_level: Literal["info", "warning", "error"] = Field(
        "info",
        description="The least that is logged. Each request is a line of `info`.",
    )

    traces: str | None = Field(
        None,
        pattern=r"^https?://[^\s@]+$",
        description="Address that takes OpenTelemetry traces over HTTP, such as "
        "http://127.0.0.1:4318/v1/traces. They hold names, counts and times, and no text. null "
        "makes none. Needs the extra `otel`.",
    )
    metrics: str | None = Field(
        None,
        pattern=r"^https?://[^\s@]+$",
        description="Address that takes OpenTelemetry metrics over HTTP, such as "
        "http://127.0.0.1:4318/v1/metrics. It gets what /metrics shows to operators, four times a "
        "minute. null sends none. Needs the extra `otel`.",
    )
    prices: dict[str, ModelPrice] = Field(
        {},
        description="Prices of the remote's tokens by model, as clients name it: "
        "{gpt-4o: {prompt: 2.5, completion: 10}}. /metrics adds them up.",
    )
