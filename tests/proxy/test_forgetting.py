"""The texts of a request go with it: what lives longer keeps no object that holds one.

Timers and connections keep the context that they were made in, some of them for minutes.
"""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from perturb.work import _Memory
from proxy.release import Release
from proxy.remote.guard import Clearance, StringClearance
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS
from tests.servers import hang, status

TEXT = "Please tell Quendrik Vandersloot about the merger."


def find_holders() -> list[object]:
    """Return the objects that hold the text of the request."""
    gc.collect()
    found: list[object] = []
    for each in gc.get_objects():
        match each:
            case Release(raw=raw) if raw == TEXT:
                found.append(each)
            case Clearance(private=texts) if TEXT in texts:
                found.append(each)
            case StringClearance(releases=releases) if any(r.raw == TEXT for r in releases):
                found.append(each)
            case _Memory(known=known) if any(text == TEXT for _, text in known):
                found.append(each)
    return found


async def ask(proxy: Proxy, *, stream: bool) -> None:
    made: Any = await proxy.client().chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": TEXT}], stream=stream
    )
    if stream:
        assert [step async for step in made]


async def wait_until_forgotten() -> None:
    async with asyncio.timeout(LIMIT / 2):  # timers of the remote take two minutes
        while find_holders():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["extraction", "gateway"])
async def test_the_texts_of_a_request_go_with_it(
    table: EmbeddingTable, settings: dict[str, Any], stream: bool
) -> None:
    async with running_proxy(table, settings) as proxy:
        for _ in range(2):  # the second on the connections of the first
            await ask(proxy, stream=stream)
        await wait_until_forgotten()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["extraction", "gateway"])
async def test_also_if_it_fails_or_its_client_leaves(
    table: EmbeddingTable, settings: dict[str, Any], stream: bool
) -> None:
    async with running_proxy(table, settings) as proxy:
        proxy.remote.behaviour = status(400)
        with pytest.raises(openai.APIError):
            await ask(proxy, stream=stream)
        proxy.remote.behaviour = hang
        leaving = asyncio.create_task(ask(proxy, stream=stream))
        await asyncio.wait_for(proxy.remote.started.wait(), LIMIT)
        leaving.cancel()
        await asyncio.wait([leaving])
        await wait_until_forgotten()
