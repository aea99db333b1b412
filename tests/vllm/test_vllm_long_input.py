"""Input longer than vLLM's context is cut to fit."""

from __future__ import annotations

from typing import Any

import pytest
from openai import AsyncOpenAI

from tests.vllm.chat import MESSAGES
from tests.vllm.stack import ALIAS, Stack
from tests.vllm.tiny_model import CONTEXT

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

LONG = {
    "English": "The keeper of the lighthouse counted quickly, jumping over lazy vexed dogs. "
    * 900,
    "Chinese": "議會決定在春天修理這座橋，沒有人高興。" * 900,
    "digits": "".join(f"{i * 7919} " for i in range(4000)),
    "emoji": "\U0001f9ca\U0001f309\U0001f6f6 " * 1500,
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
async def test_document_longer_than_the_context_is_cut_to_fit(
    stack: Stack, text: str, stream: bool
) -> None:
    message = {"role": "user", "content": text}
    assert "context length" in await stack.vllm.refusal({"messages": [message]})
    usage = await usage_of(stack, [message], stream=stream)
    assert CONTEXT / 4 < usage["prompt_tokens"] <= CONTEXT - usage["completion_tokens"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_conversation_longer_than_the_context_is_cut_to_fit(
    stack: Stack, stream: bool
) -> None:
    turn = {"role": "user", "content": "The river froze again and the boats stayed. " * 20}
    reply = {"role": "assistant", "content": "So the report says, and nobody was pleased. " * 20}
    usage = await usage_of(stack, [turn, reply] * 48 + [turn], stream=stream)
    assert CONTEXT / 4 < usage["prompt_tokens"] <= CONTEXT - usage["completion_tokens"]


async def usage_of(stack: Stack, messages: list[Any], *, stream: bool) -> dict[str, int]:
    """The usage of an answer that has to be there, whatever the length."""
    async with AsyncOpenAI(base_url=stack.url, api_key="any", max_retries=0) as client:
        create = client.chat.completions.create
        if not stream:
            whole = await create(model=ALIAS, messages=messages, max_tokens=16)
            assert whole.usage is not None
            return whole.usage.model_dump()
        chunks = [
            chunk
            async for chunk in await create(
                model=ALIAS,
                messages=messages,
                max_tokens=16,
                stream=True,
                stream_options={"include_usage": True},
            )
        ]
        return chunks[-1].usage.model_dump()


async def test_more_tokens_than_the_context_holds_may_be_asked_for(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, max_tokens=100_000, stop=["e", "i"]
    )
    assert answer.choices[0].finish_reason in ("stop", "length")
