"""selective: places, firms, streets, users, web addresses and dates get another of their kind."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import Span, seeded_generator
from perturb.release import Taken
from perturb.selective.profiles import Actions, check_actions
from perturb.selective.replace import link_request, make_text_link
from perturb.selective.surrogates.dates import SHIFTS, shift_date
from perturb.selective.surrogates.kinds import WITHOUT
from perturb.selective.surrogates.names import load_names
from perturb.selective.surrogates.writer import SurrogateWriter
from perturb.selective.verify import SurrogateCheck
from perturb.testing.growth import grows_linearly
from perturb.testing.statistics import ALPHA, p_value
from tests.perturb.marking import fixed

EVERY = (("*", "surrogate"),)
LATIN = load_names()["latin"]
# (type, raw, the form of its surrogate: <P> is a coined place, <F> a coined firm, <n> names of a
# person, <D> a domain, <2> two digits, <@> a letter or a digit)
WRITTEN = [
    ("LOCATION", "Hamburg", "<P>"),
    ("LOCATION", "hamburg", "<p>"),
    ("LOCATION", "HAMBURG", "<PP>"),
    ("LOCATION", "New York, USA", "<P> <P>, <PP>"),
    ("LOCATION", "Frankfurt am Main", "<P> am <P>"),
    ("LOCATION", "Baden-Württemberg", "<P>-<P>"),
    ("LOCATION", "Lake Constance", "Lake <P>"),
    ("LOCATION", "the north of Portugal", "the north of <P>"),
    ("LOCATION", "10115 Berlin", "<5> <P>"),
    ("STREET_ADDRESS", "Rose Lane 12", "<P> Lane <2>"),
    ("STREET_ADDRESS", "Hauptstraße 5", "<P>straße <1>"),
    ("STREET_ADDRESS", "Hauptstr. 5a, 20095 Hamburg", "<P>str. <1><@>, <5> <P>"),
    (
        "STREET_ADDRESS",
        "12 Baker Street, London NW1 6XE",
        "<2> <P> Street, <P> <@><@><1> <1><@><@>",
    ),
    ("STREET_ADDRESS", "1600 Pennsylvania Avenue, Apt 4", "<4> <P> Avenue, Apt <1>"),
    ("STREET_ADDRESS", "42nd Street 7", "<P> Street <1>"),
    ("STREET_ADDRESS", "P.O. Box 123", "P.O. Box <3>"),
    ("STREET_ADDRESS", "Rue de la Paix 5, 75002 Paris", "Rue de la <P> <1>, <5> <P>"),
    ("STREET_ADDRESS", "Calle Mayor 3, 28013 Madrid", "Calle <P> <1>, <5> <P>"),
    ("STREET_ADDRESS", "Jagerij 64, 9999 AA Boxmeer", "<P> <2>, <4> <@><@> <P>"),
    ("ORGANIZATION", "Lindenhof Logistik GmbH", "<F> <F> GmbH"),
    ("ORGANIZATION", "Lindenhof", "<F>"),
    ("ORGANIZATION", "Acme, Inc.", "<F>, Inc."),
    ("ORGANIZATION", "Müller & Söhne e.V.", "<F> & Söhne e.V."),
    ("ORGANIZATION", "Boulangerie Petit S.A.", "<F> <F> S.A."),
    ("ORGANIZATION", "Harbour Café Ltd", "<F> Café Ltd"),
    ("ORGANIZATION", "BMW AG", "<FF> AG"),
    ("ORGANIZATION", "McDonald's", "<F>'s"),
    ("ORGANIZATION", "O’Reilly Media", "<F> <F>"),
    ("ORGANIZATION", "University of Hamburg", "University of <P>"),
    ("ORGANIZATION", "Harvard University", "<F> University"),
    ("ORGANIZATION", "Studio 54", "<F> <2>"),
    ("OTHER_NAME", "Project Bluebird", "Project <F>"),
    ("CUSTOM", "Project Bluebird", "Project <F>"),
    ("URL", "https://firm.de/api/v2/users?id=471#top", "https://<D>/api/v2/users?id=<3>#top"),
    ("URL", "www.firm.de", "www.<D>"),
    ("URL", "http://localhost:8080/report-2024.pdf", "http://localhost:8080/<n>-<4>.pdf"),
    ("URL", "https://firm.de/a%20b/anna", "https://<D>/<n>%20<n>/<n>"),
    ("USERNAME", "coder99", "<n><2>"),
    ("USERNAME", "@night_owl.7", "@<n>_<n>.<1>"),
]
SIGNS = {
    "P": "(?P<place>[A-Z][a-z]+)",
    "p": "(?P<place>[a-z]+)",
    "PP": "(?P<place>[A-Z]+)",
    "F": "(?P<firm>[A-Z][a-z]+)",
    "FF": "(?P<firm>[A-Z]+)",
    "D": r"(?P<surname>[a-z]+)\.example",
    "n": "[a-z]+",
    "@": "[A-Za-z0-9]",
    **{str(n): f"[0-9]{{{n}}}" for n in range(1, 6)},
}
NONE = [  # what has no surrogate
    ("LOCATION", "Москва"),
    ("LOCATION", "東京"),
    ("LOCATION", "U.S."),
    ("LOCATION", "M&uuml;nchen"),
    ("LOCATION", "Paris ☀"),
    ("LOCATION", "the north"),
    ("ORGANIZATION", "J. P. Morgan"),
    ("ORGANIZATION", "University Hospital"),
    ("ORGANIZATION", "Яндекс"),
    ("STREET_ADDRESS", "улица Ленина 5"),
    ("URL", "https://user:pass@firm.de/x"),
    ("URL", "https://firm.de/m%C3%BCller"),
    ("URL", "https://firm.de/%61nna"),
    ("URL", "http://localhost/api/users"),
    ("URL", "intranet"),
    ("USERNAME", "кёльн"),
    ("USERNAME", "__"),
    ("DATE_TIME", "10:30"),
    ("DATE_TIME", "Monday"),
    ("DATE_TIME", "31/02/2024"),
    ("DATE_OF_BIRTH", "1.1.9999"),
    *((type_, "12345 Anna") for type_ in sorted(WITHOUT)),
]


def writer(seed: int = 1, known: Any = None, **more: Any) -> SurrogateWriter:
    return SurrogateWriter(make_text_link(seeded_generator(seed)), [], known or {}, **more)


def build_form(form: str) -> str:
    """Return the expression of a form in `WRITTEN`; its coined names are groups."""
    out = []
    for place, part in enumerate(re.split(r"(<[\w@]+>)", form)):
        sign = SIGNS.get(part[1:-1]) if place % 2 else re.escape(part)
        assert sign is not None
        out.append(re.sub(r"(?<=\(\?P<)\w+", rf"\g<0>{place}", sign))
    return "".join(out)


class TestForms:
    @pytest.mark.parametrize(("type_", "raw", "form"), WRITTEN)
    def test_a_surrogate_has_the_form_of_its_part(self, type_: str, raw: str, form: str) -> None:
        for seed in range(10):
            new = writer(seed).write(type_, raw)
            assert new is not None
            assert new != raw
            found = re.fullmatch(build_form(form), new)
            assert found is not None, (form, new)
            for name, word in found.groupdict().items():
                assert LATIN.role_of(word) == name.rstrip("0123456789")
            check = SurrogateCheck([])
            assert check.check(type_, raw, new)
            assert check.check(type_, raw, new)

    @pytest.mark.parametrize(("type_", "raw"), NONE)
    def test_what_cannot_be_drawn_has_none(self, type_: str, raw: str) -> None:
        assert writer().write(type_, raw) is None
        assert not SurrogateCheck([]).check(type_, raw, raw)

    @pytest.mark.parametrize("type_", sorted(WITHOUT))
    def test_types_without_one_are_refused_as_actions(self, type_: str) -> None:
        with pytest.raises(ValueError, match="must not be surrogate"):
            check_actions({type_: "surrogate"})
        assert Actions(EVERY).of(type_) != "surrogate"

    @pytest.mark.parametrize(("type_", "raw", "form"), WRITTEN)
    def test_it_is_the_same_under_one_link(self, type_: str, raw: str, form: str) -> None:
        del form
        made = [writer(seed).write(type_, raw) for seed in range(12)]
        assert made == [writer(seed).write(type_, raw) for seed in range(12)]
        assert len(set(made)) > 6


class TestOneThingOneSurrogate:
    def test_a_firm_and_its_short_form(self) -> None:
        made = writer()
        full, short = (
            made.write("ORGANIZATION", raw) or ""
            for raw in ("Lindenhof Logistik GmbH", "LINDENHOF")
        )
        assert full.split()[0].upper() == short

    def test_a_place_in_all_its_contexts(self) -> None:
        made = writer()
        raws = [
            ("LOCATION", "Hamburg"),
            ("LOCATION", "Hamburg, Germany"),
            ("STREET_ADDRESS", "Rosenweg 4, 20095 Hamburg"),
            ("ORGANIZATION", "University of Hamburg"),
        ]
        city, country, street, university = (made.write(*raw) or "" for raw in raws)
        assert country.startswith(f"{city}, ")
        assert street.endswith(f" {city}")
        assert university == f"University of {city}"
        assert (made.write("ZIP_CODE", "20095") or "") in street
        assert street.startswith(made.write("STREET_ADDRESS", "Rosenweg 4") or "-")

    def test_a_user_is_the_person_that_the_name_is_made_of(self) -> None:
        made = writer(known={"Markus Holzapfel": "PERSON"})
        first, last = made.write_person(["Markus", "Holzapfel"], [" "]) or ["", ""]
        first, last = first.lower(), last.lower()
        for raw, new in [
            ("mholzapfel", first[0] + last),
            ("holzapfelm", last + first[0]),
            ("markus.holzapfel", f"{first}.{last}"),
            ("@MarkusHolzapfel", f"@{first.capitalize()}{last.capitalize()}"),
        ]:
            assert made.write("USERNAME", raw) == new
            assert SurrogateCheck(["Markus Holzapfel"]).check("USERNAME", raw, new)
        mail = made.write("EMAIL_ADDRESS", "mholzapfel@firm.de") or ""
        link = made.write("URL", "https://firm.de/users/mholzapfel") or ""
        local, domain = mail.split("@")
        assert link == f"https://{domain}/users/{local}"
        assert local == first[0] + last

    def test_no_surrogate_is_a_word_of_the_texts(self) -> None:
        for seed in range(5):
            plain = writer(seed).write("LOCATION", "Hamburg") or ""
            text = f"so {plain.upper()} came"
            for texts, kept in ([text], False), (["so it came"], True):
                made = writer(seed, taken=Taken((), texts)).write("LOCATION", "Hamburg")
                assert (made == plain) == kept
        text = "From Hamburg to " + " ".join(LATIN.places[:600])
        perturber = fixed([Span(5, 12, "LOCATION")], actions=EVERY)
        for seed in range(5):
            done = perturber.perturb(text, seeded_generator(seed))
            perturber.verify(text, done)
            (part,) = done.replaced or ()
            assert part.text not in text

    @pytest.mark.parametrize("type_", ["LOCATION", "ORGANIZATION", "STREET_ADDRESS", "USERNAME"])
    def test_many_stay_apart(self, type_: str) -> None:
        raws = [f"Q{a}{b}{c}x" for a in "aeiou" for b in "bdfgklm" for c in "aeiouyrstl"][:300]
        if type_ == "STREET_ADDRESS":
            raws = [f"{raw} Lane 12" for raw in raws]
        made = writer()
        new = [made.write(type_, raw) for raw in raws]
        assert len({n and n.casefold() for n in new}) == len(raws) == 300

    def test_one_number_has_one_surrogate_in_all_groupings(self) -> None:
        made = writer()
        for raws in (
            ["415-234-2671", "(415) 234-2671", "+1 415 234 2671", "1 (415) 234 2671"],
            ["+44 7911 123456", "07911 123456", "+44 7911 123 456"],
            ["030 1234567", "030/1234567", "0301234567", "(030) 123 45 67"],
        ):
            new = {re.sub(r"\D", "", made.write("PHONE_NUMBER", raw) or "")[-9:] for raw in raws}
            assert len(new) == 1
        assert (made.write("PHONE_NUMBER", "+49 30 1234567 x12") or "")[-3] == "x"

    def test_one_house_has_one_number(self) -> None:
        made = writer()
        raws = ["Hauptstraße 7a", "Hauptstr. 7a", "HAUPTSTRASSE 7a, 20095 Hamburg"]
        numbers = {(made.write("STREET_ADDRESS", raw) or "").split(",")[0][-2:] for raw in raws}
        assert len(numbers) == 1
        assert "0" not in numbers.pop()


DATE_FORMS = (
    *("{d} {English} {y}", "{English} {d}, {y}", "{d}. {German} {y}", "{y}-{m:02}-{d:02}"),
    *("{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}.{m:02}.{yy:02}", "{d} de {Spanish} de {y}"),
    *("{d} {French} {y}", "{y}-{m:02}-{d:02}T10:30:00", "{d:02}/{m:02}/{y}", "{d} {English}"),
)
MONTH_NAMES = {
    "English": "January February March April May June July August September October November "
    "December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre "
    "noviembre diciembre",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre "
    "décembre",
}


class TestDates:
    def spell(self, form: str, when: date) -> str:
        names = {k: v.split()[when.month - 1] for k, v in MONTH_NAMES.items()}
        return form.format(d=when.day, m=when.month, y=when.year, yy=when.year % 100, **names)

    @settings(max_examples=300, deadline=None)
    @given(
        st.sampled_from(DATE_FORMS),
        st.dates(date(1960, 1, 1), date(2040, 12, 31)),
        st.sampled_from(SHIFTS),
    )
    def test_a_date_is_moved_in_its_form(self, form: str, when: date, days: int) -> None:
        if not form.endswith(("}", "00")) or "{y" not in form:
            when, moved = when.replace(year=2023, day=min(when.day, 28)), when
        moved = date.fromordinal(when.toordinal() + days)
        raw, new = self.spell(form, when), self.spell(form, moved)
        if form == "{d}.{m}.{y}" and when.day > 9 and when.month > 9:
            new = self.spell("{d:02}.{m:02}.{y}", moved)  # nothing tells that it has no zeros
        assert shift_date(raw, days, day_first=True) == new

    def test_intervals_order_and_weekdays_stay(self) -> None:
        raws = [date(2024, 2, 27), date(2024, 3, 1), date(2024, 12, 30), date(2025, 6, 5)]
        for seed in range(20):
            made = writer(seed)
            new = [date.fromisoformat(made.write("DATE_TIME", str(raw)) or "") for raw in raws]
            steps = [[(b - a).days for a, b in pairwise(some)] for some in (raws, new)]
            assert steps[0] == steps[1]
            assert [d.weekday() for d in raws] == [d.weekday() for d in new]
            assert made.write("DATE_OF_BIRTH", "2024-03-01") == str(new[1])

    def test_years_and_months_keep_their_order(self) -> None:
        for days in SHIFTS:
            years = [int(shift_date(str(y), days) or 0) for y in range(1950, 2030)]
            assert all(b - a == 1 for a, b in pairwise(years))
            assert abs(years[0] - 1950) == 1
            assert (years[0] > 1950) == (days > 0)
            moved = shift_date("May 2024", days)
            assert moved not in (None, "May 2024")

    def test_the_order_of_the_request_is_used(self) -> None:
        made: set[tuple[bool, bool]] = set()
        for seed in range(20):
            link = link_request(
                make_text_link(seeded_generator(seed)), ["on 13/05/2024, 03/04/24"]
            )
            one = SurrogateWriter(link, [], {}, Taken()).write("DATE_TIME", "03/04/2024") or ""
            days = (date(*map(int, one.split("/")[::-1])) - date(2024, 4, 3)).days
            assert days in SHIFTS
            made.add((days > 0, one[:2] == "03"))
        assert len(made) > 1

    @pytest.mark.statistical
    def test_the_days_are_uniform(self) -> None:
        counts = Counter(writer(seed).write("DATE_TIME", "2024-07-01") for seed in range(5200))
        made = [counts[str(date.fromordinal(date(2024, 7, 1).toordinal() + d))] for d in SHIFTS]
        assert sum(made) == 5200
        assert p_value(np.array(made), np.full(len(SHIFTS), 50.0)) > ALPHA
        made[0] += 200
        made[1] = 0
        assert p_value(np.array(made), np.full(len(SHIFTS), sum(made) / len(SHIFTS))) < ALPHA

    def test_a_text_with_dates_passes_its_verification(self) -> None:
        text = "Born 03.02.1985, on 12 May 2024 and on 2024-05-26, so in 2024, at 31.12.2023."
        raws = ["03.02.1985", "12 May 2024", "2024-05-26", "2024", "31.12.2023"]
        spans, end = [], 0
        for raw in raws:
            start = text.index(raw, end)
            end = start + len(raw)
            spans.append(Span(start, end, "DATE_TIME"))
        perturber = fixed(spans, actions=EVERY)
        for seed in range(30):  # 12 May may become 26 May, which is another's raw value
            done = perturber.perturb(text, seeded_generator(seed))
            perturber.verify(text, done)
            assert not perturber.secrets(text, done, unrepeatable=True)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("type_", "raw", "role"), [("LOCATION", "Hamburg", "place"), ("ORGANIZATION", "Acme", "firm")]
)
def test_coined_names_are_uniform(type_: str, raw: str, role: str) -> None:
    listed = LATIN.by_role[role]
    n = 6 * len(listed)
    counts = Counter(writer(seed).write(type_, raw) for seed in range(n))
    assert set(counts) <= set(listed)
    drawn = [counts[name] for name in listed]
    assert p_value(np.array(drawn), np.full(len(listed), 6.0)) > ALPHA
    broken = [2 * count if i < len(listed) // 4 else count for i, count in enumerate(drawn)]
    mean = sum(broken) / len(listed)
    assert p_value(np.array(broken), np.full(len(listed), mean)) < ALPHA


@pytest.mark.statistical
def test_house_numbers_are_a_permutation_without_a_fixed_point() -> None:
    made = writer()
    new = [made.write("STREET_ADDRESS", f"Rose Lane {n}") or "" for n in range(10, 100)]
    numbers = [int(text.split()[-1]) for text in new]
    assert sorted(numbers) == list(range(10, 100))
    assert all(a != b for a, b in enumerate(numbers, 10))
    counts = Counter(
        (writer(seed).write("STREET_ADDRESS", "Rose Lane 5") or "")[-1] for seed in range(1600)
    )
    assert p_value(np.array([counts[d] for d in "12346789"]), np.full(8, 200.0)) > ALPHA
    assert sum(counts.values()) == sum(counts[d] for d in "12346789")


UNITS = {
    "LOCATION": "Qax{n}, ",
    "ORGANIZATION": "Qax{n} Werke GmbH, ",
    "STREET_ADDRESS": "12 Qax{n} Street, ",
    "URL": "https://qax{n}.de/a/b?c=d, ",
    "USERNAME": "qax{n}_{n}, ",
    "DATE_TIME": "12 May 2024, ",
}


@pytest.mark.parametrize("type_", UNITS)
def test_the_time_is_linear_in_the_parts(type_: str) -> None:
    letters = str.maketrans("0123456789", "abcdefghij")

    def work(count: int) -> None:
        text, spans = "", []
        for n in range(count // 20):
            unit = UNITS[type_].format(n=f"{n:04d}".translate(letters))
            spans.append(Span(len(text), len(text) + len(unit) - 2, type_))
            text += unit
        perturber = fixed(spans, actions=EVERY)
        perturber.verify(text, perturber.perturb(text))

    assert grows_linearly(work, 2000, seconds=10.0)
