"""Texts that a careless search reads for seconds or minutes: nobody else waits for them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from tests.hostile import tally
from tests.hostile.answers import chat, http
from tests.hostile.stage import Stage, chat_body, send
from tests.hostile.upstream import Call, answer

SECONDS = 300.0
FACTS = "Anna Schmidt of Leeds owes 5 million euros; call 020 7946 0123. "
TEXTS = {
    "beginnings of tokens": "-eyJ" * 30_000,
    "beginnings of tokens, and dashes": "-eyJ" * 8_000 + "-" * 600_000,
    "number words": "million " * 50_000 + "euros and years, 5 percent",
    "a phrase": "Human Rights " * 30_000,
    "blanks": "Mr. Jones met" + " " * 400_000 + "us",
    "zeros": "0," * 30_000,
    "ones": "1 " * 60_000,
    "a long number": "3117" * 90,
    "a long number, again and again": ("3117" * 90 + "; ") * 500,
    "dots": "a." * 200_000,
    "at signs": "a@" * 100_000,
    "entities": "&#6" * 60_000,
    "backslashes": "\\" * 300_000,
    "links": "](//" * 60_000,
}


@pytest.fixture(scope="module", params=["gateway", "local"])
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Let the proxy answer with and without a local model."""
    if request.param == "gateway":
        local = {"mode": "none", "embeddings_model": None}
        return {"local": local, "privacy": {"mechanism": "selective", "epsilon": 6}}
    return {}


@pytest.fixture(autouse=True)
def well_behaved(stage: Stage) -> Iterator[None]:
    yield
    stage.remote.script = stage.local.script = answer


@pytest.mark.parametrize("place", ["private", "public", "answer"])
@pytest.mark.parametrize("name", TEXTS)
async def test_a_hostile_text_stops_nobody(stage: Stage, name: str, place: str) -> None:
    """Check `/health` while a text is read that is private, public, or the remote's answer."""
    text = TEXTS[name]
    sent = {"private": FACTS + text, "public": f"{FACTS}<public>{text}</public>"}

    async def script(call: Call, writer: asyncio.StreamWriter) -> bool:
        told = json.loads(call.body)["messages"][-1]["content"]
        writer.write(http(chat(f"{told} {text}")))
        return False

    if place == "answer":
        stage.remote.script = script
    timeout = aiohttp.ClientTimeout(total=SECONDS)
    watch, start = stage.child.watch, time.monotonic()
    assert watch is not None
    with stage.bounded():
        async with aiohttp.ClientSession(timeout=timeout) as session:
            url = f"{stage.child.base_url}/chat/completions"
            found = await send(session, url, chat_body(sent.get(place, FACTS)))
        found.check_shape()
        assert found.status != 500, found.body[:300]
        tally.COUNTS["hostile texts"] += 1
        print(f"{name}, {place}: {found.status}, /health {watch.worst(start):.2f} s over idle")
