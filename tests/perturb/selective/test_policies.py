"""The shipped patterns: their marks, how findings settle, and the cost of hostile texts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import ParameterError, Span, get_mechanism
from perturb.errors import ExpressionTimeout
from perturb.selective.parts import find_known
from perturb.selective.patterns import NAME
from perturb.selective.policies import (
    PatternPolicy,
    compile_patterns,
    drop_numbered,
    settle,
)
from perturb.testing import PolicyContract
from tests.catastrophe import CATASTROPHIC, ENDLESS
from tests.perturb.marking import WORDS
from tests.tables import bundled_table

SHIPPED = PatternPolicy.shipped()

MARKED = [  # (text, the part that is marked, its type)
    (
        "write to anna.schmidt+x@mail.example.co.uk now",
        "anna.schmidt+x@mail.example.co.uk",
        "EMAIL_ADDRESS",
    ),
    ("see https://example.com/a?b=c#d, please", "https://example.com/a?b=c#d", "PUBLIC_URL"),
    ("see (www.example.com/a).", "www.example.com/a", "PUBLIC_URL"),
    ("the site shop.example.com has it", "shop.example.com", "PUBLIC_URL"),
    ("see http://wiki.lindenhof.internal/a now", "http://wiki.lindenhof.internal/a", "URL"),
    ("see /home/nlindner/notes", "nlindner", "USERNAME"),
    ("she was born on 12 May 1984 here", "12 May 1984", "DATE_OF_BIRTH"),
    ("Dear Mira, thank you", "Mira", "PERSON"),
    ("from 91.198.174.192 today", "91.198.174.192", "IP_ADDRESS"),
    ("from 192.168.17.4 today", "192.168.17.4", "INTERNAL_HOST"),
    ("from 2001:db8::8a2e:370:7334 today", "2001:db8::8a2e:370:7334", "IP_ADDRESS"),
    ("device 00:1B:44:11:3A:B7 is off", "00:1B:44:11:3A:B7", "MAC_ADDRESS"),
    ("card 4095-2609-9393-4932 was", "4095-2609-9393-4932", "CREDIT_CARD"),
    ("card 4095 2609 9393 4932 was", "4095 2609 9393 4932", "CREDIT_CARD"),
    ("pay GB82 WEST 1234 5698 7654 32 now", "GB82 WEST 1234 5698 7654 32", "IBAN_CODE"),
    ("pay DE89370400440532013000 now", "DE89370400440532013000", "IBAN_CODE"),
    ("auf de89 3704 0044 0532 0130 00 bitte", "de89 3704 0044 0532 0130 00", "IBAN_CODE"),
    ("pay gb82west12345698765432 now", "gb82west12345698765432", "IBAN_CODE"),
    ("ssn 078-05-1120 is", "078-05-1120", "US_SSN"),
    ("call +41 (0)85 806 98 67 or", "+41 (0)85 806 98 67", "PHONE_NUMBER"),
    ("call (212) 555-1234 or", "(212) 555-1234", "PHONE_NUMBER"),
    ("call 463-612-6138x036 or", "463-612-6138x036", "PHONE_NUMBER"),
    ("on 2024-05-12 we", "2024-05-12", "DATE_TIME"),
    ("on 2024-05-12T09:30:00 we", "2024-05-12T09:30:00", "DATE_TIME"),
    ("on 12/5/24 we", "12/5/24", "DATE_TIME"),
    ("on 12th of May 2024 we", "12th of May 2024", "DATE_TIME"),
    ("on May 12, 2024 we", "May 12, 2024", "DATE_TIME"),
    ("at 9:30 pm we", "9:30 pm", "DATE_TIME"),
    ("since 1984 we", "1984", "DATE_TIME"),
    ("lives at 12 Baker Street, and", "12 Baker Street", "STREET_ADDRESS"),
    ("lives at 4711 Old Mill Rd. Apt. 5 and", "4711 Old Mill Rd. Apt. 5", "STREET_ADDRESS"),
    ("send to P.O. Box 123 in", "P.O. Box 123", "STREET_ADDRESS"),
    ("zip 12345-6789 it is", "12345-6789", None),
    ("code SW1A 1AA it is", "SW1A 1AA", "ZIP_CODE"),
    ("costs $1,200.50 each", "$1,200.50", "MONEY"),
    ("costs 3 million euros each", "3 million euros", "MONEY"),
    ("a woman aged 47 came", "47", "AGE"),
    ("a 47-year-old woman came", "47", "AGE"),
    ("case AB-12345X is", "AB-12345X", "ID"),
    ("number 48,213 is", "48,213", "NUMBER"),
    ("then Anna Schmidt came", "Anna Schmidt", NAME),
    ("then Jean-Luc de la Tour's dog came", "Jean-Luc de la Tour", NAME),
    ("then Müller came", "Müller", NAME),
    ("Mr. Smith came", "Smith", "PERSON"),
    ("then J. R. Tolkien came", "J. R. Tolkien", NAME),
    ("In Paris we met", "Paris", NAME),
    ("Thank Anna Schmidt now", "Anna Schmidt", NAME),
]


def marks(text: str, policy: Any = SHIPPED) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.type) for s in settle(text, policy.find(text))]


@pytest.mark.parametrize(("text", "part", "type_"), MARKED)
def test_shipped_patterns_mark(text: str, part: str, type_: str | None) -> None:
    found = [(found, of) for found, of in marks(text) if of != "TITLE"]
    assert found in ([(part, type_)], [(part, of) for _, of in found if type_ is None])


class TestShipped(PolicyContract):
    marks = tuple((text, ((part, type_),)) for text, part, type_ in MARKED if type_)
    leaves = (
        "we had 3 options and 25 reasons, and some of them were good",
        "The report was long. It said little. I think it's fine.",
        "use std::vector and a ratio of 3:4 :: that is all",
        "What a day! Nothing else; see the section above.",
        "",
        " \n\t ",
        "\ud800 lone",
    )

    def build(self) -> PatternPolicy:
        return PatternPolicy.shipped()


class TestDigits(PolicyContract):
    marks = (("room B12, 3 people", (("B12", "NUMBER"), ("3", "NUMBER"))),)
    leaves = ("no digits",)
    hostile = ("a", "1", "A1", "1 ", "1-", "1.", "1,", "1:1", "$1", "é\u0301", "\n", "&#65;", "李")

    def build(self) -> PatternPolicy:
        return PatternPolicy.digits()


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("card 4095-2609-9393-4931 was", "CREDIT_CARD"),  # a wrong check digit
        ("pay GB83 WEST 1234 5698 7654 32 now", "IBAN_CODE"),
        ("from 492.168.17.4 today", "IP_ADDRESS"),
    ],
)
def test_a_failed_check_changes_the_type_and_still_marks(text: str, type_: str) -> None:
    found = marks(text)
    assert found
    assert all(of != type_ for _, of in found)


def test_entities_choose_the_types() -> None:
    text = "then Anna Schmidt wrote to a@b.example on 2024-05-12"
    only = PatternPolicy.shipped(["EMAIL_ADDRESS"])
    assert marks(text, only) == [("a@b.example", "EMAIL_ADDRESS")]
    with pytest.raises(ParameterError, match="^entities must be among ACCOUNT_NUMBER, "):
        PatternPolicy.shipped(["EMAIL"])


def test_digits_mark_whole_words() -> None:
    text = "room B12, 3 people, v2.0"
    assert [part for part, _ in marks(text, PatternPolicy.digits())] == ["B12", "3", "v2", "0"]


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ({"x": "a"}, "patterns must be named in capitals"),
        ({1: "a"}, "patterns must be named in capitals"),
        ({"X": 1}, "patterns.X must be a regular expression as a string"),
        ({"X": "("}, "patterns.X must be a regular expression: missing"),
        ({"X": "a*"}, "patterns.X must not match the empty text"),
    ],
)
def test_bad_patterns_are_refused_by_name(patterns: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        compile_patterns(patterns)


def test_an_operators_pattern_that_takes_too_long_marks_nothing_in_silence() -> None:
    """The parts left unmarked would be sent, so the caller must hear of it."""
    policy = PatternPolicy(compile_patterns({"CASE": CATASTROPHIC}))
    assert marks("aaa", policy) == [("aaa", "CASE")]
    with pytest.raises(ExpressionTimeout, match="patterns.CASE"):
        marks(ENDLESS, policy)


# -- settling -------------------------------------------------------------------------------


def settled(text: str, *spans: tuple[int, int, str]) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.type) for s in settle(text, [Span(*s) for s in spans])]


def test_findings_are_widened_to_whole_words() -> None:
    assert settled("xJohnson's", (1, 5, "P")) == [("xJohnson", "P")]
    assert settled("Jose\u0301 x", (0, 4, "P")) == [("Jose\u0301", "P")]
    assert settled("患者は田中", (3, 4, "P")) == [("田", "P")]  # no blanks: no wider


def test_overlapping_findings_become_one_of_the_longest_type() -> None:
    assert settled("a bb ccc", (0, 4, "X"), (2, 8, "Y")) == [("a bb ccc", "Y")]
    assert settled("a bb ccc", (0, 8, "X"), (2, 4, "Y")) == [("a bb ccc", "X")]
    assert settled("a bb", (0, 1, "X"), (2, 4, "Y")) == [("a", "X"), ("bb", "Y")]


def test_a_text_found_once_is_sensitive_wherever_it_stands() -> None:
    text = "Ann Lee, Lee Ann, Ann Leee, Ann Lee; ANN lee"
    assert [p for p, _ in settled(text, (0, 7, "P"))] == ["Ann Lee", "Ann Lee", "ANN lee"]
    # … also a part of an overlap, and the overlap itself
    assert settled("a b c / a b / b c / a b c", (0, 3, "X"), (2, 5, "Y")) == [
        ("a b c", "X"),
        ("a b", "X"),
        ("b c", "Y"),
        ("a b c", "X"),
    ]


def test_the_words_of_a_name_are_sensitive_alone_too() -> None:
    text = "Mr Ann van Lee and The Ann; LEE, Lee. Van"
    assert [p for p, _ in settled(text, (3, 14, "PERSON"))] == ["Ann van Lee", "Ann", "LEE", "Lee"]
    assert [p for p, _ in settled(text, (3, 14, "DATE_TIME"))] == ["Ann van Lee"]


def test_a_word_hardly_ever_written_small_is_a_name_where_a_sentence_begins() -> None:
    policy = PatternPolicy.shipped(["NAME"], proper={"Leon", "Furthermore"})
    assert marks("Leon left. Later he came. Furthermore, Leon slept.", policy) == [
        ("Leon", "NAME"),
        ("Leon", "NAME"),
    ]
    assert marks("Leon left. Later he came.", PatternPolicy.shipped(["NAME"])) == []
    # each has words of its own
    assert marks("Leon left. Later he came.", policy) == [("Leon", "NAME")]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("then Maria\nSchmidt came", ["Maria\nSchmidt"]),
        ("then Maria \r\n  Schmidt came", ["Maria \r\n  Schmidt"]),
        ("then Maria\n> Schmidt came", ["Maria\n> Schmidt"]),
        ("then Maria\u2028Schmidt came", ["Maria\u2028Schmidt"]),
        ("then Juan de\nla Cruz came", ["Juan de\nla Cruz"]),
        ("then Anna-\nLena Schmidt came", ["Anna-\nLena Schmidt"]),
        ("Maria\nKowalczyk", ["Maria\nKowalczyk"]),  # one word is hardly ever written small
        ("Kowalczyk\nMaria", ["Kowalczyk\nMaria"]),
        ("then Maria\nThe end", ["Maria"]),  # a sentence begins
        ("then Maria\n\nKowalczyk", ["Maria"]),  # a paragraph ends
        ("Apples\nBananas\nCherries", []),  # a list
        ("Kowalczyk, Maria came", ["Kowalczyk", "Maria"]),
        ("1. Kowalczyk, Jan\n2. Nowak, Ewa", ["Kowalczyk", "Jan", "Nowak", "Ewa"]),
        ("Recently, Maria came", ["Maria"]),
        ("However, Maria came", ["Maria"]),
    ],
)
def test_names_over_the_end_of_a_line_and_before_a_comma(text: str, parts: list[str]) -> None:
    policy = PatternPolicy.shipped([NAME], proper={"Maria"}, common={"recently"})
    assert [part for part, _ in marks(text, policy)] == parts


def test_a_name_in_small_letters_is_the_name() -> None:
    """Also one that is written small now and then, but no word that usually is."""
    text = "met Tom Smith, Mr. Baker and Will Rose. Then tom, smith and baker; will a rose bloom?"
    spans = get_mechanism("selective", bundled_table(), **WORDS).spans(text) or ()
    assert [text[s.start : s.end] for s in spans] == [
        *("Tom Smith", "Mr", "Baker", "Will Rose", "tom", "smith", "baker"),
    ]


def test_a_name_on_two_lines_is_known_on_one() -> None:
    spans = settle("x Ann\nLee, ann lee", [Span(2, 9, "P")])
    assert [(s.start, s.end) for s in spans] == [(2, 9), (11, 18)]


def test_a_name_counts_in_its_other_forms() -> None:
    """Also where only another text has it as it was found."""
    text = "Herr Wiesinger kam. Wiesingers Anwalt, die Wiesingersche Klage und Wiesbaden."
    spans = settle(text, [Span(5, 14, "PERSON")])
    assert [text[s.start : s.end] for s in spans] == ["Wiesinger", "Wiesingers", "Wiesingersche"]
    for name, form in (
        ("Nováková", "Novákovou"),
        ("Сидоров", "Сидорову"),
        ("Kowalski", "Kowalskiego"),
    ):
        other = f"so {form} came"
        known = find_known(other, {name: "PERSON", "Weber": "PERSON"})
        assert known == {name: "PERSON"}
        assert [other[s.start : s.end] for s in settle(other, (), known)] == [form]
    assert find_known("so Marketing came", {"Market": "PERSON"}) == {}


@pytest.mark.parametrize(
    ("name", "made", "other"),
    [
        (
            "Anna Schmidt",
            "aschmidt aschmidt82 schmidta annaschmidt AnnaSchmidt2 schmidtanna ASCHMIDT",
            "annas schmidte bschmidt xaschmidt 82aschmidt",
        ),
        ("Jörg Müller", "jmueller jmuller joergmueller jorgmuller7", "jmull"),
        ("Anna Lena Groot", "agroot lgroot annagroot lenagroot", "algroot"),
        ("Tom Ash", "tomash ashtom12", "tash asht"),  # an initial beside so few letters is a word
    ],
)
def test_the_names_of_a_persons_accounts(name: str, made: str, other: str) -> None:
    """In the same text, and where another text has the name."""
    handles = "the /srv/" + made.replace(" ", "/ /srv/") + f"/ and {other} came"
    text = f"so {name} wrote: {handles}"
    found = settle(text, [Span(3, 3 + len(name), "PERSON")])
    assert [text[s.start : s.end] for s in found[1:]] == made.split()
    assert {s.type for s in found[1:]} <= {"USERNAME"}
    known = find_known(handles, {name: "PERSON", "Weber": "PERSON"})
    assert known == {name: "PERSON"}
    marked = [(handles[s.start : s.end], s.type) for s in settle(handles, (), known)]
    assert marked == [(handle, "USERNAME") for handle in made.split()]


def test_an_account_of_a_person_is_not_a_person_of_its_own() -> None:
    """The detector takes one for a surname: its surrogate would be another's."""
    text = "so Mira Holzapfel wrote as mholzapfel"
    found = settle(text, [Span(3, 17, "PERSON"), Span(27, 37, "PERSON")])
    assert found[1] == Span(27, 37, "USERNAME")


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Max", "Math.max(1), max_tokens, MAX_SIZE, std::max; the max; ask max", ["max"]),
        ("Grace", "grace_period = 3; the grace of it; grace said so", ["grace"]),
        ("Ray", "class Ray: new Ray(); Ray knows; a ray", ["Ray"]),
        ("Max Holzer", "see max.holzer or max_holzer", ["max", "holzer", "max", "holzer"]),
        ("Wiebke", "wiebke_notes, class Wiebke", ["wiebke", "Wiebke"]),  # no word
    ],
)
def test_a_name_that_is_a_word_does_not_spread_into_code(
    name: str, text: str, found: list[str]
) -> None:
    text = f"so {name} wrote: {text}"
    spans = settle(text, [Span(3, 3 + len(name), "PERSON")], common={"ray", "class", "the"})
    assert [text[s.start : s.end] for s in spans[1:]] == found


