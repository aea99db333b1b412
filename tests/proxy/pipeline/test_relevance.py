"""The local model sees the sentences of a generation that are about the document."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import aiohttp
import openai
import pytest

from perturb import EmbeddingTable
from tests.proxy.conftest import MODEL, Proxy, running_proxy
from tests.servers import FakeServer, answer

RIVER = "The river rose after three days of rain, and the village on its bank was flooded."
FLOOD = "Water stood in the streets, and the fire brigade brought people out by boat."
GOAL = "The striker scored twice in the second half of the match."
IRRELEVANT = "nothing in the remote's answer was about the document; the local model worked alone"


def settings(**privacy: Any) -> dict[str, Any]:
    return {
        "local": {"extraction": "relevant"},
        "privacy": {"mechanism": "rantext_ldp", "epsilon": 6, **privacy},
    }


async def ask(proxy: Proxy, generation: str, **options: Any) -> tuple[str, Any]:
    """Return what the local model saw, and the receipt."""
    proxy.remote.text = generation
    done = await proxy.client().chat.completions.create(
        model=MODEL,
        messages=[{"role": "user", "content": RIVER}],
        extra_body={"inferdpt": options},
    )
    return json.dumps(proxy.local.bodies[-1]), done.model_extra["inferdpt"]


@pytest.mark.parametrize("privacy", [{}, {"mechanism": "surrogate"}])
async def test_only_what_is_about_the_document_is_seen(
    privacy: dict[str, Any], table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(**privacy)) as proxy:
        seen, receipt = await ask(proxy, f"{GOAL} {FLOOD}")
        assert FLOOD in seen
        assert GOAL not in seen
        assert receipt["remote"] == ["the remote answered the perturbed text"]


async def test_an_irrelevant_generation_is_not_seen_and_is_said(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings()) as proxy:
        seen, receipt = await ask(proxy, GOAL)
        assert RIVER in seen
        assert GOAL not in seen
        assert receipt["remote"] == [IRRELEVANT]
        assert receipt["budget"]["charged"]["epsilon"] > 0  # it was asked


async def test_a_client_can_have_all_of_it(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings()) as proxy:
        seen, receipt = await ask(proxy, GOAL, extraction="all")
        assert GOAL in seen
        assert receipt["remote"] == ["the remote answered the perturbed text"]


async def test_a_remote_that_read_the_text_is_not_judged(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings(mechanism="selective")) as proxy:
        seen, _ = await ask(proxy, "Yes, that is so.")
        assert "Yes, that is so." in seen


# -- candidates ---------------------------------------------------------------------------------


def writes(alone: str, given: str) -> Any:
    """Return the behaviour of a local server that answers one text alone, another one with the
    remote's generation."""

    async def behave(server: FakeServer, request: Any, body: dict[str, Any]) -> Any:
        text = given if FLOOD in json.dumps(body) else alone
        return await answer(replace(server, text=text), request, body)

    return behave


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("alone", "given", "best", "source"),
    [("Rain floods a village.", GOAL, "Rain", "alone"), (GOAL, "A flood.", "A fl", "generation")],
)
async def test_the_better_of_two_answers_is_returned(
    stream: bool, alone: str, given: str, best: str, source: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings() | {"local": {"candidates": 2}}) as proxy:
        proxy.remote.text = FLOOD
        proxy.local.behaviour = writes(alone, given)
        asked = {"model": MODEL, "messages": [{"role": "user", "content": RIVER}]}
        if stream:
            chunks = await proxy.client().chat.completions.create(**asked, stream=True)
            text = "".join([c.choices[0].delta.content or "" async for c in chunks if c.choices])
        else:
            done = await proxy.client().chat.completions.create(**asked)
            text = done.choices[0].message.content or ""
        assert text.startswith(best)
        assert (len(proxy.remote.bodies), len(proxy.local.bodies)) == (1, 2)
        address = f"{proxy.root}/metrics"
        async with aiohttp.ClientSession() as session, session.get(address) as response:
            metrics = await response.text()
        assert f'candidates_chosen_total{{source="{source}"}} 1.0' in metrics


@pytest.mark.parametrize(
    ("mechanism", "count", "whole"),
    [("surrogate", 2, True), ("surrogate", 1, False), ("rantext_ldp", 2, False)],
)
async def test_candidates_for_a_passage_are_made_with_the_whole_of_a_relevant_generation(
    mechanism: str, count: int, whole: bool, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(mechanism=mechanism)) as proxy:
        proxy.local.text = RIVER  # a copy is no answer, so any material is nearer
        _, receipt = await ask(proxy, f"{GOAL} {FLOOD}", candidates=count)
        seen = sorted(json.dumps(body) for body in proxy.local.bodies)
        found = sorted((FLOOD in body, GOAL in body) for body in seen)
        assert found == [(False, False)] * (count - 1) + [(True, whole)]
        assert receipt["remote"] == ["the remote answered the perturbed text"]


@pytest.mark.parametrize("extraction", ["relevant", "all"])
async def test_candidates_for_a_passage_are_made_without_a_generation_of_no_help(
    extraction: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(mechanism="surrogate")) as proxy:
        proxy.local.text = "After the rain, the river flooded the village on its bank."
        _, receipt = await ask(proxy, f"{GOAL} {FLOOD}", candidates=3, extraction=extraction)
        found = sorted(GOAL in json.dumps(body) for body in proxy.local.bodies)
        assert found == [False, *[extraction == "all"] * 2]
        assert receipt["remote"] == ["the remote answered the perturbed text"]


@pytest.mark.parametrize("mechanism", ["surrogate", "rantext_ldp"])
async def test_the_candidates_are_made_without_an_irrelevant_generation(
    mechanism: str, table: EmbeddingTable
) -> None:
    async with running_proxy(table, settings(mechanism=mechanism)) as proxy:
        _, receipt = await ask(proxy, f"{GOAL} {GOAL}", candidates=3)
        assert len(proxy.local.bodies) == 3
        assert not any(GOAL in json.dumps(body) for body in proxy.local.bodies)
        assert receipt["remote"] == [IRRELEVANT]


async def test_a_request_with_tools_gets_one_answer(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings() | {"local": {"candidates": 3}}) as proxy:
        tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
        await proxy.client().chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": RIVER}], tools=[tool]
        )
        assert len(proxy.local.bodies) == 1


async def test_more_candidates_than_choices_are_allowed_are_refused(table: EmbeddingTable) -> None:
    limits = {"limits": {"choices": 6}, "local": {"candidates": 5}}
    async with running_proxy(table, settings() | limits) as proxy:

        async def ask(n: int, **options: Any) -> None:
            await proxy.client().chat.completions.create(
                model=MODEL,
                messages=[{"role": "user", "content": RIVER}],
                n=n,
                extra_body={"inferdpt": options},
            )

        with pytest.raises(
            openai.BadRequestError, match="n times candidates must be <= 6"
        ) as info:
            await ask(2, candidates=4)
        assert info.value.param == "inferdpt.candidates"
        assert proxy.remote.bodies == []
        await ask(2, candidates=3)
        assert len(proxy.local.bodies) == 6
        await ask(3)  # the operator's five are lowered to two
        assert len(proxy.local.bodies) == 12
