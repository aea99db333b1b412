"""The remote fails: what the client is told, what is retried, and who answers then."""

from __future__ import annotations

import asyncio
import json
import time
import weakref
from typing import Any

import openai
import pytest
from aiohttp import web

from proxy.remote import upstream
from tests.proxy.chats import ANSWER, user
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import FakeServer, answer, die, status


class TestRemoteFailures:
    @pytest.mark.parametrize(
        ("code", "expected", "name"),
        [
            (400, 502, "remote_error"),
            (401, 502, "remote_error"),
            (404, 502, "remote_error"),
            (429, 429, "remote_rate_limited"),
            (500, 502, "remote_error"),
            (503, 502, "remote_error"),
        ],
    )
    async def test_statuses_are_mapped(
        self, proxy: Proxy, code: int, expected: int, name: str
    ) -> None:
        proxy.remote.behaviour = status(code, headers={"retry-after": "7"})
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert (info.value.status_code, info.value.code) == (expected, name)
        assert info.value.response.headers["x-should-retry"] == "false"
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


def named(status_code: int, **names: Any) -> Any:
    """An error answer in OpenAI's form."""
    error = {
        "message": "upstream-secret",
        "type": "invalid_request_error",
        "param": None,
        "code": None,
    }
    return status(status_code, {"error": {**error, **names}})


async def failed(proxy: Proxy, **options: Any) -> openai.APIStatusError:
    """The error a chat ends in, which tells nothing of the remote's text."""
    with pytest.raises(openai.APIStatusError) as info:
        await proxy.client().chat.completions.create(model=MODEL, messages=user(), **options)
    assert "secret" not in info.value.response.text
    assert "secret" not in "\n".join(proxy.log)
    assert info.value.response.headers["x-should-retry"] == "false"
    return info.value


