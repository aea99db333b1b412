"""Run a verification: of a proxy of its own in gateway mode, or of any gateway by its address; and
print what it found: counts by kind and endpoint, and every failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from perturb.selective.parameters import SelectiveParameters
from perturb.selective.profiles import PROFILES, Actions
from proxy.config.privacy import Privacy
from proxy.config.settings import load_config
from proxy.loopback import run_proxy
from proxy.verify.documents import DOCUMENTS
from proxy.verify.probe import FAILURES, Advance, Cell, ProbeResult, Verdict, probe
from proxy.verify.trials import ALL_TYPES, plan_trials
from proxy.verify.upstream import Upstream
from proxy.verify.values import TYPES

__all__ = ["format_report", "verify"]

_GOOD: tuple[Verdict, ...] = ("clean", "restored")


def format_report(findings: ProbeResult, *, markdown: bool = False) -> str:
    """Format a table of counts, the failures, if any, and the sums in the last lines."""
    if not findings.arrived:
        return "Nothing reached the throwaway upstream: is it the gateway's upstream?"
    parts = [_format_table(_count(findings), markdown)]
    if failures := findings.failures:
        parts.append(_format_table(_list_failures(failures), markdown))
    if findings.faults:
        lines = [["not in the form of its endpoint"], *([fault] for fault in findings.faults)]
        parts.append(_format_table(lines, markdown))
    return "\n\n".join((*parts, _sum_up(findings)))


def _count(findings: ProbeResult) -> list[list[str]]:
    """Return a line for each kind and a column for each endpoint, with the requests."""
    endpoints = list(dict.fromkeys(cell.endpoint for cell in findings.cells))
    kinds = {cell.kind for cell in findings.cells}
    lines = [["requests with", *(f"/v1/{endpoint}" for endpoint in endpoints)]]
    for kind in (*TYPES, *DOCUMENTS):
        if kind in kinds:
            cells = [cell for cell in findings.cells if cell.kind == kind]
            lines.append([kind, *(_format_count(cells, endpoint) for endpoint in endpoints)])
    places = {(cell.endpoint, cell.place) for cell in findings.cells}
    counts = Counter(endpoint for endpoint, _ in places)
    return [*lines, ["positions", *(str(counts[endpoint]) for endpoint in endpoints)]]


def _format_count(cells: Sequence[Cell], endpoint: str) -> str:
    """Return the number of requests, and of those that were not good."""
    verdicts = Counter(cell.verdict for cell in cells if cell.endpoint == endpoint)
    others = [f"{verdicts[each]} {each}" for each in ("refused", *FAILURES) if verdicts[each]]
    total = str(verdicts.total()) if verdicts else "-"
    return f"{total} ({', '.join(others)})" if others else total


def _list_failures(failures: Sequence[Cell]) -> list[list[str]]:
    """Return a line for each position and failure, with the kinds that failed."""
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for cell in failures:
        leaked = f" ({', '.join(cell.leaked)})" if cell.leaked not in ((), (cell.kind,)) else ""
        place = (cell.verdict, f"/v1/{cell.endpoint}", cell.place)
        kinds.setdefault(place, []).append(cell.kind + leaked)
    lines = ([*place, ", ".join(failed)] for place, failed in kinds.items())
    return [["failure", "endpoint", "position", "with"], *lines]


def _sum_up(findings: ProbeResult) -> str:
    counts = ((findings.count(verdict), verdict) for verdict in (*_GOOD, "refused", *FAILURES))
    sums = ", ".join(f"{count} {verdict}" for count, verdict in counts)
    return f"{len(findings.cells)} requests: {sums}; {len(findings.faults)} faults of form."


def _format_table(lines: Sequence[Sequence[str]], markdown: bool) -> str:
    if markdown:
        rule = ["---"] * len(lines[0])
        return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = (
        (cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join("  ".join(row).rstrip() for row in rows)


MODEL = "verify"


async def verify(
    *,
    config: str | None = None,
    base_url: str | None = None,
    port: int = 0,
    model: str = MODEL,
    api_key: str = "none",
    seed: int = 1,
    full: bool = False,
    announce: Callable[[str], None] = lambda _: None,
    advance: Advance = lambda done, total: None,
) -> ProbeResult:
    """Plant values at every position and look for them in what the upstream receives.

    Args:
        config: a file whose section `privacy` and setting `remote.api` the proxy under test uses;
            None for the defaults of the mechanism selective and OpenAI's API. Nothing is kept, and
            nothing leaves this machine.
        base_url: the address of a gateway that is running already, in place of a proxy.
        port: the port of the throwaway upstream; 0 picks a free one.
        model, api_key: in the requests to the gateway.
        seed: chooses the sample of positions and types, and the values.
        full: send every type, and every kind of document, at every position.
        announce: called with the address of the upstream.
        advance: called with the number of requests that are done, and of all.

    Raises:
        ConfigError: the file is invalid, or its mechanism cannot serve without a local model.
        OSError: the port is taken.
    """
    upstream = Upstream()
    privacy = Privacy(mechanism="selective") if config is None else load_config(config).privacy
    types = ALL_TYPES if base_url is not None else _list_hidden(privacy)
    trials = plan_trials(model, types=types, seed=seed, full=full)
    test = partial(probe, upstream=upstream, trials=trials, api_key=api_key, advance=advance)
    try:
        await upstream.start(port)
        announce(upstream.base_url)
        if base_url is not None:
            url = base_url.rstrip("/")
            return await test(url)
        async with _serve(config, upstream.base_url, model) as url:
            return await test(url)
    finally:
        await upstream.stop()


def _list_hidden(privacy: Privacy) -> tuple[str, ...]:
    """Return the types of values that a configuration hides: those of its profile, or of its
    entities, whose action is not `keep`."""
    parameters = privacy.checked_parameters
    if not isinstance(parameters, SelectiveParameters):
        return ALL_TYPES
    actions = Actions(tuple(dict(parameters.actions).items()))
    profile = PROFILES.get(parameters.profile)
    wanted = profile.types if profile else frozenset(parameters.entities) or None
    names = {"NAME": ("NAME", "PERSON")}  # the patterns' type and the detector's
    return tuple(
        type_
        for type_ in ALL_TYPES
        if any(wanted is None or spelled in wanted for spelled in names.get(type_, (type_,)))
        and actions.of(type_) != "keep"
    )


@asynccontextmanager
async def _serve(path: str | None, upstream: str, model: str) -> AsyncIterator[str]:
    """Serve a proxy in gateway mode with a store of its own."""
    privacy: dict[str, Any] = {"mechanism": "selective"}
    remote: dict[str, Any] = {"base_url": upstream, "models": {model: model}, "retries": 0}
    if path is not None:
        given = load_config(path)
        privacy = given.privacy.model_dump()
        remote |= {"api": given.remote.api, "api_key": "none"}
    settings = {"privacy": privacy, "local": {"mode": "none"}, "remote": remote}
    async with run_proxy(None, settings, environment={}) as url:
        yield url
