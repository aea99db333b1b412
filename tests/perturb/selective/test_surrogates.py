"""selective: surrogates of the same form, one for each person, number and address."""

from __future__ import annotations

import ipaddress
import re
from itertools import islice, product
from operator import itemgetter
from typing import Any

import numpy as np
import pytest

from perturb import Perturber, Span, seeded_generator
from perturb.selective.patterns import SHIPPED, dates, people, words
from perturb.selective.patterns.checks import (
    has_national_check,
    has_vat_check,
    is_iban,
    passes_luhn,
)
from perturb.selective.patterns.contact import is_ip_address
from perturb.selective.patterns.given import list_given, sex_of
from perturb.selective.public import given_names, load_public
from perturb.selective.replace import make_text_link
from perturb.selective.surrogates import phrases
from perturb.selective.surrogates.forms import read_form
from perturb.selective.surrogates.names import load_names, names_digest, read_script
from perturb.selective.surrogates.permute import permute
from perturb.selective.surrogates.writer import SurrogateWriter
from perturb.selective.values import MONTHS
from perturb.selective.verify import find_parts
from perturb.testing.growth import grows_linearly
from perturb.testing.statistics import ALPHA, p_value
from perturb.text.fold import fold_name
from perturb.vocabulary.exclusions import excluded_strings
from perturb.vocabulary.frequencies import common_words
from perturb.vocabulary.word_list import dictionary_words, load_word_list
from perturb.vocabulary.words import load_vocabulary
from tests.perturb.marking import fixed, selective

EVERY = (("*", "surrogate"),)
LINK = make_text_link(seeded_generator(5))


def is_fictional(phone: str) -> bool:
    """Tell if a telephone number is reserved for fiction."""
    return re.search(r"55501\d\d$|7700900\d{3}$", re.sub(r"\D", "", phone)) is not None


def is_private(address: str) -> bool:
    return ipaddress.ip_address(address).is_private


def is_internal(host: str) -> bool:
    return host.endswith(".internal")


NUMBERS = [
    ("CREDIT_CARD", "4095-2609-9393-4932", passes_luhn),
    ("CREDIT_CARD", "378282246310005", passes_luhn),
    ("IBAN_CODE", "GB82 WEST 1234 5698 7654 32", is_iban),
    ("IBAN_CODE", "DE89370400440532013000", is_iban),
    ("NATIONAL_ID", "36574261809", has_national_check),
    ("NATIONAL_ID", "1 85 05 78 006 084 91", has_national_check),
    ("NATIONAL_ID", "12345678Z", has_national_check),
    ("NATIONAL_ID", "RSSMRA85T10A562S", has_national_check),
    ("NATIONAL_ID", "111222333", has_national_check),
    ("VAT_NUMBER", "DE136695976", has_vat_check),
    ("VAT_NUMBER", "FR40303265045", has_vat_check),
    ("US_SSN", "078-05-1120", bool),
    ("PHONE_NUMBER", "+49 (0)30 1234567", bool),
    ("IP_ADDRESS", "192.168.1.10", is_private),
    ("INTERNAL_HOST", "91.198.174.192", is_ip_address),
    ("PRIVATE_ADDRESS", "10.137.16.164", is_private),
    ("PRIVATE_ADDRESS", "172.31.206.254", is_private),
    ("INTERNAL_HOST", "db01.corp.internal", is_internal),
    ("IP_ADDRESS", "2a01:4f8::fe23:4567:890a", bool),
    ("MAC_ADDRESS", "0A:1B:2C:3D:4E:5F", bool),
    ("ZIP_CODE", "SW1A 1AA", bool),
    ("CASE_NUMBER", "18403/91", bool),
    ("PHONE_NUMBER", "(415) 234-2671", is_fictional),
    ("PHONE_NUMBER", "+1 415 234 2671", is_fictional),
    ("PHONE_NUMBER", "+44 7911 123456", is_fictional),
    ("PHONE_NUMBER", "07911 123456", is_fictional),
    ("ID", "AB-0471", bool),
    ("NUMBER", "7", bool),
]


