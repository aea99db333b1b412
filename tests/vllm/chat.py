"""A chat with vLLM, through the proxy and past it."""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI

from extraction.prompts import Prompts, fill
from tests.vllm.stack import ALIAS, GENERATION, Stack

TEXT = "What did the committee decide about the bridge in the winter?"
MESSAGES: list[Any] = [{"role": "user", "content": TEXT}]
GREEDY: dict[str, Any] = {"temperature": 0.0, "seed": 7, "max_tokens": 24}
SCHEMA = {
    "type": "object",
    "properties": {"frozen": {"type": "boolean"}},
    "required": ["frozen"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {"name": "freeze", "description": "Freeze the river.", "parameters": SCHEMA},
}


async def asked(stack: Stack, options: dict[str, Any], text: str = TEXT) -> Any:
    """The choice vLLM itself gives for the prompt the proxy composes from `text`."""
    prompt = fill(Prompts().local_answer, document=text, generation=GENERATION)
    body = {"messages": [{"role": "user", "content": prompt}], **options}
    return (await stack.vllm.post("/v1/chat/completions", body))["choices"][0]


async def streamed(client: AsyncOpenAI, **options: Any) -> list[Any]:
    stream = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, stream=True, **options
    )
    return [chunk async for chunk in stream]


def joined(chunks: list[Any], index: int = 0) -> str:
    deltas = [
        choice.delta for chunk in chunks for choice in chunk.choices if choice.index == index
    ]
    return "".join(delta.content or "" for delta in deltas)
