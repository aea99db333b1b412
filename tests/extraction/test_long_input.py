"""Extraction: the rule for input that is longer than the local model's context."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from extraction.extractor import (
    GAP,
    MESSAGE_OVERHEAD,
    MINIMUM_TOKENS,
    Job,
)
from tests.extraction.scripted import (
    assistant,
    call,
    characters,
    compose,
    composed,
    result,
    system,
    user,
)

TEXT = st.integers(0, 1500).map(lambda n: ("0123456789" * 150)[:n])
TURN = st.one_of(TEXT.map(user), TEXT.map(assistant), TEXT.map(system))
EPISODE = st.lists(TEXT, min_size=1, max_size=3).map(
    lambda texts: [
        call(*(str(i) for i in range(len(texts)))),
        *(result(str(i), text) for i, text in enumerate(texts)),
    ]
)
HISTORY = st.lists(st.one_of(TURN.map(lambda t: [t]), EPISODE), max_size=6).map(
    lambda groups: [turn for group in groups for turn in group]
)
TASK = st.sampled_from(["chat", "continuation", "instruct"])
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "max_tokens": st.integers(1, 3000),
        "tools": st.integers(1, 300).map(lambda n: [{"type": "function", "description": "d" * n}]),
    },
)
GENERATION = st.none() | TEXT
CONTEXT = st.integers(1, 5000)
RATIO = st.sampled_from([0.7, 1.0, 1.3, 2.0])
HALF_MINIMUM = MINIMUM_TOKENS // 2


def estimate(messages: list[dict[str, Any]], options: dict[str, Any]) -> int:
    """The prompt's size as the estimating tokenizer counts it, apart from its ratio."""
    size = sum(
        len(m["content"] or "") + len(str(m.get("tool_calls") or "")) + MESSAGE_OVERHEAD
        for m in messages
    )
    return size + (len(str(options["tools"])) if options.get("tools") else 0)


def is_subsequence(part: list[Any], whole: list[Any]) -> bool:
    rest = iter(whole)
    return all(any(item == other for other in rest) for item in part)


