"""Comparisons hold both texts whole, mark what changed, and show nothing by accident."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perturb import Resources, get_mechanism, sanitizer_class, seeded_generator
from perturb.audit.report import audit
from perturb.display import (
    LONGEST,
    Comparison,
    compare_parts,
    compare_words,
    format_value,
    show_columns,
)
from perturb.testing import load_test_table
from tests.perturb.marking import WORDS
from tests.tables import bundled_table

TEXT = 'Ask <script>alert("Anna")</script> Schmidt &\nher cat, at anna@example.org.\n'
TEXTS = st.text(st.sampled_from("ab .,<&\n\u00e9"), max_size=60)


class Reader(HTMLParser):
    """Collects the elements, their attributes, the text, and the marked text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text, self.marked = "", [""]
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "mark":
            self.inside = True
            self.marked.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "mark"

    def handle_data(self, data):
        self.text += data
        if self.inside:
            self.marked[-1] += data


@given(TEXTS, TEXTS)
def test_both_texts_are_whole_and_the_unmarked_text_is_the_same(raw: str, released: str) -> None:
    found = Comparison(compare_words(raw, released))
    assert (found.raw, found.released) == (raw, released)
    for each in found.segments:
        if not each.changed:
            assert "".join(each.raw.split()) == "".join(each.released.split())
    if raw == released:
        assert not any(each.changed for each in found.segments)


def test_a_changed_word_is_marked_alone() -> None:
    found = Comparison(compare_words("One two\nthree four.", "One six\nthree four."))
    assert found.to_text() == "One [-two-]{+six+}\nthree four."
    assert Comparison(compare_words("a b c", "a c")).to_text() == "a [-b-] c"
    assert Comparison(compare_words("a c", "a b c")).to_text() == "a {+b+} c"


def test_long_stretches_are_not_compared_word_by_word() -> None:
    long = "a " * (LONGEST + 1)
    assert [each.changed for each in compare_words(long, long)] == [True]
    assert not any(each.changed for each in compare_words(long[2:], long[2:]))


def test_parts_that_do_not_fit_are_refused() -> None:
    assert compare_parts("Ask Anna.", "Ask Mary.", [(4, 8, "Mary")]) is not None
    assert compare_parts("Ask Anna!", "Ask Mary.", [(4, 8, "Mary")]) is None
    assert compare_parts("Ask Anna.", "Ask Mary.", [(3, 8, "Mary")]) is None


def test_a_selective_release_is_compared_by_its_parts() -> None:
    made = get_mechanism("selective", epsilon=8, **WORDS).perturb(TEXT, seeded_generator(1))
    found = made.compare(TEXT)
    changed = [(each.raw, each.released) for each in found.segments if each.changed]
    assert made.replaced
    assert changed == [(TEXT[p.start : p.end], p.text) for p in made.replaced]
    other = made.compare("Another text.")  # not the one that it was made of
    assert (other.raw, other.released) == ("Another text.", made.text)


def test_a_comparison_shows_raw_words_only_when_it_is_asked_to() -> None:
    made = get_mechanism("rantext_ldp", epsilon=6).perturb(TEXT, seeded_generator(1))
    found = made.compare(TEXT)
    for shown in (repr(found), str(found), f"{found}", repr(found.segments)):
        assert "Schmidt" not in shown
        assert "cat" not in shown
    assert "Schmidt" in found.to_text()
    assert "Schmidt" not in made._repr_html_()


@pytest.mark.parametrize("name", ["selective", "rantext_ldp", "surrogate"])
def test_html_is_escaped_self_contained_and_whole(name: str) -> None:
    cls = sanitizer_class(name)
    sanitizer = cls.build(cls.check_parameters(epsilon=8), Resources(table=bundled_table()))
    made = sanitizer.perturb(TEXT, seeded_generator(1))
    both, alone = Reader(made.compare(TEXT)._repr_html_()), Reader(made._repr_html_())
    assert both.text == f"raw{TEXT}released{made.text}"
    assert alone.text.startswith(f"released{made.text}Receipt: {made.receipt.statement}")
    for page in (both, alone):
        assert page.tags <= {"div", "mark", "details", "summary", "table", "tr", "th", "td"}
        assert page.attributes <= {"style", "dir", "scope"}
    assert alone.marked[1:] == [part.text for part in made.replaced or ()]


def test_styles_load_nothing_and_leave_the_color_of_text_to_the_theme() -> None:
    html = show_columns(("raw", [("x", True)]), ("released", [("y", True)]))
    assert "url(" not in html
    assert re.findall(r"[^-]color: (\w+)", html) == ["inherit", "inherit"]
    assert len(re.findall(r"background: rgba\(.*?, \.\d+\)", html)) == 2
    assert html.count("text-decoration: underline") == 2


def test_receipts_and_audits_are_tables() -> None:
    table = load_test_table("toy")
    receipt = get_mechanism("rantext_ldp", table, epsilon=6).perturb("The sea.").receipt
    page = Reader(receipt._repr_html_())
    assert {"table", "th"} <= page.tags
    assert receipt.statement in page.text
    found = audit(get_mechanism("rantext_ldp", table, epsilon=6), "uniform")
    page = Reader(found._repr_html_())
    assert found.statement in page.text
    assert all(value in page.text for _, value in found.rows())


def test_values_are_formatted_for_readers() -> None:
    assert format_value({"policy": ["a"], "on": True}) == "policy: a, on: True"
    assert format_value(0.5) == "0.5"
    assert format_value([]) == "none"
