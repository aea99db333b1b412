"""What a key says of a value in the arguments of a call counts, as it does in a text of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from benchmarks.fidelity.gateway import running_gateway, write_completion
from tests.tables import bundled_table

CALLED = {
    "login": "nlindner",
    "password": "kestrelmoon",
    "phone": 4791283746,
    "people": [{"last_name": "Haddadian", "note": "first floor\nleft"}],
    "auth": {"passphrase": "blauziegel"},
    "limit": 20,
    "path": "src/app.py",
    "content": "x = 1\n" * 80,
}
PRIVATE = ("nlindner", "kestrelmoon", "4791283746", "Haddadian", "blauziegel")
KEPT = ("first floor", "src/app.py", "x = 1", '"limit": 20', "password", "last_name")


def call(arguments: str) -> dict[str, Any]:
    function = {"name": "lookup", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }


@pytest.mark.parametrize("arguments", [CALLED, [CALLED], {"all": {"of": [CALLED]}}])
async def test_values_below_telling_keys_do_not_leave(arguments: Any) -> None:
    sent: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        body = await request.json()
        made = body["messages"][1]["tool_calls"][0]["function"]["arguments"]
        sent.append(await request.text())
        reply = write_completion("")
        reply["choices"][0]["message"] = call(made) | {"content": made}
        return web.json_response(reply)

    remote = web.Application()
    remote.router.add_post("/v1/chat/completions", answer)
    raw = json.dumps(arguments)
    messages = [
        {"role": "user", "content": "Please look it up."},
        call(raw),
        {"role": "tool", "tool_call_id": "call_1", "content": "ok"},
    ]
    async with (
        running_gateway(bundled_table(), {}, remote) as gateway,
        gateway.session.post(
            f"{gateway.url}/chat/completions", json={"model": "m", "messages": messages}
        ) as reply,
    ):
        assert reply.status == 200, await reply.text()
        message = (await reply.json())["choices"][0]["message"]
    assert [part for part in PRIVATE if part in sent[0]] == []
    left = json.loads(sent[0])["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert all(part in left for part in KEPT)
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == arguments
    assert json.loads(message["content"]) == arguments


async def test_arguments_without_telling_keys_stay() -> None:
    arguments = {
        "query": "weather in Lisbon",
        "days": 3,
        "key": "value",
        "name": "lookup",
        "id": 7,
        "secret": "main",
        "password": 12345678,
        "i18n": {"login": "Acceder", "username": "Usuario"},
        "selectors": {"password": "#pwd-field"},
        "city": "Summit",
    }
    sent: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        sent.append(
            (await request.json())["messages"][1]["tool_calls"][0]["function"]["arguments"]
        )
        return web.json_response(write_completion("ok"))

    remote = web.Application()
    remote.router.add_post("/v1/chat/completions", answer)
    messages = [{"role": "user", "content": "Hello"}, call(json.dumps(arguments))]
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": "ok"})
    async with (
        running_gateway(bundled_table(), {}, remote) as gateway,
        gateway.session.post(
            f"{gateway.url}/chat/completions", json={"model": "m", "messages": messages}
        ) as reply,
    ):
        assert reply.status == 200, await reply.text()
    assert json.loads(sent[0]) == arguments
