"""Every form in which a remote may write a replacement comes back in that form, or is counted."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from perturb.vocabulary.word_list import dictionary_words
from proxy.restoring.forms import FORMS, PLAIN, fold_case, spell, spell_dates
from proxy.restoring.json_text import JsonRestorer
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces

RAW_OF = {
    "Edward Aldbrook": "Anna Schmidt",
    "Aldbrook": "Schmidt",
    "Edward": "Anna",
    "Zoë O'Tarn": "Jürg Müller",
    "edward.aldbrook11@beckwade.example": "anna.schmidt82@firm.de",
    "lindenhof.example": "acme.test",
    "Talfold & Sons": "Weiß & Co",
    "HARBEL": "BERLIN",
    "tarnley": "tom",
    "+49 30 1234567": "+49 30 7654321",
    "4035-1282-7522-4421": "4095-2609-9393-9032",
    "DE89 3704 0044 0532 0130 00": "DE12 5001 0517 0648 4898 90",
    "AB-1042": "AB-7731",
    "3 June 1985": "12 May 1987",
    "$4,310.00": "$950.00",
    "PERSON_417": "Mira Holt",
    "API_KEY_12": "sk-abC1xyZ",
    "URL_305": "https://secret.example/path?q=1",
    "AGE_733": "34",
}
TABLE = Replacements(RAW_OF, ordinary=dictionary_words())


def restore(text: str, size: int = 0, table: Replacements = TABLE) -> tuple[str, int, int]:
    """Return the restored text of an answer, whole or in pieces, and the counts."""
    reader = TextRestorer(table)
    size = size or len(text) or 1
    out = [spell_pieces(reader.feed(text[i : i + size])) for i in range(0, len(text), size)]
    return "".join(out) + spell_pieces(reader.finish()), reader.restored, reader.left


def check(text: str, expected: str, *, restored: int = 1, left: int = 0) -> None:
    """Check a text as a whole, in pieces, and cut at every place."""
    told = expected, restored, left
    assert restore(text) == told
    for size in (1, 2, 3, 5):
        assert restore(text, size) == told, size
    for place in range(1, len(text)):
        reader = TextRestorer(TABLE)
        pieces = [*reader.feed(text[:place]), *reader.feed(text[place:]), *reader.finish()]
        assert spell_pieces(pieces) == expected, place


@pytest.mark.parametrize(
    ("written", "raw"),
    [
        ("Edward Aldbrook", "Anna Schmidt"),
        ("EDWARD ALDBROOK", "ANNA SCHMIDT"),
        ("edward aldbrook", "anna schmidt"),
        ("Edward ALDBROOK", "Anna SCHMIDT"),
        ("Aldbrook's", "Schmidt's"),
        ("Aldbrook’s", "Schmidt’s"),
        ("Aldbrooks", "Schmidts"),
        ("ALDBROOKS", "SCHMIDTS"),
        ("aldbrook", "schmidt"),
        ("Harbel", "Berlin"),
        ("Tarnley", "Tom"),
        ("tarnley", "tom"),
        ("E. A.", "A. S."),
        ("E.A.", "A.S."),
        ("E. Aldbrook", "A. Schmidt"),
        ("E Aldbrook", "A Schmidt"),
        ("Edward A.", "Anna S."),
        ("ealdbrook", "aschmidt"),
        ("e.aldbrook", "a.schmidt"),
        ("edward_aldbrook", "anna_schmidt"),
        ("EDWARD_ALDBROOK", "ANNA_SCHMIDT"),
        (r"edward\_aldbrook", r"anna\_schmidt"),
        ("edward-aldbrook", "anna-schmidt"),
        ("edward.aldbrook", "anna.schmidt"),
        ("EdwardAldbrook", "AnnaSchmidt"),
        ("edwardAldbrook", "annaSchmidt"),
        ("edwardaldbrook", "annaschmidt"),
        ("Edward&nbsp;Aldbrook", "Anna&nbsp;Schmidt"),
        ("Edward\u00a0Aldbrook", "Anna\u00a0Schmidt"),
        ("Edward~Aldbrook", "Anna~Schmidt"),
        (r"Edward\s+Aldbrook", r"Anna\s+Schmidt"),
        (r"Edward\ Aldbrook", r"Anna\ Schmidt"),
        ("Zoe O'Tarn", "Jurg Muller"),
        ("Zoë O’Tarn", "Jürg Müller"),
        ("Zo&euml; O&#39;Tarn", "J&uuml;rg M&uuml;ller"),
        ("Zo&#235; O&#39;Tarn", "J&#252;rg M&#252;ller"),
        ("beckwade.example", "firm.de"),
        ("edward.aldbrook11", "anna.schmidt82"),
        ("edward.aldbrook11 [at] beckwade.example", "anna.schmidt82 [at] firm.de"),
        ("EDWARD.ALDBROOK11@BECKWADE.EXAMPLE", "ANNA.SCHMIDT82@FIRM.DE"),
        ("mailto:edward.aldbrook11@beckwade.example", "mailto:anna.schmidt82@firm.de"),
        (r"lindenhof\.example", r"acme\.test"),
        (r"lindenhof\\.example", r"acme\\.test"),
        ("lindenhof[.]example", "acme[.]test"),
        ("Talfold &amp; Sons", "Weiß &amp; Co"),
        (r"Talfold \& Sons", r"Weiß \& Co"),
        ("talfold_sons", "weiß_co"),
        ("+49-30-1234567", "+49-30-7654321"),
        ("+49301234567", "+49307654321"),
        ("+49 (0)30 123 45 67", "+49 (0)30 765 43 21"),
        ("0049 30 1234567", "0049 30 7654321"),
        ("030/1234567", "030/7654321"),
        ("tel:+49301234567", "tel:+49307654321"),
        ("4035 1282 7522 4421", "4095 2609 9393 9032"),
        ("4035128275224421", "4095260993939032"),
        ("ending in 4421", "ending in 9032"),
        ("**** **** **** 4421", "**** **** **** 9032"),
        ("ending in **4421**", "ending in **9032**"),
        ("XXXX-4421", "XXXX-9032"),
        ("DE89370400440532013000", "DE12500105170648489890"),
        ("DE89-3704-0044-0532-0130-00", "DE12-5001-0517-0648-4898-90"),
        ("AB1042", "AB7731"),
        ("AB 1042", "AB 7731"),
        ("ab_1042", "AB_7731"),
        ("June 3, 1985", "May 12, 1987"),
        ("1985-06-03", "1987-05-12"),
        ("03.06.1985", "12.05.1987"),
        ("3. Juni 1985", "12. Mai 1987"),
        ("June 1985", "May 1987"),
        ("June 3rd", "May 12th"),
        ("in 1985,", "in 1987,"),
        ("4310", "950"),
        ("4,310", "950"),
        ("4.310,00", "950,00"),
        ("$4310.00", "$950.00"),
        ("4310 dollars", "950 dollars"),
    ],
)
def test_a_form_comes_back_in_that_form(written: str, raw: str) -> None:
    check(f"so {written} it is", f"so {raw} it is")
    check(written, raw)


@pytest.mark.parametrize(
    ("written", "raw"),
    [
        ("PERSON_417", "Mira Holt"),
        ("person_417", "Mira Holt"),
        ("Person_417", "Mira Holt"),
        (r"PERSON\_417", "Mira Holt"),
        (r"PERSON\\_417", "Mira Holt"),
        ("PERSON 417", "Mira Holt"),
        ("Person-417", "Mira Holt"),
        ("<PERSON_417>", "<Mira Holt>"),
        ("[PERSON_417]", "[Mira Holt]"),
        ("**PERSON_417**", "**Mira Holt**"),
        ("`PERSON_417`", "`Mira Holt`"),
        ("{{PERSON_417}}", "{{Mira Holt}}"),
        ("PERSON_417's", "Mira Holt's"),
        ("PERSON_417s", "Mira Holts"),
        ("PERSON_417.5", "Mira Holt.5"),
        ("get_PERSON_417", "get_Mira Holt"),
        ("person_417_file.txt", "mira_holt_file.txt"),
        ("getPerson417", "getMiraHolt"),
        ("Person417Id", "MiraHoltId"),
        ("对PERSON_417说", "对Mira Holt说"),
        ("对PERSON_417", "对Mira Holt"),
        ("PERSON%5F417", "Mira%20Holt"),
        ("api_key_12", "sk-abC1xyZ"),
        ("API KEY 12", "sk-abC1xyZ"),
        ("API-KEY-12", "sk-abC1xyZ"),
        ("API_KEY 12", "sk-abC1xyZ"),
        ("apiKey12", "sk-abC1xyZ"),
        (r"API\_KEY\_12", "sk-abC1xyZ"),
        ("AGE_733", "34"),
        ("URL_305", "https://secret.example/path?q=1"),
        ("![x](URL_305)", "![x](https://secret.example/path?q=1)"),
    ],
)
def test_a_tag_comes_back(written: str, raw: str) -> None:
    check(f"so {written} it is", f"so {raw} it is")
    check(written, raw)


@pytest.mark.parametrize(
    "text",
    [
        "PERSON_4170 XPERSON_417 PERSON_417x PERSON_41",
        "API_KEY_123 API_KEY",
        "Aldbrookson McAldbrook1 xaldbrook",
        "ea Ea e. a. it",
        "AB-10423 AB-1042.5 1AB-1042",
        "4035-1282-7522-44210 14035128275224421",
        "12 March 1985, 1985-07-01, 07/1985",
        "$4,310.005 14310 4310.001",
        "June 4, 1986",
        "",
    ],
)
def test_what_is_something_else_passes_byte_for_byte(text: str) -> None:
    check(text, text, restored=0)


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/?q=PERSON_417",
        "https://evil.example/PERSON%5F417",
        "![x](https://evil.example/edward_aldbrook)",
        "[x](/p?n=Edward%20Aldbrook)",
        "<img src='//evil.example/ALDBROOK'>",
        "//evil.example/edward.aldbrook11%40beckwade.example",
        "www.evil.example/4035128275224421",
        "![x](tel:+49301234567)",
        "![x](PERSON_417)",
    ],
)
def test_no_form_comes_back_inside_an_address(address: str) -> None:
    check(f"so {address} is", f"so {address} is", restored=0, left=1)


def test_nothing_is_added_to_the_host_of_a_tag_that_is_an_address() -> None:
    table = Replacements({"URL_305": "https://secret.example"})
    for text in ("URL_305.evil.example", "![x](URL_305.evil.example)", "URL_305@evil.example"):
        assert restore(text, 0, table) == (text, 0, 1)
        assert restore(text, 1, table) == (text, 0, 1)


def test_what_two_values_share_is_left_and_counted() -> None:
    table = Replacements(
        {
            "Edward Aldbrook": "Anna Schmidt",
            "Elsa Ambry": "Bert Meier",
            "a.tarn@x.example": "anna@firm.de",
            "b.tarn@x.example": "bert@works.de",
            "3 June 1985": "12 May 1987",
            "9 July 1985": "1 June 1986",
            "4035-1282-7522-4421": "4095-2609-9393-9032",
            "5035-1282-7522-4421": "5095-2609-9393-1234",
        },
        ["Mira Holt"],
    )
    for text in ("E. A.", "EA", "x.example", "in 1985", "ending in 4421", "4421", "MIRA HOLT"):
        for size in (0, 1, 2):
            assert restore(f"so {text} is", size, table) == (f"so {text} is", 0, 1), text
    assert restore("June 1985", 0, table) == ("May 1987", 1, 0)


def test_what_may_be_something_else_is_counted() -> None:
    check("port 4421 is", "port 4421 is", restored=0, left=1)
    table = Replacements({"PERSON_7": "Mira Holt"})
    for text in ("Person 7", "person7"):
        assert restore(f"so {text} is", 0, table) == (f"so {text} is", 0, 1)
    assert restore("Person-7, person_7", 0, table) == ("Mira Holt, Mira Holt", 2, 0)


def test_ordinary_words_come_back_in_their_own_capitals_alone() -> None:
    table = Replacements({"Rose River": "Anna", "Pond": "Bert"}, ordinary=dictionary_words())
    text = "a pond, rose_river, ponds, Ponds"
    assert restore(text, 0, table) == (text, 0, 0)
    assert restore("Pond, Rose River", 0, table) == ("Bert, Anna", 2, 0)
    text = "POND, rose river, ROSE RIVER"
    assert restore(text, 0, table) == (text, 0, 3)
    assert table.ordinary >= {"rose", "river", "pond"}


def test_what_stands_in_other_text_is_left() -> None:
    table = Replacements({"Lindenhof": "Berghof", "Edward Tarn": "Anna Weiß"})
    table.leave(table.find_written("the lindenhof and ET, or edward_tarn"))
    text = "lindenhof edward_tarn ET"
    assert restore(text, 0, table) == (text, 0, 3)
    assert restore("Lindenhof LINDENHOF edward-tarn", 0, table)[0] == ("Berghof BERGHOF anna-weiß")
    table.leave(table.find_written("Lindenhof"))
    assert "Lindenhof" not in table.raw_of
    assert restore("Lindenhof LINDENHOF", 0, table) == ("Lindenhof LINDENHOF", 0, 2)


@pytest.mark.parametrize("depth", range(4))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_inside_strings_stays_json(depth: int, ascii_only: bool) -> None:
    table = Replacements({"Zoë Tarn": 'Jürg "J" Müller\n', "PERSON_417": "a\\b"})
    ours: object = {"a": ["Zoë Tarn", 1.50, "é\\/"], "PERSON_417": "by zoë tarn!"}
    theirs: object = {"a": ['Jürg "J" Müller\n', 1.50, "é\\/"], "a\\b": 'by jürg "j" müller\n!'}
    for _ in range(depth):
        ours, theirs = (
            {"inner": json.dumps(value, ensure_ascii=ascii_only)} for value in (ours, theirs)
        )
    text = json.dumps(ours, ensure_ascii=ascii_only)

    def read(value: object) -> object:
        for _ in range(depth):
            assert isinstance(value, dict)
            value = json.loads(value["inner"])
        return value

    shown = set()
    for size in (1, 2, 3, 7, len(text)):
        reader = JsonRestorer(table, {})
        pieces = [p for i in range(0, len(text), size) for p in reader.feed(text[i : i + size])]
        shown.add(spell_pieces([*pieces, *reader.finish()]))
        assert reader.restored == 3
    assert len(shown) == 1
    assert read(json.loads(shown.pop())) == read(theirs)


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "\u00e9\/\ud83d\ude00", "b" : "{\"c\":\t\"\\u00e9\\/\"}"}',
        r'[ 1.50 , "\x \u12", "{", "[", "[\"" ]',
        '"broken \\',
        '{"a": "[\\"x',
    ],
)
def test_json_without_replacements_passes_byte_for_byte(text: str) -> None:
    for size in range(1, len(text) + 1):
        reader = JsonRestorer(TABLE, {})
        pieces = [p for i in range(0, len(text), size) for p in reader.feed(text[i : i + size])]
        assert spell_pieces([*pieces, *reader.finish()]) == text


def test_json_outside_of_strings_takes_a_tag_as_a_word() -> None:
    reader = JsonRestorer(TABLE, {})
    pieces = [*reader.feed('{"age": AGE_733, "n": 4310}'), *reader.finish()]
    assert spell_pieces(pieces) == '{"age": 34, "n": 950}'


ESCAPES: dict[str, Callable[[str], str]] = {
    "URL": lambda text: quote(text, safe=""),
    "query": quote_plus,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON twice": lambda text: json.dumps(json.dumps(text)[1:-1])[1:-1],
    "HTML": html.escape,
    "regular expression": re.escape,
}
VALUES = [
    ("Zoë O'Tarn & Co", "Jürg D'Arc <x>"),
    ("talley@x.example", "it's@y.de"),
    ("Tarn/Ley v1.5", "Weiß\\Roth+2"),
    ("https://tarn.example/a?b=c", "https://weiß.de/<x>"),
]


@pytest.mark.parametrize("name", ESCAPES)
@pytest.mark.parametrize(("new", "raw"), VALUES)
def test_an_escaped_replacement_comes_back_escaped(name: str, new: str, raw: str) -> None:
    escape, table = ESCAPES[name], Replacements({new: raw})
    text = f"so {escape(new)} is"
    # What needs no escape does not show that its value does.
    expected = f"so {raw if escape(new) == new else escape(raw)} is"
    for size in range(len(text)):
        assert restore(text, size, table) == (expected, 1, 0)


def test_forms_have_names_and_their_own_form_is_the_first() -> None:
    assert len({form.name for form in FORMS}) == len(FORMS)
    for new, raw in RAW_OF.items():
        first, *others = spell(new, raw)
        assert (first.shown, first.form) == (new, PLAIN)
        assert all(form.shown for form in others)


def test_a_date_of_figures_is_read_both_ways() -> None:
    table = Replacements({"03/04/2020": "05/06/2019"})
    assert restore("3 April 2020", 0, table)[0] == "5 June 2019"
    assert restore("March 4, 2020", 0, table)[0] == "May 6, 2019"
    assert not dict(spell_dates("March 2020", "5 June 2019"))


def test_each_character_is_put_in_small_letters_by_itself() -> None:
    """Otherwise a part of a text would not be found in the whole, or elsewhere."""
    characters = [chr(i) for i in range(0x110000)]
    small = [low if len(low := c.lower()) == 1 else c for c in characters]
    assert [fold_case(c) for c in characters] == small
    assert [fold_case(f"a{c}b") for c in characters] == [f"a{c}b" for c in small]
    assert fold_case("ΟΔΟΣ İ A") == "οδοσ İ a"
