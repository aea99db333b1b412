"""Ask under each condition, through the real proxy: who reads the document, and what becomes of
the remote's words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from openai import APIStatusError, AsyncOpenAI, OpenAIError

from extraction.extractor import Extraction
from perturb import EmbeddingTable
from proxy.advice.texts import Task
from proxy.config.settings import Local
from proxy.errors import ConfigError
from proxy.local import local_server
from proxy.loopback import run_proxy

__all__ = [
    "ALONE",
    "GATEWAY",
    "IDEAL",
    "TARGETS",
    "TOKENS",
    "Advance",
    "Ask",
    "Condition",
    "Replies",
    "Reply",
    "Served",
    "Target",
    "ask_all",
    "list_conditions",
    "list_points",
    "read_point",
    "running_conditions",
    "serve_model",
]

ALONE, IDEAL, GATEWAY = "local model alone", "remote, raw text", "gateway, selective"
MODEL = "m"
SAMPLING = {"temperature": 0.2, "top_p": 0.9}
TOKENS = 160  # of an answer
SECONDS = 600.0  # of an answer
AT_ONCE = 4  # requests
Target = Literal["remote", "gateway", "proxy"]
TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True)
class Served:
    """Hold the address of a model, its name there, and its key."""

    base_url: str
    model: str
    key: str = field(repr=False)


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
    target: Target
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 1


@dataclass(frozen=True)
class Reply:
    """Hold an answer, and what it may have taken from the remote; None where nothing was sent in
    place of the document."""

    answer: str
    material: str | None = None


Ask = Callable[[Task, Condition], Awaitable[Reply]]
Replies = Mapping[str, Sequence[Reply]]  # by the name of the condition, in the tasks' order
Advance = Callable[[int, int, str], None]  # with the answers that are there, all, and a note


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
        *list_points(points, extractions, candidates),
    ]


def list_points(
    points: Sequence[tuple[str, float]],
    extractions: Sequence[Extraction],
    candidates: Sequence[int],
) -> list[Condition]:
    """Return each mechanism and ε with each way of extraction and each number of candidates."""
    return [
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
    ]


@asynccontextmanager
async def serve_model(role: str, model: str, name: str | None, key: str) -> AsyncIterator[Served]:
    """Yield the address of a model.

    Args:
        role: `local` or `remote`, for errors.
        model: an OpenAI-compatible URL, the name of a pulled model, or a GGUF file; the last two
            are served here, by the embedded engine.
        name: of the URL's model; None for the first that the server lists.
        key: of the URL.

    Raises:
        ConfigError: the server lists no model.
        LocalModelUnavailable: there is no such model or file, or its server does not start.
    """
    async with AsyncExitStack() as stack:
        url = model
        if not model.startswith(("http://", "https://")):
            config = Local.model_validate({"mode": "embedded", "embedded": {"model": model}})
            url = (await stack.enter_async_context(local_server(config))).base_url
        if name is None:
            try:
                async with AsyncOpenAI(base_url=url, api_key=key) as client:
                    listed = [each.id async for each in client.models.list()]
            except OpenAIError as exc:
                raise ConfigError(f"the {role} model's server {_describe(exc)}") from exc
            if not listed:
                raise ConfigError(f"the {role} model's server lists no model: name one")
            name = listed[0]
        yield Served(url, name, key)


@asynccontextmanager
async def running_conditions(
    table: EmbeddingTable,
    local: Served,
    remote: Served,
    mechanisms: Collection[str],
    targets: Collection[Target] = TARGETS,
) -> AsyncIterator[Ask]:
    """Yield what asks under any condition of some targets.

    Args:
        local: the trusted model.
        remote: the model that is not trusted.
        mechanisms: that conditions name.
        targets: a condition of another one is refused.

    Raises:
        ConfigError, PerturbError: a mechanism cannot be used.
    """
    behind = {
        "base_url": remote.base_url,
        "api_key": remote.key,
        "models": {MODEL: remote.model},
        "send_seed": True,
        "timeout_seconds": SECONDS,
    }
    trusted = {
        "mode": "external",
        "base_url": local.base_url,
        "model": local.model,
        "api_key": local.key,
        "timeout_seconds": SECONDS,
    }
    settings: dict[Target, dict[str, Any]] = {
        "gateway": {
            "privacy": {"mechanism": "selective"},
            "local": {"mode": "none"},
            "remote": behind,
        },
        "proxy": {
            "privacy": {"mechanism": "surrogate"},
            "limits": {"mechanisms": tuple(mechanisms), "epsilon_max": None},
            "local": trusted,
            "remote": behind,
        },
    }
    clients: dict[Target, AsyncOpenAI] = {}
    async with AsyncExitStack() as stack:
        for target in targets:
            url, key = remote.base_url, remote.key
            if target != "remote":
                proxy = run_proxy(table, settings[target], environment={})
                url, key = await stack.enter_async_context(proxy), "any"
            client = AsyncOpenAI(base_url=url, api_key=key, timeout=2 * SECONDS, max_retries=2)
            clients[target] = await stack.enter_async_context(client)

        async def ask(task: Task, condition: Condition) -> Reply:
            client = clients[condition.target]  # there is none of another target
            try:
                return await _ask(client, task, condition, remote.model)
            except OpenAIError as exc:
                proxied = condition.target != "remote"
                raise ConfigError(f"{condition.name}: {_describe(exc, proxied)}") from exc

        yield ask


async def ask_all(
    tasks: Sequence[Task],
    conditions: Sequence[Condition],
    ask: Ask,
    advance: Advance = lambda done, total, note: None,
) -> Replies:
    """Return the answers to all tasks under all conditions. The first failure is raised."""
    slots, done = asyncio.Semaphore(AT_ONCE), 0
    total = len(tasks) * len(conditions)

    async def one(task: Task, condition: Condition) -> Reply:
        nonlocal done
        async with slots:
            reply = await ask(task, condition)
        done += 1
        advance(done, total, condition.name)
        return reply

    advance(0, total, "")
    try:
        async with asyncio.TaskGroup() as group:
            asked = {
                condition.name: [group.create_task(one(task, condition)) for task in tasks]
                for condition in conditions
            }
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return {name: [each.result() for each in every] for name, every in asked.items()}


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


def _describe(error: OpenAIError, proxied: bool = False) -> str:
    """Describe a failure by its kind, and by its code if it is the proxy's; what another server
    says may quote a text."""
    facts = [type(error).__name__]
    if isinstance(error, APIStatusError):
        facts.append(f"{error.status_code}")
        if proxied and error.code:
            facts.append(error.code)
    return f"failed with {' '.join(facts)}"
