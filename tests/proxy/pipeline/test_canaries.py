"""No canary leaves: in 2,000 generated requests every field a client can set holds one."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from proxy.requests.protocol import ChatRequest, CompletionRequest
from tests.proxy.canaries import Canaries, check_none_left, fire, json_value, options
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import fake_server

REQUESTS = [200, pytest.param(1000, marks=pytest.mark.hostile)]


def part(c: Canaries) -> dict[str, Any]:
    return {"type": "text", "text": c.text()}


def message(c: Canaries) -> dict[str, Any]:
    role = c.random.choice(
        ["system", "developer", "user", "user", "assistant", "tool", "function"]
    )
    out: dict[str, Any] = {"role": role, "content": c.text()}
    if c.random.random() < 0.3:
        out["content"] = [part(c), part(c)]
    if c.random.random() < 0.3:
        out["name"] = c.word()
    if role == "assistant" and c.random.random() < 0.5:
        function = {"name": c.word(), "arguments": json.dumps({c.word(): c.text()})}
        out["tool_calls"] = [{"id": c.word(), "type": "function", "function": function}]
        out["refusal"] = c.word()
        out |= {name: json_value(c) for name in ("annotations", "parsed", "id", "thinking_blocks")}
        out["reasoning_content"] = c.text()
    if role == "tool":
        out["tool_call_id"] = c.word()
    return out


# For every field of the two bodies: a value of the right kind that holds canaries where it can.
FIELDS: dict[str, Callable[[Canaries], Any]] = {
    "model": lambda c: MODEL,
    "messages": lambda c: [message(c) for _ in range(c.random.randint(1, 4))],
    "prompt": lambda c: c.random.choice([c.text(), [c.text(), c.text()]]),
    "inferdpt": options,
    "stream": lambda c: c.random.random() < 0.5,
    "stream_options": lambda c: {"include_usage": True},
    "n": lambda c: c.random.randint(1, 2),
    "temperature": lambda c: 0.5,
    "top_p": lambda c: 0.9,
    "max_tokens": lambda c: 20,
    "max_completion_tokens": lambda c: 20,
    "reasoning_effort": lambda c: c.random.choice(["low", "max", c.word()]),
    "seed": lambda c: int(c.number()),
    "stop": lambda c: [c.word(), c.text()],
    "presence_penalty": lambda c: 0.1,
    "frequency_penalty": lambda c: 0.1,
    "logit_bias": lambda c: {c.number(): 1.0},
    "top_k": lambda c: int(c.number()),
    "min_p": lambda c: 0.1,
    "repetition_penalty": lambda c: 1.1,
    "min_tokens": lambda c: int(c.number()),
    "stop_token_ids": lambda c: [int(c.number())],
    "skip_special_tokens": lambda c: True,
    "include_stop_str_in_output": lambda c: True,
    "ignore_eos": lambda c: False,
    "guided_json": json_value,
    "guided_regex": lambda c: c.text(),
    "guided_choice": lambda c: [c.word(), c.word()],
    "guided_grammar": lambda c: c.text(),
    "structured_outputs": json_value,
    "chat_template_kwargs": json_value,
    "user": lambda c: c.word(),
    "metadata": json_value,
    "store": lambda c: True,
    "safety_identifier": lambda c: c.word(),
    "prompt_cache_key": lambda c: c.word(),
    "service_tier": lambda c: c.word(),
    "background_options": json_value,
    "client_metadata": json_value,
    "moderation": json_value,
    "prompt_cache_options": json_value,
    "prompt_cache_retention": lambda c: c.word(),
    "logprobs": lambda c: None,
    "top_logprobs": lambda c: 1,
    "response_format": json_value,
    "tools": lambda c: [{**json_value(c), "type": "function"}],
    "tool_choice": lambda c: c.random.choice([c.word(), {**json_value(c), "type": "function"}]),
    "parallel_tool_calls": lambda c: True,
    "functions": lambda c: [json_value(c)],
    "function_call": lambda c: c.random.choice([c.word(), json_value(c)]),
    "modalities": lambda c: ["text"],
    "verbosity": json_value,
    "prediction": json_value,
    "web_search_options": json_value,
    "echo": lambda c: False,
    "best_of": lambda c: None,
    "cache_control": json_value,
    "reasoning": json_value,
    "transforms": lambda c: [c.word()],
    "usage": json_value,
    "models": lambda c: [c.word()],
    "route": lambda c: c.word(),
    "provider": lambda c: {},  # refused, as a suffix is
    "suffix": lambda c: "",
}


def good_body(c: Canaries, kind: type[Any]) -> dict[str, Any]:
    """Required fields, and about half of the others."""
    required = {"model", "messages", "prompt"}
    return {
        name: FIELDS[name](c)
        for name in kind.model_fields
        if name in required or c.random.random() < 0.5
    }


def bad_body(c: Canaries, kind: type[Any]) -> Any:
    """A body that must be refused: a canary where the wrong thing is."""
    body = good_body(c, kind)
    name = c.random.choice(list(kind.model_fields))
    ways: list[Callable[[], Any]] = [
        lambda: {**body, c.name(): c.text()},
        lambda: {**body, name: {c.name(): [c.text()]}},
        lambda: {**body, "model": c.word()},
        lambda: {**body, "temperature": c.text()},
        lambda: {**body, "provider": json_value(c)},
        lambda: {**body, "suffix": c.text()},
        lambda: {**body, "reasoning_effort": [c.word()]},
        lambda: {**body, "stream": c.word()},
        lambda: {**body, "tools": [json_value(c)]},
        lambda: {**body, "tool_choice": json_value(c)},
        lambda: {**body, "inferdpt": {c.name(): c.text()}},
        lambda: {**body, "inferdpt": {"mechanism": c.word()}},
        lambda: {**body, "logit_bias": {c.word(): c.word()}},
        lambda: {**body, "messages": [{"role": c.word(), "content": c.text()}]},
        lambda: {
            **body,
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": c.word()}}],
                }
            ],
        },
        lambda: [c.text()],
        lambda: c.text(),
    ]
    return c.random.choice(ways)()


def request(c: Canaries) -> tuple[str, str]:
    """A path and a body, neither of them always one that is served."""
    kind, path = c.random.choice(
        [(ChatRequest, "chat/completions"), (CompletionRequest, "completions")]
    )
    data = json.dumps((bad_body if c.random.random() < 0.25 else good_body)(c, kind))
    if c.random.random() < 0.05:
        data = data[: len(data) // 2] + c.word()  # not JSON
    if c.random.random() < 0.03:
        path = f"{c.word()}/{c.word()}"
    return path, data


def test_every_field_of_the_protocol_is_generated() -> None:
    assert set(FIELDS) == set(ChatRequest.model_fields) | set(CompletionRequest.model_fields)


@pytest.mark.parametrize("requests", REQUESTS)
async def test_no_canary_leaves_or_is_logged(proxy: Proxy, requests: int) -> None:
    canaries = Canaries(seed=1)
    seen = await fire(proxy, canaries, requests, partial(request, canaries))
    assert seen[200] > requests / 2
    assert set(seen) <= {200, 400, 404}, seen
    assert len(proxy.remote.bodies) > requests / 2
    assert len(canaries.all) > 20 * requests
    check_none_left(proxy, canaries, requests)
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{proxy.root}/v1/models/{canaries.word()}") as response:
            assert not canaries.found_in(await response.read())
        async with session.get(f"{proxy.root}/metrics") as response:
            assert response.status == 200
            assert not canaries.found_in(await response.read())


@pytest.mark.parametrize("system", ["public"])
async def test_the_search_finds_a_proxy_that_leaks(table: EmbeddingTable, system: str) -> None:
    """The negative control: operators may let system turns out; then canaries in them arrive."""
    async with running_proxy(table, {"privacy": {"system": system}}) as proxy:
        canaries = Canaries(seed=2)
        await fire(proxy, canaries, 60, partial(request, canaries))
        assert canaries.found_in(b"\n".join(proxy.remote.received))


async def test_nothing_goes_to_an_address_a_client_names(proxy: Proxy) -> None:
    """Fields that hold addresses elsewhere lead nowhere."""
    async with fake_server() as other:
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": f"see {other.base_url}/x"}],
            "web_search_options": {"server_url": other.base_url},
            "metadata": {"base_url": other.base_url},
        }
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{proxy.base_url}/chat/completions",
                json=body,
                headers={"X-Forwarded-Host": "127.0.0.1", "Base-Url": other.base_url},
            ) as response,
        ):
            assert response.status == 200
        assert other.received == []
