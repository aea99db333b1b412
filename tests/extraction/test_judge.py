"""The judge: an unrelated generation is dropped, a related one kept, one of no help not used."""

from __future__ import annotations

import numpy as np
import pytest

from extraction.judge import Judge, build_judge, split_parts
from perturb.whole.codebook import load_codebook
from perturb.whole.encoder import load_static

RIVER = "The river rose after three days of rain, and the village on its bank was flooded."
FLOOD = "Water stood in the streets, and the fire brigade brought people out by boat."
GOAL = "The striker scored twice in the second half of the match."


@pytest.fixture(scope="module")
def judge() -> Judge:
    return build_judge()


def test_what_is_about_the_document_is_kept(judge: Judge) -> None:
    assert judge.keep_relevant(RIVER, FLOOD) == FLOOD
    assert judge.keep_relevant(RIVER, f"{FLOOD}\n\n{GOAL} {FLOOD}") == f"{FLOOD}\n\n{FLOOD}"
    assert judge.keep_relevant(RIVER, GOAL) == ""


def test_a_generation_with_a_part_about_the_document_is_kept_whole(judge: Judge) -> None:
    for generation in (FLOOD, f"{FLOOD}\n\n{GOAL} {FLOOD}", f" {GOAL} {FLOOD}\n"):
        assert judge.keep_if_relevant(RIVER, generation) == generation
    assert judge.keep_if_relevant(RIVER, f"{GOAL} {GOAL}") == ""


@pytest.mark.parametrize("nothing", ["", " \n", "zxqv", "日本"])
def test_nothing_is_about_nothing(judge: Judge, nothing: str) -> None:
    assert judge.keep_relevant(RIVER, nothing) == ""
    assert judge.keep_if_relevant(RIVER, nothing) == ""


def test_an_unrelated_generation_rarely_passes(judge: Judge) -> None:
    """Passages of the bundled codebook, in pairs. At a true rate of 2 %, more than 60 of 1,500
    pass with probability below 1e-6. Whole generations pass where a part does."""
    book = load_codebook()
    texts = [book.passage(i) for i in range(3000)]
    pairs = list(zip(texts[::2], texts[1::2], strict=True))
    passed = [bool(judge.keep_relevant(*pair)) for pair in pairs]
    assert sum(passed) <= 60
    assert [bool(judge.keep_if_relevant(*pair)) for pair in pairs] == passed


def test_a_threshold_of_zero_is_caught() -> None:
    """Negative control of the test above."""
    encoder = load_static()
    book = load_codebook()
    texts = [book.passage(i) for i in range(200)]
    careless = Judge(encoder, 0.0)
    passed = [careless.keep_relevant(a, b) for a, b in zip(texts[::2], texts[1::2], strict=True)]
    assert np.mean([bool(kept) for kept in passed]) > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "One sentence stands here alone. Another one follows it there!\n\n- a list\n- of things\n",
        "Look at this:\n```python\nx = 1\n\nprint(x)\n```\nThat was the whole of it.",
        "no end",
        "A. B. C. D. E. F.",
        "\n\n  \n",
        "Yes.",
        "x" * 10_000,
    ],
)
def test_parts_are_the_text(text: str) -> None:
    assert "".join(split_parts(text)).strip() == text.strip()
    assert all(part.strip() for part in split_parts(text))


def test_a_block_of_code_is_one_part() -> None:
    text = (
        "Here is what you asked for. \n```\na b c d\n\ne f g h\n```\nIt prints the letters of it."
    )
    assert "```\na b c d\n\ne f g h\n```\n" in split_parts(text)


def test_the_best_answer_is_the_nearest(judge: Judge) -> None:
    assert judge.choose_best(RIVER, [GOAL, FLOOD]) == 1
    assert judge.choose_best(RIVER, [FLOOD, FLOOD]) == 0
    assert judge.choose_best(RIVER, ["", " "]) == 0


@pytest.mark.parametrize(
    ("answer", "material", "helpful"),
    [
        (GOAL, [FLOOD], True),
        (GOAL, [FLOOD, FLOOD], True),
        (GOAL, [FLOOD, GOAL], False),  # what the remote was shown is no nearer
        (GOAL, [GOAL, FLOOD], False),
        (FLOOD, [FLOOD], False),
        (FLOOD, [GOAL], False),
        ("", [FLOOD], True),
        (RIVER, [FLOOD], True),  # a copy says nothing of its own
        (GOAL, [RIVER], False),
        (GOAL, [""], False),
        ("", [""], False),
    ],
)
def test_material_helps_if_all_of_it_is_nearer_than_the_answer(
    answer: str, material: list[str], helpful: bool, judge: Judge
) -> None:
    assert judge.is_helpful(RIVER, answer, material) is helpful


def test_material_without_the_document_helps_against_no_more_than_chance(judge: Judge) -> None:
    """Of three passages on other subjects, two are nearer than the third in a third of cases. At
    that rate, fewer than 142 or more than 260 of 600 have a probability below 1e-6."""
    book = load_codebook()
    texts = [[book.passage(4 * i + k) for k in range(4)] for i in range(600)]
    helped = [judge.is_helpful(document, one, two) for document, one, *two in texts]
    assert 142 <= sum(helped) <= 260
    one_piece = [judge.is_helpful(document, one, two[:1]) for document, one, *two in texts]
    assert sum(one_piece) > 260  # negative control: a rule that looks at the generation only


def test_a_copy_of_the_document_is_not_the_best_answer(judge: Judge) -> None:
    assert judge.choose_best(f"{RIVER} {FLOOD}", [RIVER, f"{RIVER}\n{FLOOD}", GOAL]) == 2


@pytest.mark.parametrize("document", ["", "日本", "zxqv"])
def test_about_nothing_the_first_answer_that_says_something_is_the_best(
    judge: Judge, document: str
) -> None:
    assert judge.choose_best(document, ["", FLOOD]) == 1
