"""Different values of one request come back as themselves through the gateway, or are counted."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway.remotes import SETTINGS, call, echo

NAMES = [f"Q{a}{b}o{c}" for a in "aeiou" for b in "bdf" for c in "bdfgkl"]
AMOUNTS = "it cost $3,500; it cost $4,500; it cost $5,500; it cost $6,500; it cost $7,500 then"
# A title has no surrogate: a word is drawn for it, and one of a letter or two does not come back.
ACTIONS = {"*": "surrogate", "TITLE": "keep", "MONEY": "value", "DATE_TIME": "value"}


@pytest.fixture
async def proxy(table: EmbeddingTable) -> AsyncIterator[Proxy]:
    parameters = {"actions": ACTIONS, "policy": ["regex", "digits"]}
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    async with running_proxy(table, settings) as running:
        yield running


async def ask(proxy: Proxy, *texts: str, tools: Any = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": MODEL,
        "messages": [{"role": "user", "content": text} for text in texts],
    }
    if tools:
        body["tools"] = tools
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/chat/completions", json=body) as reply,
    ):
        assert reply.status == 200
        return dict(await reply.json())


async def test_surnames_and_numbers_of_many_messages_come_back(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    texts = [f"so Mr. {name} has locker {n}" for n, name in enumerate(NAMES, 100)]
    for text in ("; ".join(texts), "; ".join(reversed(texts))):
        told = await ask(proxy, *texts, text)
        assert told["choices"][0]["message"]["content"] == f"Sure: {text}"
        assert told["inferdpt"]["ambiguous"] == 0


async def test_they_come_back_in_the_arguments_of_a_tool(proxy: Proxy) -> None:
    proxy.remote.behaviour = call
    text = "; ".join(f"so Mr. {name} has locker {n}" for n, name in enumerate(NAMES[:30], 100))
    told = await ask(proxy, text, tools=[{"type": "function", "function": {"name": "note"}}])
    for made in told["choices"][0]["message"]["tool_calls"]:
        assert json.loads(made["function"]["arguments"]) == {
            "text": text + '\n"é"',
            text: [1, None],
        }


async def test_amounts_with_one_release_are_left_and_counted(proxy: Proxy) -> None:
    proxy.remote.behaviour = echo
    seen = 0
    for n in range(12):
        text = f"{AMOUNTS}; {'again ' * n}so be it"
        told = await ask(proxy, text)
        shown = told["choices"][0]["message"]["content"].removeprefix("Sure: ")
        pairs = zip(text.split("; "), shown.split("; "), strict=True)
        left = sum(one != other for one, other in pairs)
        assert bool(left) == bool(told["inferdpt"]["ambiguous"])
        assert left <= told["inferdpt"]["unrestored"]
        seen += left
    # One link draws an amount once: the counts are those of one draw.
    assert seen % 12 == 0


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "name: Fionnuala Quillfeather\nemail: fionnuala@quillfeather.ie",
            "so FIONNUALA@QUILLFEATHER.IE or fionnuala@quillfeather.ie",
        ),
        ("email: t.ostrander@firm-lunden.de", "T.OSTRANDER@FIRM-LUNDEN.DE, Torvald Ostrander"),
        (
            '<p>Torvald Ostrander</p><script>u = {"user": "torvald.ostrander"}</script>',
            "TORVALD.OSTRANDER is torvald.ostrander, username: Torvald.Ostrander",
        ),
    ],
)
async def test_an_address_in_other_capitals_is_no_other_one(
    earlier: str, later: str, table: EmbeddingTable
) -> None:
    parameters = {"profile": "people"}
    settings = {**SETTINGS, "privacy": {"mechanism": "selective", "parameters": parameters}}
    async with running_proxy(table, settings) as running:
        running.remote.behaviour = echo
        for texts in ([earlier], [earlier, later], [later, earlier]):
            told = await ask(running, *texts)
            assert told["choices"][0]["message"]["content"] == f"Sure: {texts[-1]}"


SPELLINGS = [
    ("Søren Kjær", "Soren Kjaer"),
    ("Søren Kjær", "Søren Kjaer"),
    ("Katrin Strauß", "Katrin Strauss"),
    ("Jürgen Möller", "Jurgen Moller"),
    ("Łukasz Żurawski", "Lukasz Zurawski"),
    ("Ayşe Yıldırım", "Ayse Yildirim"),
    ("Zoë Thrupp", "Zoe Thrupp"),
    ("François Lefèvre", "Francois Lefevre"),
]


@pytest.mark.parametrize("spellings", SPELLINGS, ids=" and ".join)
async def test_two_spellings_of_a_name_are_names(
    spellings: tuple[str, str], table: EmbeddingTable
) -> None:
    parameters = {"profile": "people"}
    settings = {**SETTINGS, "privacy": {"mechanism": "selective", "parameters": parameters}}
    async with running_proxy(table, settings) as running:
        running.remote.behaviour = echo
        for one, other in (spellings, spellings[::-1]):
            first = f"My neighbour {one} called."
            both = f"My neighbour {one} called. On the badge it says {other}, not {one}."
            left = []
            for texts in ([both], [first], [first, both], [first, both, f"Dear {other},\n{both}"]):
                told = await ask(running, *texts)
                assert told["choices"][0]["message"]["content"] == f"Sure: {texts[-1]}"
                body = running.remote.bodies[-1]
                left += [message["content"] for message in body["messages"]]
            assert not any("PERSON_" in text for text in left)
            assert not any(name in text for name in spellings for text in left)
            *_, begun = left
            assert len({text for text in left if text.startswith("My neighbour")}) == 2
            assert begun.endswith(left[-2])
