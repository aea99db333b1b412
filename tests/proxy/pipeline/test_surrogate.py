"""surrogate through the proxy: public passages leave, and one ε is charged for a whole text."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from perturb import EmbeddingTable
from perturb.whole.codebook import load_codebook
from tests.absence import find_leaks
from tests.proxy.conftest import MODEL, Proxy, running_proxy

SETTINGS: dict[str, Any] = {
    "privacy": {"mechanism": "surrogate", "epsilon": 12},
}
LETTER = (
    "Dear Ms Qvarnström, the biopsy of 3 May showed an adenocarcinoma of the colon.\n\n"
    "Dr Zorbleck-Quarfle wants to operate in ward 4B. Bring insurance card 8841-2290-17."
)
RAW = ("Qvarnström", "adenocarcinoma", "Zorbleck", "Quarfle", "8841-2290-17")


def test_no_passage_holds_what_is_looked_for() -> None:
    book = load_codebook()
    assert find_leaks(RAW, *map(book.passage, range(len(book)))) == []
    assert find_leaks(RAW, LETTER) == list(RAW)


def sent_passages(proxy: Proxy) -> list[str]:
    """Return the message contents that left in the last request."""
    return [message["content"] for message in proxy.sent()]


async def ask(proxy: Proxy, *contents: str, **more: Any) -> Any:
    roles = ("user", "assistant")
    messages: Any = [{"role": roles[i % 2], "content": c} for i, c in enumerate(contents)]
    return await proxy.client().chat.completions.create(model=MODEL, messages=messages, **more)


async def test_nothing_but_a_passage_leaves(table: EmbeddingTable) -> None:
    book = load_codebook()
    async with running_proxy(table, SETTINGS) as proxy:
        for i in range(10):
            done = await ask(proxy, f"{LETTER} Copy {i}.")
            (content,) = sent_passages(proxy)
            assert book.find(content) is not None
            assert done.choices[0].message.content
        bodies = json.dumps(proxy.remote.bodies, ensure_ascii=False)
        assert find_leaks(RAW, bodies) == []


async def test_a_stream_and_a_completion_are_served(table: EmbeddingTable) -> None:
    book = load_codebook()
    async with running_proxy(table, SETTINGS) as proxy:
        stream = await ask(proxy, LETTER, stream=True)
        chunks = [chunk async for chunk in stream]
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        (content,) = sent_passages(proxy)
        assert book.find(content) is not None
        done = await proxy.client().completions.create(model=MODEL, prompt=LETTER)
        assert done.choices[0].text
        (content,) = sent_passages(proxy)
        passage = content.rsplit("\n", 1)[-1]
        assert book.find(passage) is not None
        assert find_leaks(RAW, content) == []


async def test_a_text_costs_its_epsilon_once_whatever_its_length(table: EmbeddingTable) -> None:
    async with running_proxy(table, SETTINGS) as proxy:
        for text in ("A short question about bread?", LETTER * 40):
            first = (await ask(proxy, text)).model_extra["inferdpt"]
            assert first["unit"] == "document"
            assert first["statement"].startswith("this text as a whole: ε = 12")
            assert first["epsilon"]["all_tokens"] == 12
            assert first["budget"]["charged"]["epsilon"] == 12
            again = (await ask(proxy, text)).model_extra["inferdpt"]
            assert again["budget"]["charged"]["epsilon"] == 0
            assert proxy.sent() == proxy.sent(-2)


async def test_its_epsilon_comes_without_a_delta(table: EmbeddingTable) -> None:
    """The guard compares passages with the codebook and refuses no honest draw."""
    async with running_proxy(table, SETTINGS) as proxy:
        turns: Any = [{"role": "user", "content": LETTER}]
        raw = await proxy.client().chat.completions.with_raw_response.create(
            model=MODEL, messages=turns
        )
        assert raw.headers["x-inferdpt-epsilon"] == "12; guarantee=ldp; delta=0"
        receipt = raw.parse().model_extra["inferdpt"]
        assert receipt["epsilon"]["delta"] == 0
        assert receipt["statement"].endswith("the guard refuses no honest draw, so that δ = 0")


@pytest.mark.parametrize("blank", [(), (1,), (0, 2)])
async def test_a_request_states_the_sum_that_it_is_charged(
    table: EmbeddingTable, blank: tuple[int, ...]
) -> None:
    """For each of its texts, whichever of them are blank."""
    said = ["One on bread.", "One on the river.", "One on the court.", "And now?"]
    texts = [" " * (place + 1) if place in blank else text for place, text in enumerate(said)]
    roles = ["user", "assistant", "user"] if 1 not in blank else ["user", "user", "user"]
    messages: Any = [
        {"role": role, "content": text} for role, text in zip([*roles, "user"], texts, strict=True)
    ]
    async with running_proxy(table, SETTINGS) as proxy:
        done = await proxy.client().chat.completions.create(model=MODEL, messages=messages)
        receipt = done.model_extra["inferdpt"]
        assert receipt["budget"]["charged"]["epsilon"] == 48
        assert receipt["epsilon"]["all_tokens"] == 48
        assert "; this request as a whole, its 4 texts together: ε = 48;" in receipt["statement"]


async def test_the_turns_of_a_conversation_add_up(table: EmbeddingTable) -> None:
    async with running_proxy(table, SETTINGS) as proxy:
        done = await ask(proxy, LETTER)
        answer = done.choices[0].message.content
        later = await ask(proxy, LETTER, answer, "And what does the surgeon need?")
        receipt = later.model_extra["inferdpt"]
        assert receipt["epsilon"]["all_tokens"] == 24
        assert receipt["budget"]["charged"]["epsilon"] == 12


async def test_two_choices_share_the_epsilon(table: EmbeddingTable) -> None:
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "parameters": {"passages": 2}}}
    book = load_codebook()
    async with running_proxy(table, settings) as proxy:
        receipt = (await ask(proxy, LETTER)).model_extra["inferdpt"]
        assert receipt["budget"]["charged"]["epsilon"] == 12
        (content,) = sent_passages(proxy)
        found = [book.find(passage) for passage in content.split("\n\n")]
        assert [place % 2 for place in found] == [0, 1]


async def test_a_wrong_codebook_is_said_at_start(table: EmbeddingTable, tmp_path) -> None:
    from proxy.errors import ConfigError

    (tmp_path / "bad.codebook").write_text("nothing")
    parameters = {"codebook": str(tmp_path / "bad.codebook")}
    settings = {"privacy": {**SETTINGS["privacy"], "parameters": parameters}}
    with pytest.raises(ConfigError, match=r"bad\.codebook is not a codebook"):
        async with running_proxy(table, settings):
            pass


async def test_epsilon_zero_costs_nothing_and_is_said(table: EmbeddingTable) -> None:
    book = load_codebook()
    settings = {**SETTINGS, "privacy": {**SETTINGS["privacy"], "epsilon": 0}}
    async with running_proxy(table, settings) as proxy:
        receipt = (await ask(proxy, LETTER)).model_extra["inferdpt"]
        (content,) = sent_passages(proxy)
        assert book.find(content) is not None
        assert "nothing of the document left" in receipt["statement"]
        assert receipt["epsilon"]["all_tokens"] == 0
        assert receipt["budget"]["charged"]["epsilon"] == 0
        assert receipt["released"] == 1
        choice = {"inferdpt": {"mechanism": "rantext_ldp", "epsilon": 0}}
        with pytest.raises(openai.BadRequestError, match="epsilon must be > 0 and finite"):
            await ask(proxy, LETTER, extra_body=choice)


async def test_an_epsilon_beyond_the_law_is_refused(table: EmbeddingTable) -> None:
    settings = {**SETTINGS, "limits": {"epsilon_max": None}}
    async with running_proxy(table, settings) as proxy:
        with pytest.raises(openai.BadRequestError, match="epsilon must be <= 24"):
            await ask(proxy, LETTER, extra_body={"inferdpt": {"epsilon": 30}})