def release(text: str, seed: int = 1, **more: Any) -> Any:
    perturber = selective(actions=EVERY)
    done = perturber.perturb(text, seeded_generator(seed), **more)
    perturber.verify(text, done)
    return done


def parts(text: str, seed: int = 1, **more: Any) -> list[str]:
    return [part.text for part in release(text, seed, **more).replaced]


def write_given(words: list[str], seed: int = 1) -> str:
    link = make_text_link(seeded_generator(seed))
    writer = SurrogateWriter(link, [("PERSON", " ".join(words))], {})
    made = writer.write_person(words, [" "] * (len(words) - 1))
    assert made is not None
    return made[0]


def write(type_: str, raw: str, seed: int = 1) -> str:
    writer = SurrogateWriter(make_text_link(seeded_generator(seed)), [(type_, raw)], {})
    out = writer.write_form(type_, raw)
    assert out is not None
    return out


class TestNumbers:
    @pytest.mark.parametrize(("type_", "raw", "check"), NUMBERS)
    def test_the_form_and_the_check_digits_stay(self, type_: str, raw: str, check: Any) -> None:
        kinds = str.maketrans(dict.fromkeys("0123456789", "9"))
        for seed in range(20):
            new = write(type_, raw, seed)
            assert new != raw
            assert check(new)
            if ":" not in raw:
                assert re.sub("[A-Z]", "A", re.sub("[a-z]", "a", new.translate(kinds))) == re.sub(
                    "[A-Z]", "A", re.sub("[a-z]", "a", raw.translate(kinds))
                )
            assert [c for c in new if not c.isalnum()] == [c for c in raw if not c.isalnum()]
            assert (
                any(  # some need a word before them
                    text[start:end] == new
                    for text in (
                        new,
                        f"BSN {new}",
                        f"host {new}",
                        f"host={new}",
                    )
                    for shape in SHIPPED
                    if shape.type in (type_, "INTERNAL_HOST", "PRIVATE_ADDRESS", "IP_ADDRESS")
                    for start, end in shape.find(text)
                )
                or type_ in ("NUMBER", "ZIP_CODE")
            )

    @pytest.mark.parametrize(("type_", "raw", "check"), NUMBERS)
    def test_it_is_the_same_under_one_link_and_another_under_others(
        self, type_: str, raw: str, check: Any
    ) -> None:
        del check
        made = [write(type_, raw, seed) for seed in range(12)]
        assert made == [write(type_, raw, seed) for seed in range(12)]
        assert len(set(made)) > (3 if raw != "7" else 1)

    def test_grouping_does_not_matter(self) -> None:
        dashed, plain = parts("card 4095-2609-9393-4932, card 4095260993934932")
        assert dashed.replace("-", "") == plain
        one, two = parts("to GB82 WEST 1234 5698 7654 32 or GB82WEST12345698765432")
        assert one.replace(" ", "") == two

    @pytest.mark.parametrize("sizes", [(10,), (3,), (10, 10), (2, 3, 5), (9, 10, 10), (26, 10, 7)])
    def test_a_permutation_reaches_every_string_once(self, sizes: tuple[int, ...]) -> None:
        alphabets = ["abcdefghijklmnopqrstuvwxyz"[:size] for size in sizes]
        texts = [""]
        for alphabet in alphabets:
            texts = [text + c for text in texts for c in alphabet]
        first = [next(permute(t, alphabets, LINK, "x")) for t in texts]
        assert all(a != b for a, b in zip(texts, first, strict=True))
        assert sorted(first) == sorted(texts)
        assert sorted(permute(texts[0], alphabets, LINK, "x")) == sorted(texts[1:])

        def passes(text: str) -> bool:
            return sum(map(ord, text)) % 2 == 0

        even = [t for t in texts if passes(t)]
        if len(even) > 1:
            walked = [next(permute(t, alphabets, LINK, "x", passes)) for t in even]
            assert sorted(walked) == sorted(even)
            assert all(a != b for a, b in zip(even, walked, strict=True))

    def test_one_character_does_not_tell_how_others_are_mapped(self) -> None:
        digits = "0123456789"
        links = [make_text_link(seeded_generator(seed)) for seed in range(30)]
        made = {tuple(next(permute(c, [digits], link, "x")) for c in digits) for link in links}
        assert len(made) == 30

    def test_many_numbers_of_one_text_stay_apart(self) -> None:
        text = " and ".join(f"no. 4711{i:04d}" for i in range(1000))
        done = release(text)
        numbers = re.findall(r"\d{5,}", done.text)
        assert len(set(numbers)) == 1000
        assert not set(numbers) & set(re.findall(r"\d{5,}", text))

    def test_many_telephone_numbers_of_one_area_stay_apart(self) -> None:
        """They become numbers that are reserved for fiction, of which an area has a hundred."""
        raws = [f"+1 415 555 {i:04d}" for i in range(0, 10_000, 4)]
        writer = SurrogateWriter(LINK, [("PHONE_NUMBER", raw) for raw in raws], {})
        made = {writer.write_form("PHONE_NUMBER", raw) for raw in raws}
        assert len(made) == len(raws)
        assert all(map(is_fictional, made))

    def test_different_cards_have_different_surrogates_in_all_texts(self) -> None:
        cards = [f"40952609{i:07d}{d}" for i in range(300) for d in range(10)]
        cards = [card for card in cards if passes_luhn(card)]
        made = set()
        for card in cards:  # each in a text of its own
            made.add(SurrogateWriter(LINK, [], {}).write_form("CREDIT_CARD", card))
        assert len(made) == len(cards) == 300
        assert all(map(passes_luhn, made))

    @pytest.mark.parametrize(
        ("raw", "code"),
        [
            ("+49 30 23125441", "+49 "),
            ("+49 (0)30 23125441", "+49 (0)"),
            ("0049 30 2312 5441", "0049 "),
            ("+353 1 472 0589", "+353 "),
            ("+7 916 555-21-43", "+7 "),
            ("+420 602 123 456", "+420 "),
            ("(+43) 664 1234567", "("),
        ],
    )
    def test_a_telephone_number_keeps_its_country(self, raw: str, code: str) -> None:
        """A code that no country has shows that a number is none."""
        for seed in range(5):
            made = write("PHONE_NUMBER", raw, seed)
            assert made.startswith(code)
            assert made[len(code)] == raw[len(code)] or made[len(code)] != "0"
            assert re.sub("[0-9]", "0", made) == re.sub("[0-9]", "0", raw)
            assert made[len(code) :] != raw[len(code) :]

    def test_a_telephone_number_is_one_with_and_without_its_country(self) -> None:
        raws = ("+49 30 23125441", "0049 (0)30 2312 5441", "+49 (0)30/23125441", "030 23125441")
        made = {re.sub("[^0-9]", "", write("PHONE_NUMBER", raw))[-8:] for raw in raws}
        assert len(made) == 1

    def test_what_has_no_form_gets_a_tag(self) -> None:
        assert read_form("ID", "０１") is None
        assert read_form("ID", "0-0") is None
        assert read_form("CUSTOM", "Блюберд") is None
        mechanism = selective(actions=EVERY, deny=("Блюберд",), policy="digits")
        done = mechanism.perturb("then Блюберд came")
        assert done.receipt.actions == {"tag": {"CUSTOM": 1}}

    @pytest.mark.statistical
    def test_drawn_digits_are_spread_evenly(self) -> None:
        counts = np.zeros((4, 10))
        for seed in range(5000):
            for place, c in enumerate(write("ID", "AB-4711", seed)[3:]):
                counts[place, int(c)] += 1
        assert counts[0, 0] == 0
        assert p_value(counts[0, 1:], np.full(9, 5000 / 9)) > ALPHA
        for row in counts[1:]:
            assert p_value(row, np.full(10, 500.0)) > ALPHA
        assert p_value(counts[0], np.full(10, 500.0)) < ALPHA  # a control


