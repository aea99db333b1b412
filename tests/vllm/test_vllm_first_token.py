"""vLLM's prefix cache keeps what the proxy lets it read while the remote writes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from openai import AsyncOpenAI

from extraction.prompts import Prompts, fill, find_opening
from tests.limits import LIMIT
from tests.servers import FakeServer, answer
from tests.vllm.chat import GREEDY, asked
from tests.vllm.stack import ALIAS, Stack

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

HITS = "vllm:prefix_cache_hits_total"  # tokens
ENDED = "vllm:request_success_total"


@pytest.mark.parametrize("sentences", [100, 300])  # about 1,000 and 3,000 tokens
async def test_only_the_rest_of_the_prompt_is_read_after_the_remote(
    stack: Stack, client: AsyncOpenAI, sentences: int
) -> None:
    text = f"Of {sentences} winters. " + "The boats on the river froze in the winter. " * sentences
    hits, ended = await stack.vllm.metric(HITS), await stack.vllm.metric(ENDED)

    async def write_slowly(
        server: FakeServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        async with asyncio.timeout(LIMIT):
            while await stack.vllm.metric(ENDED) == ended:
                await asyncio.sleep(0.05)
        assert await stack.vllm.metric(HITS) < hits + 200  # but for what all prompts begin with
        return await answer(server, request, body)

    stack.remote.behaviour = write_slowly
    try:
        done = await client.chat.completions.create(
            model=ALIAS,
            messages=[{"role": "user", "content": text}],
            extra_body={"inferdpt": {"extraction": "all"}},
            **GREEDY,
        )
    finally:
        stack.remote.behaviour = None
    opening = find_opening(Prompts().local_answer)
    assert opening is not None
    told = await stack.vllm.post("/tokenize", {"prompt": fill(opening, document=text)})
    tokens = told["count"]
    found = await stack.vllm.metric(HITS) - hits
    assert found > 0.8 * tokens  # the cache keeps whole blocks
    expected = await asked(stack, GREEDY, text)
    assert done.choices[0].message.content == expected["message"]["content"]
