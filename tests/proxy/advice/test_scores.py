"""The scores of answers, by hand, and the texts that are asked about."""

from __future__ import annotations

from collections import Counter

import pytest

from proxy.advice.comparison import find_bleed, list_content_words, score_right
from proxy.advice.texts import KINDS, Task, read_tasks

QUESTION = Task("q", "question", "How much is it?", "The roof costs 6,250 euros.", "6,250 euros")
FIELDS = Task("f", "fields", "As JSON.", "Ida Holm, 12 May", {"name": "Ida Holm", "day": "12 May"})


def test_each_kind_has_eight_tasks_or_more_and_the_answers_are_in_them() -> None:
    tasks = read_tasks()
    assert len({task.id for task in tasks}) == len(tasks)
    assert {task.document for task in tasks if "\n\n" in task.document} == set()
    counts = Counter(task.task for task in tasks)
    assert tuple(counts) == KINDS
    assert min(counts.values()) >= 8
    for task in tasks:
        values = [task.answer] if isinstance(task.answer, str) else (task.answer or {}).values()
        for value in values:
            assert set(list_content_words(value)) <= set(list_content_words(task.document))
    assert [task.task for task in read_tasks(("fields", "reply"), 2)] == ["fields"] * 2 + [
        "reply"
    ] * 2


@pytest.mark.parametrize(
    ("task", "answer", "right"),
    [
        (QUESTION, "It costs 6,250 Euros.", 1),
        (QUESTION, "It costs 16,250 euros.", 0),
        (QUESTION, "", 0),
        (FIELDS, 'Here: {"name": "ida holm", "day": "12 May."}', 1),
        (FIELDS, '{"name": "Ida Holm", "day": "13 May"}', 0.5),
        (FIELDS, '{"name": "x"} then {"day": "12 May", "age": 3}', 0.5),
        (FIELDS, '{"name": Ida Holm}', 0),
        (FIELDS, "Ida Holm, 12 May", 0),
    ],
)
def test_what_is_right_is_counted(task: Task, answer: str, right: float) -> None:
    assert score_right(task, answer) == right


def test_where_many_answers_are_right_none_is_counted() -> None:
    assert score_right(Task("s", "summary", "Sum up.", "A text."), "Anything") is None


@pytest.mark.parametrize(
    ("answer", "bleed"),
    [
        ("The roof and the groom.", 0.5),  # groom is the remote's
        ("The roof is dear.", 0),  # dear is the local model's own
        ("The roof is green.", 0),  # of nobody
        ("Decorated with 12 henna 3", 0.75),  # 3 is nobody's
        ("How much?", 0),
        ("", 0),
    ],
)
def test_bleed_is_what_the_remotes_side_alone_has(answer: str, bleed: float) -> None:
    found = find_bleed(
        QUESTION, answer, "It is dear.", "The groom was decorated with 12 henna. The dear roof."
    )
    assert found == bleed
