"""The shipped types, in several languages: what is marked, what is left, and at what cost."""

from __future__ import annotations

import random
import re

import pytest

from perturb import get_mechanism
from perturb.selective.patterns import find_names, shape_types
from perturb.selective.patterns.checks import (
    has_national_check,
    has_vat_check,
    is_iban,
    passes_luhn,
)
from perturb.selective.patterns.shape import any_of
from perturb.selective.patterns.tables import CELL_TYPES
from perturb.selective.policies import PatternPolicy, settle
from perturb.testing import PolicyContract
from perturb.testing.growth import grows_linearly
from tests.perturb.marking import WORDS
from tests.perturb.selective.test_policies import MARKED
from tests.tables import bundled_table

SHIPPED = PatternPolicy.shipped()
NAMES = ("NAME", "PERSON")
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0B\n-----END PRIVATE KEY-----"

# type: texts with the marked part in brackets
BY_TYPE = {
    "DURATION": """
        he served [two years and three months] of it
        after [eighteen months and ten days] there
        a [three-year] lease
        for [two and a half years]
        within [14 days] of it
        nach [zwei Jahren und drei Monaten] dort
        nach [vierzehn Tagen] dort
        pendant [deux ans et trois mois] ici
        durante [dos años y tres meses] allí
    """,
    "MONEY": """
        it cost [EUR 1,300] then
        it cost [30,000,000,000 Turkish liras (TRL)] then
        it cost [4,393 pounds sterling (GBP)] then
        it cost [33,658 Austrian Schillings (ATS)] then
        it cost [£3m] then
        it cost [five thousand dollars] then
        it cost [two hundred and fifty euros] then
        es waren [zweihundert Euro] zu viel
        es waren [2.000 €] zu viel
        pour [deux mille euros] en tout
        por [3 millones de coronas suecas] en total
        por [35 . 000 SEK] en total
    """,
    "PERCENTAGE": """
        [37 %] of it
        [4.5%] of it
        some [twelve per cent] of it
        etwa [20 Prozent] davon
        soit [dix pour cent] en tout
        un [5 por ciento] de todo
    """,
    "QUANTITY": """
        it weighs [82 kg] now
        he is [1.82 metres] tall
        at [26 km/h] there
        some [800 litres] of it
    """,
    "AGE": """
        a woman aged [43] came
        a [43]-year-old woman
        she is [forty-three] years old
        a girl of [9] years of age
        eine [43]-jährige Frau
        sie ist [43] Jahre alt
        im Alter von [43] starb er
        âgé de [43 ans] alors
        tenía [43] años de edad
    """,
    "PROFESSION": """
        he worked as a [primary school teacher] there
        she is a [civil servant] now
        er ist [Rechtsanwalt] dort
        elle est [avocate] ici
        trabaja como [taxista] allí
    """,
    "NRP": """
        a [Cypriot] national
        she is [Catholic] by birth
        eine [türkische] Staatsangehörige
        un ciudadano [irlandés] de aquí
        une ressortissante [française] ici
    """,
    "TITLE": """
        then [Mrs]. Smith came
        then [Dr] Smith came
        dann kam [Frau] Schmidt dazu
        luego vino la [Sra]. Ruiz también
    """,
    "CASE_NUMBER": """
        the application no. [18403/91] was
        the applications nos. [4/05 and 17/06] were
        Urteil vom Az. [1 BvR 123/08] sagt
        laut [VII ZR 12/05] gilt
        the docket [1:19-cv-01234-ABC] says
        as in [[2001] UKHL 26] it was
        la demanda [74025 / 01] fue
    """,
    "DATE_TIME": """
        am [12. Mai 2024] war
        am [12. 5. 2024] war
        um [14.30 Uhr] war
        le [1er janvier 2020] fut
        el [5 de julio de 2001] fue
        en [julio de 2001] fue
        on [3-5 May 2001] we
        on [18 and 22 June 1998] we
        am [Dienstag] war
    """,
    "STREET_ADDRESS": """
        lives at [1600 Pennsylvania Avenue] there
        lives at [12 old mill lane] there
        wohnt [Hauptstraße 12a, 10115 Berlin] dort
        wohnt [Berliner Straße 5] dort
        wohnt [Am Markt 3] dort
        habite [12 rue de la Paix, 75002 Paris] ici
        habite [5 bis, avenue des Champs-Élysées] ici
        vive en [Calle de Alcalá 45, 28014 Madrid] allí
        abita in [Via Roma 12] da
        woont [Kerkstraat 12] daar
    """,
    "PHONE_NUMBER": """
        call [+33 1 42 68 53 00] or
        call [01 42 68 53 00] or
        call [030/901820] or
        call [+34 912 34 56 78] or
        call [020 7946 0958] or
        or [+1-415-555-0132] or
        or [(212) 555-0134 x12] or
        or [415.555.0132] or
        or [0171/2345678] or
        or [0641 / 88 20 17] or
        or [+41 (0)85 806 98 67] or
        or [8 (905) 218-44-07] or
        or [98450 31177] or
        or [985 04 71 36] or
        reach me on my mobile: [601 774 209] or
        Durchwahl [23125 611] or
        please call [555-0134] or
        answering at [78 651 450] or
    """,
    "VAT_NUMBER": """
        the firm [DE136695976] pays
        the firm [FR40303265045] pays
        the firm [IT00743110157] pays
        the firm [GB 980 7806 84] pays
    """,
    "NATIONAL_ID": """
        the number [36574261809] is
        the number [12345678Z] is
        the number [X1234567L] is
        the number [RSSMRA85T10A562S] is
        the number [AB123456C] is
        the number [943 476 5919] is
        the number [44051401359] is
        the BSN is [111222333] in
        NHS number [9434765919] in
        the number [1 51 02 46 102 043 25] is
    """,
    "API_KEY": """
        with [sk-proj-abcdefghijklmnop1234567890] in
        with [sk-ant-api03-AbCdEfGhIjKlMnOpQrSt_uv-wx] in
        with [AKIAIOSFODNN7EXAMPLE] in
        with [ghp_abcdefghijklmnopqrstuvwxyz0123456789] in
        with [xoxb-123456789012-abcdefghij] in
        with [AIzaSyA-1234567890abcdefghijklmnopqrstu] in
        with [eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl] in
        header Authorization: Bearer [abcdef0123456789abcdef] in
    """,
    "PASSWORD": """
        with password: [hunter2x] in
        with "api_key": "[f00dbabe99]" in
        with DB_PASSWORD=[hunter2x] in
        from postgres://admin:[s3cr3t]@db/orders in
    """,
    "PRIVATE_KEY": f"the key [{KEY}] is",
    "US_SSN": "ssn [078-05-1120] is",
    "ACCOUNT_NUMBER": """
        the customer number [8831770] is
        the card ends in [0912] now
    """,
    "PRIVATE_ADDRESS": "both [10.6.3.19] again",
    "COORDINATES": "the house is at [52.520008, 13.404954] there",
    "CRYPTO": "my wallet is [0x52908400098527886E0F7030069857D2E4169EE7] now",
    "DIAGNOSIS_CODE": "the diagnosis: [J45.20] again",
    "PUBLIC_KEY": "ssh-rsa [AAAAB3NzaC1yc2EAAAADAQABAAABgQDXQrv9Lw2mHk7pPz3T]",
}


