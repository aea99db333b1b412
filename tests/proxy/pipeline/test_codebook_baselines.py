"""truncated_laplace and deep_candidate through the proxy: what leaves, and what is charged."""

from __future__ import annotations

import json
from typing import Any

import pytest

from perturb import EmbeddingTable, Resources, sanitizer_class
from perturb.whole.codebook import load_codebook
from proxy.storage.ledger import Channel, price
from tests.absence import find_leaks
from tests.proxy.conftest import MODEL, Proxy, running_proxy

LETTER = (
    "Dear Ms Qvarnström, the biopsy of 3 May showed an adenocarcinoma of the colon.\n\n"
    "Dr Zorbleck-Quarfle wants to operate in ward 4B. Bring insurance card 8841-2290-17."
)
RAW = ("Qvarnström", "adenocarcinoma", "Zorbleck", "Quarfle", "8841-2290-17")
BASELINES = {"truncated_laplace": "document", "deep_candidate": "sentence"}


def settings(mechanism: str) -> dict[str, Any]:
    return {"privacy": {"mechanism": mechanism, "epsilon": 6}}


async def ask(proxy: Proxy, *contents: str) -> Any:
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[i % 2], "content": c} for i, c in enumerate(contents)]
    done = await proxy.client().chat.completions.create(model=MODEL, messages=messages)
    return done.model_extra["inferdpt"]


@pytest.mark.parametrize(("mechanism", "unit"), BASELINES.items())
async def test_nothing_but_a_passage_leaves(
    mechanism: str, unit: str, table: EmbeddingTable
) -> None:
    book = load_codebook()
    async with running_proxy(table, settings(mechanism)) as proxy:
        for i in range(4):
            receipt = await ask(proxy, f"{LETTER} Copy {i}.")
            (message,) = proxy.sent()
            assert book.find(message["content"]) is not None
            assert (receipt["mechanism"], receipt["unit"]) == (mechanism, unit)
        bodies = json.dumps(proxy.remote.bodies, ensure_ascii=False)
        assert find_leaks(RAW, bodies) == []


async def test_a_document_costs_its_epsilon_once(table: EmbeddingTable) -> None:
    async with running_proxy(table, settings("truncated_laplace")) as proxy:
        receipt = await ask(proxy, LETTER * 20)
        assert receipt["statement"].startswith("this text as a whole: ε = 6")
        assert receipt["budget"]["charged"]["epsilon"] == 6
        again = await ask(proxy, LETTER * 20)
        assert again["budget"]["charged"]["epsilon"] == 0
        assert proxy.sent() == proxy.sent(-2)


async def test_a_document_of_sentences_costs_epsilon_for_each(table: EmbeddingTable) -> None:
    """They share one draw, so the ledger composes one release of 3·6, not three of 6."""
    async with running_proxy(table, settings("deep_candidate")) as proxy:
        receipt = await ask(proxy, LETTER)
        assert receipt["statement"].startswith("each sentence: ε = 6")
        assert receipt["epsilon"]["per_token"] == 6
        assert receipt["epsilon"]["all_tokens"] == 18
        assert receipt["budget"]["charged"]["epsilon"] == 18
        assert (await ask(proxy, LETTER))["budget"]["charged"]["epsilon"] == 0
        assert (await ask(proxy, "No sentence less"))["budget"]["charged"]["epsilon"] == 6


def test_the_ledger_composes_sentences_as_a_group(table: EmbeddingTable) -> None:
    kind = sanitizer_class("deep_candidate")
    sanitizer = kind.build(kind.check_parameters(epsilon=0.5), Resources(table=table))
    cost = price(sanitizer, sanitizer.perturb(LETTER))
    assert (cost.proved, cost.count) == (1.5, 1)
    assert cost.channel == Channel("deep_candidate", 1.5, True, "sentence")
