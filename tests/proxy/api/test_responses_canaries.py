"""No canary leaves through `/v1/responses` and `/v1/embeddings`: every field a client can set
holds one."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from perturb import EmbeddingTable
from proxy.api.embeddings import EmbeddingsRequest
from proxy.requests.responses import ResponsesRequest
from tests.proxy.api.test_embeddings import NAME, vectors
from tests.proxy.canaries import Canaries, check_none_left, fire, json_value, options
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer, answer

REQUESTS = [100, pytest.param(400, marks=pytest.mark.hostile)]


def part(c: Canaries, role: str) -> dict[str, Any]:
    if role == "assistant":
        out = {"type": "output_text", "text": c.text(), "annotations": json_value(c)}
        return c.random.choice([out, {"type": "refusal", "refusal": c.text()}])
    return {"type": "input_text", "text": c.text()}


def message(c: Canaries) -> dict[str, Any]:
    role = c.random.choice(["system", "developer", "user", "user", "assistant"])
    out: dict[str, Any] = {"role": role, "content": c.text()}
    if c.random.random() < 0.5:
        out["content"] = [part(c, role), part(c, role)]
    if c.random.random() < 0.5:
        out |= {"type": "message", "id": c.word(), "status": c.word(), "phase": c.word()}
    return out


def call(c: Canaries) -> list[dict[str, Any]]:
    name = c.word()
    return [
        {
            "type": "function_call",
            "call_id": name,
            "name": c.word(),
            "arguments": json.dumps({c.word(): c.text()}),
            "id": c.word(),
            "async_": c.word(),
            "parsed_arguments": json_value(c),
        },
        {"type": "reasoning", "id": c.word(), "summary": json_value(c), "content": json_value(c)},
        {
            "type": "function_call_output",
            "call_id": name,
            "output": c.random.choice([c.text(), [part(c, "user"), part(c, "user")]]),
            "namespace": c.word(),
        },
    ]


def items(c: Canaries) -> Any:
    if c.random.random() < 0.3:
        return c.text()
    out = [message(c) for _ in range(c.random.randint(1, 4))]
    return [*out, *(call(c) if c.random.random() < 0.5 else ()), {"role": "user", "content": "Go"}]


def tool(c: Canaries) -> dict[str, Any]:
    return {
        "type": "function",
        "name": c.word(),
        "description": c.text(),
        "parameters": json_value(c),
        "output_schema": json_value(c),
    }


RESPONSES: dict[str, Callable[[Canaries], Any]] = {
    "model": lambda c: MODEL,
    "input": items,
    "instructions": lambda c: c.text(),
    "inferdpt": options,
    "stream": lambda c: c.random.random() < 0.5,
    "temperature": lambda c: 0.5,
    "top_p": lambda c: 0.9,
    "max_output_tokens": lambda c: 20,
    "reasoning": lambda c: {
        "effort": c.random.choice(["low", c.word()]),
        "summary": c.word(),
        "context": json_value(c),
    },
    "access_programs": json_value,
    "image": json_value,
    "include": lambda c: ["message.output_text.logprobs", "reasoning.encrypted_content"],
    "top_logprobs": lambda c: 2,
    "text": lambda c: {
        "format": {"type": "json_schema", "name": c.word(), "schema": json_value(c)},
        "verbosity": "low",
    },
    "tools": lambda c: [tool(c), tool(c)],
    "tool_choice": lambda c: c.random.choice(["auto", {"type": "function", "name": c.word()}]),
    "parallel_tool_calls": lambda c: True,
    "background": lambda c: False,
    "max_tool_calls": lambda c: int(c.number()),
    "metadata": json_value,
    "prompt_cache_key": lambda c: c.word(),
    "safety_identifier": lambda c: c.word(),
    "service_tier": lambda c: c.word(),
    "background_options": json_value,
    "client_metadata": json_value,
    "moderation": json_value,
    "prompt_cache_options": json_value,
    "prompt_cache_retention": lambda c: c.word(),
    "store": lambda c: True,
    "stream_options": lambda c: {"include_obfuscation": True},
    "truncation": lambda c: "disabled",
    "user": lambda c: c.word(),
}
EMBEDDINGS: dict[str, Callable[[Canaries], Any]] = {
    "model": lambda c: NAME,
    "input": lambda c: c.random.choice([c.text(), [c.text(), c.text()]]),
    "encoding_format": lambda c: c.random.choice(["float", "base64"]),
    "dimensions": lambda c: 3,
    "user": lambda c: c.word(),
}
REQUIRED = {"model", "input"}


def good_body(c: Canaries, fields: dict[str, Callable[[Canaries], Any]]) -> dict[str, Any]:
    return {
        name: make(c)
        for name, make in fields.items()
        if name in REQUIRED or c.random.random() < 0.5
    }


def bad_body(c: Canaries, fields: dict[str, Callable[[Canaries], Any]]) -> Any:
    """A body that must be refused: a canary where the wrong thing is."""
    body = good_body(c, fields)
    name = c.random.choice(list(fields))
    user = {"role": "user", "content": c.text()}
    ways: list[Callable[[], Any]] = [
        lambda: {**body, c.name(): c.text()},
        lambda: {**body, name: {c.name(): [c.text()]}},
        lambda: {**body, "model": c.word()},
        lambda: {**body, "previous_response_id": c.word()},
        lambda: {**body, "prompt": {"id": c.word(), "variables": json_value(c)}},
        lambda: {**body, "truncation": c.word()},
        lambda: {**body, "include": [c.word()]},
        lambda: {**body, "reasoning": {"effort": [c.word()]}},
        lambda: {**body, "text": {"format": {"type": c.word()}}},
        lambda: {**body, "text": {c.name(): c.text()}},
        lambda: {**body, "tools": [{"type": c.word(), "server_url": c.text()}]},
        lambda: {**body, "tools": [{"type": "function", c.name(): c.text()}]},
        lambda: {**body, "tool_choice": c.word()},
        lambda: {**body, "tool_choice": {"type": c.word()}},
        lambda: {**body, "tool_choice": {"type": "function", c.name(): c.word()}},
        lambda: {**body, "input": [{**user, "role": c.word()}]},
        lambda: {**body, "input": [{**user, "type": c.word()}]},
        lambda: {**body, "input": [{**user, "type": {c.name(): c.text()}}]},
        lambda: {**body, "input": [{**user, c.name(): c.text()}]},
        lambda: {**body, "input": [{"role": "user", "content": [{"type": c.word()}]}]},
        lambda: {**body, "input": [{"type": "item_reference", "id": c.word()}]},
        lambda: {**body, "input": [{"type": "function_call", "arguments": c.text()}]},
        lambda: {**body, "input": [c.text(), {c.name(): c.text()}]},
        lambda: {**body, "inferdpt": {"mechanism": c.word()}},
    ]
    return c.random.choice(ways)()


async def local(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
    """A local server with both kinds of models."""
    found = vectors if request.path.endswith("/embeddings") else answer
    return await found(server, request, body)


def request(c: Canaries) -> tuple[str, str]:
    """A path and a body, not always one that is served."""
    path, fields = c.random.choice([("responses", RESPONSES)] * 4 + [("embeddings", EMBEDDINGS)])
    return path, json.dumps((bad_body if c.random.random() < 0.3 else good_body)(c, fields))


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"local": {"embeddings_model": NAME}}


def test_every_field_of_the_protocol_is_generated() -> None:
    assert set(RESPONSES) == set(ResponsesRequest.model_fields)
    assert set(EMBEDDINGS) == set(EmbeddingsRequest.model_fields)


@pytest.mark.parametrize("requests", REQUESTS)
async def test_no_canary_leaves_or_is_logged(proxy: Proxy, requests: int) -> None:
    canaries = Canaries(seed=3)
    proxy.local.behaviour = local
    seen = await fire(proxy, canaries, requests, partial(request, canaries))
    assert seen[200] > requests / 2
    assert set(seen) <= {200, 400, 404}, seen
    assert len(proxy.remote.bodies) > requests / 3
    check_none_left(proxy, canaries, requests)


async def test_the_search_finds_a_proxy_that_leaks(table: EmbeddingTable) -> None:
    """The negative control: operators may let instructions out; then canaries in them arrive."""
    async with running_proxy(table, {"privacy": {"system": "public"}}) as proxy:
        canaries = Canaries(seed=4)
        proxy.local.behaviour = local
        await fire(proxy, canaries, 60, partial(request, canaries))
        assert canaries.found_in(b"\n".join(proxy.remote.received))
