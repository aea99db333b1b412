"""The tokenizer and the classes against tiktoken and their definitions."""

from __future__ import annotations

import gzip
import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import (
    DocumentTooLong,
    ParameterError,
    TokenClass,
    Vocabulary,
    VocabularyError,
    load_table,
)
from perturb.vocabulary.exclusions import excluded_strings
from perturb.vocabulary.vocabulary import (
    DEFAULT_SIZE,
    LAYOUT,
    PIECE_CHARACTERS,
    SPECIAL_TOKENS,
    _read_encoding,
    load_encoding,
)
from perturb.work import remember_texts

TOKENS = 100_277  # ids 0 … 100,276 of cl100k_base, gaps and special tokens included
ANY_TEXT = st.text(st.characters(), max_size=200)
ORDINARY = st.lists(
    st.sampled_from(
        [
            *("The", "meeting,", "is", "on", "Monday", "14:30", "—", "don't", "“quote”"),
            *("naïve", "東京", "price", "$1,234.56", "\n\n\t", "x_y", "émigré", "😀", "ABC"),
            *("https://example.org/?q=1", "def(x)", "end.", "", " ", "  ", "\n", "\r\n", "\t"),
        ]
    ),
    max_size=60,
).map(" ".join)


def ranks_file() -> Path:
    package = importlib.util.find_spec("bpe_openai")
    assert package is not None
    assert package.submodule_search_locations
    return Path(package.submodule_search_locations[0]) / "data" / "cl100k_base.tiktoken.gz"


def test_words_are_the_first_letter_strings(vocabulary: Vocabulary) -> None:
    assert len(vocabulary) == DEFAULT_SIZE == 11_000
    assert vocabulary.words[:5] == ("A", "B", "C", "D", "E")
    assert len(set(vocabulary.words)) == 11_000
    assert all(word.isascii() and word.isalpha() for word in vocabulary.words)


def test_words_follow_their_definition(
    vocabulary: Vocabulary, encoding: tiktoken.Encoding
) -> None:
    """V of the paper is the first 11,000 strings; the clean one passes over the list's."""
    expected: list[str] = []
    seen: set[str] = set()
    for rank in range(encoding.n_vocab):
        try:
            string = encoding.decode_single_token_bytes(rank).decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            continue
        string = string.removeprefix(" ")
        if string.isascii() and string.isalpha() and string not in seen:
            seen.add(string)
            expected.append(string)
    assert len(expected) == 54_361
    paper = Vocabulary(encoding, variant="paper")
    assert list(paper.words) == expected[:11_000]
    assert set(expected[11_000:]) <= set(paper.others)
    assert vocabulary.ascii_words == paper.ascii_words == tuple(expected)
    allowed = [word for word in expected if word.lower() not in excluded_strings()]
    assert list(vocabulary.words) == allowed[:11_000]
    assert set(expected) - set(vocabulary.words) <= set(vocabulary.others)
    for v in (vocabulary, paper):
        assert [expected[rank] for rank in v.ranks] == list(v.words)
        assert v.words[-1] == expected[10_999 + v.excluded]


def test_size_goes_up_to_all_ascii_words(encoding: tiktoken.Encoding) -> None:
    whole = Vocabulary(encoding, 54_361, "paper")
    assert len(whole) == 54_361
    assert not any(word.isascii() for word in whole.others)
    clean = Vocabulary(encoding, 54_122)
    left_out = {word.lower() for word in clean.others if word.isascii()}
    assert left_out == excluded_strings()


@pytest.mark.parametrize(("variant", "most"), [("paper", 54_361), ("clean", 54_122)])
@pytest.mark.parametrize("size", [-1, 0, 1, 54_362, 10**9])
def test_size_out_of_range_is_refused(
    size: int, variant: Any, most: int, encoding: tiktoken.Encoding
) -> None:
    with pytest.raises(
        ParameterError, match=f"vocabulary size must be from 2 to {most}, got {size}"
    ):
        Vocabulary(encoding, size, variant)


def test_unknown_variant_is_refused(encoding: tiktoken.Encoding) -> None:
    with pytest.raises(ParameterError, match="vocabulary must be one of clean, paper"):
        Vocabulary(encoding, 60, "rude")  # type: ignore[arg-type]


def test_hash_names_the_words(encoding: tiktoken.Encoding, vocabulary: Vocabulary) -> None:
    assert Vocabulary(encoding, 11_000).sha256 == vocabulary.sha256
    assert Vocabulary(encoding, 10_999).sha256 != vocabulary.sha256
    assert Vocabulary(encoding, variant="paper").sha256 != vocabulary.sha256


