"""Marks of Anthropic's prompt cache: they reach a remote that knows them, in their place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from perturb import EmbeddingTable
from tests.proxy import anthropic_remote
from tests.proxy.agents import claude_code
from tests.proxy.anthropic_remote import KEY
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.proxy.gateway import remotes
from tests.proxy.gateway.remotes import MAIL, NAME, SETTINGS, leaked
from tests.proxy.messages import ask, post

MARK = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
TOOLS = [{"name": name, "input_schema": {"type": "object"}} for name in ("look", "write")]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def conversation() -> dict[str, Any]:
    """A conversation with every kind of block that may be marked, beside others of its kind."""
    use = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "seen"}
    parts = {"type": "tool_result", "tool_use_id": "b", "is_error": True}
    return ask(
        "",
        system=[text("be kind"), text("be brief")],
        tools=copy.deepcopy(TOOLS),
        messages=[
            {"role": "user", "content": [text("one"), text(" "), text("two")]},
            {"role": "assistant", "content": [text("three"), use, {**use, "id": "b"}]},
            {
                "role": "user",
                "content": [text("late"), result, {**parts, "content": [text("lost")]}],
            },
            {"role": "system", "content": [text("five")]},
            {"role": "assistant", "content": [text("six")]},
            {"role": "user", "content": [text("seven"), text("eight")]},
        ],
    )


def list_holders(body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object that may have a mark, with a name that is the same in every form of it."""
    for tool in body["tools"]:
        yield tool["name"], tool
    blocks = [block for message in body["messages"] for block in message["content"]]
    for block in [*body["system"], *blocks]:
        for inner in block.get("content", ()) if block["type"] == "tool_result" else ():
            if isinstance(inner, dict):
                yield f"result {inner['text']}", inner
        kind = block["type"]
        name = "" if kind == "text" else str(kind) + str("b" if is_second(block) else "a")
        yield name or block["text"], block


def is_second(block: dict[str, Any]) -> bool:
    return block.get("id", block.get("tool_use_id")) in ("b", "call_1")


NAMES = [name for name, holder in list_holders(conversation()) if name != " "]


@pytest.fixture
def settings() -> dict[str, Any]:
    return {**SETTINGS, "remote": {"api": "messages", "api_key": KEY}}


@pytest.fixture
async def proxy(table: EmbeddingTable, settings: dict[str, Any]) -> Any:
    async with running_proxy(table, settings) as running:
        speaks = settings.get("remote", {}).get("api") == "messages"
        running.remote.behaviour = anthropic_remote.echo if speaks else remotes.echo
        yield running


@pytest.mark.parametrize("mark", [MARK, LONG], ids=["default", "1h"])
async def test_a_mark_stays_on_its_block(proxy: Proxy, mark: dict[str, Any]) -> None:
    assert len(NAMES) == len(set(NAMES)) == 17
    for marked in NAMES:
        body = conversation()
        dict(list_holders(body))[marked]["cache_control"] = mark
        status, answer, _ = await post(proxy, body)
        assert status == 200
        assert answer["inferdpt"]["dropped"] == []
        found = {
            name: holder["cache_control"]
            for name, holder in list_holders(proxy.remote.bodies[-1])
            if "cache_control" in holder
        }
        assert found == {marked: mark}


async def test_a_mark_of_the_whole_request_is_kept(proxy: Proxy) -> None:
    status, _, _ = await post(proxy, {**conversation(), "cache_control": LONG})
    assert status == 200
    assert proxy.remote.bodies[-1]["cache_control"] == LONG


@pytest.mark.parametrize(
    ("mark", "kept"),
    [
        ({**LONG, "scope": "global"}, LONG),
        ({"type": "ephemeral", "ttl": None}, MARK),
        ({"type": "ephemeral", "ttl": NAME}, None),
        ({"type": NAME}, None),
        ({}, None),
        (NAME, None),
        ([MARK], None),
    ],
)
async def test_only_known_words_of_a_mark_leave(proxy: Proxy, mark: Any, kept: Any) -> None:
    for marked in NAMES:
        body = conversation()
        dict(list_holders(body))[marked]["cache_control"] = mark
        status, answer, _ = await post(proxy, body)
        assert status == 200
        assert answer["inferdpt"]["dropped"] == ["cache_control (of another form)"]
        sent = dict(list_holders(proxy.remote.bodies[-1]))[marked]
        assert sent.get("cache_control") == kept
    assert leaked(proxy) == []


