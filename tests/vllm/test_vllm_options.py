"""Local options at vLLM: constraints, sampling, tools, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError

from tests.vllm.chat import GREEDY, MESSAGES, SCHEMA, TOOL, asked, joined, streamed
from tests.vllm.stack import ALIAS, Stack

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]


async def test_stop_ends_the_text_before_the_stop_string(client: AsyncOpenAI) -> None:
    options = {**GREEDY, "max_tokens": 64, "extra_body": {"ignore_eos": True}}
    create = client.chat.completions.create
    full = (await create(model=ALIAS, messages=MESSAGES, **options)).choices[0].message.content
    assert full is not None
    stop = next(full[i : i + 3] for i in range(8, len(full)) if "\ufffd" not in full[i : i + 3])
    cut = await create(model=ALIAS, messages=MESSAGES, stop=[stop, "\u2603"], **options)
    assert cut.choices[0].message.content == full[: full.index(stop)]
    assert cut.choices[0].finish_reason == "stop"
    chunks = await streamed(client, stop=stop, **options)
    assert joined(chunks) == full[: full.index(stop)]


async def test_logprobs_have_the_chat_form(stack: Stack, client: AsyncOpenAI) -> None:
    options: dict[str, Any] = {**GREEDY, "logprobs": True, "top_logprobs": 3}
    whole = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **options)
    assert whole.choices[0].logprobs is not None
    items = whole.choices[0].logprobs.content
    assert items is not None
    assert whole.usage is not None
    assert len(items) == whole.usage.completion_tokens
    expected = (await asked(stack, options))["logprobs"]["content"]
    assert [item.token for item in items] == [item["token"] for item in expected]
    for item, other in zip(items, expected, strict=True):
        assert item.logprob == pytest.approx(other["logprob"], abs=1e-4)
        assert len(item.top_logprobs) >= 3
    chunks = await streamed(client, **options)
    found = [
        item.token
        for chunk in chunks
        for choice in chunk.choices
        if choice.logprobs is not None
        for item in choice.logprobs.content or ()
    ]
    assert found == [item.token for item in items]


async def test_json_schema_shapes_the_answer(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=ALIAS,
        messages=MESSAGES,
        temperature=1,
        seed=1,
        max_tokens=900,  # a random model likes white space
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "river", "schema": SCHEMA, "strict": True},
        },
    )
    assert set(json.loads(answer.choices[0].message.content or "")) == {"frozen"}


@pytest.mark.parametrize(
    ("constraint", "allowed"),
    [
        ({"choice": ["the bridge", "the river"]}, {"the bridge", "the river"}),
        ({"regex": "(yes|no), 7{3}"}, {"yes, 777", "no, 777"}),
        ({"grammar": 'root ::= "ice" | "water"'}, {"ice", "water"}),
    ],
    ids=["choice", "regex", "grammar"],
)
async def test_structured_outputs_constrain_the_answer(
    client: AsyncOpenAI, constraint: dict[str, Any], allowed: set[str]
) -> None:
    extra = {"structured_outputs": constraint}
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, temperature=1, seed=3, extra_body=extra
    )
    assert answer.choices[0].message.content in allowed
    assert joined(await streamed(client, extra_body=extra)) in allowed


@pytest.mark.parametrize(
    ("extra", "allowed"),
    [
        ({"guided_choice": ["the bridge", "the river"]}, {"the bridge", "the river"}),
        ({"guided_regex": "(yes|no), 7{3}"}, {"yes, 777", "no, 777"}),
        ({"guided_grammar": 'root ::= "ice" | "water"'}, {"ice", "water"}),
        ({"guided_json": {"enum": [1, 2]}}, {"1", "2"}),
    ],
    ids=["choice", "regex", "grammar", "json"],
)
async def test_guided_fields_constrain_the_answer(
    client: AsyncOpenAI, extra: dict[str, Any], allowed: set[str]
) -> None:
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, temperature=1, seed=3, extra_body=extra
    )
    assert answer.choices[0].message.content in allowed


async def test_logit_bias_reaches_the_sampler(stack: Stack, client: AsyncOpenAI) -> None:
    tokens = (await stack.vllm.post("/tokenize", {"prompt": " river"}))["tokens"]
    answer = await client.chat.completions.create(
        model=ALIAS, messages=MESSAGES, max_tokens=4, logit_bias={str(tokens[-1]): 100}
    )
    assert answer.choices[0].message.content == " river" * 4


@pytest.mark.parametrize("extra", [{"top_k": 1}, {"min_p": 1.0}], ids=["top_k", "min_p"])
async def test_sampling_extras_reach_the_sampler(
    client: AsyncOpenAI, extra: dict[str, Any]
) -> None:
    create = client.chat.completions.create
    greedy = await create(model=ALIAS, messages=MESSAGES, **GREEDY)
    options = {**GREEDY, "temperature": 1.5}
    narrowed = await create(model=ALIAS, messages=MESSAGES, extra_body=extra, **options)
    assert narrowed.choices[0].message.content == greedy.choices[0].message.content


async def test_every_local_field_is_taken_at_once(client: AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(
        model=ALIAS,
        messages=[{"role": "system", "content": "Be brief."}, *MESSAGES],
        temperature=0.9,
        top_p=0.9,
        max_tokens=6,
        seed=-5,
        stop=["\u2603"],
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        logit_bias={"5": 1},
        logprobs=True,
        top_logprobs=1,
        response_format={"type": "text"},
        tools=[TOOL],
        tool_choice="none",
        parallel_tool_calls=False,
        reasoning_effort="low",
        extra_body={
            "top_k": 50,
            "min_p": 0.01,
            "repetition_penalty": 1.1,
            "min_tokens": 2,
            "stop_token_ids": [3],
            "ignore_eos": True,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    )
    assert answer.choices[0].message.content is not None


async def test_extras_never_reach_the_remote(stack: Stack, client: AsyncOpenAI) -> None:
    await client.chat.completions.create(
        model=ALIAS,
        messages=MESSAGES,
        max_tokens=4,
        seed=3,
        stop="x",
        tools=[TOOL],
        tool_choice="none",
        extra_body={"structured_outputs": {"choice": ["a", "b"]}, "top_k": 5},
    )
    assert set(stack.remote.bodies[-1]) == {"model", "messages", "max_tokens", "store"}


async def test_named_tool_is_called_whole_and_streamed(client: AsyncOpenAI) -> None:
    options: dict[str, Any] = {
        "tools": [TOOL],
        "tool_choice": {"type": "function", "function": {"name": "freeze"}},
        "max_tokens": 900,
        "temperature": 1,
        "seed": 1,
    }
    whole = await client.chat.completions.create(model=ALIAS, messages=MESSAGES, **options)
    (call,) = whole.choices[0].message.tool_calls or ()
    assert call.type == "function"
    assert call.function.name == "freeze"
    calls = [
        call
        for chunk in await streamed(client, **options)
        for choice in chunk.choices
        for call in choice.delta.tool_calls or ()
    ]
    assert {call.index for call in calls} == {0}
    assert [call.function.name for call in calls if call.function.name] == ["freeze"]
    assert [bool(call.id) for call in calls].count(True) == 1


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(
    "options",
    [
        {"logit_bias": {"100257": 1}},
        {"tool_choice": "required"},
        {"top_logprobs": 2},
        {"stop": list("abcde")},
        {"extra_body": {"structured_outputs": {"regex": "(("}}},
    ],
    ids=["foreign token", "tool choice alone", "top_logprobs alone", "five stops", "bad regex"],
)
async def test_what_vllm_refuses_is_one_clean_400(
    client: AsyncOpenAI, options: dict[str, Any], stream: bool
) -> None:
    with pytest.raises(BadRequestError) as refused:
        await client.chat.completions.create(
            model=ALIAS, messages=MESSAGES, stream=stream, **options
        )
    assert refused.value.code == "local_model_refused"
    assert refused.value.response.headers["x-should-retry"] == "false"
    assert refused.value.body == {
        "message": "The local model refused the request (HTTP 400); one of its options is not "
        "supported there.",
        "type": "invalid_request_error",
        "param": None,
        "code": "local_model_refused",
    }
