"""Text completions over vLLM's chat endpoint, in the completions form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

from extraction.prompts import DOCUMENT_FIRST, fill
from perturb.vocabulary.vocabulary import load_encoding
from tests.vllm.stack import ALIAS, GENERATION, Stack

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

PREFIX = "In the winter the river froze, and the boats"
OTHER = "The answer of the town council was short, and"
GREEDY: dict[str, Any] = {"temperature": 0.0, "max_tokens": 20}


async def continued(stack: Stack, prefix: str, options: dict[str, Any]) -> str:
    """Return what vLLM itself gives for the prompt the proxy composes from `prefix`."""
    prompt = fill(DOCUMENT_FIRST, document=prefix, generation=GENERATION)
    body = {"messages": [{"role": "user", "content": prompt}], **options}
    answer = await stack.vllm.post("/v1/chat/completions", body)
    return answer["choices"][0]["message"]["content"]


async def streamed(client: AsyncOpenAI, **options: Any) -> list[Any]:
    stream = await client.completions.create(model=ALIAS, stream=True, **options)
    return [chunk async for chunk in stream]


async def test_greedy_continuation_is_what_vllm_gives_for_the_composed_prompt(
    stack: Stack, client: AsyncOpenAI
) -> None:
    answer = await client.completions.create(model=ALIAS, prompt=PREFIX, **GREEDY)
    expected = await continued(stack, PREFIX, GREEDY)
    assert answer.object == "text_completion"
    assert answer.choices[0].text == expected
    chunks = await streamed(client, prompt=PREFIX, **GREEDY)
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == expected


async def test_sync_client_gets_the_same(sync_client: OpenAI, client: AsyncOpenAI) -> None:
    def ask() -> tuple[str, str]:
        whole = sync_client.completions.create(model=ALIAS, prompt=PREFIX, **GREEDY)
        stream = sync_client.completions.create(model=ALIAS, prompt=PREFIX, stream=True, **GREEDY)
        return whole.choices[0].text, "".join(chunk.choices[0].text for chunk in stream)

    expected = (await client.completions.create(model=ALIAS, prompt=PREFIX, **GREEDY)).choices
    assert await asyncio.to_thread(ask) == (expected[0].text, expected[0].text)


async def test_prompts_and_choices_come_in_order(stack: Stack, client: AsyncOpenAI) -> None:
    options: dict[str, Any] = {"temperature": 1.0, "seed": 5, "max_tokens": 12}
    answer = await client.completions.create(model=ALIAS, prompt=[PREFIX, OTHER], n=2, **options)
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    expected = [
        await continued(stack, prefix, {**options, "seed": 5 + i})
        for prefix in (PREFIX, OTHER)
        for i in (0, 1)
    ]
    assert [choice.text for choice in answer.choices] == expected
    chunks = await streamed(
        client,
        prompt=[PREFIX, OTHER],
        n=2,
        stream_options={"include_usage": True},
        **options,
    )
    texts = ["", "", "", ""]
    for chunk in chunks:
        for choice in chunk.choices:
            texts[choice.index] += choice.text
    assert texts == expected
    assert chunks[-1].usage == answer.usage


async def test_token_ids_stand_for_their_text(client: AsyncOpenAI) -> None:
    ids = [load_encoding().encode(text) for text in (PREFIX, OTHER)]
    by_text = await client.completions.create(model=ALIAS, prompt=[PREFIX, OTHER], **GREEDY)
    by_ids = await client.completions.create(model=ALIAS, prompt=ids, **GREEDY)
    assert [c.text for c in by_ids.choices] == [c.text for c in by_text.choices]
    alone = await client.completions.create(model=ALIAS, prompt=ids[0], **GREEDY)
    assert alone.choices[0].text == by_text.choices[0].text


async def test_logprobs_have_the_completions_form(client: AsyncOpenAI) -> None:
    whole = await client.completions.create(model=ALIAS, prompt=PREFIX, logprobs=2, **GREEDY)
    found = whole.choices[0].logprobs
    assert found is not None
    assert whole.usage is not None
    n = whole.usage.completion_tokens
    lists = (found.tokens, found.token_logprobs, found.top_logprobs, found.text_offset)
    assert [len(items or ()) for items in lists] == [n] * 4
    assert all(isinstance(value, float) and value <= 0 for value in found.token_logprobs or ())
    assert found.text_offset == sorted(found.text_offset or ())
    chunks = await streamed(client, prompt=PREFIX, logprobs=2, **GREEDY)
    pieces = [c.logprobs for chunk in chunks for c in chunk.choices if c.logprobs]
    assert [token for piece in pieces for token in piece.tokens] == found.tokens
    assert [at for piece in pieces for at in piece.text_offset] == found.text_offset


async def test_echo_puts_the_prompt_before_the_text(client: AsyncOpenAI) -> None:
    plain = await client.completions.create(model=ALIAS, prompt=PREFIX, **GREEDY)
    echoed = await client.completions.create(model=ALIAS, prompt=PREFIX, echo=True, **GREEDY)
    assert echoed.choices[0].text == PREFIX + plain.choices[0].text


async def test_prefix_longer_than_the_context_keeps_its_end(
    stack: Stack, client: AsyncOpenAI
) -> None:
    far = "The keeper counted the boats in the harbour until spring came. " * 1600
    answer = await client.completions.create(model=ALIAS, prompt=far + PREFIX, **GREEDY)
    assert answer.usage is not None
    assert answer.usage.prompt_tokens > 500
    assert "context length" in await stack.vllm.refusal(
        {"messages": [{"role": "user", "content": far}]}
    )
