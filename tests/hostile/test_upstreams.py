"""Misbehaving upstreams: each is mapped, none is quoted, none stops or swells the proxy."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from tests.hostile import local_modes, remote_modes, tally
from tests.hostile.modes import PLANTED, Mode
from tests.hostile.stage import Answer, Stage, chat_body, send
from tests.hostile.upstream import Upstream, answer

SECONDS = 60.0  # in which the proxy has to say something
PATIENCE = 5.0  # of the proxy with an upstream, less than a slow mode takes
REMOTE = {mode.name: mode for mode in remote_modes.modes()}
LOCAL = {mode.name: mode for mode in local_modes.modes()}
OTHER = {"remote": "local", "local": "remote"}


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return {
        "remote": {"timeout_seconds": PATIENCE},
        "local": {"timeout_seconds": PATIENCE, "model": "fake"},
    }


async def ask(stage: Stage, **body: Any) -> Answer:
    url = f"{stage.child.base_url}/chat/completions"
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session:
        return await send(session, url, chat_body(**body))


def check(answer: Answer, mode: Mode, side: str) -> None:
    """Fail unless the answer is what a mode calls for."""
    shown = (answer.status, answer.error, answer.body[-300:])
    if answer.served:
        assert mode.expected != "error", shown
        return
    assert mode.expected != "served", shown
    assert answer.error is not None, shown
    if answer.status != 200:  # else the stream had begun
        answer.check_shape()
        assert answer.status in mode.statuses, shown
        retry = answer.headers.get("x-should-retry")
        assert retry in (("false",) if mode.final else (None, "true", "false")), retry
        after = answer.headers.get("retry-after")
        assert after is None or (after.isdecimal() and int(after) <= 3600), after
    assert answer.error["code"], shown
    assert not answer.error["code"].startswith(OTHER[side]), "the other side is blamed"
    assert PLANTED.encode() not in answer.body, shown
    assert PLANTED not in str(answer.headers)


async def run(stage: Stage, upstream: Upstream, mode: Mode, side: str) -> None:
    log = len(stage.child.log)
    upstream.script = mode.script()
    try:
        with stage.bounded():
            found = await ask(stage, stream=mode.stream)
    finally:
        upstream.script = answer
    tally.COUNTS[f"modes of the {side} upstream"] += 1
    assert (await ask(stage)).served, "a good request after it is not served"
    check(found, mode, side)
    assert PLANTED.encode() not in stage.child.log[log:]


@pytest.mark.parametrize("name", REMOTE)
async def test_remote(stage: Stage, name: str) -> None:
    await run(stage, stage.remote, REMOTE[name], "remote")


@pytest.mark.parametrize("name", LOCAL)
async def test_local(stage: Stage, name: str) -> None:
    await run(stage, stage.local, LOCAL[name], "local")


@pytest.mark.parametrize("name", local_modes.LISTS)
async def test_list_of_models(stage: Stage, name: str) -> None:
    stage.local.models = local_modes.LISTS[name]
    try:
        with stage.bounded():
            async with aiohttp.ClientSession() as session:
                ready = await send(session, f"{stage.child.root}/ready", method="GET")
            found = await ask(stage)
    finally:
        stage.local.models = answer
    tally.COUNTS["modes of the local upstream"] += 1
    assert ready.status in (200, 503)
    assert found.status in (200, 503)
    for got in (ready, found):
        got.check_shape()
        assert got.served or PLANTED.encode() not in got.body


def test_there_are_enough_modes() -> None:
    assert len(REMOTE) == len(remote_modes.modes()) >= 60
    assert len(LOCAL) == len(local_modes.modes()) >= 60