@pytest.mark.parametrize(
    ("size", "variant"),
    [(2, "clean"), (600, "clean"), (11_000, "clean"), (11_000, "paper"), (54_361, "paper")],
)
def test_classes_partition_all_tokens(
    size: int, variant: Any, encoding: tiktoken.Encoding
) -> None:
    v = Vocabulary(encoding, size, variant)
    assert v.classes.shape == v.index.shape == v.spaced.shape == (TOKENS,)
    counts = np.bincount(v.classes, minlength=5)
    assert counts.sum() == TOKENS
    assert len(counts) == len(TokenClass) == 5
    assert (counts > 0).all()
    in_vocabulary = set(v.words)
    for token in range(0, TOKENS, 7):
        try:
            string = encoding.decode_single_token_bytes(token).decode()
        except (KeyError, UnicodeDecodeError):
            assert v.classes[token] == TokenClass.OTHER
            assert not v.spaced[token]
            continue
        assert v.spaced[token] == string.startswith(" ")
        bare, place = string.removeprefix(" "), v.index[token]
        match TokenClass(v.classes[token]):
            case TokenClass.WORD:
                assert v.words[place] == bare
            case TokenClass.OOV:
                assert v.others[place] == bare
                assert bare.isalpha()
                assert bare not in in_vocabulary
            case TokenClass.NUMBER:
                assert bare.isdigit()
                assert bare.isascii()
                assert place == len(bare)
            case TokenClass.LAYOUT:
                assert string
                assert set(string) <= LAYOUT
                assert place == -1
            case TokenClass.OTHER:
                assert place == -1
                assert not bare.isalpha()
                assert not set(bare) <= LAYOUT


def test_words_and_others_share_no_string(vocabulary: Vocabulary) -> None:
    assert not set(vocabulary.words) & set(vocabulary.others)
    assert len(set(vocabulary.others)) == len(vocabulary.others)


def test_layout_holds_no_letter_or_digit() -> None:
    assert not any(character.isalnum() for character in LAYOUT)


def test_special_tokens_are_other(vocabulary: Vocabulary) -> None:
    for token in SPECIAL_TOKENS.values():
        assert vocabulary.classes[token] == TokenClass.OTHER


@settings(max_examples=150, deadline=None)
@given(ORDINARY)
def test_encode_is_tiktokens(text: str) -> None:
    v = VOCABULARY
    assert v.encode(text).tolist() == v.encoding.encode_ordinary(text)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT)
def test_encode_takes_any_unicode(text: str) -> None:
    clean = "".join("�" if "\ud800" <= c <= "\udfff" else c for c in text)
    tokens = VOCABULARY.encode(text)
    assert tokens.dtype == np.uint32
    if len(clean) == len(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")):
        assert VOCABULARY.decode(tokens.tolist()) == clean
        assert tokens.tolist() == VOCABULARY.encoding.encode_ordinary(clean)


VOCABULARY = Vocabulary(load_encoding(), 600)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800", "x\ud83d"])
def test_lone_surrogates_become_replacement_characters(text: str) -> None:
    decoded = VOCABULARY.decode(VOCABULARY.encode(text).tolist())
    assert decoded == "".join("�" if "\ud800" <= c <= "\udfff" else c for c in text)


def test_byte_order_mark_is_kept() -> None:
    assert VOCABULARY.decode(VOCABULARY.encode("\ufeffword").tolist()) == "\ufeffword"


@pytest.mark.parametrize("special", sorted(SPECIAL_TOKENS))
def test_special_token_strings_are_plain_text(special: str) -> None:
    tokens = VOCABULARY.encode(f"before {special} after")
    assert not set(tokens.tolist()) & set(SPECIAL_TOKENS.values())
    assert VOCABULARY.decode(tokens.tolist()) == f"before {special} after"


def test_empty_text_has_no_tokens() -> None:
    assert VOCABULARY.encode("").shape == (0,)
    assert VOCABULARY.encode("").dtype == np.uint32
    assert VOCABULARY.decode([]) == ""


@pytest.mark.parametrize("unit", ["^", "a", " ", "\n", "7", "é", "😀"])
def test_a_million_equal_characters_are_encoded(unit: str) -> None:
    tokens = VOCABULARY.encode(unit * 1_000_000)
    assert VOCABULARY.decode(tokens.tolist()) == unit * 1_000_000


def test_long_text_is_tiktokens() -> None:
    text = "One can't tell 31 pieces apart, said (the) reader.\nNot here – nor there.  " * 2000
    assert len(text) > 5 * PIECE_CHARACTERS
    expected = VOCABULARY.encoding.encode_ordinary(text)
    # A cut falls at the last blank of its piece; double blanks may be split otherwise there.
    tokens = VOCABULARY.encode(text).tolist()
    assert VOCABULARY.decode(tokens) == text
    assert abs(len(tokens) - len(expected)) <= len(text) // PIECE_CHARACTERS
    single = text.replace("  ", " ")
    assert VOCABULARY.encode(single).tolist() == VOCABULARY.encoding.encode_ordinary(single)


@pytest.mark.parametrize("token", [-1, TOKENS, 100_256, 2**40, 2**70])
def test_decode_refuses_unknown_ids(token: int) -> None:
    with pytest.raises(ParameterError, match="not in cl100k_base"):
        VOCABULARY.decode([token])


def test_encoding_is_the_published_one() -> None:
    """Facts of cl100k_base that are published: size, special tokens, a known encoding."""
    encoding = load_encoding()
    assert encoding.n_vocab == TOKENS
    assert encoding.encode_ordinary("tiktoken is great!") == [83, 1609, 5963, 374, 2294, 0]
    assert encoding.encode_ordinary("antidisestablishmentarianism") == [
        519, 85342, 34500, 479, 8997, 2191,
    ]  # fmt: skip
    assert encoding.encode_ordinary("2 + 2 = 4") == [17, 489, 220, 17, 284, 220, 19]
    assert encoding.encode_ordinary("お誕生日おめでとう") == [
        33334, 45918, 243, 21990, 9080, 33334, 62004, 16556, 78699,
    ]  # fmt: skip


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="cannot read the tokenizer file"):
        _read_encoding(tmp_path / "cl100k_base.tiktoken.gz")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: b"", "is not cl100k_base|cannot read"),
        (lambda data: data[: len(data) // 2], "cannot read the tokenizer file"),
        (lambda data: b"not gzip at all", "cannot read the tokenizer file"),
        (lambda data: gzip.compress(b"IQ== 0\n", 1), "is not cl100k_base: its SHA-256"),
        (lambda data: gzip.compress(gzip.decompress(data) + b"\n", 1), "its SHA-256"),
        (lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:], "tokenizer|SHA-256"),
        (lambda data: data[:5000] + b"\xff" * 400 + data[5400:], "tokenizer|SHA-256"),
    ],
    ids=["empty", "truncated", "foreign", "other", "longer", "flipped", "overwritten"],
)
def test_damaged_file_is_refused(change, said: str, tmp_path: Path) -> None:
    copy = tmp_path / "cl100k_base.tiktoken.gz"
    copy.write_bytes(change(ranks_file().read_bytes()))
    with pytest.raises(VocabularyError, match=said):
        _read_encoding(copy)


