"""Candidates: the best of several answers is returned, one of them without the generation, and
all of them where it is of no help."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from extraction.backends.base import Delta
from extraction.errors import LocalModelUnavailable
from extraction.extractor import SEEDS_APART, AnswerWriter, Extractor, Job
from extraction.judge import build_judge
from tests.extraction.scripted import SHORT, ScriptedBackend, characters, user

RIVER = "The river rose after three days of rain, and the village on its bank was flooded."
FLOOD = "Water stood in the streets, and the fire brigade brought people out by boat."
GOAL = "The striker scored twice in the second half of the match."


class Answering(ScriptedBackend):
    """Answers one text alone and another one with a generation."""

    def __init__(self, alone: str, given: str, *script: Exception) -> None:
        super().__init__(*script, context=4096)
        self.alone, self.given = alone, given

    def _choose(self, messages: list[dict[str, Any]]) -> str:
        return self.given if "generation" in messages[-1]["content"] else self.alone

    async def complete(self, messages: list[dict[str, Any]], options: dict[str, Any]) -> Delta:
        self._turn(messages, options)
        return Delta({"content": self._choose(messages)}, finish_reason="stop")

    async def stream(
        self, messages: list[dict[str, Any]], options: dict[str, Any]
    ) -> AsyncGenerator[Delta]:
        self._turn(messages, options)
        half = len(text := self._choose(messages)) // 2
        yield Delta({"content": text[:half]})
        yield Delta({"content": text[half:]})
        yield Delta(finish_reason="stop")


def writer(backend: ScriptedBackend, chosen: list[str] | None = None) -> AnswerWriter:
    note = [].append if chosen is None else chosen.append
    return AnswerWriter(Extractor(backend, SHORT, characters()), build_judge(), note)


def job(generation: str | None = "the generation") -> Job:
    return Job("chat", (user(RIVER),), generation)


def find_given(backend: Answering) -> list[bool]:
    """Return which calls held a generation, in their order."""
    return ["generation" in messages[-1]["content"] for messages, _ in backend.calls]


@pytest.mark.parametrize(
    ("alone", "given", "best", "source"),
    [
        (FLOOD, GOAL, FLOOD, "alone"),
        (GOAL, FLOOD, FLOOD, "generation"),
        (FLOOD, FLOOD, FLOOD, "alone"),
        ("", FLOOD, FLOOD, "generation"),
        (RIVER, FLOOD, FLOOD, "generation"),  # a copy is no answer
    ],
)
async def test_the_answer_nearest_to_the_document_is_returned(
    alone: str, given: str, best: str, source: str
) -> None:
    backend, chosen = Answering(alone, given), list[str]()
    answers = writer(backend, chosen)
    assert (await answers.complete(job(), {}, 2)).message["content"] == best
    steps = [step async for step in answers.stream(job(), {}, 2)]
    assert "".join(step.message.get("content", "") for step in steps) == best
    assert len(steps) == 3
    assert chosen == [source, source]


@pytest.mark.parametrize(
    ("generation", "passage", "alone", "helpful"),
    [
        (FLOOD, FLOOD, GOAL, True),
        (FLOOD, GOAL, GOAL, False),  # the remote was shown nothing nearer
        (GOAL, FLOOD, GOAL, False),
        (FLOOD, FLOOD, FLOOD, False),  # no nearer than what the model writes by itself
        (FLOOD, FLOOD, "", True),
    ],
)
async def test_a_reply_to_a_passage_is_used_if_it_is_helpful(
    generation: str, passage: str, alone: str, helpful: bool
) -> None:
    backend, chosen = Answering(alone, f"{FLOOD} It rained."), list[str]()
    answers, asked = writer(backend, chosen), job(f"{generation} That is the generation.")
    await answers.complete(asked, {}, 3, passage=passage)
    assert find_given(backend) == [False, helpful, helpful]
    [_ async for _ in answers.stream(asked, {}, 2, passage=passage)]
    assert find_given(backend)[3:] == [False, helpful]
    assert "generation" not in chosen or helpful


async def test_a_generation_without_a_passage_is_used_whatever_it_is() -> None:
    """Negative control: as with `extraction: all`."""
    backend, chosen = Answering(FLOOD, GOAL), list[str]()
    await writer(backend, chosen).complete(job(f"{GOAL} That is the generation."), {}, 2)
    assert sorted(find_given(backend)) == [False, True]
    assert chosen == ["alone"]


async def test_candidates_without_a_generation_are_all_the_models_own() -> None:
    backend, chosen = Answering(FLOOD, GOAL), list[str]()
    answer = await writer(backend, chosen).complete(job(None), {}, 3, passage=FLOOD)
    assert (answer.message["content"], chosen) == (FLOOD, ["alone"])
    assert len(backend.calls) == 3


async def test_each_candidate_has_a_seed_of_its_own() -> None:
    for passage in (None, GOAL, FLOOD):
        backend = Answering(FLOOD, GOAL)
        await writer(backend).complete(job(), {"seed": 5}, 3, passage=passage)
        seeds = [options["seed"] for _, options in backend.calls]
        assert seeds == [5, 5 + SEEDS_APART, 5 + 2 * SEEDS_APART]


async def test_one_candidate_is_made_with_the_generation_and_not_judged() -> None:
    backend, chosen = Answering(FLOOD, GOAL), list[str]()
    answer = await writer(backend, chosen).complete(job(), {})
    assert (answer.message["content"], len(backend.calls), chosen) == (GOAL, 1, [])


async def test_a_failure_of_one_candidate_is_raised_as_it_is() -> None:
    answers = writer(Answering(FLOOD, GOAL, LocalModelUnavailable("down")))
    with pytest.raises(LocalModelUnavailable, match="down"):
        await answers.complete(job(), {}, 3)