class TestPersons:
    TEXT = (
        "We know Anna Schmidt. Then Schmidt's letter came, from A. Schmidt, and ANNA SCHMIDT and "
        "anna said so. Peter Schmidt wrote from anna.schmidt82@firm.de, a.schmidt@firm.de, "
        "aschmidt@firm.de, schmidta@other.org, peter@firm.de and p.schmidt@firm.de."
    )

    def test_one_person_has_one_surrogate_in_every_form(self) -> None:
        for seed in range(10):
            done = release(self.TEXT, seed)
            found = re.fullmatch(
                r"We know (\w+) (\w+)\. Then (\w+)'s letter came, from (\w)\. (\w+), and "
                r"(\w+) (\w+) and (\w+) said so\. (\w+) (\w+) wrote from "
                r"(\w+)\.(\w+)\d\d@(\w+)\.example, "
                r"(\w)\.(\w+)@(\w+)\.example, (\w+)@(\w+)\.example, (\w+)@(\w+)\.example, "
                r"(\w+)@(\w+)\.example and (\w)\.(\w+)@(\w+)\.example\.",
                done.text,
            )
            assert found is not None
            given, name = found[1], found[2]
            assert {found[3], found[5], found[10]} == {name}
            assert found[4] == given[0]
            assert (found[6], found[7]) == (given.upper(), name.upper())
            assert found[8] == given.lower()
            peter = found[9].lower()
            assert peter != given.lower()
            low = name.lower()
            assert (found[11], found[12]) == (given.lower(), low)
            assert (found[14], found[15]) == (given[0].lower(), low)
            assert found[17] == given[0].lower() + low
            assert found[19] == low + given[0].lower()
            assert found[21] == peter
            assert (found[23], found[24]) == (peter[0], low)
            assert found[13] == found[16] == found[18] == found[22] == found[25] != found[20]
            assert not find_parts(["Anna", "Schmidt", "Peter", "firm"], done.text)

    def test_one_person_is_the_same_in_all_texts_of_a_link(self) -> None:
        perturber = selective(actions=EVERY)
        (full,) = perturber.perturb("so Anna Schmidt", link=LINK).replaced or ()
        known = perturber.findings("so Anna Schmidt")
        (last,) = perturber.perturb("so schmidt", link=LINK, known=known).replaced or ()
        (mail,) = perturber.perturb("to anna.schmidt@x.org", link=LINK).replaced or ()
        given, name = full.text.lower().split()
        assert last.text == name
        assert mail.text.startswith(f"{given}.{name}@")

    def test_the_full_names_of_other_texts_tell_what_a_word_is(self) -> None:
        perturber = selective(actions=EVERY)
        first = "so Xylander Wutke came, and Peter Meier"
        (full, _) = perturber.perturb(first, link=LINK).replaced or ()
        known = perturber.index_known(perturber.findings(first))
        text = "so X. Wutke wrote, then Xylander"
        here = perturber.known_in(text, known)
        assert "Xylander Wutke" in here
        assert "Peter Meier" not in here
        short, alone = perturber.perturb(text, link=LINK, known=here).replaced or ()
        given, name = full.text.split()
        assert short.text == f"{given[0]}. {name}"
        assert alone.text == given
        assert "Xylander Wutke" not in selective().known_in(text, known)

    def test_accents_and_umlauts_are_one_person(self) -> None:
        made = parts(
            "so Jörg Müller, Muller, MÜLLER: joerg.mueller@x.de, jorg.muller@x.de, "
            "jörg.müller@x.de"
        )
        assert (
            len({fold_name(part.split()[-1].split("@")[0].split(".")[-1]) for part in made}) == 1
        )
        assert made[-1] == made[-2]

    @pytest.mark.parametrize(
        ("text", "number"),
        [
            ("so Cengiz Yıldırım, CENGIZ YILDIRIM, cengiz.yildirim@x.de", 3),
            ("so Łukasz Żółć, LUKASZ ZOLC, lukasz.zolc@x.pl", 3),
            ("so Søren Ødegård, Soren Odegard, soren.odegard@x.no", 3),
            # Both spellings, and a letter with the name: `joerg` is written for either.
            ("so Jörg Strauß, jstrauss@x.de, Joerg Strauss", 3),
        ],
    )
    def test_letters_with_strokes_are_those_without(self, text: str, number: int) -> None:
        made = parts(text)
        assert len(made) == number
        words = [re.findall(r"[a-z]+", part.split("@")[0].lower()) for part in made]
        assert len({name[-1][-4:] for name in words}) == 1

    def test_another_script_has_names_of_its_own(self) -> None:
        (part,) = parts("потом Анна Коваленко пришла")
        first, last = part.split()
        assert first in load_names()["cyrillic"].given
        assert last in load_names()["cyrillic"].surnames
        perturber = fixed([Span(0, 2, "NAME")], actions=EVERY)
        done = perturber.perturb("李明 came")  # there are no names
        perturber.verify("李明 came", done)
        assert done.receipt.actions == {"tag": {"NAME": 1}}

    @pytest.mark.parametrize(
        ("name", "form"),
        [
            ("Schmidt, Anna", r"(?P<last>\w+), (?P<first>\w+)"),
            ("Anna Meier-Schmidt", r"(?P<first>\w+) \w+-(?P<last>\w+)"),
            ("Anna de Schmidt", r"(?P<first>\w+) de (?P<last>\w+)"),
            ("Anna van der Schmidt", r"(?P<first>\w+) van der (?P<last>\w+)"),
            ("van der Schmidt, Anna", r"van der (?P<last>\w+), (?P<first>\w+)"),
            ("Van Schmidt", r"(?P<first>(?!Van)\w+) (?P<last>\w+)"),  # a given name
            ("Anna\nSchmidt", r"(?P<first>\w+)\n(?P<last>\w+)"),
            ("J. R. Schmidt", r"(?P<first>[A-Z])\. [A-Z]\. (?P<last>\w+)"),
        ],
    )
    def test_names_are_read_in_many_forms(self, name: str, form: str) -> None:
        perturber = fixed([Span(0, len(name), "PERSON")], actions=EVERY)
        for seed in range(5):
            done = perturber.perturb(name, seeded_generator(seed))
            perturber.verify(name, done)
            found = re.fullmatch(form, done.text)
            assert found is not None
            names = load_names()["latin"]
            assert names.role_of(found["last"]) == "surname"
            assert len(found["first"]) == 1 or names.role_of(found["first"]) == "given"

    @pytest.mark.parametrize("script", ["latin", "cyrillic"])
    def test_a_given_name_keeps_its_sex(self, script: str) -> None:
        """All that the lists know: those that are drawn, and those that are only read."""
        names = load_names()[script]
        listed = [name for name in list_given() if read_script(name) == script and sex_of(name)]
        known = {**dict.fromkeys(names.women, "f"), **dict.fromkeys(names.men, "m")}
        for name in listed:
            known.setdefault(name, sex_of(name))
        assert len(known) > (10_000 if script == "latin" else 100)
        drawn = {"f": set(names.women), "m": set(names.men)}
        last = {"latin": "Xyland", "cyrillic": "Ёлкин"}[script]
        for name, sex in known.items():
            assert write_given([name, last]) in drawn[sex], name

    def test_a_name_of_both_gets_either(self) -> None:
        names = load_names()["latin"]
        found = {write_given(["Kim"], seed) for seed in range(40)}  # of one sex alone: 2^-39
        assert found & set(names.women)
        assert found & set(names.men)

    def test_many_persons_stay_apart(self) -> None:
        raws = [f"{g} {s}" for g, s in zip(first_given(400), unusual(400), strict=True)]
        text = "so " + "; so ".join(raws)
        spans = [
            Span(m.start(), m.end(), "PERSON") for m in re.finditer(r"[A-Z]\w+ [A-Z]\w+", text)
        ]
        perturber = fixed(spans, actions=EVERY)
        done = perturber.perturb(text)
        perturber.verify(text, done)
        made = [part.text.split() for part in done.replaced or ()]
        assert len({first for first, _ in made}) == len({last for _, last in made}) == 400
        assert not {last for _, last in made} & {raw.split()[1] for raw in raws}

    def test_more_persons_than_there_are_names_stay_apart(self) -> None:
        """A customers' list: their given names are several times as many as those drawn."""
        given = sorted(name.title() for name in given_names() if name.isascii())[:4000:2]
        lasts = [a + b.lower() for a, b in product(unusual(45), unusual(45))]
        raws = list(zip(given, lasts[:2000], strict=True))
        writer = SurrogateWriter(LINK, [("PERSON", " ".join(raw)) for raw in raws], {})
        made = [writer.write_person(raw, [" "]) or [] for raw in raws]
        assert len(set(map(itemgetter(0), made))) == len(set(map(itemgetter(1), made))) == 2000

    def test_a_surrogate_is_no_raw_name_of_the_text(self) -> None:
        raw = set(load_names()["latin"].given[:40])
        names = " and ".join(f"so {name} came" for name in raw)
        spans = [Span(m.start(), m.end(), "PERSON") for m in re.finditer(r"[A-Z]\w+", names)]
        perturber = fixed(spans, actions=EVERY)
        for seed in range(5):
            done = perturber.perturb(names, seeded_generator(seed))
            assert not {p.text for p in done.replaced or ()} & set(
                load_names()["latin"].given[:40]
            )

    def test_a_surrogate_shows_no_raw_name_of_the_text(self) -> None:
        """`Roberta` would show `Robert`."""
        given = load_names()["latin"].given
        shown = [n for n in given if any(m != n and m.lower() in n.lower() for m in given)]
        inside = {m for n in shown for m in given if m != n and m.lower() in n.lower()}
        assert inside
        text = " and ".join(f"so {name} came" for name in sorted(inside))
        spans = [Span(m.start(), m.end(), "PERSON") for m in re.finditer(r"[A-Z]\w+", text)]
        for seed in range(20):
            done = fixed(spans, actions=EVERY).perturb(text, seeded_generator(seed))
            for part in done.replaced or ():
                assert not any(name.lower() in part.text.lower() for name in inside)

    def test_addresses_without_a_name_are_no_raw_text_either(self) -> None:
        (part,) = parts("mail info-99.de_x+news@mail.firm.co.uk now")
        assert re.fullmatch(r"[a-z]+-\d\d\.[a-z]+_[a-z]\+[a-z]+@[a-z]+\.example", part)
        assert "info" not in part


