"""Texts that a careless search reads for seconds or minutes: nobody else waits for them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator

import aiohttp
import pytest

from tests.hostile import tally
from tests.hostile.answers import chat, http
from tests.hostile.stage import Stage, chat_body, send
from tests.hostile.upstream import Call, answer

SECONDS = 300.0
FACTS = "Anna Schmidt of Leeds owes 5 million euros; call 020 7946 0123. "
TEXTS = {
    "beginnings of tokens": "-eyJ" * 8_000,
    "beginnings of tokens, and dashes": "-eyJ" * 2_000 + "-" * 150_000,
    "number words": "million " * 12_000 + "euros and years, 5 percent",
    "a phrase": "Human Rights " * 8_000,
    "blanks": "Mr. Jones met" + " " * 100_000 + "us",
    "zeros": "0," * 8_000,
    "ones": "1 " * 15_000,
    "a long number": "3117" * 90,
    "a long number, again and again": ("3117" * 90 + "; ") * 125,
    "dots": "a." * 50_000,
    "at signs": "a@" * 25_000,
    "entities": "&#6" * 15_000,
    "backslashes": "\\" * 75_000,
    "links": "](//" * 15_000,
}


FEW = ("beginnings of tokens", "number words", "a long number", "entities")
GATEWAY = {
    "local": {"mode": "none", "embeddings_model": None},
    "privacy": {"mechanism": "selective", "epsilon": 6},
}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Set up a proxy without a local model: it searches private texts and answers."""
    with Stage(tmp_path_factory.mktemp("gateway"), GATEWAY) as made:
        yield made


@pytest.mark.parametrize("place", ["private", "answer"])
@pytest.mark.parametrize("name", TEXTS)
async def test_a_hostile_text_stops_nobody_in_gateway_mode(
    gateway: Stage, name: str, place: str
) -> None:
    await check_health(gateway, name, place)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        *((name, "public") for name in TEXTS),
        *((name, place) for name in FEW for place in ("private", "answer")),
    ],
)
async def test_a_hostile_text_stops_nobody(stage: Stage, name: str, place: str) -> None:
    """With a local model, public parts are searched; of the rest there are a few examples."""
    await check_health(stage, name, place)


async def check_health(stage: Stage, name: str, place: str) -> None:
    """Check `/health` while a text is read that is private, public, or the remote's answer."""
    text = TEXTS[name]
    sent = {"private": FACTS + text, "public": f"{FACTS}<public>{text}</public>"}

    async def script(call: Call, writer: asyncio.StreamWriter) -> bool:
        told = json.loads(call.body)["messages"][-1]["content"]
        writer.write(http(chat(f"{told} {text}")))
        return False

    stage.remote.script = script if place == "answer" else answer
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
