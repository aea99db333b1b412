"""The size of a request is checked before anything is built from it."""

from __future__ import annotations

import typing
from typing import Any

import aiohttp
import openai
import pytest
from pydantic import TypeAdapter, ValidationError

from perturb import EmbeddingTable
from proxy.api.embeddings import EmbeddingsRequest
from proxy.errors import ApiError
from proxy.requests.anthropic import MessagesRequest
from proxy.requests.protocol import ChatRequest, CompletionRequest, Strict
from proxy.requests.responses import ResponsesRequest
from proxy.requests.validation import INPUTS, TOOLS, check_counts
from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy, running_proxy

BAD = (1, 1.5, "x", [], {}, None, [1.5], {"a": 1})
REQUIRED: dict[type[Strict], dict[str, Any]] = {
    ChatRequest: {"model": "m", "messages": user()},
    CompletionRequest: {"model": "m", "prompt": "x"},
    ResponsesRequest: {"model": "m", "input": []},
    EmbeddingsRequest: {"model": "m", "input": "x"},
    MessagesRequest: {"model": "m", "max_tokens": 1, "messages": []},
}
PART = {"type": "text", "text": "x"}


class TestValidation:
    @pytest.mark.parametrize("model", REQUIRED)
    def test_it_stops_at_a_lists_first_error(self, model: type[Strict]) -> None:
        """Whatever list a field takes, a thousand bad items cost no more than a few."""
        for name in model.model_fields:
            for item in BAD:
                body = {**REQUIRED[model], name: [item] * 1000}
                assert errors(model, body) < 40, name

    @pytest.mark.parametrize("item", BAD)
    def test_so_it_does_within_messages_and_items(self, item: Any) -> None:
        bad = [item] * 1000
        for field in ("content", "tool_calls"):
            turn = {"role": "user", field: bad}
            assert errors(ChatRequest, {"model": "m", "messages": [turn]}) < 40
        message = {"type": "message", "role": "user", "content": bad}
        output = {"type": "function_call_output", "call_id": "x", "output": bad}
        assert errors(ResponsesRequest, {"model": "m", "input": [message, output]}) < 40
        tools = {"type": "allowed_tools", "mode": "auto", "tools": bad}
        body = {**REQUIRED[ResponsesRequest], "tool_choice": tools}
        assert errors(ResponsesRequest, body) < 40

    def test_no_list_is_without_it(self) -> None:
        """A list that is declared otherwise would not be in the tests above."""
        for model in REQUIRED:
            schema = TypeAdapter(model).core_schema
            lists = [found for found in walk(schema) if found.get("type") == "list"]
            assert lists
            assert [found for found in lists if not found.get("fail_fast")] == []


class TestTable:
    def test_the_list_that_is_too_long_is_named(self) -> None:
        for name, most in (("messages", 3), ("tools", TOOLS), ("input", INPUTS)):
            check_counts({name: ["x"] * most}, {name: most}, parts=9)
            with pytest.raises(ApiError) as info:
                check_counts({name: ["x"] * (most + 1)}, {name: most}, parts=9)
            assert (info.value.status, info.value.param) == (413, name)

    def test_token_ids_are_one_text(self) -> None:
        check_counts({"prompt": [1] * 1000}, {"prompt": 3}, parts=9, tokens="prompt")
        with pytest.raises(ApiError):
            check_counts({"messages": [1] * 1000}, {"messages": 3}, parts=9, tokens="prompt")

    def test_parts_are_counted_together(self) -> None:
        for name in ("content", "output", "summary", "tool_calls"):
            turn = {"role": "user", name: [PART] * 5}
            check_counts({"messages": [turn] * 2}, {"messages": 9}, parts=10)
            with pytest.raises(ApiError) as info:
                check_counts({"messages": [turn] * 2}, {"messages": 9}, parts=9)
            assert info.value.status == 413

    @pytest.mark.parametrize(
        "given", [None, "x", 3, {}, [], [None], [1.5], [[]], [{"content": 3}]]
    )
    def test_what_is_malformed_is_left_to_validation(self, given: Any) -> None:
        check_counts({"messages": given}, {"messages": 3}, parts=3)


