"""A refusal names the type, the place as the client knows it and the line; never the value."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable, get_mechanism
from proxy.config.settings import Privacy
from proxy.pipeline.public import PublicText
from tests.absence import find_leaks
from tests.perturb.marking import words
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import SETTINGS, received
from tests.proxy.messages import post

MAIL = "xylo.k82@example.com"
LINE = 3
BAD = f"one\ntwo\nto {MAIL}, and again: {MAIL}\nfour"
USER = {"role": "user", "content": "Hi"}
REFUSE: dict[str, Any] = {
    **SETTINGS["privacy"],
    "parameters": words({"EMAIL_ADDRESS": "refuse"}),
}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def chat(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "messages": [*messages, USER], **more}


def called(**arguments: Any) -> dict[str, Any]:
    function = {"name": "look", "arguments": json.dumps(arguments)}
    return {"id": "c", "type": "function", "function": function}


def tool(description: str) -> dict[str, Any]:
    function = {"name": "look", "description": description}
    return {"type": "function", "function": function}


CHATS = [
    (chat({"role": "system", "content": BAD}), "messages[0].content"),
    (chat(USER, {"role": "user", "content": BAD}), "messages[1].content"),
    (
        chat(USER, {"role": "user", "content": [text("a"), text(BAD)]}),
        "messages[1].content[1].text",
    ),
    (
        chat({"role": "assistant", "content": None, "tool_calls": [called(a=BAD)]}),
        "messages[0].tool_calls[0].function.arguments",
    ),
    (chat({"role": "tool", "tool_call_id": "c", "content": BAD}), "messages[0].content"),
    (chat(tools=[tool("Looks."), tool(BAD)]), "tools[1].function.description"),
]
WROTE = {"role": "assistant", "content": [{"type": "output_text", "text": "So."}]}
CALL = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
RESULT = {"type": "function_call_output", "call_id": "c", "output": "Seen."}


def respond(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "input": [*items, USER], **more}


RESPONSES = [
    ({"model": MODEL, "input": BAD}, "input"),
    (respond(instructions=BAD), "instructions"),
    (respond(USER, WROTE, {"role": "user", "content": BAD}), "input[2].content"),
    (
        respond(
            USER,
            {"role": "user", "content": [{"type": "input_text", "text": t} for t in ("a", BAD)]},
        ),
        "input[1].content[1]",
    ),
    (respond(USER, WROTE, {**CALL, "arguments": json.dumps({"a": BAD})}), "input[2]"),
    (respond(USER, WROTE, CALL, {**RESULT, "output": BAD}), "input[3].output"),
    (respond(USER, {"type": "reasoning"}, {**WROTE, "content": BAD}, CALL), "input[2].content"),
    (
        respond(tools=[{"type": "function", "name": "look", "description": BAD}]),
        "tools[0].description",
    ),
]
USE = {"type": "tool_use", "id": "c", "name": "look", "input": {}}
SEEN = {"type": "tool_result", "tool_use_id": "c", "content": "Seen."}


def converse(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 9, "messages": [*messages, USER], **more}


MESSAGES = [
    (converse(system=BAD), "system"),
    (converse(system=[text("a"), text(BAD)]), "system[1]"),
    (converse({"role": "user", "content": BAD}, system="a"), "messages[0].content"),
    (converse({"role": "user", "content": [text(" "), text(BAD)]}), "messages[0].content[1]"),
    (
        converse(
            USER, {"role": "assistant", "content": [text("a"), {**USE, "input": {"a": BAD}}]}
        ),
        "messages[1].content[1]",
    ),
    (
        converse({"role": "user", "content": [text("a"), {**SEEN, "content": BAD}, text("b")]}),
        "messages[0].content[1].content",
    ),
    (
        converse({"role": "user", "content": [{**SEEN, "content": [text("a"), text(BAD)]}]}),
        "messages[0].content[0].content[1]",
    ),
    (
        converse({"role": "user", "content": [SEEN, text("a"), text(BAD)]}),
        "messages[0].content[2]",
    ),
    (
        converse(tools=[{"name": "look", "description": BAD, "input_schema": {}}]),
        "tools[0].description",
    ),
]
COMPLETIONS = [
    ({"model": MODEL, "prompt": BAD}, "prompt"),
    ({"model": MODEL, "prompt": ["a", BAD]}, "prompt[1]"),
]
CASES = [
    *(("chat/completions", *case) for case in CHATS),
    *(("privacy/sanitize", *case) for case in CHATS),
    *(("responses", *case) for case in RESPONSES),
    *(("messages", *case) for case in MESSAGES),
    *(("completions", *case) for case in COMPLETIONS),
    ("privacy/perturb", {"text": BAD}, "text"),
]


async def check_refused(proxy: Proxy, path: str, body: Any, place: str, line: int) -> str:
    status, told, answer = await post(proxy, body, path)
    assert status == 400, answer
    said: str = told["error"]["message"]
    assert f"'{place}'" in said
    assert f"EMAIL_ADDRESS (line {line})" in said
    assert told["error"].get("param", place) == place  # Anthropic's errors have no param
    assert find_leaks(["xylo.k82"], answer, received(proxy), *proxy.log) == []
    assert proxy.remote.received == []
    return said


class TestGateway:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {**SETTINGS, "privacy": REFUSE}

    @pytest.mark.parametrize(("path", "body", "place"), CASES)
    async def test_a_refused_part_is_located(
        self, proxy: Proxy, path: str, body: dict[str, Any], place: str
    ) -> None:
        await check_refused(proxy, path, body, place, LINE)

    async def test_each_type_has_its_line(self, proxy: Proxy) -> None:
        body = chat({"role": "user", "content": f"Hi\n{MAIL}\n4095-2609-9393-4932"})
        body["inferdpt"] = {"actions": {"CREDIT_CARD": "refuse"}}
        said = await check_refused(proxy, "chat/completions", body, "messages[0].content", 2)
        assert "CREDIT_CARD (line 3), EMAIL_ADDRESS (line 2)" in said


class TestLeftOut:
    """Items that are left out keep their numbers."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        server = {"ignore_unsupported_tools": True}
        return {**SETTINGS, "privacy": REFUSE, "server": server}

    async def test_a_place_counts_as_the_client_does(self, proxy: Proxy) -> None:
        search = {"type": "web_search_call", "status": "completed", "id": "ws"}
        body = respond(USER, search, search, {"role": "user", "content": BAD})
        await check_refused(proxy, "responses", body, "input[3].content", LINE)


