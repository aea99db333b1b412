"""Define the whole configuration, and load it.

Settings come from a YAML file, from the environment and from the command line; a later source
overrides an earlier one. Unknown keys are errors that name the key and where it was set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, ValidationError, field_validator, model_validator

from extraction.errors import TemplateError
from extraction.prompts import DOCUMENT_FIRST, Prompts
from proxy.config.errors import explain
from proxy.config.fields import Section, merge
from proxy.config.privacy import Privacy
from proxy.config.server import ClientKey, Limits, Server, is_loopback
from proxy.config.sources import (
    COMMAND_LINE,
    Source,
    check_variables,
    read_environment,
    read_file,
)
from proxy.config.store import Batches, Budget, MemoSettings, StoreSettings
from proxy.config.upstreams.local import Embedded, Local, Vllm
from proxy.config.upstreams.remote import (
    DEFAULT,
    Alias,
    NamedRemote,
    Remote,
    check_models,
    find_place,
)
from proxy.errors import ConfigError

__all__ = [
    "DIVIDED",
    "Batches",
    "Budget",
    "ClientKey",
    "Config",
    "Embedded",
    "Limits",
    "Local",
    "MemoSettings",
    "ModelPrice",
    "NamedRemote",
    "Privacy",
    "Remote",
    "Section",
    "Server",
    "StoreSettings",
    "Telemetry",
    "Vllm",
    "check_workers",
    "is_loopback",
    "load_config",
    "load_with_sources",
]


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


# section -> settings
DIVIDED: Mapping[str, tuple[str, ...]] = {
    "server": ("connections_per_address",),
    "limits": (
        "concurrent_requests",
        "concurrent_per_client",
        "queue_requests",
        "held_bytes",
    ),
    "remote": ("concurrency",),
    "local": ("concurrency",),
    "memo": ("megabytes",),
}


def check_workers(workers: int, config: Any) -> None:
    """Check that each of several workers gets something of every divided limit.

    Raises:
        ValueError: one would get nothing, or this system has no workers.
    """
    if workers == 1:
        return
    if sys.platform != "linux":
        raise ValueError("server.workers must be 1 on this system: more need Linux")
    for section, names in DIVIDED.items():
        for name in names:
            _check_share(workers, f"{section}.{name}", getattr(getattr(config, section), name))
    for alias, remote in config.remotes.items():
        for name in DIVIDED["remote"]:
            _check_share(workers, f"remotes.{alias}.{name}", getattr(remote, name))


def _check_share(workers: int, name: str, limit: float) -> None:
    if isinstance(limit, int) and 0 < limit < workers:
        raise ValueError(
            f"server.workers must be <= {name}, of which each worker gets an equal part: "
            f"{workers} > {limit}"
        )


class Config(Section):
    """Hold every setting."""

    server: Server = Field(Server(), description="The listening side: address and clients.")
    limits: Limits = Field(Limits(), description="Limits on the requests of clients.")
    privacy: Privacy = Field(Privacy(), description="The sanitizing of documents.")
    remote: Remote = Field(
        Remote(), description="The untrusted model. It sees sanitized text only."
    )
    remotes: dict[Alias, NamedRemote] = Field(
        {},
        description="Further untrusted models, each under an alias of its own, such as {azure: "
        "{base_url: https://example.org/v1, api_key_env: AZURE_KEY, models: {o3: o3}}}. Each has "
        "the settings of `remote`, whose alias is `default`. A model's name leads to its remote. "
        "`base_url` must be set. Without `api_key_env` no key is sent, and without `models` all "
        "that the remote lists is served, under names such as azure/o3.",
    )
    local: Local = Field(Local(), description="The trusted model. It sees the raw text.")
    memo: MemoSettings = Field(
        MemoSettings(),
        description="The memory of earlier releases: a text sent twice is released as the same "
        "bytes.",
    )
    store: StoreSettings = Field(
        StoreSettings(),
        description="The store, which outlives the process: released text, generations, keyed "
        "hashes and counters.",
    )
    batches: Batches = Field(
        Batches(), description="Files of requests that are answered at low priority."
    )
    telemetry: Telemetry = Field(
        Telemetry(), description="What operators observe, beside the log and /metrics."
    )
    prompts: dict[str, str] = Field(
        {},
        description="Templates that replace the shipped ones: remote_continuation, "
        "remote_instruct, remote_words, remote_passages, remote_demonstrations, "
        "local_continuation, local_answer. See extraction/prompts.py.",
    )

    @field_validator("prompts")
    @classmethod
    def _check_templates(cls, value: dict[str, str]) -> dict[str, str]:
        try:
            Prompts(**value)
        except TemplateError as exc:
            raise ValueError(str(exc)) from None
        except TypeError:
            known = ", ".join(Prompts.__dataclass_fields__)
            raise ValueError(f"unknown template; there are {known}") from None
        return value

    @property
    def templates(self) -> Prompts:
        """Return the templates in force. The bundled model continues the text that comes last;
        other models get the document first."""
        shipped = {} if self.local.is_bundled else {"local_continuation": DOCUMENT_FIRST}
        return Prompts(**shipped | self.prompts)

    @property
    def every_remote(self) -> dict[str, Remote]:
        """Return the untrusted models in use, by alias."""
        own = {DEFAULT: self.remote} if self.remote.models else {}
        return {**own, **self.remotes}

    @property
    def server_clips(self) -> bool:
        """Return whether the local server has to clip logits."""
        return self.privacy.checked_parameters.server_clips

    @model_validator(mode="after")
    def _check_models(self) -> Config:
        check_models(self.every_remote)
        return self

    @model_validator(mode="after")
    def _check_alone(self) -> Config:
        """Refuse settings that need a local model where there is none."""
        if self.local.mode == "none":
            if self.privacy.demonstrations is not None:
                raise ValueError(
                    "privacy.demonstrations needs a local model: without one, requests are "
                    "relayed in their own form"
                )
            if self.limits.on_budget == "local_only":
                raise ValueError("limits.on_budget local_only needs a local model")
            for alias, remote in self.every_remote.items():
                if remote.on_remote_failure == "local_only":
                    place = f"{find_place(alias)}.on_remote_failure"
                    raise ValueError(f"{place} local_only needs a local model")
        return self

    @model_validator(mode="after")
    def _check_clipping(self) -> Config:
        if self.server_clips and self.local.mode == "embedded":
            raise ValueError(
                f"privacy.mechanism {self.privacy.mechanism} in mode dp: local.mode embedded is "
                "llama.cpp, which cannot clip logits; serve the local model with vLLM, or set "
                "privacy.parameters.engine: transformers and a model"
            )
        return self

    @model_validator(mode="after")
    def _check_workers(self) -> Config:
        check_workers(self.server.workers, self)
        return self


def load_config(
    path: str | Path | None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Load the configuration.

    Args:
        path: the YAML file, if there is one.
        overrides: the settings of the command line, by section.
        environment: the environment's variables; None for those of the process.

    Raises:
        ConfigError: the file cannot be read, a key or a variable is unknown, or a value breaks
            its rule.
    """
    return load_with_sources(path, overrides, environment)[0]


def load_with_sources(
    path: str | Path | None,
    overrides: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[Config, tuple[Source, ...]]:
    """Load the configuration and return it with its sources, in order.

    Arguments and errors are those of `load_config`.
    """
    variables = os.environ if environment is None else environment
    sources = (
        *((read_file(path),) if path is not None else ()),
        read_environment(Config, variables),
        Source(COMMAND_LINE, overrides or {}),
    )
    data: Mapping[str, Any] = {}
    for source in sources:
        data = merge(Config, data, source.data)
    try:
        config = Config.model_validate(data)
    except ValidationError as exc:
        raise ConfigError(explain(exc, Config, sources)) from None
    keys = [each.api_key_env for each in (*config.every_remote.values(), config.remote)]
    check_variables(Config, variables, (*keys, config.local.api_key_env))
    return config, sources
