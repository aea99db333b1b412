"""selective: what is marked changes as a whole, and the rest not at all."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import (
    DocumentOptions,
    ParameterError,
    Perturber,
    Span,
    get_mechanism,
    keyed_generator,
    seeded_generator,
)
from perturb.selective.policies import PatternPolicy
from perturb.selective.sanitizer import Selective, SelectiveParameters
from perturb.testing.statistics import ALPHA, p_value
from tests.perturb.marking import TABLE, TEXT, WORDS, Fixed, fixed, marked, selective


def test_a_policy_object_marks_in_place_of_the_named_one() -> None:
    own = Selective(TABLE, SelectiveParameters(), policy=Fixed([Span(0, 3, "X")]))
    done = Perturber(own).perturb("tea Anna Schmidt")
    assert done.text.endswith(" Anna Schmidt")
    assert done.receipt.entities == {"X": 1}
    assert own.identity()["policy"] == "own: Fixed"


def test_what_marks_more_is_another_mechanism() -> None:
    def identity(policy: PatternPolicy) -> dict[str, object]:
        return Selective(TABLE, SelectiveParameters(), policy=policy).identity()

    digits, shipped = PatternPolicy.digits(), PatternPolicy.shipped()
    assert identity(digits) == identity(PatternPolicy.digits()) != identity(shipped)
    assert identity(PatternPolicy.shipped(["NAME"])) != identity(PatternPolicy.shipped(["ID"]))
    assert identity(PatternPolicy(())) != identity(PatternPolicy((), proper=()))


def new(text: str, *parts: str, seed: int = 1) -> list[str]:
    done = marked(text, *parts).perturb(text, seeded_generator(seed))
    assert done.replaced is not None
    return [part.text for part in done.replaced]


def test_only_what_is_marked_changes() -> None:
    perturber = Perturber(get_mechanism("selective", TABLE, epsilon=6, **WORDS))
    done = perturber.perturb(TEXT, seeded_generator(1))
    assert done.replaced is not None
    rest, end, place = "", 0, 0
    for part in done.replaced:
        rest += TEXT[end : part.start] + "|"
        place = done.text.index(part.text, place)
        end, place = part.end, place + len(part.text)
    pattern = "(.*)".join(map(re.escape, (rest + TEXT[end:]).split("|")))
    assert re.fullmatch(pattern, done.text)
    assert "Dear " in done.text
    assert " likes tea." in done.text
    for secret in ("Müller", "Schmidt", "Baker", "82@", "1234567", "4932", "WEST", "2024"):
        assert secret not in done.text
    perturber.verify(TEXT, done)


def test_replacements_keep_the_shape() -> None:
    text = "call +41 (0)83 806, GB82west99, Ann-Lee MEYER, ann, x 007 and 5!"
    phone, iban, name, low, long, one = new(
        text, "+41 (0)83 806", "GB82west99", "Ann-Lee MEYER", "ann", "007", "5"
    )
    assert re.fullmatch(r"\+[1-9]\d \(\d\)[1-9]\d [1-9]\d\d", phone)
    assert re.fullmatch(r"[A-Z]{2}\d{2}[a-z]{4}\d{2}", iban)
    assert re.fullmatch(r"[A-Z][a-z]*-[A-Z][a-z]* [A-Z]+", name)
    assert re.fullmatch(r"[a-z]+", low)
    assert re.fullmatch(r"[1-9]\d\d", long)
    assert re.fullmatch(r"\d", one)


def test_nothing_but_ascii_leaves_a_marked_part() -> None:
    text = "李明😀 Müller ٣٤ Ćevap9 x\u0301y №7 \xa0½ 東京、大阪 é"
    perturber = marked(text, text)
    for seed in range(20):
        done = perturber.perturb(text, seeded_generator(seed))
        assert done.text.isascii()
        perturber.verify(text, done)


def test_equal_parts_and_words_have_one_replacement_where_consistent() -> None:
    text = "Schmidt, Anna Schmidt, Anna Schmidt, 4711123, 4711123"
    parts = new(text, "Schmidt", "Anna Schmidt", "4711123")
    last, full, again, one, other = parts  # … wherever they stand again, too
    assert full == again
    assert full.split()[1] == last
    assert one == other
    text = "word word word word"
    fresh = fixed([Span(0, len(text), "X")], consistent=False)
    draws = {fresh.perturb(text, seeded_generator(i)).text for i in range(3)}
    assert len(draws) == 3


def test_a_link_gives_one_replacement_across_texts_and_none_does_not() -> None:
    perturber = selective()

    def link(entity: str) -> np.random.Generator:
        return keyed_generator(entity.encode().ljust(16, b"\0"))

    one = perturber.perturb("then Xylophonist came on 2024-05-12", link=link)
    two = perturber.perturb("and Xylophonist left on 2024-05-12", link=link)
    assert one.replaced is not None
    assert two.replaced is not None
    assert [p.text for p in one.replaced] == [p.text for p in two.replaced]
    alone = {perturber.perturb("on 2024-05-12 12345678").text for _ in range(3)}
    assert len(alone) == 3
    afresh = selective(consistent=False)
    assert len({afresh.perturb("on 2024-05-12 12345678", link=link).text for _ in range(3)}) == 3


@pytest.mark.statistical
def test_words_go_through_the_inner_channel() -> None:
    """One word, by the link of many conversations: chi-square against the channel's row."""
    perturber, n = selective(epsilon=8.0), 4000
    place = TABLE.vocabulary.words.index("America")
    (row,), _ = perturber.mechanism.channel(np.array([place]))
    drawn = [
        TABLE.vocabulary.words.index(perturber.perturb("in America", seeded_generator(i)).words[0])
        for i in range(n)
    ]
    order = np.argsort(-row, kind="stable")
    counts = np.bincount(drawn, minlength=len(row))
    assert p_value(counts[order], row[order] * n) > ALPHA
    shifted = np.roll(row, 1)  # a wrong channel is refused at this many draws
    order = np.argsort(-shifted, kind="stable")
    assert p_value(counts[order], shifted[order] * n) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize(("part", "alphabet"), [("a1", 26), ("7", 10), ("x9", 26)])
