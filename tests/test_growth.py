"""Every regular expression, splitter and normaliser of the product takes time linear in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from extraction.judge import split_parts
from extraction.restore import restore
from perturb.selective.parts import read_tokens
from perturb.selective.patterns import find_distinctive_words, find_names
from perturb.selective.patterns.shape import Facts
from perturb.selective.policies import PatternPolicy, settle
from perturb.testing.growth import grows_linearly
from perturb.text.fold import decode_entities, find_words, fold, read, spell_entities
from perturb.units import build_skeleton, split_units
from perturb.whole.deep_candidate import split_sentences
from perturb.whole.passages import split_passages
from proxy.console.views.trying import compare_words
from tests.shipped_expressions import find_expressions, is_anchored, make_units

LENGTH = 4_000
SECONDS = 0.001  # nothing that takes less on so short a text is looked at again, on fast machines
PARTS = 8  # of the expressions, side by side
UNITS = (
    *("a", "A", "1", " ", "\n", "\t", "0,", "1 ", "1-", "-", ".", "@", "'", '"', "a.", "a@"),
    *("million ", "Human Rights ", "\\", "&", "<", "](", "//", "Aa ", "\u00ad", "李", "=", "_"),
)
PLANTED = {  # each is quadratic: a long run is tried again from each of its characters
    "blanks": re.compile(r"\s*\n"),
    "a token": re.compile(r"(?<![A-Za-z0-9])ey[A-Z][A-Za-z0-9_-]{10,}+\.[a-z]+"),
    "digits": re.compile(r"[0-9]+ %"),
}


def _texts(pattern: Any) -> Iterator[Callable[[int], str]]:
    """Yield functions that make a hostile text of a length."""
    made: dict[tuple[str, str], None] = {}
    for unit, run in make_units(pattern).items():
        for between in ("", " ", "-"):
            made[between + unit, ""] = None
            if run:
                made[between + unit, run] = None
    for unit in UNITS:
        made[unit, ""] = None
    for unit in (" ", "1", "-"):
        made["x", unit] = None  # the run alone, after one letter
    for unit, run in made:
        yield lambda n, unit=unit, run=run: _fill(unit, run, n)


def _fill(unit: str, run: str, n: int) -> str:
    if not run:
        return unit * (n // len(unit)) + "!"
    return unit * (1 if unit == "x" else n // 2 // len(unit)) + run * (n // 2 // len(run)) + "!"


def _find_slow(pattern: Any, *, anchored: bool) -> str | None:
    """Return the beginning of a text that an expression takes too long to search."""

    def work(text: str) -> None:
        found = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
        if anchored:
            pattern.match(found)
            pattern.fullmatch(found)
        else:
            for _ in pattern.finditer(found):
                pass

    for make in _texts(pattern):
        if not grows_linearly(lambda n, make=make: work(make(n)), LENGTH, seconds=SECONDS):
            return make(40)
    return None


@pytest.mark.statistical
@pytest.mark.parametrize("part", range(PARTS))
def test_shipped_expressions_are_linear(part: int) -> None:
    slow = {
        name: _find_slow(pattern, anchored=is_anchored(name))
        for name, pattern in [*find_expressions().items()][part::PARTS]
    }
    assert len(slow) > 100
    assert {name: text for name, text in slow.items() if text is not None} == {}


@pytest.mark.parametrize("name", PLANTED)
def test_a_quadratic_expression_is_found(name: str) -> None:
    assert _find_slow(PLANTED[name], anchored=False) is not None


def test_all_kinds_of_places_are_searched() -> None:
    names = {name.partition("[")[0] for name in find_expressions()}
    assert names >= {
        "perturb.selective.patterns.SECRETS",  # shapes
        "perturb.selective.values._NAMED",  # a tuple
        "perturb.selective.patterns.places:search",  # spelled in a call
        "perturb.vocabulary.words.WORD",  # of the package `regex`
        "proxy.console.views.trying._LINE",
        "extraction.addresses._TARGET",
    }
    assert len(find_expressions()) > 130


POLICY = PatternPolicy.shipped()
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "fold": fold,
    "read": read,
    "spell_entities": spell_entities,
    "decode_entities": decode_entities,
    "read_tokens": read_tokens,
    "find_names": lambda text: list(find_names(text)),
    "find_distinctive_words": lambda text: list(find_distinctive_words(text)),
    "PatternPolicy": lambda text: settle(text, POLICY.find(text)),
    "split_sentences": split_sentences,
    "split_passages": lambda text: list(split_passages(text)),
    "split_parts": split_parts,
    "split_units": lambda text: split_units(text, build_skeleton(text), 5),
    "find_words": find_words,
    "compare_words": lambda text: compare_words(text, text + " x"),
    "restore": lambda text: restore(text, [("Yarstead", "Novak")]),
    "Facts": lambda text: (Facts(text).words, Facts(text).digits),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_splitters_and_normalisers_are_linear(name: str) -> None:
    slow = [
        unit
        for unit in UNITS
        if not grows_linearly(
            lambda n, unit=unit: FUNCTIONS[name](unit * (n // len(unit)) + "!"),
            20_000,
            seconds=0.025,
        )
    ]
    assert slow == []
