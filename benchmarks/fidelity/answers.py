"""Compare a real model's answers to texts as they are with those to what leaves in their place.

Each text is asked twice as it is, with two seeds, and with the second of them through each tool.
An answer through a tool, brought back, is compared with the answer of the same seed (they are
equal where nothing was changed) and with that of the other one: how similar two answers to the
text itself are is all that a tool could reach.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from aiohttp import ClientSession, ClientTimeout, web
from tqdm import tqdm

from benchmarks.fidelity.gateway import running_gateway, write_completion
from benchmarks.fidelity.measure import Case, Fidelity, count_left
from benchmarks.harness.datasets import DataError
from benchmarks.metrics.utility import rouge_l
from perturb import EmbeddingTable
from perturb.audit.intervals import bootstrap_mean
from perturb.errors import MissingPackage
from proxy.cli.help import lay_out
from proxy.config.settings import Local
from proxy.local import local_server

__all__ = [
    "Answers",
    "Ask",
    "Reply",
    "ask_gateway",
    "ask_presidio",
    "choose_prompts",
    "compare",
    "render",
    "serve_model",
]

SAMPLING = {"temperature": 0.2, "top_p": 0.9, "max_tokens": 96}  # SmolLM2's model card
SEEDS = (1, 2)
CONTEXT, THREADS = 8192, 2
SECONDS = 600.0
TASK = "Summarize this in two sentences.\n\n"  # for texts that ask nothing
SETS = ("arithmetic", "code", "private", "named", "prompts")
COUNTED = ("values left", "private units left", "unchanged")  # of what left


class Reply(NamedTuple):
    """Hold an answer, brought back, and what the model was asked; None where nothing left."""

    answer: str
    left: str | None


Ask = Callable[[str, int], Awaitable[Reply]]


@dataclass
class Answers:
    """Hold the answers to the texts of one set through one tool.

    Attributes:
        same: whether each is the answer of the same seed to the text itself.
        similar: ROUGE-L to the answer of the other seed, 0 to 1.
        possible: the same of the answer of the same seed.
        counts: of what left.
    """

    same: list[bool] = field(default_factory=list)
    similar: list[float] = field(default_factory=list)
    possible: list[float] = field(default_factory=list)
    counts: Fidelity = field(default_factory=Fidelity)

    @property
    def ratio(self) -> float:
        """Return how much of the possible similarity is left."""
        possible = sum(self.possible)
        return sum(self.similar) / possible if possible else 1.0


def choose_prompts(cases: Sequence[Case], most: int | None = None) -> list[tuple[str, Case, str]]:
    """Return what is asked: the set, the text it is made of, and the prompt."""
    chosen: dict[str, list[tuple[str, Case, str]]] = {name: [] for name in SETS}
    for case in cases:
        name = "arithmetic" if case.kind == "mathematics" else case.set
        if name in chosen:
            prompt = TASK + case.text if name == "private" else case.text
            chosen[name].append((name, case, prompt))
    return [each for name in SETS for each in _spread(chosen[name], most)]


def _spread(items: list[Any], most: int | None) -> list[Any]:
    """Return some of the items, from all over the list."""
    count = min(len(items), most or len(items))
    return [items[i * len(items) // count] for i in range(count)]


async def compare(
    prompts: Sequence[tuple[str, Case, str]], raw: Ask, tools: Mapping[str, Ask]
) -> dict[str, dict[str, Answers]]:
    """Ask everything, and return the answers by tool and set.

    Args:
        raw: asks the model itself.
        tools: ask through each tool.
    """
    found: dict[str, dict[str, Answers]] = {tool: {} for tool in tools}
    for name, case, prompt in tqdm(prompts, desc="prompts", leave=False, disable=None):
        other, own = [(await raw(prompt, seed)).answer for seed in SEEDS]
        for tool, ask in tools.items():
            reply = await ask(prompt, SEEDS[1])
            answers = found[tool].setdefault(name, Answers())
            answers.same.append(reply.answer == own)
            answers.similar.append(float(rouge_l([reply.answer], [other])[0]))
            answers.possible.append(float(rouge_l([own], [other])[0]))
            if reply.left is not None:
                count_left(case, reply.left, answers.counts)
    return found


@asynccontextmanager
async def serve_model(model: str, name: str) -> AsyncIterator[Ask]:
    """Yield what asks a model: a GGUF file, which is served here, or an OpenAI-compatible URL.

    Args:
        model: the file or the URL, with its version.
        name: of the model at the URL.

    Raises:
        DataError: there is no such file.
        LocalModelUnavailable: the server of the file does not start.
    """
    if model.startswith(("http://", "https://")):
        async with _asking(model, name) as ask:
            yield ask
        return
    if not await asyncio.to_thread(Path(model).is_file):
        raise DataError("--remote must be a GGUF file or an OpenAI-compatible URL")
    given = {"model": model, "context": CONTEXT, "parallel": 1, "threads": THREADS}
    config = Local.model_validate({"mode": "embedded", "embedded": given})
    async with local_server(config) as server, _asking(server.base_url, "any") as ask:
        yield ask


@asynccontextmanager
async def _asking(url: str, name: str) -> AsyncIterator[Ask]:
    async with ClientSession(timeout=ClientTimeout(SECONDS)) as session:

        async def ask(prompt: str, seed: int) -> Reply:
            messages = [{"role": "user", "content": prompt}]
            body = {"model": name, "messages": messages, "seed": seed, **SAMPLING}
            async with session.post(f"{url}/chat/completions", json=body) as reply:
                reply.raise_for_status()
                told = await reply.json()
            return Reply(told["choices"][0]["message"]["content"] or "", prompt)

        yield ask


@asynccontextmanager
async def ask_gateway(
    table: EmbeddingTable, parameters: Mapping[str, Any], raw: Ask
) -> AsyncIterator[Ask]:
    """Yield what asks through a gateway with these `privacy.parameters`.

    Raises:
        ConfigError, PerturbError: the parameters are not valid, or a package is missing.
    """
    received: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        received.append(body["messages"][-1]["content"])
        told = await raw(received[-1], body["seed"])
        return web.json_response(write_completion(told.answer))

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", answer)
    async with running_gateway(table, parameters, app) as gateway:

        async def ask(prompt: str, seed: int) -> Reply:
            received.clear()
            trip = await gateway.send(prompt, seed=seed)
            return Reply(trip.back, received[-1] if received else None)

        yield ask


def ask_presidio(model: str, raw: Ask) -> Ask:
    """Return what asks with Presidio's findings as numbered placeholders, which are replaced in
    the answer.

    Args:
        model: an installed model of spaCy.

    Raises:
        MissingPackage: the plug-in for Presidio is not installed.
    """
    try:
        from inferdpt_presidio.policy import PresidioPolicy
    except ImportError as exc:
        raise MissingPackage(
            "Presidio needs its plug-in, the package in examples/presidio"
        ) from exc
    policy = PresidioPolicy(model)

    async def ask(prompt: str, seed: int) -> Reply:
        names: dict[str, str] = {}
        out, end = [], 0
        spans = sorted(policy.find(prompt), key=lambda span: (span.start, -span.end))
        for span in spans:
            if span.start < end:
                continue
            value = prompt[span.start : span.end]
            number = sum(name.startswith(f"<{span.type}_") for name in names.values()) + 1
            name = names.setdefault(value, f"<{span.type}_{number}>")
            out += [prompt[end : span.start], name]
            end = span.end
        left = "".join([*out, prompt[end:]])
        answer = (await raw(left, seed)).answer
        for value, name in names.items():
            answer = answer.replace(name, value)
        return Reply(answer, left)

    return ask


def render(found: Mapping[str, Mapping[str, Answers]]) -> str:
    """Return a table in plain text, a column for each tool."""
    rows = [["", *found]]
    for name in SETS:
        each = [sets.get(name) for sets in found.values()]
        if not all(each):
            continue
        answers = [one for one in each if one is not None]
        rows.append([f"{name}: texts", *(str(len(one.same)) for one in answers)])
        rows.append([f"{name}: same answer", *(_percent(one.same) for one in answers)])
        rows.append([f"{name}: similarity", *(_mean(one.similar) for one in answers)])
        rows.append([f"{name}: possible", *(_mean(one.possible) for one in answers)])
        rows.append([f"{name}: of it reached", *(f"{100 * one.ratio:.1f} %" for one in answers)])
        for counted in COUNTED:
            shares = [_find(one.counts, counted) for one in answers]
            if any(shares):
                rows.append([f"{name}: {counted}", *shares])
    return lay_out(rows)


def _find(counts: Fidelity, name: str) -> str:
    for key, share in counts.shares.items():
        if key.endswith(f": {name}"):
            return f"{100 * share.hits / share.total:.1f} % ({share.hits}/{share.total})"
    return ""


def _percent(same: Sequence[bool]) -> str:
    return f"{100 * sum(same) / len(same):.1f} %"


def _mean(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.3f}"
    found = bootstrap_mean(np.array(values), np.random.default_rng(0))
    return f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
