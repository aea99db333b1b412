"""A finding in one text is sensitive in the texts that come with it and after it."""

from __future__ import annotations

from functools import partial

import pytest

from perturb import Span, keyed_generator
from perturb.selective.parts import KnownParts, find_known
from perturb.selective.policies import collect_parts, settle
from perturb.testing.growth import grows_linearly
from tests.perturb.marking import selective

NAMED = "My patient is Bartholomew Quimby, file 4711-X."


def test_findings_are_the_marked_parts_and_the_words_of_names() -> None:
    assert selective().findings(NAMED) == {
        "Bartholomew": "NAME",
        "Quimby": "NAME",
        "Bartholomew Quimby": "NAME",
        "4711-X": "ID",
    }
    assert selective(policy="all").findings(NAMED) == {}
    assert collect_parts("a b", [Span(0, 1, "X")]) == {"a": "X"}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Bartholomew has epilepsy, bartholomew!", ["Bartholomew", "bartholomew"]),
        ("see 4711-x, BARTHOLOMEW\u00a0quimby", ["4711-x", "BARTHOLOMEW\u00a0quimby"]),
        ("the bartholomews and quimbyish", []),
    ],
)
def test_known_parts_are_replaced_in_any_capitals(text: str, parts: list[str]) -> None:
    perturber = selective()
    known = perturber.known_in(text, perturber.findings(NAMED))
    done = perturber.perturb(text, known=known)
    perturber.verify(text, done)
    assert done.replaced is not None
    assert [text[p.start : p.end] for p in done.replaced] == parts
    assert bool(known) == bool(parts)


def test_a_known_part_has_the_replacement_it_had() -> None:
    def link(entity: str) -> object:
        return keyed_generator(entity.encode().ljust(16, b"\0"))

    perturber = selective()
    first = perturber.perturb(NAMED, link=link)  # type: ignore[arg-type]
    then = perturber.perturb(
        "Quimby sleeps",
        link=link,
        known=perturber.findings(NAMED),  # type: ignore[arg-type]
    )
    assert first.replaced is not None
    assert then.text == f"{first.replaced[0].text.split()[1]} sleeps"


def test_only_what_stands_in_a_text_matters_for_it() -> None:
    known = {"Anna Lee": "NAME", "Lee": "NAME", "Like": "NAME"}
    assert find_known("lee came", known) == {"Lee": "NAME"}
    assert find_known("I like it", known, {"like"}) == {}
    assert find_known("", known) == find_known("Lee", {}) == {}


def test_common_words_in_other_capitals_are_left() -> None:
    def parts(text: str, *spans: tuple[int, int]) -> list[str]:
        found = settle(text, [Span(*s, "X") for s in spans], common={"will", "like"})
        return [text[s.start : s.end] for s in found]

    assert parts("Will, will, WILL, Will", (0, 4)) == ["Will", "Will"]
    assert parts("Kim, kim, KIM, Kim", (0, 3)) == ["Kim", "kim", "KIM", "Kim"]
    assert parts("Will Like, will like, like", (0, 9)) == ["Will Like", "will like"]


def test_a_part_longer_than_is_looked_for_is_found_by_its_beginning() -> None:
    long = " ".join(f"w{i}" for i in range(60))
    text = f"{long}; {long}"
    first, second = settle(text, [Span(0, len(long), "X")])
    assert (first.end, second.start) == (len(long), len(long) + 2)


def write_paragraphs(count: int) -> tuple[list[str], dict[str, str]]:
    """Return paragraphs, each with a name of its own, and the names of all of them."""
    names = [
        f"Bart{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}olomew{i // 676}" for i in range(count)
    ]
    return [f"Mr. {name} met the board." for name in names], dict.fromkeys(names, "NAME")


def test_many_names_in_many_paragraphs_are_found_in_linear_time() -> None:
    def find(count: int, *, prepared: bool = True) -> None:
        paragraphs, names = write_paragraphs(count)
        known = KnownParts(names) if prepared else names
        for paragraph, name in zip(paragraphs, names, strict=True):
            assert list(find_known(paragraph, known)) == [name]

    assert grows_linearly(find, 2000, seconds=0.02)
    assert not grows_linearly(partial(find, prepared=False), 400, seconds=0.02)
