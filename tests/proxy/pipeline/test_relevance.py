"""The local model sees the sentences of a generation that are about the document."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable
from tests.proxy.conftest import MODEL, Proxy, running_proxy

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
