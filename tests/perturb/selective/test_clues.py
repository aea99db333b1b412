"""A clue spares an expression the texts without a match, and never hides a match."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import benchmarks.fidelity
from perturb.selective.patterns import SHIPPED, Shape, amounts, dates, people, places
from perturb.selective.patterns.amounts import AMOUNTS
from perturb.selective.patterns.contact import CONTACT
from perturb.selective.patterns.dates import DATES
from perturb.selective.patterns.people import PEOPLE
from perturb.selective.patterns.persons import PERSONS
from perturb.selective.patterns.places import PLACES
from perturb.selective.patterns.shape import (
    Facts,
    Index,
    Lazy,
    all_clues,
    any_clue,
    any_figure,
    any_listed,
    any_match,
    any_string,
    find_places,
    least_digits,
    no_clue,
)
from tests.perturb.selective.test_patterns import BY_TYPE

MOST = 100  # texts of a file
TEXTS = Path(benchmarks.fidelity.__file__).parent
LOOK_AHEAD = re.compile(r"\(\?=\[[^\]]*\]\)")
# In any capitals, and with the letters that `re` reads as i, s and k.
RESPELL: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    str.lower,
    str.swapcase,
    lambda text: text.replace("i", "ı").replace("s", "ſ").replace("k", "\u212a"),
    lambda text: text.replace("i", "İ"),
)
PROFILES = """
    github.com codeberg.org linkedin.com/in xing.com/profile bsky.app/profile keybase.io
    reddit.com/u kaggle.com dev.to linktr.ee about.me t.me twitter.com x.com threads.net twitch.tv
    soundcloud.com vimeo.com vk.com ok.ru chaos.social/@
