"""Ask under each condition, through the real proxy: who reads the document, and what becomes of
the remote's words."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from openai import AsyncOpenAI

from benchmarks.harness.datasets import DataError
from benchmarks.harness.proxies import run_proxy
from benchmarks.harness.suite import Endpoint
from benchmarks.tasks.texts import Task
from extraction.extractor import Extraction
from perturb import EmbeddingTable
from proxy.config.settings import Local
from proxy.local import local_server

__all__ = [
    "ALONE",
    "GATEWAY",
    "IDEAL",
    "Ask",
    "Condition",
    "Reply",
    "list_conditions",
    "read_point",
    "running_conditions",
    "serve_model",
]

ALONE, IDEAL, GATEWAY = "local model alone", "remote, raw text", "gateway, selective"
MODEL = "m"
SAMPLING = {"temperature": 0.2, "top_p": 0.9}
TOKENS = 160  # of an answer
SECONDS = 600.0  # of an answer


@dataclass(frozen=True)
class Condition:
    """Define who answers.

    Attributes:
        name: for people.
        target: the remote itself, the gateway, or the proxy with the local model.
        options: the request's `inferdpt` object.
        seed: of the sampling, in both models.
    """

    name: str
    target: Literal["remote", "gateway", "proxy"]
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True)
class Reply:
    """Hold an answer, and what it may have taken from the remote; None where nothing was sent in
    place of the document."""

    answer: str
    material: str | None = None


Ask = Callable[[Task, Condition], Awaitable[Reply]]


def read_point(text: str) -> tuple[str, float]:
    """Return the mechanism and the ε in `NAME=ε`.

    Raises:
        ValueError: the text has another form.
    """
    name, _, epsilon = text.partition("=")
    return name, float(epsilon)


def list_conditions(
    points: Sequence[tuple[str, float]],
    extractions: Sequence[Extraction],
    candidates: Sequence[int] = (1,),
) -> list[Condition]:
    """Return the conditions: the local model alone, the remote on the raw text, the gateway, and
    each mechanism and ε with each way of extraction and each number of candidates.

    The ideal has a seed of its own: where both models are the same, an answer to the raw text with
    the same seed would be a copy of it.
    """
    return [
        Condition(ALONE, "proxy", {"local_only": True}),
        Condition(IDEAL, "remote", seed=2),
        Condition(GATEWAY, "gateway"),
        *(
            Condition(
                f"{name} {epsilon:g}, {extraction}" + (f", best of {count}" if count > 1 else ""),
                "proxy",
                {
                    "mechanism": name,
                    "epsilon": epsilon,
                    "extraction": extraction,
                    "candidates": count,
                },
            )
            for name, epsilon in points
            for extraction in extractions
            for count in candidates
        ),
    ]


@asynccontextmanager
async def serve_model(model: str, name: str | None, key_variable: str) -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a model.

    Args:
        model: an OpenAI-compatible URL, the name of a pulled model, or a GGUF file; the last two
            are served here, by the embedded engine.
        name: of the URL's model; None for the first that the server lists.
        key_variable: environment variable with the URL's key.

    Raises:
        DataError: the server lists no model.
        LocalModelUnavailable: there is no such model or file, or its server does not start.
    """
    async with AsyncExitStack() as stack:
        url = model
        if not model.startswith(("http://", "https://")):
            config = Local.model_validate({"mode": "embedded", "embedded": {"model": model}})
            url = (await stack.enter_async_context(local_server(config))).base_url
        key = os.environ.get(key_variable, "none")
        if name is None:
            async with AsyncOpenAI(base_url=url, api_key=key) as client:
                listed = [each.id async for each in client.models.list()]
            if not listed:
                raise DataError(f"the server at {url} lists no model: name one")
            name = listed[0]
        yield Endpoint(base_url=url, model=name, key_variable=key_variable)


@asynccontextmanager
async def running_conditions(
    table: EmbeddingTable, local: Endpoint, remote: Endpoint, mechanisms: Sequence[str]
) -> AsyncIterator[Ask]:
    """Yield what asks under any condition.

    Args:
        local: the trusted model.
        remote: the model that is not trusted.
        mechanisms: that conditions name.

    Raises:
        ConfigError, PerturbError: a mechanism cannot be used.
    """
    behind = {
        "base_url": remote.base_url,
        "api_key": _read_key(remote),
        "models": {MODEL: remote.model},
        "send_seed": True,
        "timeout_seconds": SECONDS,
    }
    trusted = {
        "mode": "external",
        "base_url": local.base_url,
        "model": local.model,
        "api_key": _read_key(local),
        "timeout_seconds": SECONDS,
    }
    gateway: dict[str, Any] = {
        "privacy": {"mechanism": "selective"},
        "local": {"mode": "none"},
        "remote": behind,
    }
    proxy: dict[str, Any] = {
        "privacy": {"mechanism": "surrogate"},
        "limits": {"mechanisms": tuple(mechanisms), "epsilon_max": None},
        "local": trusted,
        "remote": behind,
    }
    async with AsyncExitStack() as stack:

        async def connect(url: str, key: str = "any") -> AsyncOpenAI:
            client = AsyncOpenAI(base_url=url, api_key=key, timeout=2 * SECONDS, max_retries=2)
            return await stack.enter_async_context(client)

        clients = {"remote": await connect(remote.base_url, _read_key(remote))}
        for target, settings in (("gateway", gateway), ("proxy", proxy)):
            url = await stack.enter_async_context(run_proxy(table, settings))
            clients[target] = await connect(url)

        async def ask(task: Task, condition: Condition) -> Reply:
            return await _ask(clients[condition.target], task, condition, remote.model)

        yield ask


async def _ask(client: AsyncOpenAI, task: Task, condition: Condition, model: str) -> Reply:
    direct, through_local = condition.target == "remote", condition.target == "proxy"
    instruction = f"{task.instruction}\n\n"
    if through_local:
        instruction = f"<public>{instruction}</public>"
    done = await client.chat.completions.create(
        model=model if direct else MODEL,
        messages=[{"role": "user", "content": f"{instruction}{task.document}"}],
        extra_body={} if direct else {"inferdpt": {"receipt": "full", **condition.options}},
        max_tokens=TOKENS,
        seed=condition.seed,
        **SAMPLING,  # type: ignore[call-overload]
    )
    answer = done.choices[0].message.content or ""
    receipt = {} if direct else done.model_extra["inferdpt"]
    if not receipt.get("sent_to"):
        return Reply(answer)
    if through_local:
        return Reply(answer, _read_material(receipt["exchanges"]))
    # The gateway's answer is the remote's own: only the stand-ins in the text are foreign to it.
    sent = [{"sent": exchange["sent"]["messages"]} for exchange in receipt["exchanges"]]
    return Reply(answer, _read_material(sent))


def _read_material(exchanges: Sequence[Mapping[str, Any]]) -> str:
    """Return the texts of the user turns that were sent, and the remote's answers."""
    sent = [
        message["content"]
        for exchange in exchanges
        for message in exchange["sent"]
        if message["role"] == "user"
    ]
    return "\n".join([*sent, *(exchange.get("generation") or "" for exchange in exchanges)])


def _read_key(endpoint: Endpoint) -> str:
    return os.environ.get(endpoint.key_variable, "none")
