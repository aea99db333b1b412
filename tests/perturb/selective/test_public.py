"""Publicly known names are kept, unless the text ties them to somebody's private life."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from perturb import get_mechanism
from perturb.errors import VocabularyError
from perturb.release import Span
from perturb.selective.public import (
    BUNDLED_PUBLIC,
    LONGEST,
    drop_public,
    given_names,
    load_public,
    read_key,
)
from perturb.selective.surrogates.names import load_names
from perturb.testing.growth import grows_linearly
from tests.tables import bundled_table

PUBLIC = [
    ("Who was {}?", "Albert Einstein", "PERSON"),
    ("Compare {} with other painters of the time.", "Leonardo da Vinci", "PERSON"),
    ("Is {} hard to read?", "Shakespeare", "PERSON"),
    ("a poem in the style of {}'s sonnets", "Shakespeare", "PERSON"),
    ("books by {} for children", "J.R.R. Tolkien", "PERSON"),
    ("What is the capital of {}?", "France", "LOCATION"),
    ("What is the capital of {}?", "Georgia", "LOCATION"),
    ("How tall is {}?", "Mount Everest", "LOCATION"),
    ("Les rivières de l'{} au Moyen Âge", "Allemagne", "LOCATION"),
    ("Who founded {}?", "Microsoft", "ORGANIZATION"),
    ("When did the {} form?", "United Nations", "ORGANIZATION"),
    ("Summarize {} in five sentences.", "Pride and Prejudice", "OTHER_NAME"),
    ("I want to write an essay on {}.", "Google", "ORGANIZATION"),
    ("My {} query is slow.", "PostgreSQL", "ORGANIZATION"),
    ("How do I install {} on my laptop?", "numpy", "PERSON"),
    ("Our team moved from {} to Rust.", "TypeScript", "PERSON"),
    ("Is {} an old language?", "Latin", "NAME"),
    ("flights from {} in spring", "Berlin and Tokyo", "LOCATION"),
    ("the population of {} today", "the Netherlands", "LOCATION"),
    ("val x = {}(repo)", "userService", "ORGANIZATION"),
    ("class {} extends BaseService", "UserService", "ORGANIZATION"),
    ("since {} at the latest", "1648", "LOCATION"),
    ("You are {}, a friendly tutor. Explain sums.", "Max", "PERSON"),
    ("You are **{}**, an expert in tax law.", "Aria", "PERSON"),
    ("Your name is {}. You answer in one sentence.", "Nora", "PERSON"),
    ("Du bist {}, eine geduldige Assistentin.", "Lina", "PERSON"),
    ("Eres {}, la asistente del banco.", "Nova", "PERSON"),
    ("hi {}, what is two plus two?", "claude", "PERSON"),
    ("Ask {} and Siri the same.", "Alexa", "PERSON"),
]

PRIVATE = [
    ("You are {}, a patient who calls the practice.", "Mira Holzapfel", "PERSON"),
    ("You are right, {} is a friend of mine.", "Max", "PERSON"),
    ("My uncle {} and I went there.", "Claude", "PERSON"),
    ("Our neighbour {} complains about the noise.", "Michael Jordan", "PERSON"),
    ("{}, my neighbour, complains.", "Michael Jordan", "PERSON"),
    ("Dear {},\nthank you for the offer.", "Michael Jordan", "PERSON"),
    ("My name is {} and I need help.", "Michael Jordan", "PERSON"),
    ("Customer: {}, order 4411", "Michael Jordan", "PERSON"),
    ("Mieter: {}", "Michael Jordan", "PERSON"),
    ("Mr. {} has not paid.", "Michael Jordan", "PERSON"),
    ("See you soon.\n\nKind regards,\n{}", "Michael Jordan", "PERSON"),
    ("I work at {} as an accountant.", "Google", "ORGANIZATION"),
    ("I live in {} with two children.", "Berlin", "LOCATION"),
    ("My employer, {}, refuses to pay.", "Siemens", "ORGANIZATION"),
    ("Ich arbeite bei {} im Einkauf.", "Siemens", "ORGANIZATION"),
    ("Vivo en {} desde enero.", "Madrid", "LOCATION"),
    ("Je travaille chez {} depuis mai.", "Renault", "ORGANIZATION"),
    ("Who is {}?", "Sandra Vollmering", "PERSON"),
    ("Who is {}?", "Anna", "PERSON"),
    ("Who is {}?", "Georgia", "PERSON"),
    ("Who is {}?", "Miller", "PERSON"),
    ("Who is {}?", "Miller", "ORGANIZATION"),
    ("Who is {}?", "Jordan", "PERSON"),
    ("who is {}?", "rose", "PERSON"),
    ("Who is {}?", "Jordan Austin", "PERSON"),
    ("Who is {}?", "Sandra Einstein", "PERSON"),
    ("Was weiß man über {}?", "Malerbetrieb Schnepf Berlin", "ORGANIZATION"),
    ("ship to {} please", "12 oak street", "LOCATION"),
    ("ship to {} please", "13409", "LOCATION"),
    ("ship to Fichtenweg {} please", "14", "LOCATION"),
    ("the report of {} for March", "BrightCove", "ORGANIZATION"),
]


def mark(text: str, *parts: tuple[str, str]) -> list[Span]:
    """Find each part after the one before it."""
    spans, place = [], 0
    for part, type_ in parts:
        place = text.index(part, place)
        spans.append(Span(place, place := place + len(part), type_))
    return spans


def left(text: str, *parts: tuple[str, str]) -> list[str]:
    return [text[span.start : span.end] for span in drop_public(text, mark(text, *parts))[0]]


@pytest.mark.parametrize(("text", "name", "type_"), PUBLIC)
def test_what_everybody_knows_is_public(text: str, name: str, type_: str) -> None:
    assert left(text.format(name), (name, type_)) == []


@pytest.mark.parametrize(("text", "name", "type_"), PRIVATE)
def test_what_is_unknown_or_somebodys_is_not(text: str, name: str, type_: str) -> None:
    assert left(text.format(name), (name, type_)) == [name]


def test_alice_and_bob_are_nobody_together() -> None:
    parts = ("Alice", "PERSON"), ("Bob", "PERSON")
    assert left("Alice sends Bob a message.", *parts) == []
    assert left("name,age\nAlice,30\nBob,25", *parts) == []
    assert left("Alice is ill.", parts[0]) == ["Alice"]
    assert left("My sister Alice met Bob.", *parts) == ["Alice", "Bob"]
    texts = "Alice called Bob: +49 421 7449212", *parts, ("+49 421 7449212", "PHONE_NUMBER")
    assert left(*texts)[:2] == ["Alice", "Bob"]


def test_every_finding_is_on_one_side_in_its_order() -> None:
    text = "Sandra Vollmering asked. Is Paris in France? sandra@example.org"
    spans = mark(
        text,
        ("Sandra Vollmering", "PERSON"),
        ("Paris", "LOCATION"),
        ("France", "LOCATION"),
        ("sandra@example.org", "EMAIL_ADDRESS"),
    )
    kept, public = drop_public(text, spans)
    assert kept == (spans[0], spans[3])
    assert public == (spans[1], spans[2])


@pytest.mark.parametrize(
    "type_", ["EMAIL_ADDRESS", "PASSWORD", "USERNAME", "STREET_ADDRESS", "API_KEY", "ID"]
)
def test_only_names_can_be_public(type_: str) -> None:
    assert left("Is it Berlin?", ("Berlin", type_)) == ["Berlin"]


def test_a_private_person_ties_the_places_and_firms_of_the_sentence() -> None:
    text = "Sandra Vollmering from Siemens is in Hamburg. What is the capital of France?"
    parts = ("Sandra Vollmering", "PERSON"), ("Siemens", "ORGANIZATION"), ("Hamburg", "LOCATION")
    assert left(text, *parts, ("France", "LOCATION")) == [
        "Sandra Vollmering",
        "Siemens",
        "Hamburg",
    ]


def test_a_public_person_ties_nothing() -> None:
    text = "Did Albert Einstein work in Bern?"
    assert left(text, ("Albert Einstein", "PERSON"), ("Bern", "LOCATION")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sandra Vollmering\nFichtenweg 3\n13409 Berlin",
        '{\n  "name": "Sandra Vollmering",\n  "plan": "basic",\n  "city": "Berlin"\n}',
        "Name: Sandra Vollmering\nAge: 43\nCity: Berlin",
        '{name: "Sandra Vollmering",\n address: {street: "Weg 3", zip: "1", city: "Berlin"}}',
    ],
)
def test_a_form_ties_the_place_in_it(text: str) -> None:
    parts = ("Sandra Vollmering", "PERSON"), ("Berlin", "LOCATION")
    assert left(text, *parts) == ["Sandra Vollmering", "Berlin"]


def test_a_blank_line_ends_a_form() -> None:
    text = "Name: Sandra Vollmering\n\nCapital: Berlin"
    parts = ("Sandra Vollmering", "PERSON"), ("Berlin", "LOCATION")
    assert left(text, *parts) == ["Sandra Vollmering"]


def test_a_contact_beside_a_public_name_makes_it_private() -> None:
    text = "Call Michael Jordan on 555 0199 3321."
    parts = ("Michael Jordan", "PERSON"), ("555 0199 3321", "PHONE_NUMBER")
    assert left(text, *parts) == ["Michael Jordan", "555 0199 3321"]


def test_a_surname_is_public_after_the_full_name() -> None:
    text = "Abraham Lincoln was president. Lincoln was shot."
    assert left(text, ("Abraham Lincoln", "PERSON"), ("Lincoln", "PERSON")) == []


def test_a_surname_alone_or_before_is_not() -> None:
    assert left("Miller was late.", ("Miller", "PERSON")) == ["Miller"]
    text = "Miller called me. Who was Arthur Miller?"
    assert left(text, ("Miller", "PERSON"), ("Arthur Miller", "PERSON")) == ["Miller"]


def test_a_surname_that_means_one_famous_person_is() -> None:
    assert left("Why did Diaghilev leave?", ("Diaghilev", "PERSON")) == []
    text = "Anna Diaghilev called. Diaghilev was late."
    parts = ("Anna Diaghilev", "PERSON"), ("Diaghilev", "PERSON")
    assert left(text, *parts) == ["Anna Diaghilev", "Diaghilev"]


STORIES = [
    ("Which role had {} in the French Revolution?", "Jean Bonnefoy-Testud"),
    ("Timeline of the rebellion from 1850 to 1864: what did {} do?", "Ludwig Zangerl"),
    ("Welche Rolle spielte {} im Dreißigjährigen Krieg?", "Hatzfeldt"),
    ("¿Qué hizo {} en la guerra civil?", "Largo Caballero"),
    ("Give me a list of the poets of the time, {} among them.", "Karoline Gündel"),
]


@pytest.mark.parametrize(("text", "name"), STORIES)
def test_who_is_named_in_a_passage_on_history_is_public(text: str, name: str) -> None:
    assert left(text.format(name), (name, "PERSON")) == []


@pytest.mark.parametrize(
    "more",
    [
        "My boss told {} so.",
        "Write to {}.",
        "I met {} there.",
        "Dear {}, thank you.",
        "name: {}",
        "Our teacher is {}.",
        "Mrs {} said so.",
    ],
)
@pytest.mark.parametrize(("text", "name"), STORIES)
def test_but_not_where_the_text_speaks_of_somebody(text: str, name: str, more: str) -> None:
    text = f"{text.format(name)} {more.format('Mira Holzapfel')}"
    parts = (name, "PERSON"), ("Mira Holzapfel", "PERSON")
    assert left(text, *parts) == [name, "Mira Holzapfel"]


def test_a_word_before_a_public_name_is_no_part_of_it() -> None:
    for name in ("Mention Isaac Newton", "Role of Isaac Newton", "Dlaczego Isaac Newton"):
        assert left(f"{name} is known?", (name, "PERSON")) == []
    assert left("Mira Isaac Newton", ("Mira Isaac Newton", "PERSON")) == ["Mira Isaac Newton"]


def test_a_things_type_may_be_sensitive_only_where_it_is_somebodys() -> None:
    both = frozenset(("LOCATION", "ORGANIZATION"))
    parts = ("Lindenhof GmbH", "ORGANIZATION"), ("Norddorf", "LOCATION")
    text = "Lindenhof GmbH in Norddorf makes chairs."
    assert drop_public(text, mark(text, *parts), both)[0] == ()
    text = "Mira Holzapfel of Lindenhof GmbH in Norddorf makes chairs."
    named = ("Mira Holzapfel", "PERSON"), *parts
    assert len(drop_public(text, mark(text, *named), both)[0]) == 3
    text = "I work for Lindenhof GmbH in Norddorf."
    spans = drop_public(text, mark(text, *parts), both)[0]
    assert [span.type for span in spans] == ["ORGANIZATION"]
    text = "Mira Holzapfel works for Google in Paris."
    named = ("Mira Holzapfel", "PERSON"), ("Google", "ORGANIZATION"), ("Paris", "LOCATION")
    assert [span.type for span in drop_public(text, mark(text, *named), both)[0]] == ["PERSON"]


def test_a_private_namesake_takes_the_short_name() -> None:
    for name in ("Lincoln", "Rothfuss"):
        known = "Abraham Lincoln" if name == "Lincoln" else "Patrick Rothfuss"
        text = f"{known} was late. Sandra {name} is not. {name} called."
        parts = [(known, "PERSON"), (f"Sandra {name}", "PERSON")]
        assert left(text, *parts, (name, "PERSON")) == [f"Sandra {name}", name]


def test_a_part_of_a_public_name_is_public() -> None:
    text = "the museums of New York City in winter"
    assert left(text, ("York", "LOCATION")) == []


def test_no_name_that_many_people_bear_is_public_alone() -> None:
    public = load_public()
    given = {read_key(name) for names in load_names().values() for name in names.given}
    assert given <= given_names()
    for keys in (public.persons, public.names, public.terms):
        assert keys.isdisjoint(given_names() | public.surnames)
    assert len(public.surnames) > 1000


def test_the_list_holds_keys() -> None:
    public = load_public()
    sections = [public.persons, public.names, public.terms, public.shared]
    for keys in sections:
        assert all(1 <= key.count(" ") + 1 <= LONGEST for key in keys)
        assert {key for key in keys if read_key(key) != key} == set()
    assert len(set.union(*map(set, sections))) == sum(map(len, sections))
    assert all(" " not in key for key in public.shared)


def test_the_files_match() -> None:
    data = BUNDLED_PUBLIC.with_suffix(".txt").read_bytes()
    side = json.loads(BUNDLED_PUBLIC.with_suffix(".json").read_text("utf-8"))
    assert side["sha256"] == hashlib.sha256(data).hexdigest() == load_public().sha256
    assert side["names"] == len(load_public().names)
    assert len(data) < 2_000_000
    assert "CC BY-SA 3.0" in side["licence"]


@pytest.mark.parametrize("ending", [".txt", ".json"])
def test_a_damaged_list_is_refused(tmp_path: Path, ending: str) -> None:
    for suffix in (".txt", ".json"):
        (tmp_path / f"public{suffix}").write_bytes(BUNDLED_PUBLIC.with_suffix(suffix).read_bytes())
    file = tmp_path / f"public{ending}"
    file.write_bytes(file.read_bytes().replace(b"einstein", b"epstein", 1)[:-2])
    with pytest.raises(VocabularyError, match=r"public\.txt"):
        load_public.__wrapped__(tmp_path / "public")


def test_the_list_is_read_when_a_text_needs_it() -> None:
    code = (
        "from perturb.selective import public\n"
        "public.drop_public('x', [])\n"
        "assert not public.load_public.cache_info().currsize\n"
        "assert not public.given_names.cache_info().currsize\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "piece",
    [
        "Berlin ",
        "Anna ",
        "I live in Berlin. ",
        "Paris\n",
        "\n",
        "a1",
        "Pear varieties: Anna, Bo\n",
    ],
)
def test_it_takes_time_linear_in_the_text(piece: str) -> None:
    drop_public("Berlin", [Span(0, 6, "LOCATION")])  # the lists are read

    def work(length: int) -> object:
        text = (piece * length)[:length]
        places = range(0, length - 6, max(6, len(piece)))
        types = ("PERSON", "LOCATION", "EMAIL_ADDRESS")
        return drop_public(text, [Span(i, i + 6, types[i % 3]) for i in places])

    assert grows_linearly(work, 4_000, seconds=0.02)


def test_given_names_of_many_languages() -> None:
    known = {"emily", "jurgen", "francois", "jose", "giulia", "malgorzata", "mehmet", "priya"}
    assert {*known, "mohammed", "xiaoming", "анна", "siobhan", "kwame", "yuki"} <= given_names()
    assert given_names().isdisjoint({"the", "berlin", "google", "python"})


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("const u = {firstName: 'Oskar', lastName: 'Thackeray'};", "Thackeray"),
        ("<firstName>Oskar</firstName><lastName>Thackeray</lastName>", "Thackeray"),
        ('{"first_name": ["Tamsin", "Oskar"], "last_name": ["Lomak", "Thackeray"]}', "Thackeray"),
        ("SELECT * FROM users WHERE last_name LIKE 'thackeray%'", ""),
        ("const u = {firstName: 'William', lastName: 'Shakespeare'};", ""),
        ('{"first_name": "Albert", "last_name": "Einstein", "field": "physics"}', ""),
    ],
)
def test_a_public_surname_in_a_record_is_that_of_the_given_name_beside_it(
    text: str, hidden: str
) -> None:
    mechanism = get_mechanism("selective", bundled_table(), profile="people")
    found = [text[span.start : span.end] for span in mechanism.spans(text)]
    known = ("Thackeray", "thackeray", "Shakespeare", "Einstein")
    assert [word for word in found if word in known] == hidden.split()