class TestLocalModel:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"privacy": {**REFUSE, "public_findings": "refuse"}}

    @pytest.mark.parametrize(
        ("path", "body", "place"),
        [
            ("chat/completions", CHATS[1][0], "messages[1].content"),
            ("chat/completions", CHATS[4][0], "messages[0].content"),
            ("responses", *RESPONSES[2]),
            ("messages", *MESSAGES[2]),
            *(("completions", *case) for case in COMPLETIONS),
            ("privacy/perturb", {"text": BAD}, "text"),
        ],
    )
    async def test_a_refused_part_is_located(
        self, proxy: Proxy, path: str, body: dict[str, Any], place: str
    ) -> None:
        await check_refused(proxy, path, body, place, LINE)

    async def test_the_line_is_the_messages(self, proxy: Proxy) -> None:
        body = chat({"role": "user", "content": f"a\n<public>b</public>\n{BAD}"})
        await check_refused(proxy, "chat/completions", body, "messages[0].content", LINE + 2)

    async def test_an_earlier_call_is_located(self, proxy: Proxy) -> None:
        said = {"role": "assistant", "content": "So.", "tool_calls": [called(a=MAIL)]}
        await check_refused(proxy, "chat/completions", chat(USER, said), "messages[1]", 2)

    async def test_public_text_is_located(self, proxy: Proxy) -> None:
        mixed = f"a\nb <public>c\nd</public> e\nf <public>g</public> <public>to {MAIL}</public>"
        body = chat(USER, {"role": "user", "content": mixed})
        await check_refused(proxy, "chat/completions", body, "messages[1].content", 4)
        parts = [text("a\nb"), text(f"<public>{BAD}</public>")]
        body = chat(USER, {"role": "user", "content": parts})
        place = "messages[1].content"
        await check_refused(proxy, "chat/completions", body, place, LINE + 2)
        await check_refused(
            proxy,
            "messages",
            converse({"role": "user", "content": mixed}),
            "messages[0].content",
            4,
        )
        instructed = {**chat(USER), "inferdpt": {"instruction": BAD}}
        await check_refused(proxy, "chat/completions", instructed, "inferdpt.instruction", LINE)


class TestPublicSystem:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {**SETTINGS, "privacy": {**SETTINGS["privacy"], "system": "public"}}

    @pytest.mark.parametrize(
        ("path", "body", "place"),
        [
            ("chat/completions", *CHATS[0]),
            ("responses", *RESPONSES[1]),
            ("messages", *MESSAGES[0]),
            ("messages", *MESSAGES[1]),
        ],
    )
    async def test_public_text_is_located(
        self, proxy: Proxy, path: str, body: dict[str, Any], place: str
    ) -> None:
        await check_refused(proxy, path, body, place, LINE)


@pytest.mark.parametrize("policy", ["regex", "digits"])
def test_an_allowed_term_is_allowed_in_public_text(table: EmbeddingTable, policy: str) -> None:
    def find(said: str, **terms: Any) -> dict[str, int]:
        mechanism = get_mechanism("selective", table, policy=policy, **terms)
        public = PublicText(Privacy(), getattr(mechanism, "marking", None), table.vocabulary)
        return dict(public.find(said))

    key = "tk83hd7sk2js81la"
    for said, type_, term in (
        ("Write to John Smith.", "NAME", "John Smith"),
        (f"Use {key} here.", "API_KEY", key),
    ):
        assert type_ in find(said)
        assert find(said, allow=(term,)) == {}
        assert find(said, allow=(term,), deny=(term,)) == {"CUSTOM": 1}
    longer = "Write to John Smith Kowalski."
    assert find(longer, allow=("John Smith",)) == {"NAME": 1}