def cases() -> list[tuple[str, str, str]]:
    found = []
    for type_, texts in BY_TYPE.items():
        for line in [texts] if KEY in texts else texts.strip().splitlines():
            before, _, rest = line.strip().partition("[")
            part, _, after = rest.rpartition("]")
            found.append((f"{before}{part}{after}", part, type_))
    return found


def marks(text: str, policy: PatternPolicy = SHIPPED) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.type) for s in settle(text, policy.find(text))]


@pytest.mark.parametrize(("text", "part", "type_"), cases())
def test_a_part_is_marked_with_its_type(text: str, part: str, type_: str) -> None:
    named = {"Authorization", "Urteil", "DB"}
    assert [(part, type_)] == [m for m in marks(text) if m[0] not in named and m[1] not in NAMES]


def test_every_type_is_tried() -> None:
    tried = {type_ for _, _, type_ in cases()} | {type_ for _, _, type_ in MARKED}
    assert (tried - {None}) | {*CELL_TYPES} == set(shape_types())  # see test_tables, too


class TestShipped(PolicyContract):
    marks = tuple((text, ((part, type_),)) for text, part, type_ in cases())
    # test_hostile_texts_are_read_in_linear_time tries more texts.
    test_hostile_texts_cost_what_their_length_says = None
    leaves = (
        "he was one of two men and had one day of it; three of them came",
        "teachers are paid too little, and the doctor knows it",
        "set token = get_token() and password: str in line 12",
        "see chapter 4 and figures 3 and 5 on pages 12 to 14",
        "on the one hand, a mark; on the other, two real reasons",
        "Der Vertrag ist eine Katastrophe. Die neue Straße hat viele Löcher.",
    )

    def build(self) -> PatternPolicy:
        return PatternPolicy.shipped()


