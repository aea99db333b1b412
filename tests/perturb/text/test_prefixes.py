"""The strings that begin at a place of a text, found as a slow reference finds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb.testing.growth import grows_linearly
from perturb.text.search import Prefixes

SELF_SIMILAR = st.text("0,", min_size=1, max_size=9)


@given(st.lists(SELF_SIMILAR, max_size=20), st.text("0,", max_size=30), st.integers(1, 40))
def test_strings_at_a_place_are_those_of_a_slow_reference(
    strings: list[str], text: str, times: int
) -> None:
    strings += [string * times for string in strings]  # some are longer than is looked at first
    text *= times
    found = Prefixes(strings)
    for start in range(min(len(text), 60) + 1):
        expected = {string for string in strings if text.startswith(string, start)}
        assert list(found.find(text, start)) == sorted(expected, key=len, reverse=True)
        rest = text[start:]
        more = any(string != rest and string.startswith(rest) for string in strings)
        assert found.continues(rest) == more


@pytest.mark.parametrize("unit", ["0,", "a", "0 1 "])
def test_strings_that_repeat_themselves_cost_what_the_text_costs(unit: str) -> None:
    found = Prefixes([unit * count + "8" for count in range(1, 200)])

    def work(length: int) -> None:
        text = (unit * length)[:length]
        for start in range(length):
            assert not list(found.find(text, start))

    assert grows_linearly(work, 40_000, seconds=0.5)