class TestWhatTheRemoteTells:
    """Of its error, the status and names that are known reach client and log."""

    @pytest.mark.parametrize(
        ("code", "names", "expected", "told"),
        [
            (429, {"code": "insufficient_quota"}, (429, "insufficient_quota", None), "quota"),
            (429, {"type": "insufficient_quota"}, (429, "insufficient_quota", None), "quota"),
            (402, {}, (429, "insufficient_quota", None), "HTTP 402"),
            (
                429,
                {"code": "rate_limit_exceeded", "type": "requests"},
                (429, "remote_rate_limited", None),
                "rate_limit_exceeded",
            ),
            (401, {"code": "invalid_api_key"}, (502, "remote_error", None), "invalid_api_key"),
            (403, {"code": "upstream-secret"}, (502, "remote_error", None), "HTTP 403"),
            (404, {"code": "model_not_found"}, (502, "remote_error", None), "model_not_found"),
            (404, {"code": "DeploymentNotFound"}, (502, "remote_error", None), "DeploymentNot"),
            (
                400,
                {"code": "unsupported_value", "param": "temperature"},
                (400, "unsupported_value", "temperature"),
                "'temperature'",
            ),
            (
                400,
                {"code": "unsupported_parameter", "param": "store"},  # the proxy's own
                (502, "remote_error", None),
                "unsupported_parameter, store",
            ),
            (
                400,
                {"code": "context_length_exceeded", "param": "messages"},
                (400, "context_length_exceeded", "messages"),
                "context",
            ),
            (400, {"type": "BadRequestError", "code": 400}, (502, "remote_error", None), "BadReq"),
            (400, {"type": ["secret"], "param": {"secret": 1}}, (502, "remote_error", None), ""),
            (500, {"code": "secret", "type": "secret"}, (502, "remote_error", None), "HTTP 500"),
            (503, {"code": "slow_down"}, (502, "remote_error", None), "slow_down"),
        ],
    )
    async def test_known_names_reach_the_client_and_the_log(
        self, proxy: Proxy, code: int, names: dict[str, Any], expected: Any, told: str
    ) -> None:
        proxy.remote.behaviour = named(code, **names)
        error = await failed(proxy, temperature=0.3)
        assert (error.status_code, error.code, error.param) == expected
        assert told in error.message
        (line,) = [json.loads(line) for line in proxy.log if '"remote_failures"' in line]
        (logged,) = line["remote_failures"]
        assert logged["status"] == code
        for name, value in names.items():
            known = isinstance(value, str) and "secret" not in value
            assert logged.get(name) == (value if known else None)

    async def test_an_error_in_a_stream_is_logged_too(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = named(401, code="invalid_api_key")
        await failed(proxy, stream=True)
        assert '"remote_failures":[{"status":401' in "\n".join(proxy.log)

    @pytest.mark.parametrize("delay", ["nan", "inf", "-1", "1e309", "", "Wed, 21 Oct 2037", "1e9"])
    async def test_a_delay_that_is_none_breaks_nothing(self, proxy: Proxy, delay: str) -> None:
        proxy.remote.behaviour = status(429, headers={"retry-after": delay})
        error = await failed(proxy)
        assert 0 <= int(error.response.headers["retry-after"]) <= 3600

    async def test_no_other_header_goes_out(self, proxy: Proxy) -> None:
        """The software adds no header by which a remote could tell its clients apart."""
        await proxy.client().chat.completions.create(model=MODEL, messages=user())
        head = proxy.remote.received[-1].split(b"\n\n")[0].decode()
        names = {line.split(":")[0].lower() for line in head.splitlines()[1:]}
        assert names == {
            *("host", "authorization", "user-agent", "accept", "accept-encoding"),
            *("content-type", "content-length"),
        }


class TestMaxTokens:
    """A model that knows the limit by its newer name only."""

    @staticmethod
    async def newer(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        if "max_tokens" in body:
            told = {"code": "unsupported_parameter", "param": "max_tokens"}
            return await named(400, **told)(server, request, body)
        return await answer(server, request, body)

    async def test_it_is_asked_again_by_the_newer_name_and_that_is_remembered(
        self, proxy: Proxy
    ) -> None:
        proxy.remote.behaviour = self.newer
        for _ in range(2):
            await proxy.client().chat.completions.create(
                model=MODEL, messages=user(), max_tokens=50
            )
        first, second, third = proxy.remote.bodies
        assert first["max_tokens"] == 50
        assert second == third
        assert second["max_completion_tokens"] == 50
        assert "max_tokens" not in second
        assert second["messages"] == first["messages"]

    async def test_other_models_keep_the_older_name(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = self.newer
        await proxy.client().chat.completions.create(model=MODEL, messages=user(), max_tokens=50)
        proxy.remote.behaviour = None
        await proxy.client().chat.completions.create(
            model="org/other", messages=user(), max_tokens=50
        )
        assert proxy.remote.bodies[-1]["max_tokens"] == 50

    async def test_a_model_that_knows_neither_name_is_told(self, proxy: Proxy) -> None:
        told = {"code": "unsupported_parameter", "param": "max_tokens"}
        proxy.remote.behaviour = named(400, **told)
        error = await failed(proxy, max_tokens=50)
        assert (error.code, error.param) == ("unsupported_parameter", "max_tokens")
        assert len(proxy.remote.bodies) == 2


class TestLocalOnlyOnFailure:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"on_remote_failure": "local_only"}}

    async def test_the_local_model_answers_and_the_receipt_says_so(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = status(500)
        done = await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert done.choices[0].message.content == ANSWER
        assert "failed" in done.model_extra["inferdpt"]["remote"][0]


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without a back-off worth waiting for."""
    monkeypatch.setattr(upstream, "BACK_OFF", (0.01, 0.02))


class TestRetries:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"remote": {"retries": 2}}

    async def test_the_proxy_retries_with_the_same_bytes(self, proxy: Proxy) -> None:
        async def fails_once(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            if len(server.bodies) == 1:
                return await status(503)(server, request, body)
            return await answer(server, request, body)

        proxy.remote.behaviour = fails_once
        await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 2
        bodies = [data.split(b"\n\n", 1)[1] for data in proxy.remote.received]
        assert bodies[0] == bodies[1]

    @pytest.mark.parametrize("code", [408, 409, 429, 500, 503, None])
    async def test_one_call_of_the_sdk_is_at_most_one_and_the_retries(
        self, proxy: Proxy, code: int | None, fast: None
    ) -> None:
        """The SDK retries by itself what it is not told to leave."""
        proxy.remote.behaviour = (
            die if code is None else status(code, headers={"retry-after": "0"})
        )
        client = proxy.client(max_retries=2)
        with pytest.raises(openai.APIStatusError):
            await client.chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 3

    @pytest.mark.parametrize("code", [400, 401, 404, 422])
    async def test_what_cannot_pass_is_sent_once(self, proxy: Proxy, code: int) -> None:
        proxy.remote.behaviour = status(code)
        with pytest.raises(openai.APIStatusError):
            await proxy.client(max_retries=2).chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 1

    async def test_an_answer_that_was_cut_short_is_told_and_not_paid_for_twice(
        self, proxy: Proxy
    ) -> None:
        async def cut(server: FakeServer, request: web.Request, body: Any) -> web.StreamResponse:
            response = web.StreamResponse()
            response.content_length = 50
            await response.prepare(request)
            await response.write(b"{")
            assert request.transport is not None
            request.transport.close()
            return response

        proxy.remote.behaviour = cut
        error = await failed(proxy)
        assert "cut short" in error.message
        assert len(proxy.remote.bodies) == 1

    async def test_used_up_quota_is_not_waited_for(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = named(429, code="insufficient_quota")
        error = await failed(proxy)
        assert error.code == "insufficient_quota"
        assert len(proxy.remote.bodies) == 1

    async def test_a_remote_that_asks_for_more_than_a_minute_is_left_alone(
        self, proxy: Proxy
    ) -> None:
        proxy.remote.behaviour = status(429, headers={"retry-after": "600"})
        error = await failed(proxy)
        assert error.response.headers["retry-after"] == "600"
        assert len(proxy.remote.bodies) == 1

    async def test_the_delay_it_asks_for_is_kept(self, proxy: Proxy, fast: None) -> None:
        times = []

        async def slow(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            times.append(time.monotonic())
            if len(times) == 1:
                return await status(429, headers={"retry-after": "0.7"})(server, request, body)
            return await answer(server, request, body)

        proxy.remote.behaviour = slow
        await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert times[1] - times[0] >= 0.7


def hang_up(then: Any = answer) -> Any:
    """Take one request of a connection, and drop the connection without a word on the next."""
    used = weakref.WeakSet()

    async def behave(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        if request.transport in used:
            server.bodies.remove(body)  # to the client, it was not received
            request.transport.abort()
        used.add(request.transport)
        return await then(server, request, body)

    return behave


class TestKeptConnections:
    @pytest.fixture(params=[0, 2])
    def settings(self, request: Any) -> dict[str, Any]:
        return {"remote": {"retries": request.param}}

    async def test_one_that_was_closed_fails_no_request(self, proxy: Proxy, fast: None) -> None:
        proxy.remote.behaviour = hang_up()
        for _ in range(3):
            await proxy.client().chat.completions.create(model=MODEL, messages=user())
        assert len(proxy.remote.bodies) == 3

    async def test_many_that_were_closed_fail_no_request(self, proxy: Proxy, fast: None) -> None:
        proxy.remote.behaviour = hang_up()
        client = proxy.client()
        for _ in range(3):
            await asyncio.gather(
                *(client.chat.completions.create(model=MODEL, messages=user()) for _ in range(6))
            )
        assert len(proxy.remote.bodies) == 18

    async def test_what_the_remote_receives_is_bounded_all_the_same(
        self, proxy: Proxy, settings: dict[str, Any], fast: None
    ) -> None:
        client = proxy.client()
        await client.chat.completions.create(model=MODEL, messages=user())
        for behaviour, more in ((status(503), 0), (hang_up(status(503)), 0), (die, 1)):
            proxy.remote.behaviour = None
            await client.chat.completions.create(model=MODEL, messages=user())
            proxy.remote.bodies.clear()
            proxy.remote.behaviour = behaviour
            with pytest.raises(openai.APIStatusError):
                await client.chat.completions.create(model=MODEL, messages=user())
            # A remote that reads and then hangs up looks like one whose connection was closed.
            assert len(proxy.remote.bodies) == 1 + settings["remote"]["retries"] + more
