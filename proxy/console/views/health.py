"""Handle "Health": the parts of the proxy, the time of each stage, and the use of the remotes."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from proxy.api.app_keys import CONFIG, KEYRING, LOCAL, METRICS, REMOTES, STARTED, STORE, TENANT
from proxy.config.hints import without_user
from proxy.console.door import make_token, read_form
from proxy.console.pages import page
from proxy.console.views.tenants import check_operator
from proxy.errors import ApiError
from proxy.metrics import Metrics

__all__ = [
    "ModelCost",
    "StageTimes",
    "ask_remotes",
    "find_quantile",
    "read_costs",
    "read_stages",
    "show_health",
]

SECONDS = 3.0  # for each part to answer
FINE, SILENT = "answers", "does not answer"


@dataclass(frozen=True)
class StageTimes:
    """Hold the times of a stage, in seconds: half and 95 % of all took at most so long."""

    name: str
    count: int
    mean: float
    half: float
    most: float


@dataclass(frozen=True)
class ModelCost:
    """Hold what a model of a remote was used for since the start.

    Attributes:
        model: as the configuration names it.
        prompt, completion: its tokens, as far as the remote stated them.
        unstated: answers that stated none.
        cost: in the currency of telemetry.prices; None if the model has no price.
    """

    model: str
    prompt: float
    completion: float
    unstated: float
    cost: float | None


async def show_health(request: web.Request) -> web.Response:
    """Show the parts of the proxy. The remotes are not called."""
    return await _show(request, {})


async def ask_remotes(request: web.Request) -> web.Response:
    """Ask each remote for its list of models, which sends no text."""
    read_form(request)
    check_operator(request)
    told = await request.app[REMOTES].ask(SECONDS)
    return await _show(request, {alias: FINE if good else SILENT for alias, good in told.items()})


async def _show(request: web.Request, told: Mapping[str, str]) -> web.Response:
    app, config = request.app, request.app[CONFIG]
    local = app.get(LOCAL)
    store, answers = await asyncio.gather(
        _try(app[STORE].ping()), _try(local.ready()) if local is not None else _try(None)
    )
    sees_all = app[KEYRING].sees_all(request[TENANT])
    return page(
        request,
        "health.html",
        make_token(request),
        store=store,
        local=None if local is None else answers,
        local_mode=config.local.description,
        remotes=[
            {
                "alias": alias,
                "url": without_user(remote.base_url) if sees_all else "",
                "api": remote.api,
                "told": told.get(alias),
            }
            for alias, remote in config.every_remote.items()
        ],
        workers=config.server.workers,
        uptime=time.monotonic() - app[STARTED],
        stages=read_stages(app[METRICS]) if sees_all else None,
        costs=read_costs(app[METRICS]) if sees_all else [],
        counts=_read_counts(app[METRICS]) if sees_all else {},
        failures=_read_failures(app[METRICS]) if sees_all else [],
    )


async def _try(work: Any) -> bool:
    """Tell if a part answers in time; a part that is not there does."""
    if work is None:
        return True
    try:
        async with asyncio.timeout(SECONDS):
            return await work is not False
    except (TimeoutError, ApiError):
        return False


def read_stages(metrics: Metrics) -> list[StageTimes]:
    """Return the times of each stage since the start, in alphabetical order."""
    buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    sums: dict[str, float] = defaultdict(float)
    for sample in metrics.read("inferdpt_stage_seconds"):
        stage = sample.labels["stage"]
        if sample.name.endswith("_bucket"):
            buckets[stage][float(sample.labels["le"])] += sample.value
        elif sample.name.endswith("_sum"):
            sums[stage] += sample.value
    return [
        StageTimes(
            stage,
            int(counted[-1][1]),
            sums[stage] / counted[-1][1],
            find_quantile(counted, 0.5),
            find_quantile(counted, 0.95),
        )
        for stage, counted in sorted((name, sorted(own.items())) for name, own in buckets.items())
        if counted[-1][1]
    ]


def find_quantile(buckets: Sequence[tuple[float, float]], share: float) -> float:
    """Return a quantile of a histogram, as Prometheus interpolates it: linearly in the bucket.

    Args:
        buckets: the upper bounds, the last infinite, with how many values are not above each.
        share: of the values, in (0, 1).

    >>> find_quantile([(1.0, 2), (2.0, 4), (float("inf"), 4)], 0.75)
    1.5
    """
    rank, low, below = share * buckets[-1][1], 0.0, 0.0
    for bound, count in buckets:
        if count >= rank:
            if math.isinf(bound):
                return low
            return low + (bound - low) * (rank - below) / (count - below)
        low, below = bound, count
    return low


def read_costs(metrics: Metrics) -> list[ModelCost]:
    """Return the tokens of each model and their price since the start."""

    def read(name: str, **labels: str) -> dict[str, float]:
        return {
            sample.labels["model"]: sample.value
            for sample in metrics.read(name)
            if sample.name.endswith("_total") and labels.items() <= sample.labels.items()
        }

    prompt = read("inferdpt_remote_tokens", kind="prompt")
    completion = read("inferdpt_remote_tokens", kind="completion")
    unstated, cost = read("inferdpt_remote_unstated"), read("inferdpt_remote_cost")
    return [
        ModelCost(
            model,
            prompt.get(model, 0.0),
            completion.get(model, 0.0),
            unstated.get(model, 0.0),
            cost.get(model),
        )
        for model in sorted(prompt.keys() | unstated.keys())
    ]


def _read_counts(metrics: Metrics) -> dict[str, float]:
    names = {
        "being served": "inferdpt_requests_in_flight",
        "waiting": "inferdpt_requests_waiting",
        "worker restarts": "inferdpt_worker_restarts",
        "refused by a budget": "inferdpt_budget_exceeded",
    }
    return {
        shown: sum(s.value for s in metrics.read(name) if not s.name.endswith("_created"))
        for shown, name in names.items()
    }


def _read_failures(metrics: Metrics) -> list[dict[str, Any]]:
    """Return the failed calls of upstreams by side, remote and code."""
    samples = metrics.read("inferdpt_upstream_errors")
    return [
        {**sample.labels, "count": int(sample.value)}
        for sample in samples
        if sample.name.endswith("_total") and sample.value
    ]