HOSTILE = (
    *("two ", "two-", "two and ", "ein", "einund", "un ", "1 two ", "1,1 ", "1 . 1 ", "1'1"),
    *("1 May and ", "1-1-", "3 and 4 ", "mai ", "two years and ", "1 years, ", "1 Aaa "),
    *("EUR ", "EUR 1", "€", "1 million ", "aged two ", "1 and ", "a Mr ", "Mr ", "Mr."),
    *("1/", "1/1 ", "1 / 1 ", "no. 1/1, ", "nos. ", "1 A 1/1 ", "IV ", "[1111] AA "),
    *("rue de ", "rue de la Aa ", "12 rue ", "Aa 1, ", "Aaweg 1", "am ", "Am Aa ", "AA 11 "),
    *("sk-", "sk-a-", "ghp_", "eyJaaaaaaaaaa.", "password=", "password is ", "a://", "a://a:"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "Bearer ", "sig=", "1:AA", "key "),
    *("a teacher ", "as a ", "as a b-", "German ", "DE1", "DE 1 1", "1 11 ", "A1B"),
    *("0171 ", "+1", "+(1)", "(0", "call ", "phone: ", "tel. no. ", "1 (11) ", "01.", "900 11 "),
    *("1.1.1 ", "111 ", "1 1 111 ", "the Court ", "Article 8 ", "THE OF ", "Die Aaung "),
)


CONTACT = (
    *("PHONE_NUMBER", "CREDIT_CARD", "NATIONAL_ID", "IP_ADDRESS", "PASSWORD", "API_KEY"),
    *("EMAIL_ADDRESS", "US_SSN", "IBAN_CODE", "VAT_NUMBER", "MAC_ADDRESS"),
)


@pytest.mark.parametrize(
    "text",
    [
        "what is 918273645 + 1000003?",
        "(1) 918273.645 and (2) 123456789",
        "simplify 4620/10290, then 1.234.567,89",
        "pressures of 120-129 / 80-84 are fine",
        "8.1 7.9 8.4 12.6 13.0 7.7",
        "02:00  62.4  43.6  71.3",
        "grades 58 51 33 47 29 44 52 38",
        "from 1718956800 to 1718956800123",
        "on 05.05.2023 14:00 and 2024-01-02 10:30",
        "isbn10 0306406152, ean 5901234123457 and 4006381333931",
        "order 1234567890 of item 0123456789",
        "threadid=140737348011840",
        "sha 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12",
        "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "listen on 127.0.0.1:8080 or [::1]:8080",
        "trust 10.0.0.0/8; Chrome/121.0.6167.85 and v1.2.3.4",
        "postgresql://app:${DB_PASSWORD}@db:5432/x and postgresql://{user}:{password}@{host}",
        "API_KEY=YOUR_API_KEY_1, token: your-token-42, password=changeme",
        'src="logo@2x.png"',
    ],
)
def test_a_form_alone_is_no_evidence(text: str) -> None:
    assert list(PatternPolicy.shipped(CONTACT).find(text)) == []


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_texts_are_read_in_linear_time(policy: PatternPolicy, unit: str) -> None:
    def work(length: int) -> None:
        for _ in policy.find((unit * length)[:length] + "!"):
            pass

    assert grows_linearly(work, 8000, seconds=0.5)


