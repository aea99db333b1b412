"""A canary at every position: none reaches the remote, the log or the store."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.perturb.marking import words
from tests.proxy.agents import claude_code, codex
from tests.proxy.canaries import LETTERS
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.everywhere import MAKERS
from tests.proxy.gateway.remotes import SETTINGS
from tests.servers import fake_server

# Two keys of an object that are drawn alike are refused, so the draws are known.
pytestmark = pytest.mark.usefixtures("seeded_draws")

PATTERN = "zephyr_?[a-z]+"  # joined: a name of a function takes no hyphen


class Planter:
    """Plants values that a pattern of the operator finds, each once."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.planted: list[str] = []

    def __call__(self) -> str:
        word = "".join(self.random.choices(LETTERS, k=12))
        self.planted.append(word)
        return f"zephyr_{word}"

    def found_in(self, text: str) -> list[str]:
        shown = text.casefold()
        return [word for word in self.planted if word in shown]


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    parameters = words(patterns={"PROJECT": PATTERN})
    privacy = {**SETTINGS["privacy"], "parameters": parameters}
    return {**SETTINGS, "privacy": privacy, "store": {"folder": str(tmp_path)}}


def read_files(folder: Path) -> str:
    files = (path for path in folder.rglob("*") if path.is_file())
    return "".join(path.read_bytes().decode("latin-1") for path in files)


async def post(url: str, body: dict[str, Any]) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as reply:
        return reply.status, await reply.text()


@pytest.mark.parametrize("path", MAKERS)
@pytest.mark.parametrize("stream", [False, True])
async def test_no_position_leaks(proxy: Proxy, tmp_path: Path, path: str, stream: bool) -> None:
    plant = Planter()
    body = {**MAKERS[path](plant), "stream": stream}
    code, told = await post(f"{proxy.base_url}/{path}", body)
    assert code == 200, told
    sent = b"\n".join(proxy.remote.received).decode()
    assert proxy.remote.bodies
    assert plant.found_in(sent) == []
    assert plant.found_in("\n".join(proxy.log)) == []
    stored = read_files(tmp_path)
    assert len(stored) > 10_000
    assert plant.found_in(stored) == []
    assert plant.found_in(told.partition('"inferdpt"')[2].partition('"object"')[0]) == []


@pytest.mark.parametrize(("path", "agent"), [("messages", claude_code), ("responses", codex)])
async def test_no_position_of_an_agents_request_leaks(proxy: Proxy, path: str, agent: Any) -> None:
    plant = Planter()
    code, told = await post(f"{proxy.base_url}/{path}", agent(plant))
    assert code == 200, told
    assert proxy.remote.bodies
    assert len(plant.planted) > 12
    assert plant.found_in(b"\n".join(proxy.remote.received).decode()) == []
    assert plant.found_in("\n".join(proxy.log)) == []


@pytest.mark.parametrize("path", MAKERS)
async def test_the_search_finds_what_a_pass_through_sends(path: str) -> None:
    plant = Planter()
    async with fake_server() as server:
        await post(f"{server.base_url}/{path}", MAKERS[path](plant))
        sent = b"\n".join(server.received).decode()
    assert plant.found_in(sent) == plant.planted
    assert len(plant.planted) > (5 if path == "completions" else 40)


async def test_an_error_repeats_no_value(proxy: Proxy) -> None:
    plant = Planter()
    wrong: list[dict[str, Any]] = [
        {"tools": [{"type": "function", "function": {"name": plant(), "parameters": plant()}}]},
        {"tool_choice": plant()},
        {"response_format": {"type": plant()}},
        {"messages": [{"role": "user", "content": [{"type": plant(), "text": plant()}]}]},
        {"prediction": {"type": "content", "content": [plant()]}},
    ]
    for fields in wrong:
        body = {"model": MODEL, "messages": [{"role": "user", "content": plant()}], **fields}
        code, told = await post(f"{proxy.base_url}/chat/completions", body)
        assert code == 400
        assert plant.found_in(told) == []
    assert proxy.remote.received == []
    assert plant.found_in("\n".join(proxy.log)) == []


async def test_numbers_and_keys_of_arguments_are_sanitized(proxy: Proxy) -> None:
    card = 4095260993934932
    sent = await send_call(proxy, json.dumps({"card": card, str(card): [{"x": card}]}))
    assert str(card) not in sent
    made = json.loads(sent)
    assert made[str(made["card"])] == [{"x": made["card"]}]


async def send_call(proxy: Proxy, arguments: str) -> str:
    """Send a conversation with a call of a function; return its arguments as they left."""
    call = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": arguments}}
    messages: list[Any] = [
        {"role": "user", "content": "Pay."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "paid"},
    ]
    await proxy.client().chat.completions.create(model=MODEL, messages=messages)
    return str(proxy.sent()[1]["tool_calls"][0]["function"]["arguments"])


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a":1,  "b":"x y",\n "n":2.50e0, "t":[true,null , -0.0]}',
        '{ "caf\\u00e9" : "a\\/b \\"q\\" \\\\" }',
        '[ {} , [ ] , "", {"a":{"a":"a"}} ]',
    ],
)
async def test_arguments_leave_as_they_are_spelled(proxy: Proxy, arguments: str) -> None:
    assert await send_call(proxy, arguments) == arguments


async def test_what_is_replaced_in_arguments_leaves_the_rest_as_it_is(proxy: Proxy) -> None:
    sent = await send_call(proxy, '{"to":"ask anna@kestrel.net",\n"n":1.50,  "x":"\\u00e9"}')
    assert "anna@kestrel" not in sent
    assert sent.startswith('{"to":"ask ')
    assert sent.endswith('",\n"n":1.50,  "x":"\\u00e9"}')


async def test_no_part_of_arguments_hides_behind_what_they_are_read_as(proxy: Proxy) -> None:
    """A name that stands twice is read once; digits beyond a number's precision are not in it."""
    sent = await send_call(
        proxy, '{"a":"anna@kestrel.net","a":"x","n":1.00000000000000004095260993}'
    )
    assert sent == '{"a": "x", "n": 1.0}'
    sent = await send_call(proxy, '{"n":1.00000000000000004095260993,"z":0e4095,"m":2.50}')
    assert sent == '{"n":1.0,"z":0.0,"m":2.50}'


class TestPseudonyms:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {**SETTINGS, "remote": {"identifiers": "pseudonym"}}

    async def test_a_user_has_one_pseudonym(self, proxy: Proxy) -> None:
        for user in ("anna", "anna", "bert"):
            await proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": "Hi"}], user=user
            )
        first, second, third = (body["user"] for body in proxy.remote.bodies)
        assert first == second != third
        assert "anna" not in b"".join(proxy.remote.received).decode()
