"""A request whose texts take too much processor time is refused, and nothing of it is sent."""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import sys
import threading
from types import FrameType
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from proxy.api.app_keys import LARGE_WORK
from proxy.api.middleware import LARGE_BODY
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS
from tests.shipped_expressions import find_modules

SLOW = "Anna Schmidt owes " + "million " * 50_000 + "euros and years, 5 percent"
# Modules that start threads for other work: files, databases, models that are loaded.
NO_TEXTS = {
    "perturb.work",
    "extraction.dp_prompt.sanitizer",
    "proxy.app",
    "proxy.batches.files",
    "proxy.batches.run",
    "proxy.batches.upload",
    "proxy.local",
    "proxy.metrics_export",
    "proxy.reload",
    "proxy.storage.databases.sqlite",
    "proxy.storage.ledger",
}


@pytest.fixture(params=["gateway", "local"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    own = SETTINGS if request.param == "gateway" else {}
    return {**own, "limits": {"work_seconds": 0.02}}


@pytest.mark.parametrize("text", [SLOW, f"<public>{SLOW}</public> Anna Schmidt"])
async def test_a_request_that_takes_too_long_is_not_sent(proxy: Proxy, text: str) -> None:
    with pytest.raises(openai.InternalServerError) as info:
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": text}]
        )
    assert (info.value.status_code, info.value.code) == (504, "out_of_time")
    assert "limits.work_seconds" in info.value.message
    assert "million" not in info.value.message + "\n".join(proxy.log)
    assert info.value.response.headers["x-should-retry"] == "false"
    assert proxy.remote.received == []
    assert proxy.local.received == []


async def ask(proxy: Proxy, text: str) -> None:
    message: Any = {"role": "user", "content": text}
    await proxy.client().chat.completions.create(model=MODEL, messages=[message])


async def test_short_requests_do_not_wait_for_large_ones(table: EmbeddingTable) -> None:
    async with running_proxy(table, SETTINGS) as proxy:
        over = threading.Event()
        for _ in range(os.cpu_count() or 1):  # others that are larger still
            proxy.app[LARGE_WORK].submit(over.wait)
        try:
            large = asyncio.create_task(ask(proxy, "Anna Schmidt owes it. " * (LARGE_BODY // 20)))
            await ask(proxy, "Anna Schmidt owes us a letter.")
            assert not large.done()
        finally:
            over.set()
        await large


class Steps:
    """Count the calls of the project's functions in each step of the event loop."""

    def __init__(self) -> None:
        self.most = self._calls = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event != "call":
            return
        if name == "asyncio.events" and frame.f_code.co_name == "_run":
            self._calls = 0
        elif name.partition(".")[0] in ("perturb", "extraction", "proxy"):
            self._calls += 1
            self.most = max(self.most, self._calls)


TEXTS, CALLS = 400, 20


@pytest.mark.parametrize("again", [False, True], ids=["new", "again"])
async def test_no_step_of_the_event_loop_works_on_all_texts(
    table: EmbeddingTable, again: bool
) -> None:
    """Nor does it unpack, settle or list them, or bring them back: each text takes a few calls."""
    texts = [f"Anna Schmidt paid {i} euros." for i in range(TEXTS)]
    message: Any = {"role": "user", "content": [{"type": "text", "text": t} for t in texts]}
    asked: Any = {"model": MODEL, "messages": [message]}
    async with running_proxy(table, SETTINGS) as proxy:
        for _ in range(again):
            await proxy.client().chat.completions.create(**asked)
        steps = Steps()
        sys.setprofile(steps)
        try:
            await proxy.client().chat.completions.create(**asked)
        finally:
            sys.setprofile(None)
    assert TEXTS < steps.most < CALLS * TEXTS


def test_work_on_texts_runs_through_offload() -> None:
    found = {
        module.__name__
        for module in find_modules()
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Attribute) and node.attr in ("to_thread", "run_in_executor")
    }
    assert found - NO_TEXTS <= {
        "extraction.dp_prompt.paraphrase_transformers",  # the local model's own work
        "proxy.storage.databases.sqlite",
    }
