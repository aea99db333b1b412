"""Chat completions: what the proxy sends is what vLLM takes; what it gives is OpenAI's form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from openai import AsyncOpenAI, OpenAI

from extraction.prompts import Prompts, fill
from tests.vllm.chat import GREEDY, MESSAGES, TEXT, TOOL, asked, joined, streamed
from tests.vllm.stack import ALIAS, GENERATION, Stack

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]


async def test_greedy_answer_is_what_vllm_gives_for_the_composed_prompt(
    stack: Stack, client: AsyncOpenAI
) -> None:
    answer = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **GREEDY)
    expected = await asked(stack, GREEDY)
    assert answer.choices[0].message.content == expected["message"]["content"]
    assert answer.choices[0].finish_reason == expected["finish_reason"]
    assert answer.model == ALIAS


async def test_streamed_text_is_the_whole_text(client: AsyncOpenAI) -> None:
    whole = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **GREEDY)
    chunks = await streamed(client, **GREEDY)
    assert joined(chunks) == whole.choices[0].message.content
    assert [c.finish_reason for chunk in chunks for c in chunk.choices if c.finish_reason] == [
        whole.choices[0].finish_reason
    ]


async def test_sync_client_gets_the_same_whole_and_streamed(
    sync_client: OpenAI, client: AsyncOpenAI
) -> None:
    def ask() -> tuple[str | None, str]:
        create = sync_client.chat.completions.create
        whole = create(model=ALIAS, messages=MESSAGES, **GREEDY)
        stream = create(model=ALIAS, messages=MESSAGES, stream=True, **GREEDY)
        return whole.choices[0].message.content, joined(list(stream))

    expected = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **GREEDY)
    whole, pieces = await asyncio.to_thread(ask)
    assert whole == pieces == expected.choices[0].message.content


async def test_seed_makes_samples_repeatable_and_choices_different(
    stack: Stack, client: AsyncOpenAI
) -> None:
    options: dict[str, Any] = {"temperature": 1.0, "seed": 11, "max_tokens": 24}
    answer = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, n=2, **options)
    texts = [choice.message.content for choice in answer.choices]
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert texts[0] != texts[1]
    for i, text in enumerate(texts):
        expected = await asked(stack, {**options, "seed": options["seed"] + i})
        assert text == expected["message"]["content"]


async def test_choices_are_served_where_vllm_alone_refuses_them(
    stack: Stack, client: AsyncOpenAI
) -> None:
    body = {"messages": MESSAGES, "n": 2, "temperature": 0}
    assert "n must be 1" in await stack.vllm.refusal(body)
    answer = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, n=2, **GREEDY)
    assert answer.choices[0].message.content == answer.choices[1].message.content


async def test_streamed_choices_carry_their_index_and_one_usage(client: AsyncOpenAI) -> None:
    options: dict[str, Any] = {"temperature": 1.0, "seed": 11, "max_tokens": 16, "n": 2}
    options["extra_body"] = {"ignore_eos": True}
    whole = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **options)
    chunks = await streamed(client, stream_options={"include_usage": True}, **options)
    assert [joined(chunks, i) for i in (0, 1)] == [c.message.content for c in whole.choices]
    assert len({chunk.id for chunk in chunks}) == 1
    assert [chunk.usage for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 32


async def test_usage_on_the_wire_only_where_asked_for(stack: Stack) -> None:
    body = {"messages": MESSAGES, **GREEDY}
    plain = await stack.events(body)
    assert plain[-1] == "[DONE]"
    assert all("usage" not in event for event in plain[:-1])
    asked_for = await stack.events({**body, "stream_options": {"include_usage": True}})
    assert asked_for[-1] == "[DONE]"
    assert [event["usage"] is None for event in asked_for[:-1]] == [True] * (
        len(asked_for) - 2
    ) + [False]


async def test_usage_is_vllms_count(stack: Stack, client: AsyncOpenAI) -> None:
    prompt = fill(Prompts().local_answer, document=TEXT, generation=GENERATION)
    counted = await stack.vllm.post(
        "/tokenize", {"messages": [{"role": "user", "content": prompt}]}
    )
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, max_tokens=9, extra_body={"ignore_eos": True}
    )
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == counted["count"]
    assert answer.usage.completion_tokens == 9
    assert answer.choices[0].finish_reason == "length"


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_both_token_limits_hold(client: AsyncOpenAI, name: str) -> None:
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, extra_body={"ignore_eos": True, name: 5}
    )
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 5


async def test_tool_results_are_taken_as_history(client: AsyncOpenAI) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "freeze", "arguments": "{}"}}
    answer = await client.chat.completions.create(
        model=ALIAS,
        messages=[
            *MESSAGES,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "The river is frozen."},
        ],
        tools=[TOOL],
        tool_choice="none",
        **GREEDY,
    )
    assert answer.choices[0].message.content is not None
