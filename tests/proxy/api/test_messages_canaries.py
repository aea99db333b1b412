"""No canary leaves through `/v1/messages`: every field a client can set holds one."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from perturb import EmbeddingTable
from proxy.requests.anthropic import Conversation, MessagesRequest
from tests.proxy.canaries import Canaries, check_none_left, fire, json_value, options
from tests.proxy.conftest import MODEL, Proxy, running_proxy

REQUESTS = [60, pytest.param(400, marks=pytest.mark.hostile)]


def text(c: Canaries) -> dict[str, Any]:
    return {"type": "text", "text": c.text(), "cache_control": json_value(c)}


def answer(c: Canaries) -> list[dict[str, Any]]:
    """An answer with a call, and the message with its result."""
    name = c.word()
    call = {"type": "tool_use", "id": name, "name": c.word(), "input": json_value(c)}
    thoughts = [
        {"type": "thinking", "thinking": c.text(), "signature": c.word()},
        {"type": "redacted_thinking", "data": c.word()},
    ]
    result = {
        "type": "tool_result",
        "tool_use_id": name,
        "content": c.random.choice([c.text(), [text(c), text(c)]]),
        "is_error": c.random.random() < 0.5,
    }
    return [
        {"role": "assistant", "content": [*thoughts, text(c), call]},
        {"role": "user", "content": [result, text(c)]},
    ]


def messages(c: Canaries) -> list[dict[str, Any]]:
    first = {"role": "user", "content": c.random.choice([c.text(), [text(c), text(c)]])}
    return [first, *(answer(c) if c.random.random() < 0.5 else ())]


def tool(c: Canaries) -> dict[str, Any]:
    return {
        "name": c.word(),
        "description": c.text(),
        "input_schema": json_value(c),
        "input_examples": [json_value(c)],
        "defer_loading": c.word(),
    }


MESSAGES: dict[str, Callable[[Canaries], Any]] = {
    "model": lambda c: MODEL,
    "max_tokens": lambda c: 20,
    "messages": messages,
    "system": lambda c: c.random.choice([c.text(), [text(c)]]),
    "inferdpt": options,
    "stream": lambda c: c.random.random() < 0.5,
    "temperature": lambda c: 0.5,
    "top_p": lambda c: 0.9,
    "top_k": lambda c: int(c.number()),
    "stop_sequences": lambda c: [c.word()],
    "output_config": lambda c: {
        "effort": c.random.choice(["low", c.word()]),
        "format": {"type": "json_schema", "schema": json_value(c)},
        "task_budget": json_value(c),
    },
    "tools": lambda c: [tool(c), tool(c)],
    "tool_choice": lambda c: c.random.choice(
        [{"type": "auto"}, {"type": "tool", "name": c.word()}]
    ),
    "metadata": lambda c: {"user_id": c.word()},
    **dict.fromkeys(
        (
            *("billing_policy", "cache_control", "compaction", "context_management", "speed"),
            *("fallback_credit_token", "fallbacks", "service_tier", "diagnostics", "thinking"),
            *("user_profile_id", "workspace_id"),
        ),
        json_value,
    ),
}
REQUIRED = {"model", "messages", "max_tokens"}


def good_body(c: Canaries, path: str) -> dict[str, Any]:
    names = MessagesRequest.model_fields if path == "messages" else Conversation.model_fields
    body = {n: MESSAGES[n](c) for n in names if n in REQUIRED or c.random.random() < 0.5}
    if "tools" not in body:
        body.pop("tool_choice", None)
    return body


def bad_body(c: Canaries, path: str) -> Any:
    """A body that must be refused: a canary where the wrong thing is."""
    body = good_body(c, path)
    user = {"role": "user", "content": c.text()}
    block = {"type": c.word(), "source": json_value(c)}
    ways: list[Callable[[], Any]] = [
        lambda: {**body, c.name(): c.text()},
        lambda: {**body, "messages": {c.name(): [c.text()]}},
        lambda: {**body, "model": c.word()},
        lambda: {**body, "container": c.word()},
        lambda: {**body, "mcp_servers": [{"url": c.text()}]},
        lambda: {**body, "messages": [{**user, "role": c.word()}]},
        lambda: {**body, "messages": [{**user, c.name(): c.text()}]},
        lambda: {**body, "messages": [{**user, "content": [block]}]},
        lambda: {**body, "messages": [{**user, "content": [{**text(c), c.name(): c.text()}]}]},
        lambda: {**body, "messages": [user, {"role": "assistant", "content": c.text()}]},
        lambda: {**body, "system": [block]},
        lambda: {**body, "tools": [{"type": c.word(), "url": c.text()}]},
        lambda: {**body, "tools": [{**tool(c), c.name(): c.text()}]},
        lambda: {**body, "tool_choice": {"type": c.word()}},
        lambda: {**body, "output_config": {c.name(): c.text()}},
        lambda: {**body, "inferdpt": {c.name(): c.word()}},
    ]
    return c.random.choice(ways)()


def request(c: Canaries) -> tuple[str, str]:
    """A path and a body, not always one that is served."""
    path = c.random.choice(["messages"] * 5 + ["messages/count_tokens"])
    return path, json.dumps((bad_body if c.random.random() < 0.3 else good_body)(c, path))


def test_every_field_of_the_protocol_is_generated() -> None:
    assert set(MESSAGES) == set(MessagesRequest.model_fields)


@pytest.mark.parametrize("requests", REQUESTS)
async def test_no_canary_leaves_or_is_logged(proxy: Proxy, requests: int) -> None:
    canaries = Canaries(seed=5)
    seen = await fire(proxy, canaries, requests, partial(request, canaries))
    assert seen[200] > requests / 2
    assert set(seen) <= {200, 400, 404}, seen
    assert len(proxy.remote.bodies) > requests / 3
    check_none_left(proxy, canaries, requests)


async def test_the_search_finds_a_proxy_that_leaks(table: EmbeddingTable) -> None:
    """The negative control: operators may let instructions out; then canaries in them arrive."""
    async with running_proxy(table, {"privacy": {"system": "public"}}) as proxy:
        canaries = Canaries(seed=6)
        await fire(proxy, canaries, 40, partial(request, canaries))
        assert canaries.found_in(b"\n".join(proxy.remote.received))
