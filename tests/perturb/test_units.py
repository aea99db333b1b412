"""Long texts unit by unit: where the units part tells nothing that a release does not show."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import DocumentOptions, EmbeddingTable, Perturber, get_mechanism
from perturb.release import Unit
from perturb.vocabulary.vocabulary import TokenClass
from tests.perturb.marking import WORDS

# Words, and what a border is made of or may be mistaken for: blanks that are layout, blanks and
# marks that are dropped, words of several tokens, numbers, letters of other scripts.
PIECES = [
    *(
        "word",
        " the",
        "Indented",
        "\n",
        "\n\n",
        "\n \n",
        "  ",
        "\t",
        "\r\n",
        " ",
        ".",
        ")",
        "-",
        '"',
    ),
    *(
        "\u00a0",
        "\x0c",
        "\x0b",
        "\x85",
        "\x1c",
        "\u2028",
        "🙂",
        "。",
        "™",
        "…",
        "’",
        "'s",
        "12",
        "2024",
    ),
    *("é", "e\u0301", "你好", "\n\u00a0\n", "\f", "#", "\n\n\n"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@pytest.fixture(scope="module")
def perturber(bundled: EmbeddingTable) -> Perturber:
    return Perturber(get_mechanism("rantext_ldp", bundled, epsilon=6))


@pytest.fixture(scope="module")
def selective(bundled: EmbeddingTable) -> Perturber:
    return Perturber(get_mechanism("selective", bundled, epsilon=6, **WORDS))


def masked(text: str) -> str:
    """Return what a release shows, whatever words and digits were drawn."""
    return re.sub(r"\d", "0", re.sub(r"[A-Za-z]+", "w", text))


def release(perturber: Perturber, units: list[Unit]) -> str:
    return "".join((perturber.perturb(u.text).text if u.text else "") + u.after for u in units)


def with_other_words(perturber: Perturber, text: str, generator: random.Random) -> str:
    """The text with another word of V for each word, of which a release shows the same."""
    vocabulary = perturber.vocabulary
    tokens = vocabulary.encode(text)
    out = []
    for token in tokens.tolist():
        raw = vocabulary.encoding.decode_single_token_bytes(token)
        if vocabulary.classes[token] == TokenClass.WORD:
            blank = b" " if vocabulary.spaced[token] else b""
            raw = blank + generator.choice(vocabulary.words[1000:3000]).encode()
        out.append(raw)
    other = b"".join(out).decode("utf-8", "replace")
    same = vocabulary.classes[vocabulary.encode(other)].tolist()
    return other if same == vocabulary.classes[tokens].tolist() else text


class TestUnits:
    @given(texts)
    def test_released_one_by_one_a_text_looks_as_it_would_whole(
        self, perturber: Perturber, text: str
    ) -> None:
        text = f"one{text}"  # a blank at the beginning is no part of the first word
        units = perturber.units(text, 1)
        whole = perturber.perturb(text).text
        assert masked(release(perturber, units)) == masked(whole)

    @given(texts)
    def test_units_lie_where_they_say_in_order(self, perturber: Perturber, text: str) -> None:
        end = 0
        for unit in perturber.units(text, 1):
            assert end <= unit.start
            end = unit.start + len(unit.text)
            assert text[unit.start : end] == unit.text
            assert not unit.after.strip()

    @given(texts, st.integers(1, 6), st.randoms(use_true_random=False))
    def test_borders_do_not_depend_on_the_words(
        self, perturber: Perturber, text: str, least: int, generator: random.Random
    ) -> None:
        """Two texts of which releases look alike part at the same places, whatever their words:
        nothing of a text but its skeleton moves a border."""
        text = f"one{text}"  # a blank at the beginning is no part of the first word
        other = with_other_words(perturber, text, generator)
        shapes = [
            [(masked(perturber.perturb(u.text).text), u.after) for u in perturber.units(t, least)]
            for t in (text, other)
        ]
        assert shapes[0] == shapes[1]

    def test_one_word_moves_nothing(self, perturber: Perturber) -> None:
        """Five paragraphs of twelve words, blank lines of odd white space between them."""
        words = "the patient was told that it is no cause for alarm".split()  # noqa: SIM905
        for gap in ("\n\n", "\n\u00a0\n", "\n\x0c\n", " \n \n\x0c"):
            shapes = set()
            for word in ("disease", "cancer", "pain", "money"):
                paragraphs = [" ".join(words)] * 5
                paragraphs[2] = " ".join([*words[:6], word, *words[7:]])
                units = perturber.units(gap.join(paragraphs), 20)
                shapes.add(tuple((len(u.text.split()), u.after) for u in units))
            assert len(shapes) == 1, gap

    @given(texts)
    def test_white_space_around_a_text_changes_nothing_of_it(
        self, perturber: Perturber, text: str
    ) -> None:
        """Nor does it make another text of it: what left with a line break leaves without one."""
        core = f"one {text} two"
        for before, after in (("", "\n"), ("  ", ""), ("\n\t", " \n\n")):
            units = [u.text for u in perturber.units(before + core + after, 1) if u.text]
            assert units == [u.text for u in perturber.units(core, 1)]

    @given(texts, st.integers(1, 8))
    def test_units_have_their_words(self, perturber: Perturber, text: str, least: int) -> None:
        units = perturber.units(f"one{text}", least)
        shown = [masked(perturber.perturb(u.text).text) for u in units if u.text]
        sizes = [len(re.findall(r"w|0+", s)) for s in shown if s.strip()]
        assert len(sizes) <= 1 or min(sizes) >= least

    @given(texts)
    def test_of_what_selective_leaves_nothing_is_lost(
        self, selective: Perturber, text: str
    ) -> None:
        units = selective.units(text, 1)
        assert "".join(u.text + u.after for u in units) == text

    def test_dropped_layout_leaves_no_white_space(self, bundled: EmbeddingTable) -> None:
        mechanism = get_mechanism("rantext_ldp", bundled, epsilon=6)
        dropping = Perturber(mechanism, DocumentOptions(layout="drop"))
        units = dropping.units("one two three\n\nfour five six", 1)
        assert [(u.text, u.after) for u in units] == [("one two three", ""), ("four five six", "")]

    def test_a_long_run_of_white_space_is_no_trouble(self, perturber: Perturber) -> None:
        text = " " * 10**5 + "a\n" + "\n  " * 10**5 + "b"
        assert [u.text.strip() for u in perturber.units(text, 1) if u.text] == ["a", "b"]


class TestEdits:
    def units(self, perturber: Perturber, paragraphs: list[str]) -> set[str]:
        return {u.text for u in perturber.units("\n\n".join(paragraphs), 20)}

    @pytest.mark.parametrize("size", [3, 30])
    @pytest.mark.parametrize("edit", ["change", "insert", "delete", "append"])
    def test_an_edit_moves_few_borders(self, perturber: Perturber, size: int, edit: str) -> None:
        generator = random.Random(size)
        words = perturber.vocabulary.words[2000:4000]
        paragraphs = [
            " ".join(generator.choices(words, k=size)) + "," * (i % 7) + " and." * (i % 3)
            for i in range(200)
        ]
        before = self.units(perturber, paragraphs)
        moved = []
        for place in range(10, 190, 18):
            after = list(paragraphs)
            if edit == "change":
                after[place] += " changed"
            elif edit == "insert":
                after.insert(place, "something quite new " * 5)
            elif edit == "delete":
                del after[place]
            else:
                after.append("something quite new " * 5)
            moved.append(len(self.units(perturber, after) - before))
        assert sum(moved) / len(moved) <= 3
        assert max(moved) <= 12 < len(before)

    def test_a_long_paragraph_alone_is_what_an_edit_redraws(self, perturber: Perturber) -> None:
        paragraphs = [f"{i} " + "some words that make a paragraph " * 6 for i in range(10)]
        before = self.units(perturber, paragraphs)
        paragraphs[4] += "and more"
        assert len(self.units(perturber, paragraphs) - before) == 1
