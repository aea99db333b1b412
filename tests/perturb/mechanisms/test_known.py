"""A finding in one text is sensitive in the texts that come with it and after it."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import Span, keyed_generator
from perturb.selective.parts import LONGEST_REPEAT, KnownParts, Parts, find_known, read_tokens
from perturb.selective.policies import collect_parts, settle
from perturb.testing.growth import grows_linearly
from perturb.vocabulary.vocabulary import LAYOUT
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


def test_a_known_part_longer_than_is_looked_for_is_found_by_its_beginning() -> None:
    long = " ".join(f"w{i}" for i in range(60))
    [found] = settle(f"See {long}.", [], {long: "X"})
    assert (found.start, found.end) == (4, 4 + len(" ".join(long.split()[:32]) + " "))


def test_a_finding_too_long_for_a_part_becomes_several_and_all_are_found_again() -> None:
    long = " ".join(f"w{i}" for i in range(60))
    text = f"{long}; {long}"
    found = settle(text, [Span(0, len(long), "X")])
    assert [text[span.start : span.end] for span in found[:2]] == [
        " ".join(f"w{i}" for i in range(30)),
        " ".join(f"w{i}" for i in range(30, 60)),
    ]
    assert [text[s.start : s.end] for s in found[2:]] == [text[s.start : s.end] for s in found[:2]]


SIGNS = st.lists(st.sampled_from(["0", "0,", "a ", "é", "&amp;", "\u200b", "\u20ac", "-", "\n"]))


@given(SIGNS.map("".join), st.integers(1, 80), st.data())
def test_a_finding_is_marked_but_for_lone_signs_between_its_parts(
    text: str, times: int, data: st.DataObject
) -> None:
    text = text * times + "0"
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = settle(text, [Span(start, end, "X")])
    marked = {place for span in found for place in range(span.start, span.end)}
    left = set(range(start, end)) - marked
    assert all(text[place] in LAYOUT for place in left)
    assert not any(place + 1 in left and not text[place].isspace() for place in left)
    known = settle(text, [Span(start, end, "X")], {"0": "Y", "a 0": "Z"})
    for span in found:  # more parts are never less of a finding
        assert any(other.start <= span.start and span.end <= other.end for other in known)


@pytest.mark.parametrize("unit", ["0,", "0, ", "a ", "a"])
def test_a_finding_that_repeats_itself_is_cut_in_linear_time(unit: str) -> None:
    def work(length: int) -> None:
        text = unit * (length // len(unit))
        found = settle(text, [Span(0, len(text), "X")])
        assert max(len(read_tokens(text[s.start : s.end]).words) for s in found) <= LONGEST_REPEAT

    assert grows_linearly(work, 60_000, seconds=0.5)


REPEATING = st.lists(st.sampled_from(["a", "A", "0", ",", " "]), max_size=6).map("".join)


@given(st.lists(REPEATING, max_size=8), REPEATING, st.integers(1, 12))
def test_the_longest_part_at_each_word_is_that_of_a_slow_reference(
    written: list[str], text: str, times: int
) -> None:
    text *= times
    parts = Parts(())
    for part in written:
        parts.add(read_tokens(part).words, "X")
    tokens = read_tokens(text)
    words = [word.casefold() for word in tokens.words]
    wanted = [[word.casefold() for word in read_tokens(part).words] for part in written]
    expected = []
    for first in range(len(words)):
        sizes = [len(own) for own in wanted if own and words[first : first + len(own)] == own]
        if sizes:
            last = first + max(sizes) - 1
            expected.append(Span(tokens.starts[first], tokens.ends[last], "X"))
    assert list(parts.spans(tokens)) == expected


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
    assert not grows_linearly(partial(find, prepared=False), 160, seconds=0.02)