def ordinary_words() -> frozenset[str]:
    """Words that no name may be: those that our lists have in small letters, in English, German,
    French and Spanish, peoples and religions, months and days of the week."""
    vocabulary = load_vocabulary("clean")
    sources = {name for names in MONTHS for name in names}
    sources.update(re.findall(r"[^\W\d_]+", f"{people._PEOPLES} {people._PEOPLES_ELSEWHERE}"))
    sources.update(re.findall(r"[^\W\d_]+", f"{people._PROFESSIONS} {people.TITLES}"))
    sources.update(re.findall(r"[^\W\d_]+", " ".join(dates._WEEKDAY_LISTS)))
    sources.update(word for name in words.__all__ for word in getattr(words, name))
    sources.update(phrases.FIRM_WORDS, phrases.INSTITUTION_WORDS, phrases.PATH_WORDS)
    sources.update(phrases.PLACE_WORDS, phrases.SMALL_WORDS, phrases.STREET_ENDS)
    return (
        frozenset(fold_name(word) for word in sources)
        | dictionary_words()
        | common_words(vocabulary)
        | excluded_strings()
    )


class TestNames:
    @pytest.mark.parametrize("script", sorted(load_names()))
    def test_the_lists_are_public_and_apart(self, script: str) -> None:
        names = load_names()[script]
        every = [name for some in names.by_role.values() for name in some]
        assert len({name.casefold() for name in every}) == len(every)
        assert not {name.casefold() for name in every} & excluded_strings()
        assert all(name.isalpha() and name.istitle() for name in every)
        assert len(load_names()["latin"].surnames) > 2000
        assert len(load_names()["latin"].places) > 1000
        assert len(load_names()["latin"].firms) > 700
        assert len(names_digest()) == 64

    def test_no_name_is_an_ordinary_word(self) -> None:
        names, ordinary = load_names()["latin"], ordinary_words()
        assert {"river", "brown", "stone", "christian", "german", "mai", "montag"} <= ordinary
        for some in names.by_role.values():
            assert not {name.casefold() for name in some} & ordinary
            assert all(len(name) >= 4 for name in some)
        assert not names.read & {name.casefold() for name in names.given}

    def test_no_coined_name_is_known(self) -> None:
        """None is a word of the list, in any capitals, a well-known person, place, firm or term,
        a given name, or one token of the tokenizer."""
        names = load_names()["latin"]
        known = {word.lower() for word in load_word_list().words}
        known |= {word.lower() for word in load_vocabulary("clean").ascii_words}
        public = load_public()
        known |= public.persons | public.names | public.terms | public.shared | given_names()
        assert {"stanford", "melbourne", "hamburg", "albert einstein", "ashbourne"} <= known
        for role in ("surname", "place", "firm"):
            assert not {name.lower() for name in names.by_role[role]} & known

    def test_a_broken_list_would_be_noticed(self) -> None:
        for word in ("May", "Rose", "Mark", "Will", "Hope", "Bill", "Grace", "Art", "King"):
            assert word.casefold() in ordinary_words()

    def test_roles(self) -> None:
        names = load_names()["latin"]
        assert names.role_of("ANNA") == names.role_of("Annamartin") == "given"
        assert names.role_of("Ashcombe") == names.role_of("Ashcombekirkfold") == "surname"
        assert names.role_of("Talhaven") == names.role_of("Annaashbourne") == ""
        assert names.role_of("Schmidt") == names.role_of("Maria") == names.role_of("Ashford") == ""
        assert names.role_of("Velhaven") == names.role_of("Velhavenarnvik") == "place"
        assert names.role_of("Norvanta") == names.role_of("NORVANTA") == "firm"
        assert names.is_given("maria")
        assert names.is_given("anna")
        assert not names.is_given("velhaven")


