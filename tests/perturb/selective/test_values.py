"""selective: numbers and dates near their own value, by an exact law, in their own format."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace as changed
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import ParameterError, ReleaseError, Span, seeded_generator
from perturb.rng import keyed_generator
from perturb.selective.sanitizer import SelectiveParameters
from perturb.selective.values import (
    AGES,
    DAYS,
    MAGNITUDES,
    PERCENT,
    VALUES,
    YEARS,
    draw_place,
    draw_value,
    keep_rate,
    law,
    read_value,
)
from perturb.testing.statistics import ALPHA, p_value
from tests.perturb.marking import fixed, selective

NEAR = (("*", "value"),)
WRITTEN = [  # (type, part, the value of its place, another place's value, the same part with it)
    ("AGE", "47", 47, 8, "8"),
    ("AGE", "47 ans", 47, 101, "101 ans"),
    ("MONEY", "€ 1,300.50", 1250, 1400000, "€ 1400000.07"),
    ("MONEY", "1.300,50 EUR", 1250, 90, "90,07 EUR"),
    ("MONEY", "1 300 000 euros", 1250000, 2500, "2500 euros"),
    ("MONEY", "$950", 900, 2240, "$2240"),
    ("MONEY", "5 million dollars", 5, 8, "8 million dollars"),
    ("PERCENTAGE", "12.5 %", 12, 80, "80.0 %"),
    ("PERCENTAGE", "20 per cent", 20, 3, "3 per cent"),
    ("QUANTITY", "12 km", 12, 200, "200 km"),
    ("DURATION", "3 years", 3, 16, "16 years"),
]
DATES = [
    ("12 May 2024", "1 June 2023"),
    ("12 mai 2024", "1 juin 2023"),
    ("12. Mai 2024", "1. Juni 2023"),
    ("12 de mayo de 2024", "1 de junio de 2023"),
    ("May 12, 2024", "June 1, 2023"),
    ("May 12th, 2024", "June 1st, 2023"),
    ("12 Mar 2024", "1 June 2023"),
    ("2024-05-12", "2023-06-01"),
    ("12.05.2024", "01.06.2023"),
    ("12.5.2024", "01.06.2023"),
    ("05/12/2024", "06/01/2023"),
    ("13/05/2024", "01/06/2023"),
    ("2024/05/12", "2023/06/01"),
]
NONE = [
    *(("AGE", "forty"), ("AGE", "4７"), ("MONEY", "1,300 Bluebird"), ("MONEY", "5 to 7 EUR")),
    *(("DATE_TIME", "10:30"), ("DATE_TIME", "Monday"), ("DATE_TIME", "2023-02-30")),
    *(("DATE_TIME", "12 Floréal 2024"), ("DURATION", "3 years and 2 months"), ("ID", "47")),
    *(("MONEY", "1,30,00 EUR"), ("PERCENTAGE", ""), ("DATE_TIME", "12-05/2024")),
]


def chances(counts: Any, place: int, size: int, epsilon: float, n: int) -> float:
    return float(p_value(np.asarray(counts), law(place, size, epsilon) * n))


class TestLaw:
    @pytest.mark.statistical
    @pytest.mark.parametrize(
        ("place", "size", "epsilon"),
        [
            (60, 121, 0.5),
            (0, 121, 0.1),
            (120, 121, 1.0),
            (3, 8, 0.01),
            (2, 9, 6.0),
            (50, 101, 2 / 7),
        ],
    )
    def test_the_sampler_draws_the_stated_law(self, place: int, size: int, epsilon: float) -> None:
        rng, n = seeded_generator(7), 20_000
        counts = np.bincount(
            [draw_place(place, size, epsilon, rng) for _ in range(n)], minlength=size
        )
        assert chances(counts, place, size, epsilon, n) > ALPHA

    @pytest.mark.statistical
    @pytest.mark.parametrize("broken", ["clipped", "wider", "shifted", "rounded"])
    def test_a_broken_sampler_is_caught(self, broken: str) -> None:
        rng, n, place, size, epsilon = seeded_generator(7), 20_000, 3, 121, 0.5

        def draw() -> int:
            if broken == "clipped":  # noise beyond the grid goes to its ends
                noise = draw_place(600, 1201, epsilon, rng) - 600
                return min(max(place + noise, 0), size - 1)
            if broken == "wider":
                return draw_place(place, size, epsilon * 0.9, rng)
            if broken == "shifted":
                return min(draw_place(place, size, epsilon, rng) + 1, size - 1)
            return round(draw_place(place, size, epsilon, rng) / 2) * 2

        counts = np.bincount([draw() for _ in range(n)], minlength=size)
        assert chances(counts, place, size, epsilon, n) < ALPHA

    @pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0])
    def test_two_places_at_a_distance_of_d_differ_by_epsilon_d_at_most(
        self, epsilon: float
    ) -> None:
        rows = np.log([law(place, 40, epsilon) for place in range(40)])
        for x, y in itertools.product(range(40), repeat=2):
            worst = float(np.max(rows[x] - rows[y]))
            assert worst <= epsilon * abs(x - y) + 1e-9

    def test_the_keep_rate_bounds_the_law(self) -> None:
        for size, epsilon in itertools.product((2, 9, 121), (1e-12, 0.01, 0.5, 6.0, 100.0)):
            for place in range(size):
                exact = law(place, size, epsilon)[place]
                assert exact <= keep_rate(place, size, epsilon) + 1e-12
                assert keep_rate(place, size, epsilon) <= exact * 1.001 or epsilon < 1e-6

    def test_any_epsilon_is_drawn_in_bounded_time(self) -> None:
        rng = seeded_generator(1)
        for epsilon in (1e-300, 1e-9, 0.1, 100.0):
            for size in (2, 121, len(DAYS.values)):
                for place in (0, size - 1):
                    assert 0 <= draw_place(place, size, epsilon, rng) < size


class TestGrids:
    def test_they_are_what_the_page_says(self) -> None:
        assert (AGES.values[0], AGES.values[-1]) == (0, 120)
        assert (PERCENT.values[0], PERCENT.values[-1]) == (0, 100)
        assert (YEARS.values[0], YEARS.values[-1]) == (1900, 2100)
        assert date.fromordinal(DAYS.values[0]) == date(1900, 1, 1)
        assert date.fromordinal(DAYS.values[-1]) == date(2100, 12, 31)
        values = list(MAGNITUDES.values)
        assert values == sorted(set(values))
        assert (values[0], values[1], values[-1]) == (0, 1, 9 * 10**12)
        steps = [b / a for a, b in itertools.pairwise(values) if a >= 100]
        assert min(steps) > 1.1
        assert max(steps) < 1.15

    def test_the_nearest_value_is_found(self) -> None:
        for grid in (AGES, PERCENT, YEARS, MAGNITUDES):
            for value in (*range(-3, 300), 1899, 2101, 10**9 + 7, 10**15):
                near = min(grid.values, key=lambda v: (abs(v - value), v))
                assert grid.values[grid.find(value)] == near


class TestFormats:
    @pytest.mark.parametrize(("type_", "part", "value", "other", "written"), WRITTEN)
    def test_a_number_keeps_its_format(
        self, type_: str, part: str, value: int, other: int, written: str
    ) -> None:
        found = read_value(type_, part)
        assert found is not None
        assert found.grid.values[found.place] == value
        decimals = "07"[: found.fresh].rjust(found.fresh, "0")
        place = found.grid.find(other)
        assert found.write(place, decimals) == written
        assert found.read(written) == (place, decimals)

    @pytest.mark.parametrize(("part", "written"), DATES)
    def test_a_date_keeps_its_format(self, part: str, written: str) -> None:
        found = read_value("DATE_TIME", part, part.startswith("13"))
        assert found is not None
        when = date.fromordinal(found.grid.values[found.place])
        assert (when.year, when.day) in ((2024, 12), (2024, 13))
        place = DAYS.find(date(2023, 6, 1).toordinal())
        assert found.write(place, "") == written
        assert found.read(written) == (place, "")
        for other in range(place, place + 400):  # every date is read back as it was written
            assert found.read(found.write(other, "")) == (other, "")

    @pytest.mark.parametrize(("type_", "part"), NONE)
    def test_what_has_no_value_in_figures_has_none(self, type_: str, part: str) -> None:
        assert read_value(type_, part) is None

    @settings(max_examples=300, deadline=None)
    @given(
        st.sampled_from(sorted(VALUES)),
        st.lists(st.sampled_from([*"0123456789.,/-% €", "May", "EUR", "km", "years", "７"])),
        st.integers(0, 2**32),
    )
    def test_whatever_is_read_can_be_written_and_read_back(
        self, type_: str, pieces: list[str], seed: int
    ) -> None:
        found = read_value(type_, "".join(pieces))
        if found is not None:
            drawn = draw_value(found, 0.05, seeded_generator(seed))
            assert found.read(found.write(*drawn)) == drawn


# -- neighbours in one format ---------------------------------------------------------------


def plural(one: str, many: str) -> Callable[[int], str]:
    return lambda n: f"{n} {one if n == 1 else many}"


def in_german(day: date) -> str:
    names = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    return names.split()[day.month - 1]


def in_french(day: date) -> str:
    names = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
    return names.split()[day.month - 1]


def in_spanish(day: date) -> str:
    names = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    return [*names.split(), "diciembre"][day.month - 1]


def ordinal(n: int) -> str:
    return f"{n}{'th' if 10 < n < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"


def short(day: date) -> str:
    return f"{day:%b}" + ("." if day.month != 5 else "")


UNITS_OF_TIME = """
    year/years day/days minute/minutes Minute/Minuten Jahr/Jahre Jahr/Jahren Monat/Monate
    Monat/Monaten Woche/Wochen Stunde/Stunden mois/mois jour/jours heure/heures
    année/années año/años mes/meses Year/Years
