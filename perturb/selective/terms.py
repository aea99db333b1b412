"""Look for an operator's own terms: those that are always marked, and those that never are."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from hashlib import sha256
from itertools import accumulate
from typing import Any

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.sanitizer import Policy
from perturb.selective.parts import LONGEST_REPEAT, Parts, read_tokens

__all__ = ["CUSTOM", "Cover", "ExceptTerms", "Terms", "check_terms", "hash_terms"]

CUSTOM = "CUSTOM"  # the type of a term that is always marked


class Terms:
    """Find terms as whole words, in any capitals and any spelling of their characters.

    As a policy, it marks them with the type CUSTOM.

    >>> [*Terms(["blue bird"]).find("The Blue\\nBird flies.")]
    [Span(start=4, end=13, type='CUSTOM')]
    """

    def __init__(self, terms: Iterable[str]) -> None:
        self._parts = Parts(())
        for term in terms:
            self._parts.add(read_tokens(term.strip()).words, CUSTOM)

    def find(self, text: str) -> Iterable[Span]:
        return self._parts.spans(read_tokens(text))


class Cover:
    """The stretches of a text that some spans cover.

    >>> cover = Cover([Span(4, 13, "CUSTOM")])
    >>> cover.holds(4, 8), cover.holds(0, 8), cover.meets(0, 8), cover.meets(0, 4)
    (True, False, True, False)
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        ordered = sorted(spans)
        self._starts = [span.start for span in ordered]
        self._ends = list(accumulate((span.end for span in ordered), max))

    def holds(self, start: int, end: int) -> bool:
        """Tell if one span holds all of a stretch."""
        place = bisect_right(self._starts, start) - 1
        return place >= 0 and self._ends[place] >= end

    def meets(self, start: int, end: int) -> bool:
        """Tell if a span overlaps a stretch."""
        place = bisect_right(self._starts, end - 1) - 1
        return place >= 0 and self._ends[place] > start


class ExceptTerms:
    """Mark with another policy, but never a part that lies inside one of the terms.

    Attributes:
        version: of the other policy.
    """

    def __init__(self, policy: Policy, terms: Terms) -> None:
        self._policy, self._terms = policy, terms
        self.version = getattr(policy, "version", "")

    def find(self, text: str) -> Iterable[Span]:
        found = list(self._policy.find(text))
        allowed = Cover(self._terms.find(text) if found else ())
        return [span for span in found if not allowed.holds(span.start, span.end)]


def check_terms(name: str, given: Any) -> tuple[str, ...]:
    """Return a list of terms in a fixed order.

    Raises:
        ParameterError: it is no list of terms.
    """
    if not isinstance(given, (list, tuple)) or not all(isinstance(term, str) for term in given):
        raise ParameterError(f"{name} must be a list of terms")
    for term in given:
        if not any(map(str.isalnum, term)):
            raise ParameterError(f"{name} must hold terms with a letter or a digit")
        if len(read_tokens(term.strip()).words) > LONGEST_REPEAT:
            raise ParameterError(f"{name} must hold terms of <= {LONGEST_REPEAT} words and signs")
    return tuple(sorted(set(given)))


def hash_terms(terms: Sequence[str]) -> str:
    """Return the digest that stands for terms in an identity; "" for none."""
    return sha256(json.dumps(terms).encode()).hexdigest() if terms else ""
