"""The remote fails: what the client is told, what is retried, and who answers then."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.proxy.chats import ANSWER, user
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import FakeServer, status


class TestRemoteFailures:
    @pytest.mark.parametrize(
        ("code", "expected", "name", "retry"),
        [
            (400, 502, "remote_error", "false"),
            (401, 502, "remote_error", "false"),
            (404, 502, "remote_error", "false"),
            (429, 429, "remote_rate_limited", None),
            (500, 502, "remote_error", None),
            (503, 502, "remote_error", None),
        ],
    )
    async def test_statuses_are_mapped(
        self, proxy: Proxy, code: int, expected: int, name: str, retry: str | None
    ) -> None:
        proxy.remote.behaviour = status(code, headers={"retry-after": "7"})
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert (info.value.status_code, info.value.code) == (expected, name)
        assert info.value.response.headers.get("x-should-retry") == retry
        assert "upstream-secret" not in info.value.response.text
        if expected == 429:
            assert info.value.response.headers["retry-after"] == "7"

    @pytest.mark.parametrize("body", [{}, {"choices": []}, [1], {"choices": [{"index": 0}]}])
    async def test_answers_of_another_shape_are_502(self, proxy: Proxy, body: Any) -> None:
        proxy.remote.behaviour = status(200, body or {"x": 1})
        with pytest.raises(openai.InternalServerError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert info.value.status_code == 502

    async def test_an_empty_generation_leaves_the_local_model_alone(self, proxy: Proxy) -> None:
        proxy.remote.text = ""
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert "alone" in done.model_extra["inferdpt"]["remote"][0]
        assert proxy.local.bodies[-1]["messages"] == user()


class TestLocalOnlyOnFailure:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"on_remote_failure": "local_only"}}

    async def test_the_local_model_answers_and_the_receipt_says_so(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = status(500)
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert done.choices[0].message.content == ANSWER
        assert "failed" in done.model_extra["inferdpt"]["remote"][0]


class TestRetries:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"retries": 2}}

    async def test_the_proxy_retries_with_the_same_bytes(self, proxy: Proxy) -> None:
        from tests.servers import answer

        async def fails_once(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            if len(server.bodies) == 1:
                return await status(503)(server, request, body)
            return await answer(server, request, body)

        proxy.remote.behaviour = fails_once
        await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 2
        assert proxy.remote.bodies[0] == proxy.remote.bodies[1]