@given(TASK, HISTORY, TEXT, GENERATION, OPTIONS, CONTEXT, RATIO)
def test_prompt_and_answer_fit_the_context_or_every_part_is_at_its_minimum(
    task, history, document, generation, options, context, ratio
):
    job = Job(task, (*history, user(document)), generation)
    messages, limits = compose(job, options, context=context, tokenizer=characters(ratio))
    assert 1 <= limits["max_tokens"] <= max(context // 2, MINIMUM_TOKENS)
    room = max(int((context - limits["max_tokens"]) / ratio), MINIMUM_TOKENS)
    if estimate(messages, limits) <= room:
        if room > MINIMUM_TOKENS:
            assert math.floor(room * ratio) + limits["max_tokens"] <= context
        return
    [message] = messages
    template = {"chat": "||", "instruct": "||", "continuation": "P:G:E:"}[task]
    if generation is None:
        template = "Go on:" if task == "continuation" else ""
    assert len(message["content"]) <= len(template) + HALF_MINIMUM * (
        1 if generation is None else 2
    )


@given(HISTORY, EPISODE, GENERATION, OPTIONS, CONTEXT, RATIO)
def test_a_tool_result_at_the_end_fits_too_and_keeps_its_call(
    history, episode, generation, options, context, ratio
):
    job = Job("chat", (*history, *episode), generation)
    messages, limits = compose(job, options, context=context, tokenizer=characters(ratio))
    tail = messages if generation is None else messages[:-1]
    tail = tail[-len(episode) :]
    assert [turn["role"] for turn in tail] == [turn["role"] for turn in episode]
    assert tail[0]["tool_calls"] == episode[0]["tool_calls"]
    assert [t["tool_call_id"] for t in tail[1:]] == [t["tool_call_id"] for t in episode[1:]]
    room = max(int((context - limits["max_tokens"]) / ratio), MINIMUM_TOKENS)
    if estimate(messages, limits) > room:
        assert len(messages) == len(episode) + (generation is not None)
        assert all(len(turn["content"]) <= HALF_MINIMUM for turn in tail)


@given(TASK, HISTORY, TEXT, GENERATION, CONTEXT)
def test_turns_go_whole_oldest_first_system_last_and_no_result_loses_its_call(
    task, history, document, generation, context
):
    job = Job(task, (*history, user(document)), generation)
    messages, _ = compose(job, {}, context=context)
    kept = messages[:-1]
    assert is_subsequence(kept, history)
    others = [turn for turn in kept if turn["role"] != "system"]
    everything = [turn for turn in history if turn["role"] != "system"]
    assert others == everything[len(everything) - len(others) :]
    systems = [turn for turn in kept if turn["role"] == "system"]
    if others:
        assert systems == [turn for turn in history if turn["role"] == "system"]
        assert others[0]["role"] != "tool"
    else:
        all_systems = [turn for turn in history if turn["role"] == "system"]
        assert systems == all_systems[len(all_systems) - len(systems) :]


@given(TEXT, GENERATION, CONTEXT)
def test_continuation_keeps_the_documents_end(document, generation, context):
    job = Job("continuation", (user(document),), generation)
    [message], _ = compose(job, {}, context=context)
    content = message["content"]
    if generation is None:
        kept = content.removeprefix("Go on:")
    else:
        kept = content.removeprefix("P:").split("G:")[0]
    assert document.endswith(kept)
    assert len(kept) >= min(len(document), HALF_MINIMUM)


@given(st.sampled_from(["chat", "instruct"]), TEXT, GENERATION, CONTEXT)
def test_chat_keeps_the_documents_both_ends_around_the_gap_mark(
    task, document, generation, context
):
    [message], _ = compose(Job(task, (user(document),), generation), {}, context=context)
    kept = message["content"].split("|")[0]
    if kept != document:
        head, tail = kept.split(GAP)
        assert document.startswith(head)
        assert document.endswith(tail)
        assert len(head) == len(tail) > 0
        assert len(head) + len(tail) < len(document)


@given(TEXT, TEXT, st.integers(300, 5000))
def test_generation_keeps_its_beginning_and_at_most_a_third(document, generation, context):
    [message], limits = compose(
        Job("chat", (user(document),), generation), {"max_tokens": 10}, context=context
    )
    kept = message["content"].rsplit("|", 2)[1]
    assert generation.startswith(kept)
    third = (context - limits["max_tokens"] - len("||") - MESSAGE_OVERHEAD) // 3
    assert len(kept) == min(len(generation), third)


async def test_what_fits_is_not_cut():
    turns = (system("S" * 100), user("a" * 200), assistant("b" * 200), user("RAW" * 50))
    size = 100 + 200 + 200 + 150 + len("||") + len("GEN") + 4 * MESSAGE_OVERHEAD
    job = Job("chat", turns, "GEN")
    messages, _ = await composed(job, {"max_tokens": 50}, context=size + 50)
    assert messages == [*turns[:-1], user("RAW" * 50 + "|GEN|")]
    messages, _ = await composed(job, {"max_tokens": 50}, context=size + 49)
    # what follows a dropped question goes with it: templates want a question first
    assert messages == [turns[0], user("RAW" * 50 + "|GEN|")]


async def test_tool_declarations_take_their_part_of_the_context():
    tools = [{"type": "function", "function": {"name": "f", "description": "d" * 400}}]
    job = Job("chat", (user("x" * 2000),), None)
    [plain], _ = await composed(job, {"max_tokens": 100}, context=1000)
    [cut], limits = await composed(job, {"max_tokens": 100, "tools": tools}, context=1000)
    assert len(plain["content"]) - len(cut["content"]) >= 400
    assert limits["tools"] == tools
