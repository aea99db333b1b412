"""`extraction: demonstrate`: what was sent and the remote's answer are an example for the local
model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable
from perturb.whole.codebook import load_codebook
from tests.proxy.conftest import MODEL, Proxy, running_proxy

RIVER = "The river rose after three days of rain, and Zorbleck's barn on its bank was flooded."
INSTRUCTION = "Summarise this in one sentence."
ANSWER = "A passage about a subject."
DROPPED = (
    "the remote's answer was not whole, or too long for a demonstration; the local model worked "
    "alone"
)
ANSWERED = "the remote answered the perturbed text"


def settings(**local: Any) -> dict[str, Any]:
    return {
        "local": {"extraction": "demonstrate", **local},
        "privacy": {"mechanism": "surrogate", "epsilon": 12},
    }


async def ask(
    proxy: Proxy, content: str, *, stream: bool = False, history: Any = (), **options: Any
) -> Any:
    """Return the receipt."""
    messages = [*history, {"role": "user", "content": content}]
    asked: Any = {"model": MODEL, "messages": messages, "extra_body": {"inferdpt": options}}
    if not stream:
        done = await proxy.client().chat.completions.create(**asked)
        assert done.choices[0].message.content
        return done.model_extra["inferdpt"]
    chunks: list[Any] = []
    async for chunk in await proxy.client().chat.completions.create(**asked, stream=True):
        chunks.append(chunk)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    (receipt,) = (c.model_extra["inferdpt"] for c in chunks if "inferdpt" in c.model_extra)
    return receipt


@pytest.mark.parametrize("stream", [False, True])
async def test_the_exchange_with_the_remote_is_an_example(
    stream: bool, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings()) as proxy:
        proxy.remote.text = ANSWER
        receipt = await ask(proxy, f"<public>{INSTRUCTION}</public>\n{RIVER}", stream=stream)
        first, second, last = proxy.local.bodies[-1]["messages"]
        sent = proxy.sent()[-1]["content"]
        assert first == {"role": "user", "content": sent}
        assert sent.startswith(INSTRUCTION)
        assert load_codebook().find(sent.removeprefix(INSTRUCTION).strip()) is not None
        assert "Zorbleck" not in json.dumps(proxy.remote.bodies)
        assert second == {"role": "assistant", "content": ANSWER}
        assert last == {"role": "user", "content": f"{INSTRUCTION}\n{RIVER}"}
        assert receipt["remote"] == [ANSWERED]
        assert receipt["epsilon"]["all_tokens"] == 12


async def test_a_client_may_choose_it_with_an_instruction(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(extraction="all")) as proxy:
        await ask(proxy, RIVER, extraction="demonstrate", instruction=INSTRUCTION)
        first, _, last = proxy.local.bodies[-1]["messages"]
        assert first["content"] == proxy.sent()[-1]["content"]
        assert first["content"].startswith(f"{INSTRUCTION}\n\n")
        assert last["content"] == f"{INSTRUCTION}\n\n{RIVER}"
        await ask(proxy, RIVER)
        assert len(proxy.local.bodies[-1]["messages"]) == 1


async def test_it_needs_no_word_about_the_document(table: EmbeddingTable) -> None:
    """A text about anything shows how a task is done. As material it is dropped."""
    async with running_proxy(table, settings()) as proxy:
        proxy.remote.text = "The striker scored twice in the second half of the match."
        assert (await ask(proxy, RIVER))["remote"] == [ANSWERED]
        assert len(proxy.local.bodies[-1]["messages"]) == 3
        receipt = await ask(proxy, f"{RIVER} So it was.", extraction="relevant")
        assert receipt["remote"] != [ANSWERED]


async def test_a_conversation_is_demonstrated_as_it_was_sent(table: EmbeddingTable) -> None:
    history = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello there, a storm came."},
        {"role": "user", "content": "And it rained."},
        {"role": "assistant", "content": "I see."},
    ]
    async with running_proxy(table, settings()) as proxy:
        proxy.remote.text = ANSWER
        await ask(proxy, RIVER, history=history)
        messages = proxy.local.bodies[-1]["messages"]
        roles = [message["role"] for message in messages]
        shown = ["user", "assistant", "user", "assistant"]  # the two user turns are one
        assert roles == ["system", *shown, "user", "user", "assistant", "user"]
        assert messages[4]["content"] == ANSWER
        assert [*messages[:1], *messages[5:8]] == history


@pytest.mark.parametrize("stream", [False, True])
async def test_one_that_does_not_fit_is_left_out_and_said(
    stream: bool, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(context_tokens=512)) as proxy:
        proxy.remote.text = "It was so. " * 400
        receipt = await ask(proxy, RIVER, stream=stream)
        assert receipt["remote"][0].startswith(DROPPED)
        assert proxy.local.bodies[-1]["messages"] == [{"role": "user", "content": RIVER}]


async def test_an_unfinished_answer_is_no_question_to_demonstrate(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings()) as proxy:
        messages: Any = [
            {"role": "user", "content": RIVER},
            {"role": "assistant", "content": "It was"},
        ]
        done = await proxy.client().chat.completions.create(model=MODEL, messages=messages)
        assert (done.model_extra or {})["inferdpt"]["remote"] == [DROPPED]
        assert proxy.local.bodies[-1]["messages"] == messages


async def test_candidates_are_made_with_and_without_it(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings()) as proxy:
        receipt = await ask(proxy, RIVER, candidates=3)
        assert sorted(len(b["messages"]) for b in proxy.local.bodies) == [1, 3, 3]
        assert receipt["remote"] == [ANSWERED]


async def test_a_remote_that_read_the_text_gives_material(table: EmbeddingTable) -> None:
    changed = settings() | {"privacy": {"mechanism": "selective"}}
    async with running_proxy(table, changed) as proxy:
        proxy.remote.text = ANSWER
        await ask(proxy, RIVER)
        (message,) = proxy.local.bodies[-1]["messages"]
        assert ANSWER in message["content"]