"""
UNITS_OF_MONEY = """
    dollar/dollars euro/euros Euro/Euro krona/kronor lira/lire dólar/dólares pound/pounds
"""
MEASURES = """
    foot/feet inch/inches kilo/kilos metre/metres tonne/tonnes
"""
# How people write any number, or any day: each is one format.
NUMBERS: list[tuple[str, Callable[[int], str]]] = [
    ("MONEY", lambda n: f"${n:,}"),
    ("MONEY", lambda n: f"${n}"),
    ("MONEY", lambda n: f"{n:,}".replace(",", ".") + " EUR"),
    ("MONEY", lambda n: f"{n:,}".replace(",", " ") + " €"),
    ("MONEY", lambda n: f"${n:,}.25"),
    ("MONEY", lambda n: f"{n:,}".replace(",", ".") + ",25 €"),
    ("MONEY", lambda n: f"{n} million euros"),
    ("PERCENTAGE", lambda n: f"{n} %"),
    ("PERCENTAGE", lambda n: f"{n} per cent"),
    ("QUANTITY", lambda n: f"{n:,} km"),
    ("DURATION", lambda n: f"{n}-year"),
    ("AGE", lambda n: f"{n}"),
    *(("DURATION", plural(*pair.split("/"))) for pair in UNITS_OF_TIME.split()),
    *(("MONEY", plural(*pair.split("/"))) for pair in UNITS_OF_MONEY.split()),
    *(("QUANTITY", plural(*pair.split("/"))) for pair in MEASURES.split()),
]
DAYS_WRITTEN: list[Callable[[date], str]] = [
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d:%d.%m.%Y}",
    lambda d: f"{d.day}. {d.month}. {d.year}",
    lambda d: f"{d:%Y-%m-%d}",
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d.day} {d:%B} {d.year}",
    lambda d: f"{d.day} {d:%b} {d.year}",
    lambda d: f"{d.day} {short(d)} {d.year}",
    lambda d: f"{d:%B} {d.day}, {d.year}",
    lambda d: f"{short(d)} {d.day}, {d.year}",
    lambda d: f"{d:%d} {d:%B} {d.year}",
    lambda d: f"{ordinal(d.day)} {d:%B} {d.year}",
    lambda d: f"{ordinal(d.day)} of {d:%B}, {d.year}",
    lambda d: f"{d.day} {d:%B}".lower() + f" {d.year}",
    lambda d: f"{d.day}. {in_german(d)} {d.year}",
    lambda d: f"{d.day} {in_german(d)} {d.year}",
    lambda d: f"{d.day} {in_french(d)} {d.year}",
    lambda d: f"{d.day} de {in_spanish(d)} de {d.year}",
    lambda d: f"{d.day} {in_spanish(d)} del {d.year}",
    lambda d: f"{d.day} de {in_spanish(d).capitalize()} de {d.year}",
]
STROKES: list[tuple[bool, Callable[[date], str]]] = [
    (True, lambda d: f"{d.day}/{d.month}/{d.year}"),
    (True, lambda d: f"{d:%d-%m-%Y}"),
    (False, lambda d: f"{d:%m/%d/%Y}"),
    (False, lambda d: f"{d.month}-{d.day}-{d.year}"),
]


def support(type_: str, text: str, step: int = 1, day_first: bool | None = None) -> set[str]:
    """All that may be written for a part, with the same decimals."""
    found = read_value(type_, text, day_first)
    assert found is not None, text
    places = range(0, len(found.grid.values), step)
    return {found.write(place, "07"[: found.fresh]) for place in places}


class TestNeighbours:
    """A release tells of a value what its place on the grid tells, and nothing else."""

    @pytest.mark.parametrize(("type_", "write"), NUMBERS)
    def test_numbers_of_one_format_have_one_support(
        self, type_: str, write: Callable[[int], str]
    ) -> None:
        grid = {"AGE": AGES, "PERCENTAGE": PERCENT}.get(type_, MAGNITUDES)
        values = [value for value in grid.values if value < 10**10]
        wanted = support(type_, write(values[0]))
        assert len(wanted) == len(grid.values)
        for value in (*values[1:12], *values[12::7], values[-1]):
            assert support(type_, write(value)) == wanted

    @pytest.mark.parametrize("write", DAYS_WRITTEN)
    def test_days_of_one_format_have_one_support(self, write: Callable[[date], str]) -> None:
        first = date(2023, 1, 1).toordinal()
        wanted = support("DATE_TIME", write(date(2023, 1, 1)), 4999)
        for day in range(first, first + 400):
            assert support("DATE_TIME", write(date.fromordinal(day)), 4999) == wanted

    @pytest.mark.parametrize(("day_first", "write"), STROKES)
    def test_days_with_strokes_have_one_support_in_one_order(
        self, day_first: bool, write: Callable[[date], str]
    ) -> None:
        first = date(2023, 1, 1).toordinal()
        wanted = support("DATE_TIME", write(date(2023, 1, 1)), 4999, day_first)
        for day in range(first, first + 400):
            text = write(date.fromordinal(day))
            found = read_value("DATE_TIME", text, day_first)
            assert found is not None
            assert found.grid.values[found.place] == day
            assert support("DATE_TIME", text, 4999, day_first) == wanted

    def test_one_order_of_day_and_month_holds_for_a_text(self) -> None:
        perturber = selective(actions=NEAR)
        for raw, same in (
            ("on 12/05/2024, on 13/05/2024 and on 2024-05-12", True),
            ("on 12/05/2024, on 05/13/2024 and on 2024-05-12", False),
        ):
            for seed in range(5):
                done = perturber.perturb(raw, seeded_generator(seed))
                perturber.verify(raw, done)
                one, _, other = (part.text for part in done.replaced or ())
                read = read_value("DATE_TIME", one, same), read_value("DATE_TIME", other)
                assert read[0]
                assert read[1]
                assert (read[0].place == read[1].place) == same


# -- in a text ------------------------------------------------------------------------------

RAW = (
    "so he is 47 years old, paid 1,300.50 euros on 12 May 2024, and on 2024-05-12, "
    "at 47 years of age"
)


def release(text: str = RAW, seed: int = 1, **more: Any) -> Any:
    perturber = selective(actions=NEAR, **more)
    done = perturber.perturb(text, seeded_generator(seed))
    perturber.verify(text, done)
    return done


def test_values_stay_near_and_equal_ones_equal() -> None:
    for seed in range(30):
        done = release(seed=seed)
        age, money, day, same, again = (part.text for part in done.replaced)
        assert age == again
        assert abs(int(age) - 47) < 80
        assert money.endswith(" euros")
        assert read_value("DATE_TIME", day).place == read_value("DATE_TIME", same).place  # type: ignore
    assert done.receipt.actions == {"value": {"AGE": 2, "DATE_TIME": 2, "MONEY": 1}}
    assert "0.5·|x − x'|-private" in done.receipt.statement
    assert "public grid" in done.receipt.treatment["value"]
    assert done.receipt.unbounded > selective().perturb(RAW).receipt.unbounded
    assert "0.25·" in release(value_epsilon=0.25).receipt.statement


def test_one_value_has_one_release_under_a_link() -> None:
    def link(entity: str) -> np.random.Generator:
        return keyed_generator(entity.encode()[-16:].rjust(16, b"\0"))

    perturber = selective(actions=NEAR)
    one = perturber.perturb("paid 1,300 euros", link=link).replaced or ()
    two = perturber.perturb("it cost 1300 euros", link=link).replaced or ()
    assert one[0].text == two[0].text
    afresh = selective(actions=NEAR, consistent=False, value_epsilon=0.05)
    text = "so aged 47, aged 47, aged 47, aged 47, aged 47"
    done = afresh.perturb(text, seeded_generator(1))
    afresh.verify(text, done)
    assert len({part.text for part in done.replaced or ()}) > 1


def test_an_amount_has_one_place_with_and_without_decimals() -> None:
    raw = "so he paid 1,300 euros, then 1,300.50 euros"
    done = selective(actions=NEAR).perturb(raw, seeded_generator(2))
    selective(actions=NEAR).verify(raw, done)
    one, two = (part.text.removesuffix(" euros") for part in done.replaced or ())
    assert two.startswith(f"{one}.")
    with pytest.raises(ReleaseError, match="different replacements"):
        selective(actions=NEAR).verify(raw, rewrite(done, 0, "90000 euros", raw))


def test_words_have_a_tag() -> None:
    done = release("so aged forty, at 10:30 on Monday")
    assert done.receipt.actions == {"tag": {"AGE": 1, "DATE_TIME": 2}}
    assert "forty" not in done.text
    assert "10:30" not in done.text


@pytest.mark.statistical
def test_an_age_in_a_text_has_the_stated_law() -> None:
    perturber, n = fixed([Span(0, 2, "AGE")], actions=NEAR), 5000
    drawn = [int(perturber.perturb("47", seeded_generator(i)).text) for i in range(n)]
    counts = np.bincount(drawn, minlength=121)
    assert chances(counts, 47, 121, 0.5, n) > ALPHA
    assert chances(np.roll(counts, 1), 47, 121, 0.5, n) < ALPHA  # a control


def rewrite(done: Any, index: int, text: str, raw: str = RAW) -> Any:
    parts, out, end = list(done.replaced), "", 0
    parts[index] = changed(parts[index], text=text)
    for part in parts:
        out += raw[end : part.start] + part.text
        end = part.end
    return changed(done, text=out + raw[end:], replaced=tuple(parts))


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (0, "forty"),
        (0, "047"),
        (0, "121"),
        (0, "47.5"),
        (0, "7"),  # not as in the last part
        (1, "1300.50 euros"),  # not on the grid
        (1, "1,250.50 euros"),
        (1, "1250.50 euro"),
        (1, "1250.5 euros"),
        (1, "1250.50 euros!"),
        (1, "1250.50 dollars"),
        (2, "12. May 2024"),
        (2, "31 February 2024"),
        (2, "1 January 2101"),
        (3, "1999-01-01"),  # not as in the part before
        (2, "secret"),
        (2, ""),
    ],
)
def test_broken_releases_are_refused(index: int, text: str) -> None:
    perturber = selective(actions=NEAR)
    done = release(seed=4)
    with pytest.raises(ReleaseError):
        perturber.verify(RAW, rewrite(done, index, text))


def test_raw_values_are_refused_where_there_are_many() -> None:
    ages = [str(age) for age in range(20, 80)]
    raw = "; ".join(f"aged {age}" for age in ages)
    perturber = selective(actions=NEAR)
    done = perturber.perturb(raw, seeded_generator(1))
    perturber.verify(raw, done)
    leak = changed(
        done,
        text=raw,
        replaced=tuple(changed(p, text=raw[p.start : p.end]) for p in done.replaced or ()),
    )
    with pytest.raises(ReleaseError, match="values of marked parts are unchanged"):
        perturber.verify(raw, leak)


def test_a_release_by_another_action_is_refused() -> None:
    with pytest.raises(ReleaseError):
        selective().verify(RAW, release())
    with pytest.raises(ReleaseError):
        selective(actions=NEAR).verify(RAW, selective().perturb(RAW, seeded_generator(1)))


@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, True, "1", 101])
def test_a_wrong_epsilon_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match="^value_epsilon must be"):
        SelectiveParameters(value_epsilon=wrong)


def test_other_types_have_no_value() -> None:
    for type_ in ("NAME", "CREDIT_CARD", "CUSTOM"):
        with pytest.raises(ParameterError, match="must not be value: the type has none"):
            SelectiveParameters(actions={type_: "value"})
    assert "Schmidt" not in release("so Anna Schmidt came").text


def test_a_value_may_come_back_as_it_was() -> None:
    raw = "so he came on 12 octobre 2024 and paid 5 kronor"
    perturber = selective(actions=NEAR, value_epsilon=100.0)
    done = perturber.perturb(raw)
    assert done.text == raw  # at this ε nothing moves
    perturber.verify(raw, done)
    assert perturber.secrets(raw, done, unrepeatable=True) == ()
    assert "12 octobre 2024" in perturber.secrets(raw, done)


@pytest.mark.parametrize(
    "digits", ["9" * 5000, "1," + "000," * 2000 + "000", "1." + "000." * 9000]
)
def test_a_number_of_thousands_of_digits_is_no_value(digits: str) -> None:
    for type_ in ("MONEY", "QUANTITY", "PERCENTAGE", "AGE", "DURATION", "DATE_TIME", "NUMBER"):
        for text in (digits, f"${digits}", f"{digits} %", f"{digits} years", f"1.1.{digits}"):
            assert read_value(type_, text) is None
