"""An answer uses replacements as people use names and numbers: in part, in other words, in links.
What comes back is the raw value in the same way, and no ordinary word becomes a raw value."""

from __future__ import annotations

import pytest

from perturb import EmbeddingTable, Perturbation, Perturber, get_mechanism
from perturb.release import Replacement
from perturb.vocabulary.word_list import dictionary_words
from proxy.release import Release, pair_details
from proxy.restoring.forms import spell_beginnings, spell_masks
from proxy.restoring.text import Replacements, TextRestorer, spell_pieces
from proxy.restoring.way_back import build_way_back, find_lost
from tests.perturb.marking import WORDS

PARTS = {
    "PERSON": [
        ("Anna Schmidt", "Aurelia Whitstoke"),
        ("Bert Fuchs", "Edvard Lyncote"),
        ("Lucía Fernández Ortega", "Renate Melanie Osmleigh"),
        ("Jan Overbeck", "Zita Carlbrook"),
    ],
    "EMAIL_ADDRESS": [
        ("anna.mueller@hollmann-design.de", "edda.marley@melby.example"),
        ("j.overbeck@works.de", "z.carlbrook@belleigh.example"),
    ],
    "ORGANIZATION": [("Holtmann Logistik GmbH", "Galnova Wollyra GmbH")],
    "STREET_ADDRESS": [
        ("Lindenstraße 17, 50674 Köln", "Ahlstedtstraße 34, 27263 Tarnloch"),
        ("flat at 14 Brookfield Road.", "flat at 56 Molwalde Road."),
    ],
    "PHONE_NUMBER": [
        ("+34 612 457 889", "+34 647 832 613"),
        ("+7 916 234-56-78", "+7 538 306-60-16"),
        ("0221 4478 911", "0181 6464 527"),
        ("(415) 555-2671", "(275) 555-0134"),
    ],
    "INTERNAL_HOST": [("db-prod-03.intra.quell.net", "xi-goml-05.pyksl.zopdx.qvg")],
    "IBAN_CODE": [("DE12 5001 0517 0648 4898 90", "DE89 3704 0044 0532 0130 00")],
    "CREDIT_CARD": [("4095 2609 9393 9032", "4584 6417 7406 2647")],
    "ACCOUNT_NUMBER": [("88372614", "20825496")],
    "DATE_OF_BIRTH": [("12 May 1987", "3 June 1985")],
    "USERNAME": [("tkessler", "beckgate")],
}


@pytest.fixture(scope="module")
def made(table: EmbeddingTable) -> Perturbation:
    return Perturber(get_mechanism("selective", table, epsilon=6, **WORDS)).perturb("x")


def write_releases(made: Perturbation, kept: str = "") -> list[Release]:
    """A release of every part, and of a text that was kept."""
    releases = []
    for type_, pairs in PARTS.items():
        for raw, new in pairs:
            replaced = (Replacement(0, len(raw), type_, new),)
            done = Perturbation(new, (), made.receipt, replaced)
            releases.append(Release(raw, done, None, b""))  # type: ignore[arg-type]
    done = Perturbation(kept, (), made.receipt, ())
    return [*releases, Release(kept, done, None, b"")]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def back(made: Perturbation) -> Replacements:
    return build_way_back(write_releases(made), (), ()).replacements


def restore(text: str, table: Replacements, size: int = 0) -> tuple[str, int]:
    """Return the restored text, and how many replacements were left in it."""
    reader, size = TextRestorer(table), size or len(text) or 1
    out = [spell_pieces(reader.feed(text[i : i + size])) for i in range(0, len(text), size)]
    return "".join(out) + spell_pieces(reader.finish()), reader.left


