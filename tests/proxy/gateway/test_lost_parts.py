"""Before anything leaves, each text is brought back: what would be lost gets a tag."""

from __future__ import annotations

import re
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS, echo, last_text

LOSSES = [
    "the room 7 has 3 doors",  # a digit is found in any text
    "<td>3</td><td>7</td>",
    "4 of 4, 5 of 6, 1 in 9",
    'seats: {"a": 3, "b": "7"} and row 5',
]


async def ask(proxy: Proxy, text: str, **more: Any) -> dict[str, Any]:
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}], **more}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/chat/completions", json=body) as reply,
    ):
        assert reply.status == 200
        return dict(await reply.json())


@pytest.mark.parametrize("text", LOSSES)
async def test_a_part_that_would_be_lost_has_a_tag(table: EmbeddingTable, text: str) -> None:
    parameters = {"policy": "digits"}
    privacy = {**SETTINGS["privacy"], "parameters": parameters}
    async with running_proxy(table, {**SETTINGS, "privacy": privacy}) as proxy:
        proxy.remote.behaviour = echo
        for _ in range(2):  # the second time, memory has the release
            told = await ask(proxy, text)
            left = last_text(proxy.remote.bodies[-1])
            assert re.search(r"NUMBER_\d+", left)
            assert told["choices"][0]["message"]["content"] == f"Sure: {text}"
            receipt = told["inferdpt"]
            assert (receipt["ambiguous"], receipt["unrestored"]) == (0, 0)


async def test_a_preview_shows_the_tags_that_would_leave(table: EmbeddingTable) -> None:
    privacy = {**SETTINGS["privacy"], "parameters": {"policy": "digits"}}
    async with running_proxy(table, {**SETTINGS, "privacy": privacy}) as proxy:
        proxy.remote.behaviour = echo
        body = {"model": MODEL, "messages": [{"role": "user", "content": LOSSES[0]}]}
        url = f"{proxy.base_url.removesuffix('/v1')}/v1/privacy/sanitize"
        async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
            assert reply.status == 200
            told = await reply.json()
        await ask(proxy, LOSSES[0])
        assert told["body"]["messages"] == proxy.remote.bodies[-1]["messages"]
