"""The remote of a chat is told what it reads, in the operator's public words."""

from __future__ import annotations

from typing import Any

import pytest

from extraction.prompts import Prompts
from perturb import EmbeddingTable
from tests.proxy.conftest import MODEL, Proxy, running_proxy

SHIPPED = Prompts()
NOTES = {"remote_words": SHIPPED.remote_words, "remote_passages": SHIPPED.remote_passages}
TEXT = "The river rose after three days of rain; write to anna@example.org."


def settings(mechanism: str, **prompts: str) -> dict[str, Any]:
    return {"privacy": {"mechanism": mechanism, "epsilon": 6}, "prompts": {**NOTES, **prompts}}


async def ask(proxy: Proxy, *contents: str, **options: Any) -> list[dict[str, Any]]:
    """Return what left."""
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[i % 2], "content": c} for i, c in enumerate(contents)]
    await proxy.client().chat.completions.create(
        model=MODEL, messages=messages, extra_body={"inferdpt": options}
    )
    return proxy.sent()


@pytest.mark.parametrize(
    ("mechanism", "note"),
    [
        ("rantext", SHIPPED.remote_words),
        ("rantext_ldp", SHIPPED.remote_words),
        ("surrogate", SHIPPED.remote_passages),
    ],
)
async def test_the_note_comes_first_and_stays(
    mechanism: str, note: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(mechanism)) as proxy:
        first = await ask(proxy, TEXT)
        assert first[0] == {"role": "system", "content": note}
        later = await ask(proxy, TEXT, "An answer of ours.", "And what of the village?")
        assert later[: len(first)] == first
        assert [message["role"] for message in later].count("system") == 1


@pytest.mark.parametrize("mechanism", ["surrogate", "rantext_ldp"])
async def test_a_passage_for_a_demonstration_gets_none(
    mechanism: str, table: EmbeddingTable
) -> None:
    """The remote does with it what is asked. Scrambled words need their note."""
    async with running_proxy(table, settings(mechanism)) as proxy:
        sent = await ask(proxy, TEXT, extraction="demonstrate")
        roles = [message["role"] for message in sent]
        assert roles == (["user"] if mechanism == "surrogate" else ["system", "user"])


async def test_a_text_that_reads_as_text_gets_none(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings("selective")) as proxy:
        assert [message["role"] for message in await ask(proxy, TEXT)] == ["user"]


async def test_a_prefix_gets_none(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings("rantext_ldp")) as proxy:
        await proxy.client().completions.create(model=MODEL, prompt=TEXT)
        assert [message["role"] for message in proxy.sent()] == ["user"]


async def test_an_instruction_stands_beside_it(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings("surrogate")) as proxy:
        sent = await ask(proxy, TEXT, task="instruct", instruction="Name three causes.")
        assert sent[0]["content"] == SHIPPED.remote_passages
        assert sent[1]["content"].startswith("Name three causes.")


async def test_the_operator_may_say_something_else_or_nothing(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings("rantext", remote_words="Scrambled.")) as proxy:
        assert (await ask(proxy, TEXT))[0] == {"role": "system", "content": "Scrambled."}
    async with running_proxy(table, settings("rantext", remote_words="")) as proxy:
        assert [message["role"] for message in await ask(proxy, TEXT)] == ["user"]