def check(text: str, expected: str, table: Replacements, left: int = 0) -> None:
    for size in (0, 1, 2, 3, 7):
        assert restore(text, table, size) == (expected, left), size


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        # numbers before or after a street, lines of an address
        ("Ahlstedtstraße 34", "Lindenstraße 17"),
        ("Ahlstedtstraße 34, 2nd floor", "Lindenstraße 17, 2nd floor"),
        ("Ahlstedtstr. 34", "Lindenstr. 17"),
        ("34 Ahlstedtstraße", "17 Lindenstraße"),
        ("27263 Tarnloch", "50674 Köln"),
        ("56 Molwalde Road", "14 Brookfield Road"),
        ("56 Molwalde Rd", "14 Brookfield Rd"),
        ("56, Molwalde Road", "14, Brookfield Road"),
        ("Molwalde Road no. 56", "Brookfield Road no. 14"),
        ("Molwalde Road 56", "Brookfield Road 14"),
        ("56 MOLWALDE ROAD", "14 BROOKFIELD ROAD"),
        ("56_molwalde_road.pdf", "14_brookfield_road.pdf"),
        # firms, persons
        ("Galnova Wollyra", "Holtmann Logistik"),
        ("#galnovawollyra", "#holtmannlogistik"),
        ("Galnova Wollyra Inc.", "Holtmann Logistik Inc."),
        ("R. Osmleigh", "L. Ortega"),
        ("R.Osmleigh", "L.Ortega"),
        ("rosmleigh_notes.txt", "lortega_notes.txt"),
        ("Renate Osmleigh", "Lucía Ortega"),
        ("Melanie Osmleigh", "Fernández Ortega"),
        ("Whitstoke2024", "Schmidt2024"),
        ("beckgate2", "tkessler2"),
        ("der Whitstokesche Vertrag", "der Schmidtsche Vertrag"),
        ("the Lyncotes' house", "the Fuchs' house"),
        ("the Whitstokes\u2019 house", "the Schmidts\u2019 house"),
        ("Z.~Carlbrook", "J.~Overbeck"),
        ("Z.&nbsp;Carlbrook", "J.&nbsp;Overbeck"),
        ("CarlbrookZita.pdf", "OverbeckJan.pdf"),
        ("Z.Carlbrook", "J.Overbeck"),
        ("Carlbrook, Z. (2020)", "Overbeck, J. (2020)"),
        ("CARLBROOK, Z.", "OVERBECK, J."),
        ("Carlbrook Z.", "Overbeck J."),
        ("| Carlbrook Z |", "| Overbeck J |"),
        ("z.carlbrook", "j.overbeck"),
        ("Whit\u00adstoke", "Schmidt"),
        # after the escape of a line break, or of a border of a word
        (r'"Dear all,\nZita"', r'"Dear all,\nJan"'),
        (r"\bZita\s+Carlbrook\b", r"\bJan\s+Overbeck\b"),
        # machines, the firm of an address
        ("ssh xi-goml-05", "ssh db-prod-03"),
        ("search pyksl.zopdx.qvg", "search intra.quell.net"),
        ("web1.pyksl.zopdx.qvg", "web1.intra.quell.net"),
        ("the firm melby", "the firm hollmann-design"),
        (r"melby\.example", r"hollmann-design\.de"),
        ("edda.marley at melby dot example", "anna.mueller at hollmann-design dot de"),
        ("e***@melby.example", "a***@hollmann-design.de"),
        ("e*********y@melby.example", "a*********r@hollmann-design.de"),
        ("ed***@melby.example", "an***@hollmann-design.de"),
        # telephone numbers
        ("647 832 613", "612 457 889"),
        ("647832613", "612457889"),
        ("8 538 306-60-16", "8 916 234-56-78"),
        ("+49 181 6464527", "+49 221 4478911"),
        ("+12755550134", "+14155552671"),
        ("(275) 555-0134x12", "(415) 555-2671x12"),
        # parts of numbers
        ("starts with DE89", "starts with DE12"),
        ("370400440532013000", "500105170648489890"),
        ("DE89 **** **** **** 3000", "DE12 **** **** **** 9890"),
        ("DE89...3000", "DE12...9890"),
        ("starting with 4584", "starting with 4095"),
        ("4584 **** **** 2647", "4095 **** **** 9032"),
        ("4584...2647", "4095...9032"),
        ("ending in 5496", "ending in 2614"),
        ("****5496", "****2614"),
        # dates
        ("3 JUNE 1985", "12 MAY 1987"),
        ("03 June 1985", "12 May 1987"),
        ("03-Jun-1985", "12-May-1987"),
        ("3 juin 1985", "12 mai 1987"),
        ("3. Juni 1985", "12. Mai 1987"),
        ("el 3 de junio de 1985", "el 12 de mayo de 1987"),
        ("3 giugno 1985", "12 maggio 1987"),
        ("3 de junho de 1985", "12 de maio de 1987"),
        ("3 czerwca 1985", "12 maja 1987"),
        ("3 июня 1985", "12 мая 1987"),
        ("date(1985, 6, 3)", "date(1987, 5, 12)"),
        # links to write and to call
        ("[x](mailto:edda.marley@melby.example)", "[x](mailto:anna.mueller@hollmann-design.de)"),
        ("[x](<mailto:edda.marley@melby.example>)", None),
        ("<a class='b' href='mailto:edda.marley@melby.example' id=c>", None),
        ('  href="mailto:edda.marley@melby.example"', None),
        ('<a href="tel:+34647832613">', '<a href="tel:+34612457889">'),
        ("[0181 6464 527](tel:+34647832613)", "[0221 4478 911](tel:+34612457889)"),
    ],
)
def test_what_an_answer_makes_of_a_replacement_comes_back(
    told: str, meant: str | None, back: Replacements
) -> None:
    if meant is None:
        meant = told.replace("edda.marley@melby.example", "anna.mueller@hollmann-design.de")
    check(f"so {told} is", f"so {meant} is", back)
    check(told, meant, back)