def test_redrawn_characters_are_uniform(part: str, alphabet: int) -> None:
    perturber, n = fixed([Span(0, len(part), "X")]), 5200
    drawn = [perturber.perturb(part, seeded_generator(i)).text[0] for i in range(n)]
    counts = np.bincount([ord(c) % 97 if c.isalpha() else int(c) for c in drawn])
    assert p_value(counts, np.full(alphabet, n / alphabet)) > ALPHA


PIECES = [
    *("Anna", "Schmidt", "4095", "AB-12", "x@y.example", "李", "é", "😀", "\n", "  ", "–", "'s"),
    *("the", "a", "\ud800", "\x00", "007", "GB82", "_", "½", "\u0301", "ß", "<|endoftext|>"),
]
ALL_OPTIONS = [
    DocumentOptions(),
    DocumentOptions(oov="drop", number="drop", layout="drop"),
    DocumentOptions(number="drop"),
]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["", " "]),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 12)), max_size=5),
    st.sampled_from(ALL_OPTIONS),
    st.booleans(),
)
def test_any_text_and_any_marks_pass_their_own_verification(
    parts: list[str],
    separator: str,
    marks: list[tuple[int, int]],
    options: DocumentOptions,
    consistent: bool,
) -> None:
    text = separator.join(parts)
    spans = [Span(a, min(a + n, len(text)), "X") for a, n in marks if a < len(text)]
    perturber = fixed(spans, options, consistent=consistent)
    done = perturber.perturb(text)
    perturber.verify(text, done)
    assert done.replaced is not None
    assert all(
        part.text.isascii() or set(part.text) <= set("–") | set(map(chr, range(128)))
        for part in done.replaced
    )
    json.dumps(done.receipt.to_dict(), allow_nan=False)


def test_policy_all_is_the_inner_mechanism() -> None:
    whole = Perturber(get_mechanism("selective", TABLE, epsilon=6, policy="all"))
    inner = Perturber(get_mechanism("rantext_ldp", TABLE, epsilon=6))
    assert (
        whole.perturb(TEXT, seeded_generator(1)).text
        == inner.perturb(TEXT, seeded_generator(1)).text
    )
    assert whole.guarantee == inner.guarantee
    assert whole.perturb(TEXT).receipt.unit == "token"
    whole.verify(TEXT, whole.perturb(TEXT))


