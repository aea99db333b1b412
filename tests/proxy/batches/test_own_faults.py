"""Lines that fail for the proxy's own reasons are tried again, and never end so by chance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from perturb import EmbeddingTable
from proxy.api.app_keys import METRICS, PIPELINE, STORE
from proxy.batches import lines
from proxy.errors import ApiError, store_unavailable
from tests.proxy.batches.jobs import chats, download, jsonl, run
from tests.proxy.conftest import Proxy, running_proxy
from tests.proxy.records.rows import faults

LINES = 6
SETTINGS: dict[str, Any] = {"batches": {"enabled": True, "lease_seconds": 0.5}}


def break_plans(proxy: Proxy, exc: Exception, times: int) -> Counter[str]:
    """Let the first plans of each conversation fail; return how often each was asked for."""
    asked: Counter[str] = Counter()
    pipeline: Any = proxy.app[PIPELINE]
    plan = pipeline.plan_chat

    async def fail(*given: Any, **named: Any) -> Any:
        text = str(given[0].messages)
        asked[text] += 1
        if asked[text] <= times:
            raise exc
        return await plan(*given, **named)

    pipeline.plan_chat = fail
    return asked


def count(proxy: Proxy) -> dict[str, float]:
    samples = proxy.app[METRICS].read("inferdpt_batch_lines")
    return {s.labels["outcome"]: s.value for s in samples if s.name.endswith("_total")}


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "DELAYS", (0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("exc", "times", "postponed"),
    [
        (LookupError("hidden"), 3, False),
        (store_unavailable(), 3, False),
        (store_unavailable(), 6, True),  # longer than all attempts: until the lease is over
        (ApiError(503, "No.", code="rate_limits_unavailable", retry=True), 6, True),
    ],
)
async def test_a_line_is_tried_again(
    table: EmbeddingTable, exc: Exception, times: int, postponed: bool
) -> None:
    async with running_proxy(table, SETTINGS) as proxy:
        asked = break_plans(proxy, exc, times)
        done = await run(proxy.client(), jsonl(*chats(LINES)))
        assert min(asked.values()) > times
        assert done.request_counts is not None
        assert (done.request_counts.completed, done.request_counts.failed) == (LINES, 0)
        assert len(await download(proxy.client(), done.output_file_id)) == LINES
        assert (count(proxy).get("postponed", 0) > 0) is postponed
        assert await faults(proxy.app[STORE]) == {}


async def test_a_fault_that_stays_ends_the_line(table: EmbeddingTable) -> None:
    """The attempts are bounded: a fault of the program must not hold a batch for a day."""
    async with running_proxy(table, SETTINGS) as proxy:
        asked = break_plans(proxy, LookupError("hidden"), 99)
        done = await run(proxy.client(), jsonl(*chats(1)))
        assert set(asked.values()) == {4}
        assert done.request_counts is not None
        assert done.request_counts.failed == 1
        (line,) = await download(proxy.client(), done.error_file_id)
        assert line["error"] == {"code": "internal_error", "message": "Internal error."}


async def test_what_a_client_did_wrong_is_not_tried_again(table: EmbeddingTable) -> None:
    """The negative control."""
    async with running_proxy(table, SETTINGS) as proxy:
        asked = break_plans(proxy, ApiError(400, "No.", code="invalid_value"), 1)
        done = await run(proxy.client(), jsonl(*chats(1)))
        assert set(asked.values()) == {1}
        assert done.request_counts is not None
        assert done.request_counts.failed == 1


async def test_a_lease_survives_a_renewal_that_fails(
    table: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    from proxy.batches.leases import Leases
    from tests.servers import hang

    renew, failed = Leases.renew, Counter[str]()

    async def fail_once(self: Leases, batch: Any) -> None:
        failed["times"] += 1
        if failed["times"] == 1:
            raise store_unavailable()
        await renew(self, batch)
        proxy.remote.release.set()

    monkeypatch.setattr(Leases, "renew", fail_once)
    settings = {"batches": {"enabled": True, "lease_seconds": 3.0}}
    async with running_proxy(table, settings) as proxy:
        proxy.remote.behaviour = hang
        done = await run(proxy.client(), jsonl(*chats(1)))
        assert done.status == "completed"
        assert len(proxy.remote.bodies) == 1, "the line was answered twice"