@pytest.mark.parametrize(
    "text",
    [
        "Peter e Marco, a table, i o u; A. First B. Second I. Ninth",
        "56 Road, the Road 56, 34 pages, 56 houses, 17, room 56",
        "The GmbH, a Road, the flat at noon",
        "2 eggs, 2 juin, June 4, 3 May, 1984, 85",
        "melbyx, xmelby, Lyncotesx, Whitstokeson, xWhitstoke2024, 2beckgate",
        "20825497, 120825496, 3 1985, v1985, 1985.5",
        "a***@other.example, e***@melbyx.org",
        "DE88, XDE89, DE890",
        "Nov-1985, 3-Nov-1985, nov/1985",
        "(275) 555-01342, 0134x",
        r"C:\other\bin, \n \t \b",
        "QC, FM and NW are abbreviations; HQ, too",
    ],
)
def test_what_is_something_else_stays(text: str, back: Replacements) -> None:
    assert restore(text, back)[0] == text
    assert restore(text, back, 3)[0] == text


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("a Whitstoke-style house", "a Schmidt-style house"),
        ("A Whitstoke letter", "A Schmidt letter"),
        ("Ana e Lyncote", "Ana e Fuchs"),
        ("Carlbrook z. B.", "Overbeck z. B."),
        ("Lyncote e. Landlord", "Fuchs e. Landlord"),
        ("State e. Lyncote", "State e. Fuchs"),
        ("Whitstoke A letter", "Schmidt A letter"),
        ("Marek z Carlbrook", "Marek z Overbeck"),
        ("E Lyncote", "B Fuchs"),
        ("Z CARLBROOK", "J OVERBECK"),
    ],
)
def test_a_word_of_one_letter_is_no_initial(told: str, meant: str, back: Replacements) -> None:
    check(f"so {told} it is", f"so {meant} it is", back)


def test_what_may_be_something_else_is_left_and_counted(back: Replacements) -> None:
    for text in ("BIN 458464", "number 5496"):
        check(text, text, back, left=1)


