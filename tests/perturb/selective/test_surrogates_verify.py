"""selective: a release with surrogates is held against its text; broken ones are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import DocumentOptions, ReleaseError, Span, seeded_generator
from perturb.selective.replace import link_request, make_text_link
from perturb.selective.surrogates.names import load_names
from tests.perturb.marking import fixed, selective

GOLD = Path(__file__).parents[4] / "shared" / "data" / "pii" / "presidio_synthetic.jsonl"
EVERY = (("*", "surrogate"),)
RAW = (
    "so Anna Schmidt (anna.schmidt82@firm.de, A. Schmidt), card 4095-2609-9393-4932, "
    "phone +49 30 1234567, to DE89370400440532013000; so Peter Meier came, then Schmidt"
)


def tamper(done: Any, old: str, new: Any) -> Any:
    """Replace one replacement, in text and list alike."""
    out, end, rest, hit = "", 0, [], False
    for part in done.replaced:
        text = part.text
        if not hit and re.search(old, text):
            text, hit = re.sub(old, new, text, count=1), True
        out += RAW[end : part.start] + text
        rest.append(changed(part, text=text))
        end = part.end
    assert hit
    return changed(done, text=out + RAW[end:], replaced=tuple(rest))


def first_words(done: Any) -> tuple[str, str, str]:
    full, mail = done.replaced[0].text, done.replaced[1].text
    return (*full.split(), mail)


BROKEN: dict[str, Any] = {
    "raw name": lambda d: tamper(d, rf"^{first_words(d)[0]} \w+$", "Anna Schmidt"),
    "raw surname": lambda d: tamper(d, rf" {first_words(d)[1]}$", " Schmidt"),
    "no public name": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Xylophonia "),
    "surname as given name": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Ashford "),
    "another surrogate": lambda d: tamper(d, rf"^{first_words(d)[1]}$", other(first_words(d)[1])),
    "shared surrogate": lambda d: tamper(d, d.replaced[-2].text, d.replaced[0].text),
    "one word more": lambda d: tamper(d, rf"^{first_words(d)[0]} ", "Anna Maria "),
    "other capitals": lambda d: tamper(d, first_words(d)[0], first_words(d)[0].upper()),
    "raw initial": lambda d: tamper(d, r"^\w\. ", f"{chr(155 - ord(first_words(d)[0][0]))}. "),
    "raw address": lambda d: tamper(d, r"^.*@.*$", "anna.schmidt82@firm.de"),
    "raw domain": lambda d: tamper(d, r"@.*$", "@firm.de"),
    "unknown domain": lambda d: tamper(d, r"@.*$", "@secret.example"),
    "raw local part": lambda d: tamper(d, r"^[a-z]+\.[a-z]+(?=\d\d@)", "anna.schmidt"),
    "raw digits in it": lambda d: tamper(d, r"\d\d(?=@)", "82"),
    "raw card": lambda d: tamper(d, r"^\d{4}-.*$", "4095-2609-9393-4932"),
    "wrong check digit": lambda d: tamper(d, r"^(\d{4}-.*)(\d)$", lambda m: m[1] + flip(m[2])),
    "wrong IBAN": lambda d: tamper(d, r"^DE\d\d", lambda m: "DE" + flip(m[0][2:])),
    "another country": lambda d: tamper(d, r"^DE", "FR"),
    "raw number in other strokes": lambda d: tamper(d, r"^\d{4}-.*$", "4095 2609 9393 4932"),
    "raw phone": lambda d: tamper(d, r"^\+.*$", "+49 30 1234567"),
    "letters in it": lambda d: tamper(d, r"^\+\d", "+x"),
    "another type": lambda d: changed(
        d, replaced=(changed(d.replaced[0], type="AGE"), *d.replaced[1:])
    ),
}


def other(name: str) -> str:
    return next(n for n in load_names()["latin"].surnames if n != name)


def flip(digits: str) -> str:
    return f"{(int(digits) + 1) % 10 ** len(digits):0{len(digits)}d}"


@pytest.mark.parametrize("name", BROKEN)
def test_broken_releases_are_refused(name: str) -> None:
    perturber = selective(actions=EVERY)
    for seed in range(3):
        done = perturber.perturb(RAW, seeded_generator(seed))
        perturber.verify(RAW, done)
        with pytest.raises(ReleaseError):
            perturber.verify(RAW, BROKEN[name](done))


def test_a_release_by_another_action_is_refused() -> None:
    drawn = selective().perturb(RAW, seeded_generator(1))
    with pytest.raises(ReleaseError):
        selective(actions=EVERY).verify(RAW, drawn)
    surrogates = selective(actions=EVERY).perturb(RAW, seeded_generator(1))
    with pytest.raises(ReleaseError):
        selective().verify(RAW, surrogates)


KINDS = {  # one part of each kind
    "LOCATION": "Hamburg",
    "ORGANIZATION": "Lindenhof Logistik GmbH",
    "STREET_ADDRESS": "Hauptstraße 57, 20095 Hamburg",
    "URL": "https://firm.de/users/mholzapfel?id=4711",
    "USERNAME": "mholzapfel_82",
    "DATE_TIME": "12 May 2024",
    "DATE_OF_BIRTH": "03.02.1985",
    "PHONE_NUMBER": "+1 415 234 2671",
    "PERSON": "Markus Holzapfel",
}
TEXT = "so " + "; ".join(KINDS.values()) + "; and in Hamburg, by Lindenhof, on 2024-05-19."
SHORT = {"LOCATION": "Hamburg,", "ORGANIZATION": "Lindenhof,", "DATE_TIME": "2024-05-19"}


def place_spans() -> list[Span]:
    spans = [Span(TEXT.index(raw), TEXT.index(raw) + len(raw), t) for t, raw in KINDS.items()]
    for type_, raw in SHORT.items():
        start = TEXT.rindex(raw)
        spans.append(Span(start, start + len(raw.rstrip(",")), type_))
    return sorted(spans)


# For each kind, what may not stand in place of its surrogate.
TAMPERED: list[tuple[str, Any]] = [
    ("LOCATION", "Hamburg"),
    ("LOCATION", "Berlin"),
    ("LOCATION", lambda new: new.upper()),
    ("LOCATION", "Norvanta"),  # a firm
    ("LOCATION", "Ashcombe"),  # a surname
    ("LOCATION", lambda new: next(n for n in load_names()["latin"].places if n != new)),
    ("LOCATION", lambda new: f"{new} {new}"),
    ("ORGANIZATION", "Lindenhof Logistik GmbH"),
    ("ORGANIZATION", lambda new: new.replace("GmbH", "AG")),
    ("ORGANIZATION", lambda new: f"Lindenhof {new.split()[1]} GmbH"),
    ("ORGANIZATION", lambda new: f"{new.split()[0]} {new.split()[0]} GmbH"),
    ("ORGANIZATION", lambda new: f"{new.split()[1]} {new.split()[0]} GmbH"),
    ("ORGANIZATION", lambda new: " ".join(new.split()[1:])),
    ("ORGANIZATION", lambda new: f"Acme {new.split()[1]} GmbH"),
    ("STREET_ADDRESS", lambda new: new.replace("straße", "weg")),
    ("STREET_ADDRESS", lambda new: re.sub(r"^.*straße", "Hauptstraße", new)),
    ("STREET_ADDRESS", lambda new: re.sub(r" \d+,", " 57,", new)),
    ("STREET_ADDRESS", lambda new: re.sub(r" \d+,", " 571,", new)),
    ("STREET_ADDRESS", lambda new: re.sub(r"\d{5}", "20095", new)),
    ("STREET_ADDRESS", lambda new: re.sub(r"\w+$", "Hamburg", new)),
    ("STREET_ADDRESS", lambda new: f"{new} x"),
    ("URL", lambda new: re.sub(r"//[^/]+", "//firm.de", new)),
    ("URL", lambda new: new.replace(".example", ".com")),
    ("URL", lambda new: new.replace("https", "http")),
    ("URL", lambda new: new.replace("users", "people")),
    ("URL", lambda new: re.sub(r"\w+\?", "mholzapfel?", new)),
    ("URL", lambda new: re.sub(r"\d+$", "4711", new)),
    ("URL", lambda new: f"{new}&x=secret"),
    ("USERNAME", "mholzapfel_82"),
    ("USERNAME", lambda new: re.sub(r"^[a-z]+", "secret", new)),
    ("USERNAME", lambda new: re.sub(r"\d+$", "82", new)),
    ("DATE_TIME", "12 May 2024"),
    ("DATE_TIME", "13 May 2024"),
    ("DATE_TIME", lambda new: f"{int(new.split()[0]) % 28 + 1} {new.split(' ', 1)[1]}"),
    ("DATE_TIME", "2024-05-26"),
    ("DATE_OF_BIRTH", "03.02.1985"),
    ("DATE_OF_BIRTH", "10.02.1925"),
    ("DATE_OF_BIRTH", lambda new: new.replace(".", "/")),
    ("PHONE_NUMBER", "+1 415 234 2671"),
    ("PHONE_NUMBER", "+1 617 234 2671"),  # not reserved for fiction
    ("PHONE_NUMBER", "+1 117 555 0171"),
]


@pytest.mark.parametrize(("type_", "broken"), TAMPERED)
def test_broken_stand_ins_are_refused(type_: str, broken: Any) -> None:
    perturber = fixed(place_spans(), actions=EVERY)
    for seed in range(3):
        done = perturber.perturb(TEXT, seeded_generator(seed))
        perturber.verify(TEXT, done)
        out, end, rest = "", 0, []
        for part in done.replaced or ():
            text = part.text
            if part.type == type_ and part.start == TEXT.index(KINDS[type_]):
                text = broken if isinstance(broken, str) else broken(part.text)
                assert text != part.text
            out += TEXT[end : part.start] + text
            rest.append(changed(part, text=text))
            end = part.end
        wrong = changed(done, text=out + TEXT[end:], replaced=tuple(rest))
        with pytest.raises(ReleaseError):
            perturber.verify(TEXT, wrong)


PIECES = [
    *(
        "Anna",
        "Schmidt",
        "A.",
        "J",
        "de",
        "4095",
        "AB-12",
        "x.y@y.example",
        "anna@b.de",
        "李",
        "é",
    ),
    *(
        "😀",
        "\n",
        "  ",
        "–",
        "'s",
        ",",
        "-",
        "Анна",
        "the",
        "\ud800",
        "007",
        "GB82",
        "ß",
        "½",
        "0",
    ),
    *("GmbH", "Hauptstraße 5", "Rose Lane 12", "20095", "https://", "firm.de", "/a?b=c", "@anna"),
    *("12 May 2024", "13/05/2024", "05.12.24", "May", "2024", "42nd", "O'Brien", "555-234-1234"),
    *("M&uuml;ller", "\u0301", "\u202e", "Müller", "a1", "::1", "+49 30", "_"),
]
TYPES = [
    *("NAME", "PERSON", "EMAIL_ADDRESS", "ID", "CREDIT_CARD", "IBAN_CODE", "VAT_NUMBER", "X"),
    *("LOCATION", "STREET_ADDRESS", "ORGANIZATION", "OTHER_NAME", "CUSTOM", "URL", "USERNAME"),
    *("DATE_TIME", "DATE_OF_BIRTH", "PHONE_NUMBER", "API_KEY", "MONEY"),
]
MARK = st.tuples(st.integers(0, 60), st.integers(1, 14), st.sampled_from(TYPES))
DROPPED = DocumentOptions(oov="drop", number="drop", layout="drop")


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14),
    st.sampled_from(["", " "]),
    st.lists(MARK, max_size=5),
    st.sampled_from([DocumentOptions(), DROPPED]),
)
def test_any_text_and_any_marks_pass_their_own_verification(
    pieces: list[str],
    separator: str,
    marks: Iterable[tuple[int, int, str]],
    options: DocumentOptions,
) -> None:
    text = separator.join(pieces)
    spans = [Span(a, min(a + n, len(text)), type_) for a, n, type_ in marks if a < len(text)]
    perturber = fixed(spans, options, actions=EVERY)
    done = perturber.perturb(text, known={"Anna Schmidt": "NAME"})
    perturber.verify(text, done)
    json.dumps(done.receipt.to_dict(), allow_nan=False)


@pytest.mark.skipif(not GOLD.exists(), reason="the labelled sentences are not on this machine")
@pytest.mark.parametrize("other", ["surrogate", "value"])
def test_no_honest_release_of_the_labelled_sentences_is_refused(other: str) -> None:
    perturber = selective(actions=(("*", "surrogate"), ("DATE_TIME", "value"), ("MONEY", "keep")))
    if other == "value":
        perturber = selective(actions=(("*", "value"), ("NAME", "surrogate")))
    for seed, line in enumerate(GOLD.read_text("utf-8").splitlines()[:200]):
        text = json.loads(line)["text"]
        perturber.verify(text, perturber.perturb(text, seeded_generator(seed)))


def test_an_earlier_stand_in_stays_for_its_type_alone() -> None:
    """A name that was a person's is no place's: a release that mixed them would be refused."""
    text = "Washington met Washington"
    noise = make_text_link(seeded_generator(3))
    for type_, earlier, stays in (
        ("PERSON", "Padstoke", True),
        ("LOCATION", "Padstoke", False),
        ("ORGANIZATION", "PERSON_4170", False),
    ):
        pairs = [(earlier, "Washington")]
        known = {("PERSON", "Washington"): earlier}
        link = link_request(noise, [text], pairs, earlier=known)
        perturber = fixed([Span(0, 10, type_), Span(15, 25, type_)], actions=EVERY)
        done = perturber.perturb(text, link=link)
        perturber.verify(text, done)
        assert all((part.text == earlier) == stays for part in done.replaced or ())