async def test_more_marks_than_anthropic_takes_are_refused(proxy: Proxy) -> None:
    body = conversation()
    for _, holder in list(list_holders(body))[:4]:
        holder["cache_control"] = MARK
    status, _, _ = await post(proxy, body)
    assert status == 200
    status, told, _ = await post(proxy, {**body, "cache_control": MARK})
    assert status == 400
    assert "at most 4 marks 'cache_control'; this one has 5" in told["error"]["message"]
    assert len(proxy.remote.bodies) == 1


async def test_a_later_turn_begins_with_the_same_bytes(proxy: Proxy) -> None:
    """What is cached is read by its bytes, with names in it as they were sent before."""
    opening = [text(f"My name is {NAME}."), text(f"Write to {MAIL}.", cache_control=MARK)]
    first = ask("", system=[text(f"Serve {NAME}.", cache_control=LONG)], messages=[])
    first["messages"] = [{"role": "user", "content": opening}]
    status, answer, _ = await post(proxy, first)
    assert status == 200
    turns = [
        {"role": "assistant", "content": answer["content"]},
        {"role": "user", "content": [text(f"And Ottokar Ruzicka, {MAIL}?", cache_control=MARK)]},
    ]
    status, _, _ = await post(proxy, {**first, "messages": [*first["messages"], *turns]})
    assert status == 200
    one, two = (data.decode().partition("\n\n")[2] for data in proxy.remote.received)
    assert one.startswith("{")
    end = one.rindex('"cache_control"')
    assert two.startswith(one[:end])
    assert json.loads(two)["messages"][0] == json.loads(one)["messages"][0]
    assert leaked(proxy) == []


async def test_marks_of_a_chat_are_kept(proxy: Proxy) -> None:
    function = {"name": "look", "arguments": "{}"}
    calls = [{"id": "a", "type": "function", "function": function, "cache_control": LONG}]
    tool = {"type": "function", "function": {"name": "look"}, "cache_control": MARK}
    body = {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "be kind", "cache_control": MARK},
            {"role": "user", "content": [text("one", cache_control={"type": NAME})]},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "a", "content": "seen", "cache_control": MARK},
            {"role": "user", "content": "two"},
        ],
        "tools": [tool],
    }
    status, _, _ = await post(proxy, body, "chat/completions")
    assert status == 200
    found = [
        (name, holder["cache_control"])
        for name, holder in list_holders(proxy.remote.bodies[-1])
        if "cache_control" in holder
    ]
    assert found == [
        ("look", MARK),
        ("be kind", MARK),
        ("tool_usea", LONG),
        ("tool_resulta", MARK),
    ]


async def test_claude_codes_marks_are_kept(proxy: Proxy) -> None:
    words = iter(f"word {i}" for i in range(1000))
    body = claude_code(lambda: next(words))
    marks = json.dumps(body).count('"cache_control"')
    assert marks == 5  # by our test; Claude Code sets at most four
    del body["system"][1]["cache_control"]
    status, _, _ = await post(proxy, body)
    assert status == 200
    assert proxy.remote.received[-1].decode().count('"cache_control"') == 4


class TestOtherRemotes:
    """A remote that speaks OpenAI's API gets no marks, and the same bytes without them."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return SETTINGS

    async def test_the_bytes_are_the_same_without_marks(self, proxy: Proxy) -> None:
        await post(proxy, conversation())
        for marked in NAMES:
            body = conversation()
            dict(list_holders(body))[marked]["cache_control"] = MARK
            status, _, _ = await post(proxy, {**body, "cache_control": MARK})
            assert status == 200
            assert proxy.remote.received[-1] == proxy.remote.received[0]


class TestLocalModel:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {}

    async def test_it_gets_no_marks(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = None
        body = conversation()
        for _, holder in list_holders(body):
            holder["cache_control"] = MARK
        status, _, _ = await post(proxy, body)
        assert status == 200
        assert b"cache_control" not in b"".join((*proxy.remote.received, *proxy.local.received))
