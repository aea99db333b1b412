"""Whole documents: what may come out, what may not, and what the receipt says."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perturb import (
    DocumentOptions,
    DocumentTooLong,
    EmbeddingTable,
    Guarantee,
    Mechanism,
    ParameterError,
    Perturber,
    TokenClass,
    Vocabulary,
    get_mechanism,
    mechanism_class,
    mechanism_names,
    seeded_generator,
)
from perturb.mechanisms.base import Draw
from perturb.sanitizer import Parameters
from perturb.testing.statistics import ALPHA, p_value, two_sample_p_value
from perturb.vocabulary.vocabulary import LAYOUT
from tests.tables import bundled_table

OPTIONS = [
    DocumentOptions(oov=oov, number=number, layout=layout)
    for oov, number, layout in itertools.product(
        ("map", "drop"), ("random", "drop"), ("keep", "drop")
    )
]
PIECES = [
    *("the", "Meeting", "don't", "colour", "antidisestablishmentarianism", "naïve", "東京"),
    *("x", "xyz12", "12", "7", "007", "2024", "31415926535", "3.14", "-5", "1,000", "٣"),
    *(".", ",", "!?", "(", ")", "“", "”", "—", "...", "\n", "\n\n", "\t", " ", "  ", "\r\n"),
    *("😀", "\x00", "é", "<|endoftext|>", "http://a.b/c?d=1", "camelCaseWord", "_", "\ud800"),
]
TEXT = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join),
)
LETTERS = re.compile("[A-Za-z]+")


class FewWords(Mechanism):
    """Releases one of the last eight words of V, whatever goes in; never registered."""

    name = "few_words"
    summary = "a test double"

    def __init__(self, table: EmbeddingTable) -> None:
        super().__init__(table, Parameters(epsilon=1.0))
        self.released = table.vocabulary.words[-8:]

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(kind="ldp", nominal=1.0, epsilon=1.0, statement="nothing goes through")

    def draw(self, words: NDArray[Any], rng: np.random.Generator) -> Draw:
        places = len(self.table) - 1 - rng.integers(0, 8, len(words))
        return Draw(places.astype(np.int32), {"count": float(len(words))})

    def channel(self, words: NDArray[Any]) -> tuple[NDArray[np.float64], float]:
        rows = np.zeros((len(words), len(self.table)))
        rows[:, -8:] = 1 / 8
        return rows, 0.0

    def keep_rate(self, words: NDArray[Any]) -> NDArray[np.float64]:
        return np.where(words >= len(self.table) - 8, 1 / 8, 0.0)


@pytest.fixture(scope="module")
def few_words(bundled: EmbeddingTable) -> FewWords:
    return FewWords(bundled)


TABLE = bundled_table()
FEW_WORDS = FewWords(TABLE)
LDP = get_mechanism("rantext_ldp", TABLE, epsilon=8)
WORDS = bundled_table("words")
WHOLE: list[Any] = [FewWords(WORDS), get_mechanism("rantext_ldp", WORDS, epsilon=8)]


def raw_classes(text: str, v: Vocabulary) -> list[TokenClass]:
    return [TokenClass(kind) for kind in v.classes[v.encode(text)]]


@settings(max_examples=250, deadline=None)
@given(TEXT, st.sampled_from(OPTIONS), st.sampled_from([FEW_WORDS, LDP, *WHOLE]))
def test_any_text_comes_out_as_released_words_digits_and_layout(
    text: str, options: DocumentOptions, mechanism: Mechanism
) -> None:
    done = Perturber(mechanism, options).perturb(text)
    v = mechanism.table.vocabulary
    classes = raw_classes(text, v)
    # words: all of them, in order, each standing apart
    assert LETTERS.findall(done.text) == list(done.words)
    assert set(done.words) <= set(v.words)
    mapped = TokenClass.OOV if options.oov == "map" else None
    assert len(done.words) == sum(kind in (TokenClass.WORD, mapped) for kind in classes)
    # no word touches a digit either
    assert not re.search("[A-Za-z][0-9]|[0-9][A-Za-z]", done.text)
    # digits: as many as there were
    tokens = v.encode(text)
    digits = int(v.index[tokens][v.classes[tokens] == TokenClass.NUMBER].sum())
    expected = digits if options.number == "random" else 0
    assert len(re.findall("[0-9]", done.text)) == expected
    # layout: verbatim, apart from the blanks put between pieces
    rest = re.sub("[A-Za-z0-9]+", "", done.text)
    assert set(rest) <= LAYOUT
    layout = "".join(
        v.encoding.decode_single_token_bytes(int(t)).decode()
        for t in tokens[v.classes[tokens] == TokenClass.LAYOUT]
    )
    kept = layout if options.layout == "keep" else ""
    assert rest.replace(" ", "") == kept.replace(" ", "")
    assert rest.count(" ") >= kept.count(" ")
    # receipt
    receipt = done.receipt
    assert receipt.tokens == {kind.name.lower(): classes.count(kind) for kind in TokenClass}
    assert sum(receipt.tokens.values()) == len(tokens)
    assert receipt.released == len(done.words)
    assert receipt.epsilon_per_document == receipt.epsilon_per_token * receipt.released
    json.dumps(receipt.to_dict(), allow_nan=False)


@settings(max_examples=100, deadline=None)
@given(
    TEXT,
    st.sampled_from([o for o in OPTIONS if o.number == "random"]),
    st.sampled_from([FEW_WORDS, WHOLE[0]]),
)
@example("12😀34", OPTIONS[0], FEW_WORDS)
@example("12.34, 56", DocumentOptions(layout="drop"), FEW_WORDS)
@example("12東京34", DocumentOptions(oov="drop"), FEW_WORDS)
@example("12東京34", DocumentOptions(oov="drop"), WHOLE[0])
def test_digit_runs_keep_their_lengths(
    text: str, options: DocumentOptions, mechanism: Mechanism
) -> None:
    """Number tokens that stood side by side stay one number; others stay apart."""
    done = Perturber(mechanism, options).perturb(text)
    v = mechanism.table.vocabulary
    tokens = v.encode(text)
    runs, previous = [], None
    for token in tokens:
        kind = v.classes[token]
        if kind == TokenClass.NUMBER:
            if previous == TokenClass.NUMBER:
                runs[-1] += int(v.index[token])
            else:
                runs.append(int(v.index[token]))
        previous = kind
    found = re.findall("[0-9]+", done.text)
    assert [len(run) for run in found] == runs
    assert not any(run.startswith("0") for run in found if len(run) > 1)


CANARIES = ("Alice", "secret", "Zurich", "diagnosis", "Xylophonistkoenig", "8675309424242424242")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([*PIECES, *CANARIES]), max_size=40),
    st.sampled_from(OPTIONS),
    st.sampled_from([FEW_WORDS, WHOLE[0]]),
)
def test_canaries_never_survive(
    pieces: list[str], options: DocumentOptions, mechanism: FewWords
) -> None:
    for separator in ("", " "):
        done = Perturber(mechanism, options).perturb(separator.join(pieces))
        assert set(LETTERS.findall(done.text)) <= set(mechanism.released)
        assert "8675309424242424242" not in done.text
        for held in (
            repr(done),
            pickle.dumps(done).decode("latin-1"),
            str(done.receipt.to_dict()),
        ):
            assert not any(canary in held for canary in CANARIES)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_empty_text_gives_empty_text(options: DocumentOptions, few_words: FewWords) -> None:
    for mechanism in (few_words, LDP, get_mechanism("rantext", TABLE)):
        done = Perturber(mechanism, options).perturb("")
        assert done.text == ""
        assert done.words == ()
        assert done.receipt.released == 0
        assert done.receipt.epsilon_per_document == 0.0
        assert set(done.receipt.tokens.values()) == {0}


def test_spacing_of_ordinary_text_is_kept(few_words: FewWords) -> None:
    text = "The meeting (room 12) is at 9:30, on Monday.\nBring 3.5 copies – “signed”!"
    done = Perturber(few_words).perturb(text, seeded_generator(1))
    skeleton = re.sub("[A-Za-z]+", "w", re.sub("[0-9]", "0", done.text))
    assert skeleton == re.sub("[A-Za-z]+", "w", re.sub("[0-9]", "0", text))


def test_paper_settings_leave_words_and_blanks_only(few_words: FewWords) -> None:
    options = DocumentOptions(oov="drop", number="drop", layout="drop")
    text = "The meeting (room 12) is at 9:30,\non Monday."
    done = Perturber(few_words, options).perturb(text)
    assert done.text == " ".join(done.words)
    assert len(done.words) == 7


def test_oov_is_mapped_to_the_nearest_word(bundled: EmbeddingTable) -> None:
    class Identity(FewWords):
        def draw(self, words: NDArray[Any], rng: np.random.Generator) -> Draw:
            return Draw(np.asarray(words, dtype=np.int32))

    v = bundled.vocabulary
    place = next(
        i for i, word in enumerate(v.others) if word.isascii() and len(v.encode(" " + word)) == 1
    )
    done = Perturber(Identity(bundled)).perturb("The " + v.others[place])
    assert done.words == ("The", v.words[bundled.nearest[place]])
    dropped = Perturber(Identity(bundled), DocumentOptions(oov="drop"))
    assert dropped.perturb("The " + v.others[place]).words == ("The",)


def number_counts(text: str, n: int, seed: int) -> NDArray[np.int64]:
    rng = seeded_generator(seed)
    perturber = Perturber(FEW_WORDS)
    drawn = perturber.perturb("\n".join([text] * n), rng).text.split("\n")
    assert len(drawn) == n
    assert {len(number) for number in drawn} == {len(text)}
    return np.array([int(number) for number in drawn])


@pytest.mark.parametrize(("digits", "low"), [(1, 0), (2, 10), (3, 100)])
def test_numbers_are_uniform_among_those_of_their_length(digits: int, low: int) -> None:
    drawn = number_counts("7" * digits, 20_000, 31)
    counts = np.bincount(drawn, minlength=10**digits)
    assert (counts[:low] == 0).all()
    size = 10**digits - low
    assert p_value(counts[low:], np.full(size, 20_000 / size)) > ALPHA


@pytest.mark.parametrize(("one", "other"), [("0", "9"), ("000", "999"), ("1999", "0000")])
def test_numbers_do_not_depend_on_the_number(one: str, other: str) -> None:
    assert (number_counts(one, 50, 3) == number_counts(other, 50, 3)).all()
    first, second = (
        np.bincount(number_counts(text, 8000, seed) % 100, minlength=100)
        for text, seed in ((one, 1), (other, 2))
    )
    assert two_sample_p_value(first, second) > ALPHA


def test_leading_digit_of_a_long_number_is_uniform_and_not_zero() -> None:
    drawn = number_counts("0000000", 18_000, 5)
    leading = np.bincount(drawn // 10**6, minlength=10)
    assert leading[0] == 0
    assert p_value(leading[1:], np.full(9, 2000.0)) > ALPHA
    fourth = np.bincount(drawn // 1000 % 10, minlength=10)
    assert p_value(fourth, np.full(10, 1800.0)) > ALPHA


@pytest.mark.parametrize("name", mechanism_names())
def test_receipt_is_json_and_says_infinity_in_words(name: str) -> None:
    mechanism = get_mechanism(name, TABLE, epsilon=6)
    receipt = Perturber(mechanism).perturb("The meeting is on Monday 12.").receipt
    said = json.loads(json.dumps(receipt.to_dict(), allow_nan=False))
    assert said["mechanism"] == name
    assert said["table"] == TABLE.sha256
    assert said["parameters"]["epsilon"] == said["epsilon_nominal"] == 6.0
    released = 0 if name == "selective" else 5  # nothing of it is sensitive
    assert said["released"] == released
    assert said["statement"].startswith(mechanism.guarantee.statement)
    if said["guarantee"] == "none":
        assert said["epsilon_per_token"] == said["epsilon_per_document"] == "infinity"
    else:
        assert said["epsilon_per_token"] == mechanism.guarantee.epsilon
        assert said["epsilon_per_document"] == pytest.approx(5 * mechanism.guarantee.epsilon)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_receipt_says_what_is_revealed(options: DocumentOptions, few_words: FewWords) -> None:
    receipt = Perturber(few_words, options).perturb("One 2.").receipt
    reveals = " / ".join(receipt.reveals)
    assert "how many words" in reveals
    assert ("verbatim" in reveals) == (options.layout == "keep")
    assert ("digits" in reveals) == (options.number == "random")
    assert receipt.treatment["word"] == "perturbed"
    assert receipt.treatment["other"] == "dropped"
    assert (receipt.treatment["oov"] == "dropped") == (options.oov == "drop")
    assert (receipt.treatment["number"] == "dropped") == (options.number == "drop")
    assert (receipt.treatment["layout"] == "dropped") == (options.layout == "drop")


@pytest.mark.parametrize("key", ["oov", "number", "layout"])
@pytest.mark.parametrize("value", ["", "Keep", None, 1, True])
def test_unknown_option_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"^{key} must be one of "):
        DocumentOptions(**{key: value})


def test_too_long_text_is_refused_without_a_word_of_it(few_words: FewWords) -> None:
    perturber = Perturber(few_words, max_tokens=3)
    assert perturber.perturb("one two three").receipt.released == 3
    with pytest.raises(DocumentTooLong) as caught:
        perturber.perturb("one two three secret")
    assert str(caught.value) == "a text must have <= 3 tokens, got 4"


def test_same_seed_same_document(few_words: FewWords) -> None:
    text = "The meeting on 12 May is off; call 555 1234."
    for mechanism in (few_words, LDP, get_mechanism("rantext", TABLE)):
        perturber = Perturber(mechanism)
        one, again, fresh = (
            perturber.perturb(text, rng).text
            for rng in (seeded_generator(1), seeded_generator(1), None)
        )
        assert one == again != fresh


def test_two_hundred_thousand_tokens() -> None:
    text = " word" * 150_000 + " 12," * 20_000
    done = Perturber(LDP).perturb(text)
    assert sum(done.receipt.tokens.values()) >= 200_000
    assert len(done.words) == done.receipt.released == 150_000
    assert done.text.count(",") == 20_000


@pytest.mark.parametrize(
    "name", [name for name in mechanism_names() if not mechanism_class(name).marks]
)
def test_a_statement_names_what_is_outside_its_epsilon(name: str) -> None:
    """By its own setting: what every release of a text shows, and nothing that is dropped."""
    mechanism = get_mechanism(name, TABLE)
    for layout, number in itertools.product(("keep", "drop"), ("random", "drop")):
        options = DocumentOptions(layout=layout, number=number)
        sanitizer = Perturber(mechanism, options)
        statement = sanitizer.guarantee.statement
        assert statement.startswith(mechanism.guarantee.statement)
        outside = statement.removeprefix(mechanism.guarantee.statement)
        assert outside == "; outside ε and sent as it is: " + "; ".join(options.reveals)
        assert "how many words" in outside
        assert ("punctuation" in outside) == (layout == "keep")
        assert ("digits" in outside) == (number == "random")
        receipt = sanitizer.perturb("Room 12, now.", seeded_generator(1)).receipt
        assert receipt.statement == statement
        assert receipt.reveals == options.reveals
