"""No canary leaves: in 2,000 generated requests every field a client can set holds one."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from typing import Any

import aiohttp
import pytest

from perturb import EmbeddingTable
from proxy.protocol import ChatRequest, CompletionRequest
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import fake_server

REQUESTS = 2000
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
    "inferdpt": lambda c: {
        "mechanism": c.random.choice(["rantext", "rantext_ldp"]),
        "epsilon": c.random.choice([1, 3, 6, 9]),
        "receipt": c.random.choice(["none", "summary", "full"]),
        "task": c.random.choice(["chat", "instruct"]),
    },
    "stream": lambda c: c.random.random() < 0.5,
    "stream_options": lambda c: {"include_usage": True},
    "n": lambda c: c.random.randint(1, 2),
    "temperature": lambda c: 0.5,
    "top_p": lambda c: 0.9,
    "max_tokens": lambda c: 20,
    "max_completion_tokens": lambda c: 20,
    "reasoning_effort": lambda c: "low",
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
    "logprobs": lambda c: None,
    "top_logprobs": lambda c: 1,
    "response_format": json_value,
    "tools": lambda c: [json_value(c)],
    "tool_choice": lambda c: c.random.choice([c.word(), json_value(c)]),
    "parallel_tool_calls": lambda c: True,
    "functions": lambda c: [json_value(c)],
    "function_call": lambda c: c.random.choice([c.word(), json_value(c)]),
    "modalities": lambda c: ["text"],
    "verbosity": lambda c: "low",
    "prediction": json_value,
    "web_search_options": json_value,
    "echo": lambda c: False,
    "best_of": lambda c: None,
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
        lambda: {**body, c.word(): c.text()},
        lambda: {**body, name: {c.word(): [c.text()]}},
        lambda: {**body, "model": c.word()},
        lambda: {**body, "temperature": c.text()},
        lambda: {**body, "reasoning_effort": c.word()},
        lambda: {**body, "stream": c.word()},
        lambda: {**body, "inferdpt": {c.word(): c.text()}},
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


async def fire(proxy: Proxy, c: Canaries, count: int) -> dict[int, int]:
    """Send generated requests; errors are searched at once. Returns how often each status came."""
    seen: dict[int, int] = {}
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(session: aiohttp.ClientSession) -> None:
        kind, path = c.random.choice(
            [(ChatRequest, "chat/completions"), (CompletionRequest, "completions")]
        )
        body = (bad_body if c.random.random() < 0.25 else good_body)(c, kind)
        data = json.dumps(body)
        if c.random.random() < 0.05:
            data = data[: len(data) // 2] + c.word()  # not JSON
        url = f"{proxy.base_url}/{path}?{c.word()}={c.word()}"
        if c.random.random() < 0.03:
            url = f"{proxy.base_url}/{c.word()}/{c.word()}"
        async with gate, session.post(url, data=data, headers=headers(c)) as response:
            answer = await response.read()
        seen[response.status] = seen.get(response.status, 0) + 1
        shown = answer + str(response.headers).encode()
        if response.status != 200 or b'"error":' in answer:
            assert not c.found_in(shown), shown

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(one(session) for _ in range(count)))
        async with session.get(f"{proxy.root}/v1/models/{c.word()}") as response:
            assert not c.found_in(await response.read())
        async with session.get(f"{proxy.root}/metrics") as response:
            assert response.status == 200
            assert not c.found_in(await response.read())
    return seen


def test_every_field_of_the_protocol_is_generated() -> None:
    assert set(FIELDS) == set(ChatRequest.model_fields) | set(CompletionRequest.model_fields)


async def test_no_canary_leaves_or_is_logged(proxy: Proxy) -> None:
    canaries = Canaries(seed=1)
    seen = await fire(proxy, canaries, REQUESTS)
    assert seen[200] > REQUESTS / 2
    assert set(seen) <= {200, 400, 404}, seen
    assert len(proxy.remote.bodies) > REQUESTS / 2
    assert len(canaries.all) > 20 * REQUESTS
    assert canaries.found_in(b"\n".join(proxy.remote.received)) == set()
    assert canaries.found_in("\n".join(proxy.log).encode()) == set()
    # … while the local model did get them: the search finds what is there to be found
    assert len(canaries.found_in(b"\n".join(proxy.local.received))) > REQUESTS


@pytest.mark.parametrize("system", ["public"])
async def test_the_search_finds_a_proxy_that_leaks(table: EmbeddingTable, system: str) -> None:
    """The negative control: operators may let system turns out; then canaries in them arrive."""
    async with running_proxy(table, {"privacy": {"system": system}}) as proxy:
        canaries = Canaries(seed=2)
        await fire(proxy, canaries, 60)
        assert canaries.found_in(b"\n".join(proxy.remote.received))


async def test_nothing_goes_to_an_address_a_client_names(proxy: Proxy) -> None:
    """Fields that hold addresses elsewhere lead nowhere."""
    async with fake_server() as other:
        body = {
            "model": MODEL,
            "messages": [{"role": "user", "content": f"see {other.base_url}/x"}],
            "tools": [{"type": "mcp", "server_url": other.base_url}],
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