@pytest.mark.parametrize(
    "text",
    [
        "![x](mailto:edda.marley@melby.example)",
        "[x](mailto:edda.marley@melby.example?bcc=eve@evil.example)",
        "[x](mailto:edda.marley@melby.example,eve@evil.example)",
        "[x](mailto:eve@evil.example?body=edda.marley@melby.example)",
        "[x](mailto:edda.marley@melby.example.evil.example)",
        "[x](mailto:Carlbrook)",
        "[x](mailto:Carlbrook@evil.example)",
        "[x](https://evil.example/mailto:edda.marley@melby.example)",
        "[x](sms:+34647832613)",
        "![x](tel:+34647832613)",
        "[x](tel:+34647832613;20825496)",
        "url(mailto:edda.marley@melby.example)",
        "<img src='mailto:edda.marley@melby.example'>",
        "<a href=mailto:edda.marley@melby.example>",
        '<a href="mailto:edda.marley@melby.example?bcc=eve@evil.example">',
        '<a href="mailto:eve@evil.example?cc=edda.marley@melby.example">',
        '<a href="//evil.example/mailto:edda.marley@melby.example">',
        '<link href="mailto:edda.marley@melby.example">',
        "[x]: mailto:edda.marley@melby.example",
    ],
)
def test_a_link_holds_no_value_but_its_own_receiver(text: str, back: Replacements) -> None:
    for size in (0, 1, 3):
        shown, left = restore(text, back, size)
        assert shown == text
        assert left


def test_details_are_paired_and_come_back(made: Perturbation) -> None:
    releases = write_releases(made)
    pairs = pair_details(releases)
    wholes = {new for pairs in PARTS.values() for _, new in pairs}
    assert all(new != raw and new not in wholes for new, raw in pairs)
    way_back = build_way_back(releases, (), ())
    assert find_lost(way_back, releases) == []
    assert way_back.ambiguous == 0


def test_a_half_of_a_double_barrelled_name_comes_back(made: Perturbation) -> None:
    releases = []
    for raw, new in (
        ("Suki Lindqvist-Amara", "Gisela Evergate-Wilgate"),
        ("Joy Amara-Smith", "Ilona Wilgate-Melbridge"),
        ("Ana-Li Odum", "Ina-Jo Reed"),  # of a surname alone
        ("Ada Winter", "Frank Melbridge"),  # the second name's half is this one's surname
    ):
        done = Perturbation(new, (), made.receipt, (Replacement(0, len(raw), "PERSON", new),))
        releases.append(Release(raw, done, None, b""))  # type: ignore[arg-type]
    way_back = build_way_back(releases, (), ())
    assert find_lost(way_back, releases) == []
    for text, restored, left in (
        ("Ms. Evergate and Mr Melbridge", "Ms. Lindqvist and Mr Winter", 0),
        ("**Evergate**-**Wilgate**, Wilgate's", "**Lindqvist**-**Amara**, Amara's", 0),
        ("Ina-Jo or Ina", "Ana-Li or Ina", 0),
    ):
        check(text, restored, way_back.replacements, left=left)


@pytest.mark.parametrize("rest", ["Test", ""])
def test_a_name_inside_an_identifier_comes_back_in_other_identifiers(
    made: Perturbation, rest: str
) -> None:
    raw, new = f"TamsinAchterberg{rest}", f"IlonaMelbridge{rest}"
    done = Perturbation(new, (), made.receipt, (Replacement(0, len(raw), "USERNAME", new),))
    releases = [Release(raw, done, None, b"")]  # type: ignore[arg-type]
    way_back = build_way_back(releases, (), ())
    assert find_lost(way_back, releases) == []
    for text, restored in (
        ("IlonaMelbridgeTest", "TamsinAchterbergTest"),
        ("IlonaMelbridgeTests", "TamsinAchterbergTests"),
        ("ilona_melbridge_fixture", "tamsin_achterberg_fixture"),
        ("Ilona Melbridge", "Tamsin Achterberg"),
        ("ILONA_MELBRIDGE", "TAMSIN_ACHTERBERG"),
    ):
        check(text, restored, way_back.replacements, left=0)


