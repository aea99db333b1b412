"""The contract of a policy, which marks the sensitive parts of a text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest

from perturb.release import Span
from perturb.selective.policies import Policy, settle
from perturb.testing.growth import grows_linearly

__all__ = ["HOSTILE", "PolicyContract"]

# Units of texts that a careless policy takes long to read, once a unit is repeated.
HOSTILE = (
    *("a", "1", "A", ".", ":", "@", " ", "-", "(", "1 ", "1-", "1.", "1,", "a.", "a@", "a-1"),
    *("1:", "A ", "Aa ", "Aa.", "A. ", "Aa de ", "http://", "http://,", "www.", "www.,"),
    *("12 Aa ", "$1", "1:1", "::", "+1", "(+1", "GB12 ", "A1", "AA11", "x@y.", "May "),
    *("1st of ", "aged ", "&", "&#6", "&#65;", "&uuml;", "\u202e", "A\u202e", "A\n", "A, "),
    *("Aa\n> ", "A \r\n", "12/", "Apt 1", "P.O. ", "李", "é\u0301", "\n", "1\n", "'", "a'"),
    *("St ", "1 a b c d "),
)
ODD = (
    *("", " \n\t ", "\ud800 alone", "Jose\u0301 \u202eabc\u202c", "a\u200bb", "👩‍👩‍👧 x"),
    *("&#65;nna &amp; B", '{"a": "b\\nc"}', "患者は田中", "\r\n\x00\x7f\u2028", "ﬁ ½ ① ＡＢ"),
)
_TYPE = re.compile(r"[A-Z][A-Z0-9_]*")


class PolicyContract:
    """Check the rules that every policy must keep. Inherit the class, set `marks`, and define
    `build`.

    Attributes:
        marks: texts, each with the parts that must be marked in it and their types.
        leaves: texts in which nothing may be marked.
        hostile: strings; each is repeated to texts of 20,000 and of 100,000 characters.
        seconds: the processor time within which a text of 100,000 characters passes, and one of
            20,000 in a tenth of it; slower work must not grow with the square of the length.
    """

    marks: ClassVar[Sequence[tuple[str, Sequence[tuple[str, str]]]]] = ()
    leaves: ClassVar[Sequence[str]] = ()
    hostile: ClassVar[Sequence[str]] = HOSTILE
    seconds: ClassVar[float] = 30.0

    def build(self) -> Policy:
        """Return a new policy."""
        raise NotImplementedError("a policy's tests must define `build`")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run the tests for the texts."""
        if "unit" in metafunc.fixturenames:
            metafunc.parametrize("unit", self.hostile)
            sizes = [(20_000, self.seconds / 10), (100_000, self.seconds)]
            metafunc.parametrize(("length", "seconds"), sizes, ids=["short", "long"])

    def texts(self) -> Iterable[str]:
        """Yield the texts of the examples, unusual ones, and one of random characters."""
        yield from (text for text, _ in self.marks)
        yield from self.leaves
        yield from ODD
        codes = np.random.default_rng(3).integers(1, 0xD7FF, 2000)
        yield "".join(map(chr, codes.tolist()))

    def test_examples_are_marked(self) -> None:
        """Check that every part that must be marked is marked, with its type."""
        policy = self.build()
        assert self.marks, "a policy's tests must set `marks`"
        for text, parts in self.marks:
            found = {(text[s.start : s.end], s.type) for s in settle(text, policy.find(text))}
            assert set(parts) <= found

    def test_ordinary_text_is_left(self) -> None:
        """Check that nothing is marked in the texts of `leaves`."""
        policy = self.build()
        for text in self.leaves:
            assert settle(text, policy.find(text)) == ()

    def test_spans_are_parts_of_the_text(self) -> None:
        """Check that a span is not empty, lies in the text and has a type in capitals."""
        policy = self.build()
        for text in self.texts():
            for span in policy.find(text):
                assert isinstance(span, Span)
                assert 0 <= span.start < span.end <= len(text)
                assert _TYPE.fullmatch(span.type)

    def test_settled_spans_are_disjoint_in_order_and_cover(self) -> None:
        """Check that the found spans, in any order and overlapping, settle into disjoint ones."""
        policy = self.build()
        for text in self.texts():
            found = list(policy.find(text))
            spans = settle(text, found)
            assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
            covered = {i for s in spans for i in range(s.start, s.end)}
            assert all(covered >= set(range(s.start, s.end)) for s in found)

    def test_equal_texts_get_equal_spans(self) -> None:
        """Check a policy against itself, against another one, and in several threads."""
        policy, other, texts = self.build(), self.build(), list(self.texts())
        first = [sorted(policy.find(text)) for text in texts]
        assert [sorted(policy.find(text)) for text in reversed(texts)] == first[::-1]
        assert [sorted(other.find(text)) for text in texts] == first
        with ThreadPoolExecutor(4) as threads:
            shared = list(threads.map(lambda text: sorted(policy.find(text)), texts * 4))
        assert shared == first * 4

    def test_version_is_a_string(self) -> None:
        """Check that the policy's `version`, if it has one, is a string."""
        assert isinstance(getattr(self.build(), "version", ""), str)

    def test_hostile_texts_cost_what_their_length_says(
        self, unit: str, length: int, seconds: float
    ) -> None:
        """Check that the work grows with the length and not with its square.

        For 100 kB, linear work takes about a second of processor time, quadratic work minutes.
        """
        policy = self.build()

        def work(length: int) -> None:
            text = (unit * length)[:length] + "!"
            settle(text, policy.find(text))

        assert grows_linearly(work, length, seconds=seconds)
