"""Let agents repair folders through the gateway, and count what the way out and back spoils."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from aiohttp import ClientSession
from tqdm import tqdm

from benchmarks.fidelity.agent import Agent, Reply, read_events
from benchmarks.fidelity.agents import AGENTS
from benchmarks.fidelity.coder import Coder
from benchmarks.fidelity.folders import Folder
from benchmarks.fidelity.gateway import running_gateway
from benchmarks.fidelity.measure import Fidelity
from perturb import EmbeddingTable

__all__ = ["Exchange", "count_session", "measure_agents", "read_strings", "run_session"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """Hold one request of a session.

    Attributes:
        asked: the body that the agent sent.
        left: the body that the remote received; None if nothing left.
        status: of HTTP; 0 if the stream ended with an error.
        written: what the remote answered; None if nothing arrived there.
        got: what the agent read of it; None for an error.
    """

    asked: Json
    left: Json | None
    status: int
    written: Reply | None
    got: Reply | None


async def measure_agents(
    table: EmbeddingTable,
    parameters: Mapping[str, Any],
    folders: Sequence[Folder],
    found: Fidelity,
    agents: Sequence[type[Agent]] = AGENTS,
) -> None:
    """Let each agent repair each folder through a gateway of their own, and count.

    Raises:
        ConfigError, PerturbError: the parameters are not valid, or a package is missing.
    """
    coder = Coder()
    work = [(agent, folder) for agent in agents for folder in folders]
    async with running_gateway(table, parameters, coder.build_app()) as gateway:
        for kind, folder in tqdm(work, desc="sessions", leave=False, disable=None):
            agent = kind(folder)
            exchanges = await run_session(gateway.session, gateway.url, agent, coder)
            count_session(agent, exchanges, found)


async def run_session(
    session: ClientSession, url: str, agent: Agent, coder: Coder
) -> list[Exchange]:
    """Let an agent work until its model has nothing more to do, at most an answer a step.

    Args:
        url: of the gateway, or of the coder itself, with the version.
        coder: the remote; it plays the agent's model.
    """
    coder.agent = agent
    exchanges: list[Exchange] = []
    for _ in agent.steps:
        asked = agent.make_body()
        coder.left = coder.written = None
        async with session.post(f"{url}/{agent.path}", json=asked) as reply:
            events = read_events(await reply.text())
        failed = any(event.get("error") or event.get("type") == "error" for event in events)
        status = 0 if failed else reply.status
        got = agent.read_stream(events) if status == 200 else None
        exchanges.append(Exchange(asked, coder.left, status, coder.written, got))
        if got is None or not agent.take(got):
            break
    return exchanges


def count_session(agent: Agent, exchanges: Sequence[Exchange], found: Fidelity) -> None:
    """Count what a session came to, for its agent and for all of them."""
    folder, name = agent.folder, agent.name
    repaired = agent.text == folder.repaired
    found.count(f"{name}: edits that apply", repaired)
    found.count(f"{name}: folders whose test passes", folder.passes(agent.text))
    found.count(f"{name}: files spoilt", agent.applied and not repaired)
    found.count(f"{name}: repaired files quoted exactly", agent.quoted)
    for exchange in exchanges:
        found.count(f"{name}: requests refused", exchange.status != 200)
    left = [exchange.left for exchange in exchanges if exchange.left is not None]
    strings = [*read_strings(left)]
    for type_, value in folder.private:
        leaks = _holds(strings, type_, value)
        found.count(f"{name}: private values left", leaks)
        found.count(f"agents: private values left of type {type_}", leaks)
    found.count(f"agents: edits that apply, {folder.kind}", repaired)
    if left:
        lines = {line.strip() for text in strings for line in text.splitlines()}
        shown = {line.strip() for text in strings for line in agent.read_shown(text)}
        code = _list_public_lines(folder)
        changed = sum(line not in shown for line in code)
        found.count(f"{name}: lines of code changed without need", changed, len(code))
        known = {line.strip() for text in read_strings(agent.public) for line in text.splitlines()}
        changed = sum(line not in lines for line in known)
        found.count(f"{name}: lines of instructions changed", changed, len(known))
    for before, after in pairwise(exchanges):
        if before.left is not None and after.left is not None:
            kept, total = _count_kept(before, after)
            found.count(f"{name}: messages sent again unchanged", kept, total)


def read_strings(value: Any) -> Iterator[str]:
    """Return the strings and keys of JSON, also those of JSON in strings."""
    if isinstance(value, str):
        yield value
        if value.startswith("{"):
            try:
                inner = json.loads(value)
            except ValueError:
                return
            yield from read_strings(inner)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from read_strings(key)
            yield from read_strings(item)
    elif isinstance(value, Iterable):
        for item in value:
            yield from read_strings(item)


def _holds(strings: Iterable[str], type_: str, value: str) -> bool:
    """Tell whether a value is in strings, in any capitals; names only as whole words."""
    if type_ != "PERSON":
        return any(value.casefold() in text.casefold() for text in strings)
    whole = re.compile(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", re.IGNORECASE)
    return any(whole.search(text) for text in strings)


def _list_public_lines(folder: Folder) -> list[str]:
    """Return the lines of a file in which nothing private stands, and no part of a name."""
    values = [
        part.casefold()
        for type_, value in folder.private
        for part in (value.split() if type_ == "PERSON" else [value])
    ]
    lines = [line.strip() for line in folder.text.splitlines() if line.strip()]
    return [line for line in lines if not any(value in line.casefold() for value in values)]


def _count_kept(before: Exchange, after: Exchange) -> tuple[int, int]:
    """Count the messages that the agent sends again as they were, and how many arrive so."""
    assert before.left is not None
    assert after.left is not None
    asked = [_read_messages(exchange.asked) for exchange in (before, after)]
    left = [_read_messages(body) for body in (before.left, after.left)]
    if asked[1][: len(asked[0])] == asked[0]:
        kept = sum(a == b for a, b in zip(left[0], left[1], strict=False))
        return kept, len(left[0])
    again = (Counter(asked[0]) & Counter(asked[1])).total()
    return min((Counter(left[0]) & Counter(left[1])).total(), again), again


def _read_messages(body: Json) -> list[str]:
    """Return the messages of a body, each as JSON, without marks of what is to be cached."""
    head = [body[name] for name in ("system", "instructions", "tools") if name in body]
    messages = body["messages"] if "messages" in body else body["input"]
    return [json.dumps(_drop_marks(item)) for item in (*head, *messages)]


def _drop_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_marks(item) for key, item in value.items() if key != "cache_control"}
    if isinstance(value, list):
        return [_drop_marks(item) for item in value]
    return value