@pytest.fixture(scope="module")
def policy() -> PatternPolicy:
    """Build the policy as a mechanism does, with its words."""
    [found] = get_mechanism("selective", bundled_table(), **WORDS).policies  # type: ignore[attr-defined]
    assert isinstance(found, PatternPolicy)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "it went to the Court, and the Government agreed",
        "under Article 8 and Rule 59 it was",
        "as Protocol No. 11 says",
        "for the Fourth Section it was",
        "for the Protection of Human Rights and Fundamental Freedoms",
        "THE FACTS OF THE CASE",
        "so it is. Kind Regards",
        "El Gobierno dice que la Comisión no es el Tribunal",
        "Unfortunately it rained. Unsurprisingly the others won.",
    ],
)
def test_ordinary_words_with_capitals_are_no_names(policy: PatternPolicy, text: str) -> None:
    assert marks(text, policy) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("it went to Anna Court and left", "Anna Court"),
        ("then Baker left", "Baker"),
        ("Bobick played well.", "Bobick"),
        ("then J . Abrahamson left", "J . Abrahamson"),
        ("In St. Louis we met", "St. Louis"),
        ("at the European Court of Human Rights we met", "European Court of Human Rights"),
        ("er rief mit Erbakan an", "Erbakan"),
    ],
)
def test_names_stay_names(policy: PatternPolicy, text: str, name: str) -> None:
    assert marks(text, policy) == [(name, "NAME")]


def test_a_common_word_of_a_name_is_no_name_after_a_determiner() -> None:
    text = "met Anna Rose of Ankara Court. Rose told the Court, and the rose told Court."
    spans = get_mechanism("selective", bundled_table(), **WORDS).spans(text) or ()
    found = [text[s.start : s.end] for s in spans]
    assert found == ["Anna Rose of Ankara Court", "Rose", "Court"]


VALID = {
    has_national_check: "36574261809 12345678Z X1234567L RSSMRA85T10A562S 44051401359 111222333",
    has_vat_check: "DE136695976 FR40303265045 IT00743110157 GB980780684 PL5260250274",
    is_iban: "DE89370400440532013000 GB82WEST12345698765432",
    passes_luhn: "4095260993934932 374744544168082",
}


@pytest.mark.parametrize(
    ("check", "number"), [(check, n) for check, numbers in VALID.items() for n in numbers.split()]
)
def test_one_wrong_digit_fails_a_check(check: object, number: str) -> None:
    assert callable(check)
    assert check(number)
    last = max(i for i, c in enumerate(number) if c.isdigit())
    others = [number[:last] + d + number[last + 1 :] for d in "0123456789" if d != number[last]]
    assert not any(check(other) for other in others)


@pytest.mark.parametrize("alphabet", ["DEPLFRGBIT0123456789", "XYZAB0123456789 .-/", "٣4²½12 /"])
def test_no_check_fails_on_any_number(alphabet: str) -> None:
    drawn = random.Random(1).choices(alphabet + "  ", k=20_000)
    assert marks("".join(drawn))


def test_any_of_prefers_the_longest() -> None:
    expression = re.compile(any_of("a ab abc b", "new_york new"))
    assert [m[0] for m in expression.finditer("abc new york ab b new")] == [
        *("abc", "new york", "ab", "b", "new"),
    ]


def test_an_initial_that_opens_a_sentence_belongs_to_its_name() -> None:
    text = "A. Schmidt came. A Schmidt came."
    assert [text[a:b] for a, b in find_names(text)] == ["A. Schmidt", "Schmidt"]


def test_a_letter_alone_names_nobody() -> None:
    """Nothing that stands for it could be told from other text."""
    text = "so she took C:\\logs, then B, or A and D- but Mr K or K. came to Josef K"
    assert [text[a:b] for a, b in find_names(text)] == ["K", "K", "Josef K"]


def test_an_escape_of_json_ends_an_address() -> None:
    raw = "http://localhost:8080/v1/models"
    for text in (
        f'{{"a": "see {raw}\\n   then"}}',
        f'{{"a": "see {raw}\\", then"}}',
        f"see {raw} then",
    ):
        found = [text[s.start : s.end] for s in PatternPolicy.shipped(["PUBLIC_URL"]).find(text)]
        assert set(found) == {raw}
    (span,) = set(PatternPolicy.shipped(["PUBLIC_URL"]).find(r"at http://a.example\/b\/c, so"))
    assert (span.start, span.end) == (3, 25)
