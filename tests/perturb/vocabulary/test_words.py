"""The vocabulary of whole words against its definition, and the list that it comes from."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given, settings
from hypothesis import strategies as st

from perturb import (
    DocumentOptions,
    DocumentTooLong,
    ParameterError,
    Perturber,
    TokenClass,
    VocabularyError,
    get_mechanism,
    seeded_generator,
)
from perturb.selective.replace import find_word
from perturb.testing.growth import grows_linearly
from perturb.vocabulary.exclusions import excluded_strings
from perturb.vocabulary.frequencies import unigram_prior, word_counts
from perturb.vocabulary.word_list import BUNDLED_LIST, load_word_list
from perturb.vocabulary.words import WORD, WordVocabulary, load_vocabulary, read_form
from tests.tables import bundled_table

PINNED_LIST = "8f45379ac5093b0469b45c702a4434b47459e8444096a00e2503fe200731453c"
PIECES = [
    *("the", "Meeting", "don't", "don’t", "O'Neill's", "antidisestablishmentarianism", "naïve"),
    *("e\u0301migre\u0301", "東京", "river", "RIVER", "well-known", "x", "xyz12", "12", "2024"),
    *("3.14", ".", "'", "’", "''", "“", "—", "\n", "\n\n", "\t", " ", "  ", "\r\n", "😀", "\x00"),
    *("<|endoftext|>", "http://a.b/c?d=1", "camelCase", "x_y", "\ud800", "²", "½", "Ⅷ", "\u0301"),
]
TEXT = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join),
)
WORDS = load_vocabulary("words")
TABLE = bundled_table("words")
CLEAN = bundled_table().vocabulary
LISTED = {word.lower(): word for word in load_word_list().words}
PLACES = {word: i for i, word in enumerate(WORDS.words)}
OTHERS = {word: i for i, word in enumerate(WORDS.others)}


def stand_in(word: str) -> str:
    """Return the word of V for a word by the rule, read slowly."""
    plain = unicodedata.normalize("NFKD", word[:64].replace("’", "'"))
    form = "".join(c for c in plain if ord(c) < 128)[:64].lower()
    while form and form not in LISTED:
        form = form[:-1]
    found = LISTED[form] if form else WORDS.words[0]
    return found if found in PLACES else WORDS.words[TABLE.nearest[OTHERS[found]]]


def kinds(text: str) -> list[str]:
    return [TokenClass(kind).name for kind in WORDS.classes[WORDS.encode(text)]]


def test_words_follow_their_definition() -> None:
    listed = load_word_list().words
    allowed = [w for w in listed if w.isalpha() and w.lower() not in excluded_strings()]
    assert WORDS.words == tuple(allowed[:11_000])
    assert len({word.lower() for word in WORDS.words}) == 11_000
    assert set(WORDS.words) | set(WORDS.others) == set(listed)
    assert not set(WORDS.words) & set(WORDS.others)
    assert WORDS.excluded == 5
    assert [listed[rank] for rank in WORDS.ranks] == list(WORDS.words)
    assert (WORDS.words[0], WORDS.variant) == ("the", "words")
    assert {"happy", "London", "Monday", "interpretability"} <= set(WORDS.words)


def test_list_is_the_pinned_one_and_says_where_it_comes_from() -> None:
    data = BUNDLED_LIST.with_suffix(".txt").read_bytes()
    side = json.loads(BUNDLED_LIST.with_suffix(".json").read_text("utf-8"))
    assert hashlib.sha256(data).hexdigest() == side["sha256"] == PINNED_LIST
    listed = load_word_list()
    assert side["words"] == len(listed.words) == len(listed.counts)
    assert side["counted"] == listed.counts.sum()
    assert side["licence"] == "CC BY-SA 3.0, CC0"
    assert len({word.lower() for word in listed.words}) == len(listed.words)
    assert all(word.replace("'", "").isalpha() and word.isascii() for word in listed.words)
    assert (listed.counts >= side["least"]).all()


@pytest.mark.parametrize(
    ("text", "change"),
    [(None, {}), (b"the 1\n", {}), (b"the\n", {}), (b"the x\n", {}), (b"the 1\n", {"version": 0})],
)
def test_damaged_list_is_refused(
    text: bytes | None, change: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "words"
    digest = PINNED_LIST if text == b"the 1\n" and not change else ""
    side = {"version": 1, "sha256": digest or hashlib.sha256(text or b"").hexdigest(), **change}
    path.with_suffix(".json").write_text(json.dumps(side))
    if text is not None:
        path.with_suffix(".txt").write_bytes(text)
    with pytest.raises(VocabularyError, match="words"):
        load_word_list(path)


def test_counts_are_of_the_list() -> None:
    listed = load_word_list()
    counts = dict(zip(listed.words, listed.counts.tolist(), strict=True))
    assert word_counts(WORDS).tolist() == [counts[word] for word in WORDS.words]
    assert unigram_prior(WORDS).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("size", [-1, 1, 60_000])
def test_size_out_of_range_is_refused(size: int, encoding: tiktoken.Encoding) -> None:
    with pytest.raises(ParameterError, match="vocabulary size must be from 2 to"):
        WordVocabulary(encoding, size)


def test_facts_name_the_words_and_the_list() -> None:
    other = load_vocabulary("words", 600)
    assert other.words == WORDS.words[:600]
    assert other.sha256 != WORDS.sha256
    assert WORDS.facts["list"] == {"version": 1, "sha256": PINNED_LIST}
    assert WORDS.facts["exclusions"] == 1
    assert "whole words" in WORDS.description


@settings(max_examples=300, deadline=None)
@given(TEXT)
@example("x" * 70 + "'y 12")
def test_units_are_the_words_and_the_tokens_between_them(text: str) -> None:
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    units, pieces = WORDS.encode(text), WORDS.split(text)
    assert units.dtype == np.uint32
    assert b"".join(pieces) == clean.encode()
    assert len(units) == len(pieces)
    is_word, places = TABLE.places(units)
    found = [piece.decode() for piece, word in zip(pieces, is_word, strict=True) if word]
    assert [piece.removeprefix(" ") for piece in found] == WORD.findall(clean)
    spaced = [piece.startswith(" ") for piece in found]
    assert WORDS.spaced[units][is_word].tolist() == spaced
    assert [WORDS.words[i] for i in places] == [stand_in(w) for w in WORD.findall(clean)]
    # the rest is read as tokens of cl100k_base, by the same classes
    tokens = CLEAN
    rest = units[~is_word]
    assert (rest < tokens.encoding.max_token_value + 1).all()
    kept = [TokenClass.NUMBER, TokenClass.LAYOUT, TokenClass.OTHER]
    assert set(WORDS.classes[rest].tolist()) <= set(kept)
    letters = tokens.classes[rest] <= TokenClass.OOV
    assert (WORDS.classes[rest][~letters] == tokens.classes[rest][~letters]).all()
    assert (WORDS.classes[rest][letters] == TokenClass.OTHER).all()
    assert [WORDS.encoding.decode_single_token_bytes(int(token)) for token in rest] == [
        piece for piece, word in zip(pieces, is_word, strict=True) if not word
    ]


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([p for p in PIECES if WORD.fullmatch(p)]), TEXT, TEXT)
def test_unit_of_a_word_depends_on_the_word_alone(word: str, before: str, after: str) -> None:
    alone = WORDS.find(word)[0]
    units = WORDS.encode(f"{before}. {word}. {after}").tolist()
    assert alone + 1 in units


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The river", "WORD WORD"),
        ("RIVER Émigrés", "WORD OOV"),
        ("don't stop", "OOV WORD"),
        ("a well-known (man)", "WORD WORD LAYOUT WORD LAYOUT WORD LAYOUT"),
        ("riverxyzzy", "OOV"),
        ("東京", "OOV"),
        ("x² 12\n", "WORD OTHER LAYOUT NUMBER LAYOUT"),
    ],
)
def test_units_have_their_classes(text: str, expected: str) -> None:
    assert " ".join(kinds(text)) == expected


def test_capitals_and_accents_do_not_matter() -> None:
    for one, other in (("River", "rIVER"), ("naive", "Naïve"), ("don't", "DON’T")):
        assert WORDS.encode(one).tolist() == WORDS.encode(other).tolist()
    assert read_form("ﬁne") == "fine"


def test_dropped_words_are_those_outside_v() -> None:
    mechanism = get_mechanism("rantext_ldp", TABLE, epsilon=18.0)
    perturber = Perturber(mechanism, DocumentOptions(oov="drop"))
    assert perturber.perturb("River riverxyzzy don't 東京 river").receipt.released == 2


def test_listed_words_do_not_leave() -> None:
    text = " ".join(sorted(excluded_strings()))
    done = Perturber(get_mechanism("rantext_ldp", TABLE, epsilon=18.0)).perturb(text)
    assert len(done.words) == len(excluded_strings())
    assert not {word.lower() for word in done.words} & excluded_strings()


def test_receipt_and_units_count_words() -> None:
    perturber = Perturber(get_mechanism("rantext_ldp", TABLE, epsilon=8.0))
    text = "Anna's interpretability\n\nwasn't well-known in 2024."
    done = perturber.perturb(text, seeded_generator(1))
    assert done.receipt.released == 6
    assert done.receipt.vocabulary == WORDS.description
    perturber.verify(text, done)
    assert [unit.text for unit in perturber.units(text, 2)] == text.split("\n\n")


def test_marked_words_are_looked_up_alike() -> None:
    words = TABLE.vocabulary.words
    assert find_word("RIVER", TABLE) == (words.index("river"), True)
    place, known = find_word("riverxyzzy", TABLE)
    assert not known
    assert words[place] == stand_in("riverxyzzy")
    assert find_word("東京", TABLE) == (0, False)
    marked = get_mechanism("selective", TABLE, epsilon=8.0, policy="all")
    done = marked.perturb("Dear Anna, I met Zwingenberger on Monday.")
    marked.verify("Dear Anna, I met Zwingenberger on Monday.", done)
    assert done.receipt.released == 7


def test_too_long_text_is_refused_without_a_word_of_it() -> None:
    assert len(WORDS.encode("one two three", at_most=3)) == 3
    with pytest.raises(DocumentTooLong) as caught:
        WORDS.encode("one two secret, three", at_most=3)
    assert str(caught.value) == "a text must have <= 3 tokens, got 5"


@pytest.mark.parametrize("unit", ["a", "é", "e\u0301", "東", "a'", "'", " ", "xq ", "7", "\u0301"])
def test_work_on_long_texts_grows_linearly(unit: str) -> None:
    assert grows_linearly(lambda n: WORDS.encode(unit * (n // len(unit))), 400_000, seconds=0.5)


def test_work_on_different_words_grows_linearly() -> None:
    text = " ".join(
        f"{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}zqx{'zq' * 30}" for i in range(9000)
    )
    assert grows_linearly(lambda n: WORDS.encode(text[:n]), len(text), seconds=0.5)
    long = WORDS.encode("river" + "x" * 1_000_000)
    assert long.tolist() == [WORDS.find("riverxxxxxxx")[0]]
