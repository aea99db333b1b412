"""Long texts paragraph by paragraph."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.guard import words_of
from proxy.paragraphs import split


class TestParagraphs:
    text = st.lists(
        st.sampled_from(["one two three", "four", "five six seven eight", "", " ", "---", "\t"])
    ).map("\n".join)

    @given(text, st.integers(1, 8))
    def test_nothing_is_lost_and_units_have_their_words(self, text: str, least: int) -> None:
        pieces = split(text, least)
        assert "".join(pieces) == text
        units = [piece for piece in pieces if piece.strip()]
        assert all(unit == unit.strip() for unit in units)
        sizes = [len(words_of(unit)) for unit in units]
        assert len(units) <= 1 or min(sizes) >= least

    def units(self, paragraphs: list[str], least: int = 20) -> set[str]:
        return {p for p in split("\n\n".join(paragraphs), least) if p.strip()}

    @pytest.mark.parametrize("size", [3, 12, 30])
    @pytest.mark.parametrize("edit", ["change", "insert", "delete", "append"])
    def test_an_edit_moves_few_borders(self, size: int, edit: str) -> None:
        generator = random.Random(size)
        paragraphs = [
            " ".join(f"w{generator.randrange(10**6)}" for _ in range(size)) for _ in range(200)
        ]
        before = self.units(paragraphs)
        moved = []
        for place in range(10, 190, 9):
            after = list(paragraphs)
            if edit == "change":
                after[place] += " changed"
            elif edit == "insert":
                after.insert(place, "something quite new " * 5)
            elif edit == "delete":
                del after[place]
            else:
                after.append("something quite new " * 5)
            moved.append(len(self.units(after) - before))
        assert sum(moved) / len(moved) <= 3
        assert max(moved) <= 10 < len(before)

    def test_a_long_paragraph_alone_is_what_an_edit_redraws(self) -> None:
        paragraphs = [f"{i} " + "some words that make a paragraph " * 6 for i in range(10)]
        before = self.units(paragraphs)
        paragraphs[4] += "and more"
        assert len(self.units(paragraphs) - before) == 1

    def test_a_long_run_of_white_space_is_no_trouble(self) -> None:
        assert split(" " * 10**6 + "a\n" + "\n \t" * 10**5 + "b", 1)[1] == "a"