def test_receipt_counts_the_marked_parts_and_claims_nothing_for_the_text() -> None:
    receipt = selective().perturb("We met Anna Schmidt on 2024-05-12 at a@b12.example.").receipt
    assert receipt.entities == {"DATE_TIME": 1, "EMAIL_ADDRESS": 1, "NAME": 1}
    assert receipt.released == 4  # Anna, Schmidt, a, example
    assert receipt.unit == "marked part"
    assert receipt.tokens == {"word": 2, "oov": 2, "number": 3, "layout": 5, "other": 1}
    said = receipt.to_dict()
    assert (said["guarantee"], said["epsilon_per_document"]) == ("none", "infinity")
    assert "not an LDP bound of the text" in receipt.statement
    assert "6-LDP with respect to replacing that token" in receipt.statement
    assert "everything the policy did not mark, verbatim" in receipt.reveals
    assert any("equal" in line for line in receipt.reveals)
    assert not any("equal" in r for r in selective(consistent=False).perturb("x").receipt.reveals)
    assert selective().perturb("nothing here").receipt.epsilon_per_document == float("inf")
    assert "Schmidt" not in json.dumps(said)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"policy": "names"}, "policy must be 'regex', 'digits', 'detector' or 'all'"),
        ({"inner": "selective"}, "inner must be 'rantext_ldp' or another mechanism"),
        ({"inner": "santext_plus"}, "inner must be 'rantext_ldp' or another mechanism"),
        ({"inner": "nothing"}, "inner must be 'rantext_ldp' or another mechanism"),
        ({"epsilon": 30}, "epsilon must be <= 18 for rantext_ldp"),
        ({"consistent": 1}, "consistent must be true or false"),
        ({"policy": "presidio"}, "policy presidio is a plug-in that is not installed: it is"),
        ({"policy": ["regex", "presidio"]}, "policy presidio is a plug-in that is not installed"),
        ({"entities": "NAME"}, "entities must be a list of types"),
        ({"entities": ["PERSONS"]}, "entities must be among "),
        ({"entities": ["EMAIL_ADDRESS"], "policy": "digits"}, "entities must be among NUMBER"),
        ({"policy": "all", "entities": ["NAME"]}, "patterns and entities must be left out"),
        ({"patterns": 3}, "patterns must map types to regular expressions"),
        ({"patterns": {"X": "("}}, "patterns.X must be a regular expression"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters: dict[str, Any], said: str) -> None:
    words = {} if parameters.get("policy") == "all" else WORDS
    with pytest.raises(ParameterError, match=f"^{re.escape(said)}"):
        get_mechanism("selective", TABLE, **{**words, **parameters})


def test_own_patterns_come_on_top_and_entities_choose() -> None:
    text = "project Zephyr-9 is run by Anna Schmidt"
    own = {"PROJECT": r"Zephyr-\d"}
    both = selective(patterns=own).perturb(text)
    assert both.receipt.entities == {"NAME": 1, "PROJECT": 1}
    only = selective(patterns=own, entities=["PROJECT"]).perturb(text)
    assert only.receipt.entities == {"PROJECT": 1}
    assert only.text.endswith("is run by Anna Schmidt")
    digits = selective(patterns={"PROJECT": "Zephyr"}, policy="digits").perturb(text)
    assert digits.receipt.entities == {"NUMBER": 1, "PROJECT": 1}


def test_the_receipt_names_the_operators_types_and_not_his_expressions() -> None:
    perturber = selective(patterns=(("CODE", "bluebird|falcon"),))
    parameters = perturber.perturb("hello").receipt.parameters
    assert parameters["patterns"] == ["CODE"]
    assert "bluebird" in json.dumps(perturber.identity())


def test_identity_tells_policies_apart_and_is_json() -> None:
    makes = [
        {},
        {"policy": "digits"},
        {"patterns": {"X": "a"}},
        {"entities": ["NAME"]},
        {"inner": "rantext"},
        {"consistent": False},
    ]
    said = {json.dumps(selective(**make).identity()) for make in makes}
    assert len(said) == len(makes)
