"""The fields that OpenRouter adds: its words pass, and no text of the client's does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.gateway.remotes import NAME, leaked
from tests.proxy.gateway.test_endpoints import complete
from tests.proxy.messages import post

FIELDS: dict[str, Any] = {
    "provider": {
        "order": ["anthropic", "together"],
        "only": ["anthropic"],
        "ignore": ["openai"],
        "allow_fallbacks": False,
        "require_parameters": True,
        "zdr": True,
        "data_collection": "deny",
        "quantizations": ["fp8"],
        "sort": "price",
        "max_price": {"prompt": 1, "completion": 2.5},
    },
    "reasoning": {"effort": "high", "max_tokens": 2000, "exclude": True, "enabled": True},
    "transforms": ["middle-out"],
    "usage": {"include": True},
}
CHAT: dict[str, Any] = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
COMPLETION = {"model": MODEL, "prompt": "Hi"}
BODIES: dict[str, dict[str, Any]] = {"chat/completions": CHAT, "completions": COMPLETION}


def plant(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each way to put a text in the place of one value, or beside the fields of one object."""
    yield path, NAME
    if isinstance(value, dict):
        yield f"{path}.{NAME}", {**value, NAME: 1}
        for key, item in value.items():
            for at, made in plant(item, f"{path}.{key}" if path else key):
                yield at, {**value, key: made}
    elif isinstance(value, list):
        yield f"{path}[{len(value)}]", [*value, NAME]
    else:
        yield path, [value]


class TestGateway:
    @pytest.mark.parametrize("path", BODIES)
    async def test_its_own_words_pass(self, proxy: Proxy, path: str) -> None:
        if path == "completions":
            proxy.remote.behaviour = complete
        body = {**BODIES[path], **FIELDS, "transforms": []}
        status, _, told = await post(proxy, body, path)
        assert status == 200, told
        (sent,) = proxy.remote.bodies
        assert {name: sent[name] for name in FIELDS} == {**FIELDS, "transforms": []}

    @pytest.mark.parametrize("name", FIELDS)
    async def test_a_text_in_their_place_is_refused(self, proxy: Proxy, name: str) -> None:
        for at, value in plant(FIELDS[name], name):
            status, told, answer = await post(proxy, {**CHAT, name: value}, "chat/completions")
            assert status == 400, (at, answer)
            assert told["error"]["param"].startswith(name), at
        assert proxy.remote.received == []

    async def test_other_models_are_the_operators_choice(self, proxy: Proxy) -> None:
        body = {**CHAT, "models": [NAME], "route": NAME}
        status, _, told = await post(proxy, body, "chat/completions")
        assert status == 200, told
        assert {"models", "route"} & set(proxy.remote.bodies[0]) == set()
        assert leaked(proxy) == []

    async def test_plugins_are_refused_by_name(self, proxy: Proxy) -> None:
        body = {**CHAT, "plugins": [{"id": "web", "search_prompt": NAME}]}
        status, told, answer = await post(proxy, body, "chat/completions")
        assert (status, told["error"]["param"]) == (400, "plugins")
        assert NAME not in answer
        assert proxy.remote.received == []


class TestIgnored:
    @pytest.fixture
    def settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        return {**settings, "server": {"ignore_unsupported_tools": True}}

    async def test_plugins_are_left_out_where_hosted_tools_are(self, proxy: Proxy) -> None:
        body = {**CHAT, "plugins": [{"id": "web", "search_prompt": NAME}]}
        status, _, told = await post(proxy, body, "chat/completions")
        assert status == 200, told
        assert "plugins" not in proxy.remote.bodies[0]
        assert leaked(proxy) == []


class TestLocalModel:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {}

    @pytest.mark.parametrize("path", BODIES)
    async def test_they_reach_nobody(self, proxy: Proxy, path: str) -> None:
        given = {name: value for name, value in FIELDS.items() if name != "provider"}
        status, _, told = await post(proxy, {**BODIES[path], **given}, path)
        assert status == 200, told
        for body in (*proxy.remote.bodies, *proxy.local.bodies):
            assert set(body) & set(FIELDS) == set()
        body = {**BODIES[path], "provider": FIELDS["provider"]}
        status, told, _ = await post(proxy, body, path)
        assert (status, told["error"]["param"]) == (400, "provider")

    async def test_a_suffix_is_refused(self, proxy: Proxy) -> None:
        status, told, answer = await post(proxy, {**COMPLETION, "suffix": NAME}, "completions")
        assert (status, told["error"]["param"]) == (400, "suffix")
        assert NAME not in answer
        scored = {**COMPLETION, "suffix": NAME, "echo": True, "logprobs": 0, "max_tokens": 0}
        status, told, _ = await post(proxy, scored, "completions")
        assert (status, told["error"]["param"]) == (400, "suffix")
        assert proxy.remote.received == proxy.local.received == []
