"""The search for what must not have left finds every leak, and nothing that a draw makes."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from perturb import get_mechanism, load_table
from perturb.selective.surrogates.names import load_names
from perturb.vocabulary.words import Variant, load_vocabulary
from tests.absence import find_leaks, may_be_drawn

CANARIES = ("Kowalewski", "Qvarnström", "plumwhistle inn", "4095-2609-9393-4932", "xylo.k82")
WAYS = {
    "as it is": "tell {} now",
    "in the middle of a word": "un{}s",
    "beside punctuation": '("{}",',
    "beside an underscore and digits": "a_{}_7",
    "behind a line break": "so\n{}",
}


@pytest.mark.parametrize("canary", CANARIES)
@pytest.mark.parametrize("way", WAYS)
def test_a_leak_is_found_however_it_is_written(canary: str, way: str) -> None:
    for spelled in (canary, canary.upper(), canary.lower(), canary.title()):
        text = WAYS[way].format(spelled)
        for shown in (
            text,
            text.encode(),
            json.dumps({"a": [text]}),
            json.dumps(json.dumps({text: 1}), ensure_ascii=False),
            "".join(f"\\u{ord(c):04X}" for c in text),
        ):
            assert find_leaks(CANARIES, "nothing", shown) == [canary]


def test_what_is_not_shown_is_not_found() -> None:
    assert find_leaks(CANARIES) == []
    assert find_leaks(CANARIES, "Kowal ewski", b"plumwhistle, 4095-2609-9393-4933 \xff\\") == []


def test_no_draw_holds_a_term_that_may_be_looked_for() -> None:
    """Every word of every vocabulary and every public name, and longer ones about a term."""
    words = [word for variant in get_args(Variant) for word in load_vocabulary(variant).words]
    names = [n for some in load_names().values() for n in some.roles]
    assert {"letter", "letters"} <= set(words)
    assert find_leaks(CANARIES, *words, *names) == []
    assert not any(may_be_drawn(term) for term in CANARIES)
    assert all(map(may_be_drawn, (*words, *names)))


@pytest.mark.parametrize(
    "term",
    [
        *("letter", "Letter", "due on", "lette", "12 May 2024", "Monday", "Anna", "ANNA"),
        *("AK7", "AC-204817", "4711", "555-0134", "x", "", "is due", "jane.doe", "Ashcombe"),
    ],
)
def test_a_term_that_a_draw_may_make_is_refused(term: str) -> None:
    with pytest.raises(ValueError, match="a draw may make"):
        find_leaks(["Kowalewski", term], "nothing")


def test_the_raw_word_comes_back_by_the_channel_alone() -> None:
    """Why whole words are not enough: at ε = 6 one draw in 35 is the raw word."""
    mechanism = get_mechanism("rantext_ldp", load_table(), epsilon=6)
    place = mechanism.table.vocabulary.words.index("letter")
    assert mechanism.keep_rate([place])[0] > 1 / 36
