"""Count the replacements in an answer that came back altered, as well as they can be told."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

from proxy.restoring.text import Replacements

__all__ = ["count_altered"]

DIGITS = 8  # of a number that is recognised without its separators
_SEPARATED = re.compile(r"(?<=\d)[ ./-](?=\d)")
_WORD = re.compile(r"\w")


def count_altered(text: str, replacements: Replacements) -> int:
    """Count the places of a text that hold a replacement in another form.

    A replacement of several words, or with digits, counts in other capitals, a single word in
    capitals alone: in small letters, it is a word like any other. A long number counts with other
    separators.
    """
    words = [new for new in replacements.raw_of if new.isalpha()]
    others = [new for new in replacements.raw_of if not new.isalpha()]
    capitals = [new.upper() for new in words if new != new.upper()]
    recased = _count(text.casefold(), map(str.casefold, others)) - _count(text, others)
    numbers = {new: _SEPARATED.sub("", new) for new in others}
    numbers = {new: n for new, n in numbers.items() if n.isdigit() and len(n) >= DIGITS}
    joined = _SEPARATED.sub("", text)
    separated = _count(joined, numbers.values()) - _count(text, numbers)
    return max(0, recased) + max(0, separated) + _count(text, capitals)


def _count(text: str, forms: Iterable[str]) -> int:
    """Count the places that hold one of the forms as a whole word, the longest."""
    wanted = [form for form in dict.fromkeys(forms) if form]
    if not wanted:
        return 0
    # The default for few forms takes time in the square of a form that repeats itself.
    finder = AhoCorasick(
        wanted,
        matchkind=MatchKind.LeftmostLongest,
        implementation=Implementation.ContiguousNFA,
    )
    return sum(
        not (start and _WORD.match(text, start - 1)) and not _WORD.match(text, end)
        for _, start, end in finder.find_matches_as_indexes(text)
    )
