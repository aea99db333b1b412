"""Warm-ups: what is read ahead is a prefix of the prompt, and nothing depends on it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.backends.base import Backend, Delta, Warmable
from extraction.errors import LocalModelUnavailable
from extraction.extractor import LONG, Extractor, Job, Warmer
from extraction.prompts import DOCUMENT_FIRST, Prompts, fill, find_opening
from tests.extraction.scripted import (
    SHORT,
    ScriptedBackend,
    assistant,
    call,
    characters,
    extractor,
    result,
    system,
    user,
)
from tests.limits import LIMIT

JOB = Job("chat", (user("R" * LONG),), None)
ROOMY = 100_000


class WarmBackend(ScriptedBackend):
    """Keeps what it is to read ahead, and fails or waits as it is told."""

    def __init__(self, failure: Exception | None = None, **settings: Any) -> None:
        super().__init__(**{"context": ROOMY, **settings})
        self.failure = failure
        self.openings: list[tuple[list[dict[str, Any]], dict[str, Any]]] = []
        self.begun = asyncio.Event()
        self.release = asyncio.Event()
        self.ended = ""

    async def warm(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> None:
        self.openings.append((messages, options))
        self.begun.set()
        try:
            if self.failure is not None:
                raise self.failure
            await self.release.wait()
            self.ended = "done"
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise


def warmer(backend: Backend, when: Any = "auto", places: int = 4) -> tuple[Warmer, list[str]]:
    ends: list[str] = []
    return Warmer(extractor(backend), when, places=places, note=ends.append), ends  # type: ignore


TEXTS = st.text("ab \n", max_size=120)
TURNS = st.lists(
    st.one_of(
        st.builds(user, TEXTS),
        st.builds(assistant, TEXTS),
        st.builds(system, TEXTS),
        st.builds(lambda text: result("1", text), TEXTS),
        st.just(call("1")),
    ),
    max_size=4,
)


@settings(max_examples=500)
@given(
    history=TURNS,
    document=st.integers(0, 500).map(lambda size: ("abcdef " * size)[:size]),
    tool=st.booleans(),
    generation=st.sampled_from([1, 30, 1000]).map(lambda size: "x" * size),
    context=st.integers(64, 900),
    limit=st.one_of(st.none(), st.integers(1, 400)),
    ratio=st.sampled_from([1.0, 1.3]),
)
def test_an_opening_is_a_prefix_of_the_prompt_whatever_the_remote_writes(
    history, document, tool, generation, context, limit, ratio
):
    last = result("1", document) if tool else user(document)
    options = {} if limit is None else {"max_tokens": limit}

    async def compose() -> tuple[Any, Any]:
        backend = ScriptedBackend(context=context)
        made = extractor(backend, tokenizer=characters(ratio))
        opening = await made.compose_opening(Job("chat", (*history, last), None), options)
        await made.complete(Job("chat", (*history, last), generation), options)
        return opening, backend.calls[-1][0]

    opening, prompt = asyncio.run(compose())
    if opening is None:
        return
    messages, _ = opening
    assert len(messages) == len(prompt)
    assert messages[:-1] == prompt[:-1]
    assert prompt[-1]["content"].startswith(messages[-1]["content"])
    assert {**messages[-1], "content": ""} == {**prompt[-1], "content": ""}


async def test_an_opening_holds_the_whole_document_and_no_option_of_the_answer():
    backend = WarmBackend()
    options = {"max_tokens": 9, "min_tokens": 5, "logprobs": True, "tools": [], "temperature": 0}
    found = await extractor(backend).compose_opening(JOB, options)
    assert found == ([user("R" * LONG + "|")], {"tools": [], "temperature": 0})


async def test_nothing_is_read_ahead_where_the_generation_stands_first():
    job = Job("continuation", (user("RAW"),), None)
    first = Prompts(local_continuation="{generation}{document}")
    assert await extractor(WarmBackend(), prompts=first).compose_opening(job, {}) is None
    assert await extractor(WarmBackend(), prompts=SHORT).compose_opening(job, {}) is not None


@pytest.mark.parametrize(("size", "whole"), [(300, True), (700, False)])
async def test_nothing_is_read_ahead_of_a_prompt_that_may_have_to_be_cut(size, whole):
    backend = WarmBackend(context=1000)
    job = Job("chat", (user("R" * size),), None)
    found = await extractor(backend).compose_opening(job, {"max_tokens": 10})
    assert (found is not None) is whole


def test_the_shipped_templates_open_with_the_document_but_for_the_bundled_models():
    assert find_opening(Prompts().local_continuation) is None
    for template in (DOCUMENT_FIRST, Prompts().local_answer):
        opening = find_opening(template)
        assert opening is not None
        whole = fill(template, document="RAW", generation="PERTURBED")
        assert whole.startswith(fill(opening, document="RAW"))
    Prompts(local_continuation=DOCUMENT_FIRST)


async def test_a_warm_up_that_has_begun_is_waited_for():
    backend = WarmBackend()
    made, ends = warmer(backend)
    async with asyncio.timeout(LIMIT), made.warming(JOB, {}):
        await backend.begun.wait()
        asyncio.get_running_loop().call_later(0.05, backend.release.set)
    assert (backend.ended, ends) == ("done", ["done"])


async def test_a_warm_up_that_has_not_begun_is_cancelled():
    backend = WarmBackend()
    made, ends = warmer(backend)
    async with asyncio.timeout(LIMIT), made.warming(JOB, {}):
        pass
    assert (backend.openings, ends) == ([], ["cancelled"])


@pytest.mark.parametrize("failure", [LocalModelUnavailable("down"), RuntimeError("a bug")])
async def test_a_warm_up_that_fails_is_counted_and_changes_nothing(failure):
    backend = WarmBackend(failure)
    made, ends = warmer(backend)
    async with asyncio.timeout(LIMIT), made.warming(JOB, {}):
        await backend.begun.wait()
    assert ends == ["failed"]
    assert (await extractor(backend).complete(JOB, {})).finish_reason == "stop"


async def test_a_warm_up_ends_with_its_request():
    backend = WarmBackend()
    made, ends = warmer(backend)

    async def fail() -> None:
        async with asyncio.timeout(LIMIT), made.warming(JOB, {}):
            await backend.begun.wait()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert (backend.ended, ends) == ("cancelled", ["cancelled"])


@pytest.mark.parametrize(
    ("when", "size", "warmed"),
    [
        ("auto", LONG, True),
        ("auto", LONG - 1, False),
        ("always", 1, True),
        ("never", LONG, False),
    ],
)
async def test_the_setting_decides_which_prompts_are_warmed(when, size, warmed):
    backend = WarmBackend()
    backend.release.set()
    made, ends = warmer(backend, when)
    async with asyncio.timeout(LIMIT), made.warming(Job("chat", (user("R" * size),), None), {}):
        if warmed:
            await backend.begun.wait()
        else:
            await asyncio.sleep(0.01)
    assert ends == ["done"] * warmed


async def test_no_warm_up_begins_where_answers_or_others_hold_every_place():
    backend = WarmBackend()
    running = asyncio.Event()

    async def hang(messages: Any, options: Any) -> Delta:
        running.set()
        await backend.release.wait()
        return Delta({"content": "x"}, finish_reason="stop")

    backend.complete = hang  # type: ignore[method-assign]
    made = extractor(backend)
    ends: list[str] = []
    waits = Warmer(made, "auto", places=2, note=ends.append)
    answer = asyncio.create_task(made.complete(JOB, {}))
    async with asyncio.timeout(LIMIT):
        await running.wait()
        async with waits.warming(JOB, {}):  # beside the answer: the second place
            await backend.begun.wait()
            async with waits.warming(JOB, {}):  # the third
                await asyncio.sleep(0.01)
            assert len(backend.openings) == 1
            backend.release.set()
        await answer
        assert made.running == 0
        async with waits.warming(JOB, {}):  # all are free again
            while len(backend.openings) < 2:
                await asyncio.sleep(0)
    assert ends == ["done", "done"]


async def test_a_backend_that_cannot_read_ahead_is_left_alone():
    backend = ScriptedBackend(context=ROOMY)
    assert not isinstance(backend, Warmable)
    made, ends = warmer(backend)
    async with made.warming(JOB, {}):
        await asyncio.sleep(0.01)
    assert (backend.calls, ends) == ([], [])


async def test_an_answer_that_fails_or_is_left_gives_its_place_back():
    backend = ScriptedBackend(LocalModelUnavailable("down"), context=ROOMY)
    made: Extractor = extractor(backend)
    with pytest.raises(LocalModelUnavailable):
        await made.complete(JOB, {})
    steps = made.stream(JOB, {})
    await anext(steps)
    assert made.running == 1
    await steps.aclose()  # type: ignore[attr-defined]
    assert made.running == 0
