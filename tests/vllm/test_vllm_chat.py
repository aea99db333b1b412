"""Chat completions: what the proxy sends is what vLLM takes; what it gives is OpenAI's form."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError, OpenAI

from extraction.prompts import Prompts, fill
from tests.vllm.stack import ALIAS, GENERATION, Stack
from tests.vllm.tiny_model import CONTEXT

pytestmark = [pytest.mark.vllm, pytest.mark.asyncio(loop_scope="session")]

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
