"""`/v1/responses` with the official client: a conversation sent again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.absence import find_leaks
from tests.proxy.chats import ANSWER, CALL, TEXT, user
from tests.proxy.conftest import MODEL, Proxy
from tests.proxy.responses import OTHER, TOOLS, whole


async def ask(proxy: Proxy, streamed: bool, history: list[Any]) -> list[Any]:
    """The output of one response, as the SDK's objects."""
    client = proxy.client()
    if not streamed:
        done = await client.responses.create(model=MODEL, input=history, tools=TOOLS)
        return list(done.output)
    async with client.responses.stream(model=MODEL, input=history, tools=TOOLS) as stream:
        return list((await stream.get_final_response()).output)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("dumped", [False, True])
async def test_a_longer_conversation_redraws_nothing(
    proxy: Proxy, streamed: bool, dumped: bool
) -> None:
    history: list[Any] = []
    seen: list[list[dict[str, Any]]] = []
    proxy.remote.text = "remote words"
    for i in range(4):
        history += user(f"Question number {i} about the quarterly figures")
        output = await ask(proxy, streamed, history)
        history += [item.model_dump() for item in output] if dumped else output
        seen.append(proxy.sent())
    for i in range(3):
        assert seen[i + 1][: len(seen[i])] == seen[i]
    assert [m["role"] for m in seen[-1]] == ["user", "assistant"] * 3 + ["user"]
    assert all(m["content"] == "remote words" for m in seen[-1] if m["role"] == "assistant")


@pytest.mark.parametrize("streamed", [False, True])
async def test_text_and_calls_of_one_answer_are_one_turn_again(
    proxy: Proxy, streamed: bool
) -> None:
    proxy.remote.text = "remote words"
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL, OTHER]}
    proxy.local.behaviour = whole(message, "tool_calls")
    output = await ask(proxy, streamed, user(TEXT))
    assert len(output) == 3
    proxy.local.behaviour = None
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
    results = [
        {"type": "function_call_output", "call_id": name, "output": [part]}
        for name, part in (
            ("call_1", {"type": "input_text", "text": "seven geese"}),
            ("call_2", {"type": "input_text", "text": "nine swans"}),
        )
    ]
    await ask(proxy, streamed, [*user(TEXT), thought, *output, *results])
    assert [m["role"] for m in proxy.sent()] == ["user", "assistant", "user", "user"]
    assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}


async def test_an_answer_to_a_chat_is_recognised_here(proxy: Proxy) -> None:
    proxy.remote.text = "remote words"
    client = proxy.client()
    await client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": TEXT}])
    history: list[Any] = [*user(TEXT), {"role": "assistant", "content": ANSWER}, *user("Go on")]
    await client.responses.create(model=MODEL, input=history)
    assert proxy.sent()[1] == {"role": "assistant", "content": "remote words"}


async def test_an_edited_answer_is_new_private_text(proxy: Proxy) -> None:
    proxy.remote.text = "remote words"
    await ask(proxy, False, user(TEXT))
    edited = {"role": "assistant", "content": ANSWER + " Zanzibar"}
    await ask(proxy, False, [*user(TEXT), edited, *user("Go on then please")])
    assert proxy.sent()[1]["content"] not in ("remote words", edited["content"])
    assert find_leaks(["Zanzibar"], json.dumps(proxy.sent())) == []
