"""The mode to take, from answers for which it is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from proxy.advice.comparison import (
    AGAIN,
    BEST,
    FEWEST,
    Advice,
    Comparison,
    advise,
    compare,
    list_modes,
)
from proxy.advice.conditions import ALONE, GATEWAY, IDEAL, TARGETS, Reply, Target
from proxy.advice.texts import Task, read_tasks

RELEVANT, SHOWN = "surrogate 12, relevant, best of 2", "surrogate 12, demonstrate, best of 2"
PASSAGE = "A volcano erupted in Patagonia."
GOOD, BAD = "The bakery now belongs to the baker.", "Whoever asks is told nothing."
TASKS = [replace(task, answer=None) for task in read_tasks(most=2)]
Answer = str | Callable[[int], str]


def weigh(
    answers: dict[str, Answer],
    *,
    others: Answer = BAD,
    tasks: list[Task] = TASKS,
    targets: tuple[Target, ...] = TARGETS,
) -> tuple[Comparison, Advice]:
    """Compare scripted answers; a mode that is not named answers like the others."""
    modes = list_modes([("surrogate", 12)], targets)
    replies = {}
    for mode in modes:
        answer = answers.get(mode.name, others)
        material = PASSAGE if "mechanism" in mode.options else None
        replies[mode.name] = [
            Reply(answer if isinstance(answer, str) else answer(i), material)
            for i in range(len(tasks))
        ]
    found = compare(tasks, modes, replies)
    return found, advise(found)


def test_modes_that_send_less_of_a_text_come_first() -> None:
    def names(*targets: Target) -> list[str]:
        return [mode.name for mode in list_modes([("surrogate", 12)], targets)]

    assert names(*TARGETS) == [ALONE, BEST, RELEVANT, SHOWN, GATEWAY, IDEAL, AGAIN]
    assert names("proxy", "gateway") == [ALONE, BEST, RELEVANT, SHOWN, GATEWAY]
    assert names("proxy") == [ALONE, BEST, RELEVANT, SHOWN]
    points = [("selective", 6.0), ("rantext", 3.0), ("surrogate", 12.0), ("surrogate", 0.0)]
    ranked = [mode.name for mode in list_modes([*points, *points], ["proxy"])][2::2]
    assert [name.split(",")[0] for name in ranked] == [
        "surrogate 0",
        "surrogate 12",
        "rantext 3",
        "selective 6",
    ]


def test_the_gateway_is_taken_if_it_alone_helps() -> None:
    found, advice = weigh({IDEAL: GOOD, AGAIN: GOOD, GATEWAY: GOOD})
    assert advice.mode == GATEWAY
    assert advice.reason.startswith("Its answers are nearer to the remote's own than")
    assert found.figures[GATEWAY].score.mean == pytest.approx(1)
    assert found.figures[GATEWAY].same == 0
    assert found.figures[SHOWN].same == 1
    assert found.figures[SHOWN].gain.high == 0
    assert found.figures[ALONE].gain is None


def test_of_equals_the_first_is_taken() -> None:
    _, advice = weigh({IDEAL: GOOD, AGAIN: GOOD, GATEWAY: GOOD, SHOWN: GOOD})
    assert advice.mode == SHOWN
    assert f"no difference to “{GATEWAY}” is shown" in advice.reason


def test_a_better_one_is_taken_before_the_first() -> None:
    _, advice = weigh({IDEAL: GOOD, AGAIN: GOOD, GATEWAY: GOOD, SHOWN: f"{GOOD} {BAD}"})
    assert advice.mode == GATEWAY


def test_nothing_is_taken_that_is_shown_to_be_worse() -> None:
    found, advice = weigh({SHOWN: BAD, GATEWAY: PASSAGE}, others=GOOD)
    assert advice.mode == ALONE
    assert advice.reason.endswith(f"Shown to be worse: “{SHOWN}” and “{GATEWAY}”.")
    assert found.figures[GATEWAY].gain.high < 0


def test_where_the_local_model_answers_like_the_remote_nothing_helps() -> None:
    _, advice = weigh({}, others=GOOD)
    assert advice.mode == ALONE
    assert "nothing shows that the remote would help" in advice.reason


def test_where_no_mode_reaches_the_remote_it_stays_at_home() -> None:
    _, advice = weigh({IDEAL: GOOD, AGAIN: GOOD})
    assert advice.mode == ALONE
    assert advice.reason.endswith("to be better, and this one sends nothing.")


def test_a_difference_on_a_few_texts_is_not_shown() -> None:
    """Two of twelve answers are better, which chance makes often."""
    _, advice = weigh({IDEAL: GOOD, AGAIN: GOOD, GATEWAY: lambda i: GOOD if i in (3, 7) else BAD})
    assert advice.mode == ALONE
    assert "no other mode is shown to be better" in advice.reason


def test_words_of_the_remotes_side_are_not_taken_for_help() -> None:
    found, advice = weigh({IDEAL: PASSAGE, AGAIN: PASSAGE, SHOWN: PASSAGE})
    assert found.figures[SHOWN].gain.low > 0
    assert found.figures[SHOWN].bleed == 1
    assert found.figures[RELEVANT].bleed == 0
    assert found.figures[GATEWAY].bleed is None
    assert advice.mode == ALONE
    assert f"“{SHOWN}” are nearer to the remote's own, but hold words" in advice.reason


def test_an_equal_that_is_sound_is_taken_beside_one_that_is_not() -> None:
    """The best of the sound modes is compared, not the best of all."""
    half = f"{PASSAGE} {BAD}"
    _, advice = weigh({IDEAL: PASSAGE, AGAIN: PASSAGE, SHOWN: PASSAGE, GATEWAY: half})
    assert advice.mode == GATEWAY


EXACT = [
    Task(f"q-{i}", "question", "What is it?", f"It is the number {i}.", f"number {i}")
    for i in range(FEWEST)
]


def test_a_remote_that_is_wrong_more_often_is_no_goal() -> None:
    found, advice = weigh(
        {ALONE: lambda i: f"The number {i}.", BEST: lambda i: f"The number {i}."}, tasks=EXACT
    )
    assert (found.figures[ALONE].right, found.figures[IDEAL].right) == (1, 0)
    assert advice == Advice(
        ALONE, "It is right more often than the remote that reads the raw text."
    )


def test_a_mode_that_is_wrong_more_often_is_not_taken() -> None:
    def right(i: int) -> str:
        return f"The number {i}. {GOOD}"

    own = {name: lambda i: f"{BAD} The number {i}." for name in (ALONE, BEST)}
    _, advice = weigh({IDEAL: right, AGAIN: right, GATEWAY: GOOD, **own}, tasks=EXACT)
    assert advice.mode == ALONE
    assert f"“{GATEWAY}” are nearer" in advice.reason


def test_without_the_remotes_answers_nearness_to_the_texts_counts() -> None:
    def about(i: int) -> str:
        return "In short: " + " ".join(reversed(TASKS[i].document.split()))

    found, advice = weigh({SHOWN: about}, targets=("proxy",))
    assert found.reference == "document"
    assert advice.mode == SHOWN
    assert advice.reason.startswith("Its answers are nearer to the texts than")
    assert advice.reason.endswith("Nearer need not be better.")


def test_a_copy_of_the_text_is_near_to_nothing() -> None:
    found, advice = weigh({SHOWN: lambda i: TASKS[i].document}, targets=("proxy",))
    assert found.figures[SHOWN].score.mean == 0
    assert advice.mode == ALONE