def test_details_that_two_values_share_are_left(made: Perturbation) -> None:
    """Two machines of one name, and two streets of one name and number."""
    releases = []
    for type_, raw, new in (
        ("INTERNAL_HOST", "db1.corp.net", "qxplt.aaaa.qvg"),
        ("INTERNAL_HOST", "db2.corp.org", "qxplt.bbbb.qvg"),
        ("STREET_ADDRESS", "1 Elm Road, Ulm", "2 Molwalde Road, Tarnloch"),
        ("STREET_ADDRESS", "3 Elm Road, Bonn", "2 Molwalde Road, Ahlhaven"),
    ):
        done = Perturbation(new, (), made.receipt, (Replacement(0, len(raw), type_, new),))
        releases.append(Release(raw, done, None, b""))  # type: ignore[arg-type]
    way_back = build_way_back(releases, (), ())
    assert find_lost(way_back, releases) == []
    assert way_back.ambiguous == 0
    for text in ("ssh qxplt now", "at 2 Molwalde Road, 2nd floor"):
        check(text, text, way_back.replacements, left=1)


def test_values_of_other_forms_have_no_parts() -> None:
    assert not [*spell_masks("ab@melby.example", "anna@firm.de")]
    assert not [*spell_masks("Edward", "Anna")]
    assert not [*spell_beginnings("AB-1042", "AB-7731")]
    assert not [*spell_beginnings("DE89370400440532013000", "7731")]


NAMES = {
    "Duncan Whithurst": "Tomasz Kowalski",
    "Duncan": "Tomasz",
    "Whithurst": "Kowalski",
    "Aurelia Granby": "Anna Nowak",
    "Aurelia": "Anna",
    "Martin Elmsted": "Jan Zielony",
    "Martin": "Jan",
    "Elmsted": "Zielony",
    "Светлана Захарюк": "Ирина Соколова",
    "Светлана": "Ирина",
    "Захарюк": "Соколова",
    "Виталий Миронюк": "Дмитрий Соколов",
    "Виталий": "Дмитрий",
    "Миронюк": "Соколов",
}


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("Duncana Whithursta", "Tomasza Kowalskiego"),
        ("Duncanowi Whithurstowi", "Tomaszowi Kowalskiemu"),
        ("z Duncanem Whithurstem", "z Tomaszem Kowalskim"),
        ("pana Whithursta", "pana Kowalskiego"),
        ("z Duncanem", "z Tomaszem"),
        ("Aurelii Granby", "Anny Nowak"),
        ("z Aurelią Granby", "z Anną Nowak"),
        ("Светланы Захарюк", "Ирины Соколовой"),
        ("Светлане", "Ирине"),
        ("Светланой Захарюк", "Ириной Соколовой"),
        ("Виталия Миронюка", "Дмитрия Соколова"),
        ("Виталию Миронюку", "Дмитрию Соколову"),
        ("с Виталием Миронюком", "с Дмитрием Соколовым"),
        ("Svetlana Zakharyuk", "Irina Sokolova"),
        ("Vitaly Mironyuk", "Dmitry Sokolov"),
        ("vitaliy.mironyuk@x.example", "dmitriy.sokolov@x.example"),
    ],
)
def test_a_name_comes_back_in_its_case(told: str, meant: str) -> None:
    table = Replacements(NAMES, ordinary=dictionary_words(), declined=True)
    if "@" in told:
        table = Replacements({"Vitaliy": "Dmitriy", "Mironyuk": "Sokolov"})
    check(f"to {told}, tak", f"to {meant}, tak", table)


def test_only_the_texts_of_slavic_languages_decline_names(made: Perturbation) -> None:
    """`Martina` is another person, even there."""
    for kept, meant in (("proszę o to", "Anny Nowak"), ("so it is", "Aurelii Nowak")):
        names = {"Aurelia Granby": "Anna Nowak", "Martin Elmsted": "Jan Zielony"}
        releases = write_releases(made, kept)[-1:]
        for new, raw in names.items():
            done = Perturbation(new, (), made.receipt, (Replacement(0, len(raw), "PERSON", new),))
            releases.append(Release(raw, done, None, b""))  # type: ignore[arg-type]
        table = build_way_back(releases, (), ()).replacements
        check("Martina, Aurelii Granby", f"Martina, {meant}", table)