def first_given(n: int) -> list[str]:
    return list(load_names()["latin"].given[:n])


def unusual(n: int) -> list[str]:
    return list(
        islice((f"Q{a}{b}o{c}x" for a in "aeiou" for b in "bdfgklmnp" for c in "bdfgklmnp"), n)
    )


# -- what it says and costs -----------------------------------------------------------------


def test_the_receipt_claims_nothing_for_surrogates() -> None:
    done = release("so Anna Schmidt, card 4095-2609-9393-4932")
    receipt = done.receipt
    assert receipt.actions == {"surrogate": {"CREDIT_CARD": 1, "NAME": 1}}
    assert receipt.entities == {"CREDIT_CARD": 1, "NAME": 1}
    assert receipt.released == 0
    assert receipt.unbounded > 10  # every token of them, and the rest
    assert "without an ε" in receipt.treatment["surrogate"]
    assert "no guarantee and no ε" in receipt.statement
    words = selective(actions=(("*", "replace"),))
    plain = words.perturb("so Anna Schmidt, card 4095-2609-9393-4932").receipt
    assert "surrogate" not in plain.treatment
    assert plain.unbounded < receipt.unbounded


def test_identities_tell_the_lists_apart() -> None:
    assert selective(actions=EVERY).identity()["names"] == names_digest()
    assert "names" not in selective().identity()


def test_a_public_name_is_no_secret_that_no_release_holds() -> None:
    raw = "so Wolfgang Ashcombe"
    perturber = selective(actions=EVERY)
    done = perturber.perturb(raw)
    assert perturber.secrets(raw, done, unrepeatable=True) == ()
    assert perturber.secrets(raw, done) == ("Wolfgang Ashcombe",)
    plain = selective()
    assert plain.secrets(raw, plain.perturb(raw), unrepeatable=True) == ("Wolfgang Ashcombe",)


@pytest.mark.parametrize("unit", ["Anna Schmidt, ", "a.schmidt@x.de ", "Aa-", "4711, "])
def test_the_time_is_linear_in_the_text(unit: str) -> None:
    text = unit * 4000
    spans = [Span(i, i + len(unit) - 2, "PERSON") for i in range(0, len(text), len(unit))]
    mails = [s._replace(type="EMAIL_ADDRESS" if "@" in unit else s.type) for s in spans]

    def work(length: int) -> None:
        some = mails[: length // len(unit)]
        perturber: Perturber = fixed(some, actions=EVERY)
        done = perturber.perturb(text[:length])
        perturber.verify(text[:length], done)

    assert grows_linearly(work, len(text) // 4, seconds=10.0)