def test_an_ordinary_word_is_no_account() -> None:
    text = "so Bert Rowser wrote: the browser, browser7"
    found = settle(text, [Span(3, 14, "PERSON")], common={"browser"})
    assert [text[s.start : s.end] for s in found] == ["Bert Rowser", "browser7"]


@pytest.mark.parametrize("span", [(-1, 2), (0, 4), (3, 9), (2, 1)])
def test_findings_outside_the_text_are_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ParameterError, match="^a policy must mark parts of the text$"):
        settle("abc", [Span(*span, "X")])


@settings(max_examples=300, deadline=None)
@given(
    st.text(st.sampled_from("ab1 .\n李é\u0301"), max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 5)), max_size=6),
)
def test_settled_findings_are_disjoint_in_order_and_cover(
    text: str, raw: list[tuple[int, int]]
) -> None:
    found = [Span(a, min(a + n, len(text)), "X") for a, n in raw if a < len(text)]
    spans = settle(text, found)
    covered = {i for s in spans for i in range(s.start, s.end)}
    assert all(set(range(s.start, s.end)) <= covered for s in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
    assert settle(text, spans) == spans, "a second pass finds nothing new"


@pytest.mark.parametrize(
    ("text", "marked", "parts"),
    [
        (r"twice \u2013 no", [(8, 12)], []),  # `2013` is no number
        (r"twice \u2013 no", [(7, 12)], []),
        (r"\u00c5sa wrote", [(6, 8)], [r"\u00c5sa"]),  # widened to its word
        (r"\u00c5sa wrote", [(2, 8)], [r"\u00c5sa"]),
        (r"Ren\u00e9e", [(0, 5)], [r"Ren\u00e9e"]),
        (r"a \\u2013 b", [(5, 9)], []),  # JSON in a string of JSON
        ("u2013 and 2013", [(10, 14)], ["2013"]),
    ],
)
def test_an_escape_is_one_character(
    text: str, marked: list[tuple[int, int]], parts: list[str]
) -> None:
    spans = settle(text, [Span(start, end, "X") for start, end in marked])
    assert [text[span.start : span.end] for span in spans] == parts


def test_two_numbered_findings_of_one_person_do_not_stand_for_each_other() -> None:
    text = "12 Ada 34"
    found = [Span(0, 6, "PERSON"), Span(3, 9, "PERSON")]
    assert drop_numbered(text, found) == tuple(found)
    assert drop_numbered(text, [*found, Span(3, 6, "PERSON")]) == (Span(3, 6, "PERSON"),)
