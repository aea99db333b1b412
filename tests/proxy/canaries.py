"""Canaries: words that nobody else writes, in generated requests, and the search for them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import aiohttp

from proxy.requests.validation import NAME_CHARACTERS
from tests.proxy.conftest import Proxy

AT_ONCE = 8
LETTERS = "bcdfghjklmnpqrstvwxz"


class Canaries:
    """Makes canaries and finds them again, whatever their case."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.all: set[str] = set()

    def word(self) -> str:
        made = "".join(self.random.choices(LETTERS, k=12))
        self.all.add(made)
        return made

    def name(self) -> str:
        """A field's name that nobody knows: errors tell of it what comes before the canary."""
        return "n" * NAME_CHARACTERS + self.word()

    def number(self) -> str:
        made = "".join(self.random.choices("123456789", k=14))
        self.all.add(made)
        return made

    def text(self) -> str:
        kinds = [
            lambda: f"The patient {self.word()} lives in {self.word()} and calls {self.number()}.",
            lambda: f"def {self.word()}(x): return '{self.word()}' # {self.number()}",
            lambda: f"😀 {self.word()} مرحبا\n\n<public>{self.word()[:0]}</public>{self.word()}",
            lambda: self.word(),
            lambda: f"<public>unclosed {self.word()}",
            lambda: f"{self.word()}@{self.word()}.com https://{self.word()}.org/?q={self.word()}",
            lambda: f'{{"messages": "{self.word()}"}} \\u0041 {{document}} {{{self.word()}}}',
        ]
        return self.random.choice(kinds)()

    def found_in(self, data: bytes) -> set[str]:
        text = data.decode("utf-8", "replace").casefold()
        windows = {text[i : i + size] for size in (12, 14) for i in range(len(text) - size + 1)}
        return self.all & windows


def json_value(c: Canaries) -> Any:
    return {c.word(): [c.word(), {c.word(): c.text()}], "type": c.word()}


def options(c: Canaries) -> dict[str, Any]:
    """The `inferdpt` object."""
    return {
        "mechanism": c.random.choice(["rantext", "rantext_ldp"]),
        "epsilon": c.random.choice([1, 3, 6, 9]),
        "receipt": c.random.choice(["none", "summary", "full"]),
        "task": c.random.choice(["chat", "instruct"]),
    }


def headers(c: Canaries) -> dict[str, str]:
    return {
        "Content-Type": "application/json",
        "Authorization": f"Bearer {c.word()}",
        "User-Agent": c.word(),
        "Cookie": f"{c.word()}={c.word()}",
        "OpenAI-Organization": c.word(),
        "X-Request-Id": c.word(),
        "Traceparent": c.word(),
        "X-Stainless-Lang": c.word(),
        f"X-{c.word()}": c.word(),
    }


async def fire(
    proxy: Proxy, c: Canaries, count: int, made: Callable[[], tuple[str, str]]
) -> dict[int, int]:
    """Send generated requests, each a path and a body; errors are searched at once. Returns how
    often each status came."""
    seen: dict[int, int] = {}
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(session: aiohttp.ClientSession) -> None:
        path, data = made()
        url = f"{proxy.base_url}/{path}?{c.word()}={c.word()}"
        async with gate, session.post(url, data=data, headers=headers(c)) as response:
            answer = await response.read()
        seen[response.status] = seen.get(response.status, 0) + 1
        if response.status != 200 or b"event: error" in answer or b'data: {"error":' in answer:
            shown = answer + str(response.headers).encode()
            assert not c.found_in(shown), shown

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(one(session) for _ in range(count)))
    return seen


def check_none_left(proxy: Proxy, c: Canaries, requests: int) -> None:
    """Nothing the remote received, and no line of the log, holds one."""
    assert c.found_in(b"\n".join(proxy.remote.received)) == set()
    assert c.found_in("\n".join(proxy.log).encode()) == set()
    # … while the local model did get them: the search finds what is there to be found
    assert len(c.found_in(b"\n".join(proxy.local.received))) > requests
