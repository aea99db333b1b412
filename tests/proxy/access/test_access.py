"""Access: browsers, keys and tenants."""

from __future__ import annotations

from typing import Any

import aiohttp
import openai
import pytest

from tests.proxy.chats import user
from tests.proxy.conftest import MODEL, Proxy


class TestBrowsers:
    """Without keys, web pages must not spend the operator's key."""

    async def post(self, proxy: Proxy, **headers: str) -> int:
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                f"{proxy.base_url}/chat/completions",
                json={"model": MODEL, "messages": user()},
                headers=headers,
            ) as response,
        ):
            return response.status

    async def test_foreign_origins_and_hosts_are_refused(self, proxy: Proxy) -> None:
        assert await self.post(proxy, Origin="http://evil.example") == 403
        assert await self.post(proxy, Host="evil.example") == 403
        assert proxy.remote.received == []

    @pytest.mark.parametrize(
        ("host", "code"),
        [
            ("localhost:8100", 200),
            ("LocalHost", 200),
            ("127.0.0.1", 200),
            ("[::1]", 200),
            ("[::1]:8100", 200),
            ("[::2]", 403),
            ("[::1].evil.example", 403),
            ("localhost.evil.example", 403),
            ("evil.example:127.0.0.1", 403),
            ("[localhost", 403),
            ("evil.example", 403),
        ],
    )
    async def test_this_machine_is_known_by_each_of_its_names(
        self, proxy: Proxy, host: str, code: int
    ) -> None:
        assert await self.post(proxy, Host=host) == code

    async def test_configured_origins_are_served(self, table: Any) -> None:
        from tests.proxy.conftest import running_proxy

        settings = {"server": {"cors_origins": ["http://ui.example"]}}
        async with running_proxy(table, settings) as proxy:
            assert await self.post(proxy, Origin="http://ui.example") == 200
            async with (
                aiohttp.ClientSession() as session,
                session.options(
                    f"{proxy.base_url}/chat/completions",
                    headers={
                        "Origin": "http://ui.example",
                        "Access-Control-Request-Method": "POST",
                    },
                ) as response,
            ):
                assert response.status == 204
                allowed = response.headers["Access-Control-Allow-Origin"]
                assert allowed == "http://ui.example"


class TestKeys:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        import hashlib

        keys = [
            {"tenant": t, "sha256": hashlib.sha256(k.encode()).hexdigest()}
            for t, k in (("alice", "key-a"), ("bob", "key-b"))
        ]
        return {"server": {"keys": keys}}

    @pytest.mark.parametrize("key", ["wrong", "key-ax", "key"])
    async def test_a_wrong_key_is_401(self, proxy: Proxy, key: str) -> None:
        with pytest.raises(openai.AuthenticationError) as info:
            await proxy.client(api_key=key).chat.completions.create(model=MODEL, messages=user())
        assert info.value.code == "invalid_api_key"
        assert proxy.remote.received == []

    async def test_a_clients_key_never_reaches_the_remote(self, proxy: Proxy) -> None:
        await proxy.client(api_key="key-a").chat.completions.create(model=MODEL, messages=user())
        (request,) = proxy.remote.received
        assert b"key-a" not in request
        assert b"Bearer operator-secret" in request

    async def test_tenants_share_no_draw(self, proxy: Proxy) -> None:
        for key in ("key-a", "key-b", "key-a"):
            await proxy.client(api_key=key).chat.completions.create(model=MODEL, messages=user())
        a, b, again = (proxy.sent(i) for i in range(3))
        assert a == again
        assert a != b

    async def test_health_is_open_and_metrics_are_not(self, proxy: Proxy) -> None:
        async with aiohttp.ClientSession() as session:
            for path, expected in (("/health", 200), ("/ready", 200), ("/metrics", 401)):
                async with session.get(proxy.root + path) as response:
                    assert response.status == expected
