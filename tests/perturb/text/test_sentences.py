"""Sentences: where a text is cut, and how long that takes."""

from __future__ import annotations

import pytest

from perturb.testing.growth import grows_linearly
from perturb.whole.deep_candidate import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n\t ", []),
        ("One", ["One"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("About 3.5 kg, e.g. of flour", ["About 3.5 kg, e.g. of flour"]),
        ("a list:\n- one\n- two\n\n", ["a list:", "- one", "- two"]),
        ("one\u2028two\rthree", ["one", "two", "three"]),
    ],
)
def test_sentences_end_where_they_should(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_nothing_but_white_space_is_lost() -> None:
    text = 'A b. "C d!" E f?\n(G h.) I\ud800 j.'
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize("piece", [". ", ".\n", '."""" ', "A.  \t", "a", '"', " "])
def test_odd_texts_are_cut_in_linear_time(piece: str) -> None:
    assert grows_linearly(lambda size: split_sentences(piece * size), 100_000, seconds=0.05)