"""
# The shapes of a module, each of its lists of words, and where these count. A blank inside of a
# word is written `_`.
LISTED = (
    (AMOUNTS, amounts._NAME_LIST, ("5 {}", "ten {}.")),
    (AMOUNTS, amounts._CODE_LIST, ("{} 5", "5{}", "5 de{}", "{}5")),
    (AMOUNTS, " ".join(amounts._MEASURE_LISTS), ("5 {}", "5{}", "five-{}")),
    (DATES, " ".join(dates._WEEKDAY_LISTS), ("on {}.",)),
    (DATES, " ".join(dates._UNIT_LISTS), ("5 {}", "two-{}.")),
    (PEOPLE, people._PEOPLES, ("{}", "two {}s.")),
    (PEOPLE, people._PEOPLES_ELSEWHERE, ("{}", "Two {}.")),
    (
        PEOPLE,
        f"{people._PROFESSIONS} {people._PROFESSIONS_ELSEWHERE}",
        ("a {}", "as senior {}."),
    ),
    (PEOPLE + PERSONS, f"{people.TITLES} {people._MORE}", ("{} Anna", "{}. Anna")),
    (CONTACT, PROFILES, ("See {}/ana_holz.", "See {}ana_holz.")),
    (PLACES, f"{places._SURE} {places._ALSO}", ("5 Long {}", "12 The Old {}.")),
)


def find_hidden(shapes: Iterable[Shape], text: str) -> list[tuple[str, str]]:
    """Return the types and the texts of the parts that a clue hides, alone or in an index, or that
    lie beyond the reach of its places."""
    facts = Facts(text)
    return [
        (shape.type, text[start:end])
        for shape in shapes
        for start, end in set(shape.find(text)) - set(_search(shape, facts))
    ]


def _search(shape: Shape, facts: Facts) -> Iterator[tuple[int, int]]:
    return shape.search(facts) if Index([shape.clue]).find(facts) else iter(())


def list_examples() -> Iterator[str]:
    for line in "\n".join(BY_TYPE.values()).splitlines():
        yield re.sub(r"[\[\]]", "", line).strip()


@pytest.mark.parametrize("number", range(len(SHIPPED)))
def test_no_clue_hides_a_generated_match(number: int) -> None:
    shape = SHIPPED[number]
    assert isinstance(shape.pattern, Lazy)
    # Without the looks at the first character: they would be met by chance, in few of the texts.
    plain = re.compile(LOOK_AHEAD.sub("", shape.pattern.pattern), shape.pattern.flags)

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(plain), st.sampled_from(RESPELL))
    def check(text: str, respell: Callable[[str], str]) -> None:
        assert not find_hidden([shape], respell(text))

    check()


@pytest.mark.parametrize("respell", RESPELL)
def test_no_clue_hides_an_example(respell: Callable[[str], str]) -> None:
    for text in list_examples():
        assert not find_hidden(SHIPPED, respell(text))


@pytest.mark.parametrize("path", sorted(TEXTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_no_clue_hides_a_part_of_a_text(path: Path) -> None:
    """Of texts of the benchmark: no generated match has all that is around a real one."""
    lines = path.read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines[:: 1 + len(lines) // MOST]]
    assert texts
    assert not [hidden for text in texts for hidden in find_hidden(SHIPPED, text)]


@pytest.mark.parametrize(("shapes", "words", "frames"), LISTED)
def test_no_clue_hides_a_listed_word(
    shapes: Sequence[Shape], words: str, frames: tuple[str, ...]
) -> None:
    for word, frame in ((word, frame) for word in words.split() for frame in frames):
        text = frame.format(word.replace("_", " "))
        assert not find_hidden(shapes, text)
        assert not find_hidden(shapes, text.upper())


def test_most_clues_are_missing_in_most_texts() -> None:
    facts = Facts("Please write a short poem about the sea for our new friends.")
    assert sum(shape.clue(facts) for shape in SHIPPED) < len(SHIPPED) / 5


@pytest.mark.parametrize(
    ("type_", "clue"),
    [
        ("PERCENTAGE", any_string("%")),
        ("DURATION", any_listed("years months weeks days")),
        ("MONEY", any_listed(amounts._NAME_LIST)),
        ("DATE_TIME", least_digits(1)),
        ("PHONE_NUMBER", least_digits(12)),
    ],
)
def test_a_clue_that_misses_matches_is_caught(type_: str, clue: Callable[[Facts], bool]) -> None:
    broken = [replace(shape, clue=clue) for shape in SHIPPED if shape.type == type_]
    assert list(chain.from_iterable(find_hidden(broken, text) for text in list_examples()))


def test_clues_are_combined() -> None:
    facts = Facts("Ten dollars, or 12 euros?")
    assert facts.words == {"ten", "dollars", "or", "euros"}
    assert facts.digits == 2
    yes, no = any_listed("euro euros"), any_match(r"\d{3}")
    assert (yes(facts), no(facts), no_clue(facts)) == (True, False, True)
    assert any_clue(no, yes)(facts)
    assert not all_clues(no, yes)(facts)


@pytest.mark.parametrize("text", ["", "naïve Käse_2 km² x²", "don't 12x", "٣ à-la ß ẞ"])
def test_words_are_runs_of_letters(text: str) -> None:
    assert Facts(text).words == set(re.findall(r"[^\W\d_]+", text.lower()))
    assert Facts(text).digits == len(re.findall(r"\d", text))


@pytest.mark.parametrize("path", sorted(TEXTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_an_index_finds_the_strings_that_a_text_holds(path: Path) -> None:
    texts = [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()[:20]]
    strings = sorted(
        {text[i : i + n].lower() for n in range(1, 9) for text in texts[::4] for i in (0, 9)}
    )
    index = Index(map(any_string, strings))
    for text in texts:
        facts = Facts(text)
        held = [i for i, string in enumerate(strings) if string in facts.lower or facts.unusual]
        assert index.find(facts) == held


def test_figures_are_looked_for_around_digits() -> None:
    words = "some words " * 50
    text = f"{words}AB12 CDE{words}7{words}(3) X"
    facts = Facts(text)
    assert len(facts.figures) < 100
    for pattern in (r"[A-Z]{2}\d\d [A-Z]{3}", r"\d(?=some)", r"\d\) X"):
        assert any_figure(pattern)(facts)
        assert find_places(any_figure(pattern), facts) == find_places(any_match(pattern), facts)
    assert not any_figure(r"\d\d/\d\d")(facts)
