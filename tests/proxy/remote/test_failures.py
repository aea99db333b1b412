"""Anything may die at any stage: the client gets an error or a clean end, and the next request
works."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import openai
import pytest

from proxy.api.app_keys import METRICS
from tests import servers
from tests.limits import LIMIT
from tests.proxy.conftest import MODEL, Proxy
from tests.servers import WORDS, FakeServer

MESSAGES: list[dict[str, Any]] = [{"role": "user", "content": "The board met on Monday morning."}]


async def works(proxy: Proxy) -> None:
    """The next request is answered and nothing is left over from the last one."""
    proxy.remote.behaviour = proxy.local.behaviour = None
    async with asyncio.timeout(LIMIT):
        done = await proxy.client().chat.completions.create(model=MODEL, messages=MESSAGES)
        assert done.choices[0].message.content == "".join(WORDS)
        while proxy.app[METRICS].busy:
            await asyncio.sleep(0.01)


async def stream_on_the_wire(proxy: Proxy, **body: Any) -> tuple[int, list[str]]:
    """Status and the events of a streamed request, read to the end. The remote is released once
    the answer has begun."""
    async with (
        asyncio.timeout(LIMIT),
        aiohttp.ClientSession() as session,
        session.post(
            f"{proxy.base_url}/chat/completions",
            json={"model": MODEL, "messages": MESSAGES, "stream": True, **body},
        ) as response,
    ):
        proxy.remote.release.set()
        text = (await response.read()).decode()
        if response.status != 200:
            return response.status, [text]
        assert text.endswith("\n\n")
        return 200, [event.removeprefix("data: ") for event in text.split("\n\n")[:-1]]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("side", "behaviour", "code"),
    [
        ("remote", servers.die, "remote_error"),
        ("remote", servers.status(503), "remote_error"),
        ("local", servers.die, "local_model_unavailable"),
        ("local", servers.status(500), "local_model_unavailable"),
        ("local", servers.status(422), "local_model_refused"),
    ],
)
async def test_a_failure_before_the_first_word_is_an_http_error(
    proxy: Proxy, side: str, behaviour: Any, code: str, stream: bool
) -> None:
    getattr(proxy, side).behaviour = behaviour
    async with asyncio.timeout(LIMIT):
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL, messages=MESSAGES, stream=stream
            )
    assert info.value.code == code
    await works(proxy)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("side", ["remote", "local"])
async def test_an_upstream_that_is_gone_is_an_http_error(
    proxy: Proxy, side: str, stream: bool
) -> None:
    server: FakeServer = getattr(proxy, side)
    port = server.port
    await server.stop()
    async with asyncio.timeout(LIMIT):
        with pytest.raises(openai.APIStatusError) as info:
            await proxy.client().chat.completions.create(
                model=MODEL, messages=MESSAGES, stream=stream
            )
    assert info.value.status_code == {"remote": 502, "local": 503}[side]
    await server.start(port)
    await works(proxy)


@pytest.mark.parametrize("behaviour", [servers.die_mid_stream, servers.end_mid_stream])
@pytest.mark.parametrize("n", [1, 3])
async def test_a_local_death_in_the_middle_is_an_error_event(
    proxy: Proxy, behaviour: Any, n: int
) -> None:
    proxy.local.behaviour = behaviour
    status, events = await stream_on_the_wire(proxy, n=n)
    assert status == 200
    assert events[-1] == "[DONE]"
    error = json.loads(events[-2])["error"]
    assert error["code"] == "local_model_unavailable"
    assert error.keys() == {"message", "type", "param", "code"}
    assert [e for e in events if '"error"' in e] == [events[-2]]
    # the SDK raises it
    with pytest.raises(openai.APIError, match="local model"):
        async for _ in await proxy.client().chat.completions.create(
            model=MODEL, messages=MESSAGES, stream=True
        ):
            pass
    await works(proxy)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("side", ["remote", "local"])
async def test_a_client_that_leaves_cancels_the_upstream_call(
    proxy: Proxy, side: str, stream: bool
) -> None:
    server: FakeServer = getattr(proxy, side)
    server.behaviour = servers.hang
    async with asyncio.timeout(LIMIT):
        async with aiohttp.ClientSession() as session:
            request = asyncio.create_task(
                session.post(
                    f"{proxy.base_url}/chat/completions",
                    json={"model": MODEL, "messages": MESSAGES, "stream": stream, "n": 2},
                )
            )
            await server.started.wait()
            await asyncio.sleep(0.05)
            request.cancel()
            await asyncio.wait([request])
        calls = len(server.bodies)
        while server.disconnects < calls:
            await asyncio.sleep(0.01)
        while not stream and not any('"status":499' in line for line in proxy.log):
            await asyncio.sleep(0.01)
    await works(proxy)


async def test_a_client_that_leaves_in_the_middle_cancels_the_generation(proxy: Proxy) -> None:
    proxy.local.behaviour = servers.hang_mid_stream
    async with asyncio.timeout(LIMIT):
        stream = await proxy.client().chat.completions.create(
            model=MODEL, messages=MESSAGES, stream=True
        )
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        while proxy.local.disconnects < 1:
            await asyncio.sleep(0.01)
    await works(proxy)


async def test_what_a_client_saw_of_a_broken_answer_is_recognised_as_history(
    proxy: Proxy,
) -> None:
    proxy.remote.text = "remote words"
    proxy.local.behaviour = servers.die_mid_stream
    await stream_on_the_wire(proxy)
    proxy.local.behaviour = None
    turns = [*MESSAGES, {"role": "assistant", "content": WORDS[0]}, *MESSAGES]
    await proxy.client().chat.completions.create(model=MODEL, messages=turns)
    assert proxy.sent()[1]["content"] == "remote words"


class TestTimeouts:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        # Enough for the answer after the silence, on a busy machine too.
        return {"remote": {"timeout_seconds": 2.0}, "local": {"timeout_seconds": 2.0}}

    @pytest.mark.parametrize("side", ["remote", "local"])
    async def test_silence_is_504(self, proxy: Proxy, side: str) -> None:
        getattr(proxy, side).behaviour = servers.hang
        async with asyncio.timeout(LIMIT):
            with pytest.raises(openai.APIStatusError) as info:
                await proxy.client().chat.completions.create(model=MODEL, messages=MESSAGES)
        assert info.value.status_code == 504
        getattr(proxy, side).release.set()
        await works(proxy)

    async def test_silence_in_the_middle_is_an_error_event(self, proxy: Proxy) -> None:
        proxy.local.behaviour = servers.hang_mid_stream
        status, events = await stream_on_the_wire(proxy)
        assert (status, events[-1]) == (200, "[DONE]")
        assert json.loads(events[-2])["error"]["code"] == "local_model_timeout"
        await works(proxy)


class TestAfterTheHeaders:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"server": {"ping_seconds": 0.05}}

    async def test_a_remote_failure_after_a_ping_is_an_error_event(self, proxy: Proxy) -> None:
        async def late(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
            await server.release.wait()
            return await servers.status(500)(server, request, body)

        proxy.remote.behaviour = late
        status, events = await stream_on_the_wire(proxy)
        assert status == 200
        assert events[0] == ": ping"
        assert events[-1] == "[DONE]"
        assert json.loads(events[-2])["error"]["code"] == "remote_error"
        await works(proxy)


class TestBusy:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"limits": {"concurrent_requests": 2, "queue_seconds": 0.5}}

    async def test_who_waits_too_long_is_told_429_and_can_be_retried(self, proxy: Proxy) -> None:
        proxy.remote.behaviour = servers.hang
        client = proxy.client()
        jobs = [
            asyncio.create_task(client.chat.completions.create(model=MODEL, messages=MESSAGES))
            for _ in range(2)
        ]
        while len(proxy.remote.bodies) < 2:
            await asyncio.sleep(0.01)
        with pytest.raises(openai.RateLimitError) as info:
            await client.chat.completions.create(model=MODEL, messages=MESSAGES)
        assert info.value.response.headers["retry-after"] == "1"
        assert "x-should-retry" not in info.value.response.headers
        proxy.remote.release.set()
        await asyncio.gather(*jobs)
        await works(proxy)


async def test_readiness_follows_the_local_model(proxy: Proxy) -> None:
    async with aiohttp.ClientSession() as session:
        port = proxy.local.port
        for alive in (True, False, True):
            if not alive:
                await proxy.local.stop()
            elif proxy.local._runner is None:
                await proxy.local.start(port)
            async with session.get(f"{proxy.root}/ready") as response:
                assert response.status == (200 if alive else 503)
            async with session.get(f"{proxy.root}/health") as response:
                assert response.status == 200


async def test_an_internal_error_says_nothing_and_logs_no_text(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug's exception may quote the request; neither the client nor the log gets to see it."""
    from proxy.api.app_keys import PIPELINE

    async def bug(*_: Any) -> None:
        raise RuntimeError(f"cannot handle {MESSAGES[0]['content']}")

    monkeypatch.setattr(proxy.app[PIPELINE], "answer", bug)
    with pytest.raises(openai.InternalServerError) as info:
        await proxy.client().chat.completions.create(model=MODEL, messages=MESSAGES)
    assert info.value.code == "internal_error"
    assert "Monday" not in info.value.response.text
    assert "Monday" not in "\n".join(proxy.log)
    assert "RuntimeError" in "\n".join(proxy.log)
