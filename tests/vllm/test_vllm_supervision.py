"""The supervised vLLM: requests aborted, a crash survived, nothing left behind. Runs last."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import Any

import aiohttp
import pytest
from openai import AsyncOpenAI

from tests.vllm.stack import ALIAS, READY, Stack, alive, until

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

MESSAGES: list[Any] = [{"role": "user", "content": "What happened in the harbour in winter?"}]
# So many tokens that nothing here ends by itself before it is ended.
LONG: dict[str, Any] = {
    "model": ALIAS,
    "messages": MESSAGES,
    "n": 4,
    "max_tokens": 8000,
    "ignore_eos": True,
}
RUNNING = "vllm:num_requests_running"
FINISHED = "vllm:request_success_total"
TOKENS = "vllm:generation_tokens_total"


async def generating(stack: Stack) -> None:
    """Wait until vLLM is at work on every choice: it aborts nothing that it only just accepts."""

    async def running() -> bool:
        return await stack.vllm.metric(RUNNING) == LONG["n"]

    await until(running)


async def aborted(stack: Stack, finished: float, tokens: float) -> None:
    """Wait until vLLM generates nothing; what it generated since `tokens` is not the whole."""

    async def idle() -> bool:
        return await stack.vllm.metric(RUNNING) == 0

    await until(idle)
    assert await stack.vllm.metric(FINISHED) == finished
    assert await stack.vllm.metric(TOKENS) < tokens + LONG["n"] * LONG["max_tokens"]


async def test_client_that_leaves_a_stream_aborts_every_generation(stack: Stack) -> None:
    finished, tokens = await stack.vllm.metric(FINISHED), await stack.vllm.metric(TOKENS)
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{stack.url}/chat/completions", json={**LONG, "stream": True}) as answer,
    ):
        assert answer.status == 200  # which goes out with the first words
        await generating(stack)
    await aborted(stack, finished, tokens)


async def test_client_that_leaves_a_whole_answer_aborts_every_generation(stack: Stack) -> None:
    finished, tokens = await stack.vllm.metric(FINISHED), await stack.vllm.metric(TOKENS)
    async with aiohttp.ClientSession() as session:
        request = asyncio.create_task(session.post(f"{stack.url}/chat/completions", json=LONG))
        await generating(stack)
        request.cancel()
        await asyncio.wait({request})
        assert request.cancelled()
    await aborted(stack, finished, tokens)


async def test_killed_vllm_ends_the_stream_with_an_error_and_comes_back(
    stack: Stack, client: AsyncOpenAI
) -> None:
    async def ready() -> bool:
        return await stack.get("/ready") == (200, {"status": "ready"})

    await until(ready)
    before = stack.processes()
    assert len(before) >= 2  # the server and its engine
    events: list[Any] = []
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{stack.url}/chat/completions", json={**LONG, "stream": True}) as answer,
    ):
        assert answer.status == 200
        await generating(stack)
        before[0].send_signal(signal.SIGKILL)
        async for line in answer.content:
            if line.startswith(b"data: "):
                data = line.removeprefix(b"data: ").strip()
                events.append("[DONE]" if data == b"[DONE]" else json.loads(data))
            else:
                assert line.startswith((b":", b"\n"))
    assert events[-1] == "[DONE]"
    assert events.count("[DONE]") == 1
    assert events[-2] == {
        "error": {
            "message": "The local model is not available.",
            "type": "upstream_error",
            "param": None,
            "code": "local_model_unavailable",
        }
    }
    status, body = await stack.get("/ready")
    assert status == 503
    assert body["error"]["code"] == "local_model_unavailable"
    await until(ready, seconds=READY)
    answer = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, max_tokens=4)
    assert answer.choices[0].message.content is not None
    assert not any(map(alive, before))


async def test_stopped_proxy_leaves_no_process(stack: Stack) -> None:
    processes = stack.processes()
    assert len(processes) >= 2
    await stack.stop()

    async def gone() -> bool:
        return not any(map(alive, processes))

    await until(gone)
    assert stack.processes() == []