CASES: list[tuple[str, dict[str, Any]]] = [
    ("chat/completions", {"messages": [1] * 20}),
    ("chat/completions", {"messages": [{}] * 20}),
    ("chat/completions", {"messages": [{"role": "user", "content": [PART] * 20}]}),
    ("chat/completions", {"messages": [{"role": "user", "content": [1] * 20}]}),
    ("chat/completions", {"messages": user(), "tools": [1] * (TOOLS + 1)}),
    ("chat/completions", {"messages": user(), "functions": [1] * (TOOLS + 1)}),
    ("chat/completions", {"messages": user(), "metadata": {"a": [1] * 50_000}}),
    ("responses", {"input": [1.5] * 20}),
    ("responses", {"input": [{"role": "user", "content": [{}] * 20}]}),
    ("messages", {"messages": [1] * 20}),
    ("messages", {"system": [{}] * 20}),
    ("messages", {"messages": [{"role": "user", "content": [{"content": [1] * 20}]}]}),
    ("completions", {"prompt": ["x"] * 20}),
    ("completions", {"prompt": [[]] * 20}),
    ("completions", {"prompt": [1.5] * 20}),
    ("completions", {"prompt": [1] * 50_000}),
    ("embeddings", {"input": ["x"] * (INPUTS + 1), "model": "vectors"}),
    ("embeddings", {"input": [1] * 50_000, "model": "vectors"}),
]


@pytest.mark.parametrize(("path", "body"), CASES)
async def test_every_endpoint_counts_before_it_validates(
    table: EmbeddingTable, path: str, body: dict[str, Any]
) -> None:
    """Items of the wrong kind, too: counted after validation they would be 400."""
    settings = {
        "limits": {"messages": 10, "parts": 10, "prompts": 10, "json_values": 40_000},
        "local": {"embeddings_model": "vectors"},
    }
    async with running_proxy(table, settings) as proxy:
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().post(f"/{path}", cast_to=object, body={"model": MODEL, **body})
        assert info.value.status_code == 413
        assert not proxy.remote.received


@pytest.mark.parametrize("texts", [["{}" * 11], ["{}" * 6, "{}" * 5]])
@pytest.mark.parametrize("gateway", [False, True])
async def test_public_texts_are_counted_where_they_count(
    table: EmbeddingTable, gateway: bool, texts: list[str]
) -> None:
    """Each is a part of its own, and so is what stands before it."""
    settings: dict[str, Any] = {"limits": {"parts": 10}}
    if gateway:  # tags have no meaning there
        settings |= {"local": {"mode": "none"}, "privacy": {"mechanism": "selective"}}
    content = [
        {"type": "text", "text": text.replace("{}", "<public>a</public>b")} for text in texts
    ]
    async with running_proxy(table, settings) as proxy:
        for more, allowed in ((content, gateway), (content[1:], True)):
            ask = proxy.client().chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": more}] if more else user()
            )
            if allowed:
                await ask
            else:
                with pytest.raises(openai.APIStatusError) as info:
                    await ask
                assert (info.value.status_code, info.value.param) == (413, "messages")
                assert not proxy.remote.received


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"role": "assistant", "tool_calls": [
            {"id": "1", "function": {"name": "f", "arguments": DEEP}}]}, *user("Go on")]},
        {"response_format": {"type": "json_schema", "json_schema": {"name": DEEP}}},
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"a": DEEP}}}]},
        {"guided_json": DEEP},
        {"metadata": {"a": DEEP}},
    ],
)  # fmt: skip
async def test_deep_json_within_a_string_is_a_string(proxy: Proxy, change: Any) -> None:
    body = {"model": MODEL, "messages": user("Good day"), **change}
    await proxy.client().post("/chat/completions", cast_to=object, body=body)


@pytest.mark.parametrize("name", ["tools", "metadata", "response_format", "messages", "bogus"])
async def test_json_as_deep_as_the_limit_is_no_internal_error(proxy: Proxy, name: str) -> None:
    deep: Any = "x"
    for _ in range(61):
        deep = {"a": deep}
    given = [deep] if name in ("tools", "messages") else deep
    body = {"model": MODEL, "messages": user("Good day"), name: given}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{proxy.base_url}/chat/completions", json=body) as response,
    ):
        assert response.status in (200, 400), await response.text()


def errors(model: type[Strict], body: dict[str, Any]) -> int:
    try:
        model.model_validate(body)
    except ValidationError as exc:
        return exc.error_count()
    return 0


def walk(schema: Any) -> typing.Iterator[dict[str, Any]]:
    """A core schema and every one within it."""
    if isinstance(schema, dict):
        yield schema
        for inner in schema.values():
            yield from walk(inner)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from walk(inner)
