"""Random requests: values of every type, many in one request, in every kind of structure."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import aiohttp
import pytest

from proxy.verify.upstream import list_strings
from proxy.verify.values import TYPES, Value, Values, find_values
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import call, echo

REQUESTS, AT_ONCE = 60, 8


class Writer:
    """Writes requests full of values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.values = Values(seed)
        self.planted: list[Value] = []

    def value(self) -> str:
        made = self.values.make(self.random.choice(list(TYPES)))
        self.planted.append(made)
        return made.text

    def text(self) -> str:
        seen = [value.text for value in self.planted[-20:]]
        parts = [self.value() for _ in range(self.random.randint(1, 3))]
        parts += self.random.sample(seen, min(len(seen), 2))  # values come again
        return f"please note {' and then '.join(parts)}, thanks"

    def json(self, depth: int = 0) -> Any:
        kinds = [self.value, self.text, lambda: None, lambda: True, lambda: 7]
        if depth < 3:
            kinds += [
                lambda: [self.json(depth + 1) for _ in range(2)],
                lambda: {self.value(): self.json(depth + 1), "note": self.json(depth + 1)},
            ]
        return self.random.choice(kinds)()

    def schema(self) -> dict[str, Any]:
        name = self.value()
        own = {"enum": [self.value()], "default": self.json(), "description": self.text()}
        return {"type": "object", "properties": {name: own}, "required": [name]}

    def chat(self) -> dict[str, Any]:
        arguments = json.dumps({"a": self.json()}, ensure_ascii=self.random.random() < 0.5)
        asked = {"id": self.value(), "type": "function"}
        asked["function"] = {"name": "note", "arguments": arguments}  # type: ignore[assignment]
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": self.text()},
            {"role": "user", "content": self.text()},
            {"role": "assistant", "content": self.text(), "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": asked["id"], "content": json.dumps(self.json())},
            {"role": "user", "content": [{"type": "text", "text": self.text()}]},
        ]
        function = {"name": "note", "description": self.text(), "parameters": self.schema()}
        tools = [{"type": "function", "function": function}]
        return {"model": MODEL, "messages": messages, "tools": tools, "stop": [self.value()]}


@pytest.mark.usefixtures("seeded_draws")
async def test_no_value_of_random_requests_leaves(proxy: Proxy) -> None:
    writer, asked = Writer(5), ""
    gate = asyncio.Semaphore(AT_ONCE)

    async def ask(session: aiohttp.ClientSession, i: int, body: dict[str, Any]) -> None:
        body["stream"] = i % 2 == 0
        async with gate, session.post(f"{proxy.base_url}/chat/completions", json=body) as reply:
            assert (reply.status, b'"error"' in await reply.read()) == (200, False)

    async with aiohttp.ClientSession() as session:
        for behaviour in (echo, call):
            proxy.remote.behaviour = behaviour
            bodies = [writer.chat() for _ in range(REQUESTS // 2)]
            asked += "\n".join(text for body in bodies for text in list_strings(body))
            await asyncio.gather(*(ask(session, i, body) for i, body in enumerate(bodies)))
    assert len(proxy.remote.bodies) == REQUESTS
    seen = "\n".join(text for body in proxy.remote.bodies for text in list_strings(body))
    log = "\n".join(proxy.log)
    assert len(writer.planted) > 15 * REQUESTS
    assert find_values(writer.planted, [asked]) == {*writer.planted}  # it finds them there
    assert find_values(writer.planted, [seen, log]) == set()