def test_sound_copy_is_read(tmp_path: Path) -> None:
    copy = shutil.copy(ranks_file(), tmp_path / "copy.gz")
    assert _read_encoding(Path(copy)).n_vocab == TOKENS


def find_slowly(run: str) -> tuple[int, bool]:
    """Return what `Vocabulary.find` returns, by its definition."""
    best, length = -1, 0
    for tokens in (VOCABULARY.encode(f" {run}"), VOCABULARY.encode(run)):
        for token in tokens.tolist():
            kind, place = VOCABULARY.classes[token], int(VOCABULARY.index[token])
            if kind not in (TokenClass.WORD, TokenClass.OOV):
                continue
            word = (VOCABULARY.words if kind == TokenClass.WORD else VOCABULARY.others)[place]
            if word == run:
                return token, bool(kind == TokenClass.WORD)
            if len(word) > length:
                best, length = token, len(word)
    return best, False


def test_a_word_of_one_token_is_found_without_the_tokenizer() -> None:
    for word in (*VOCABULARY.words, *VOCABULARY.others[::7]):
        assert VOCABULARY.find(word) == find_slowly(word)


@given(st.text(st.characters(categories=("L",)), min_size=1, max_size=20))
def test_the_longest_token_of_letters_is_found(run: str) -> None:
    assert VOCABULARY.find(run) == find_slowly(run)


@pytest.mark.parametrize("word", ["Dehner", "Kampff", "riverxyz", "x" * (PIECE_CHARACTERS + 5)])
def test_a_word_of_several_tokens_is_found(word: str) -> None:
    assert VOCABULARY.find(word) == find_slowly(word)


def test_a_text_is_encoded_once_in_a_request() -> None:
    with remember_texts():
        tokens = VOCABULARY.encode_once("A river.")
        assert VOCABULARY.encode_once("A river.", at_most=3) is tokens
        with pytest.raises(DocumentTooLong):
            VOCABULARY.encode_once("A river.", at_most=2)
    assert VOCABULARY.encode_once("A river.") is not tokens
    assert tokens.tolist() == VOCABULARY.encode("A river.").tolist()


def test_the_place_of_one_token_is_that_among_several() -> None:
    table = load_table()
    letters = table.vocabulary.classes <= TokenClass.OOV
    tokens = np.flatnonzero(letters)[::97].astype(np.uint32)
    _, places = table.places(tokens)
    assert [table.find_place(token) for token in tokens.tolist()] == places.tolist()
