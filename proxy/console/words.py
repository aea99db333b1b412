"""Compare two texts word by word."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["MOST", "WordDiff", "compare_words"]

MOST = 3_000  # words of a text that are compared: the time grows with the product of both
MOST_PAIRS = 500_000  # of equal words, each of which may be looked at; ordinary text has a tenth
_WORD = re.compile(r"\s*(?:</?public>|[^\s<]+|<)|\s+")  # tags stand alone
# White space that is not marked.
_LINE = re.compile(r"(^\s++|(?<!\s)[^\S\n]*+\n\s*+)")


@dataclass(frozen=True)
class WordDiff:
    """Hold a stretch of a text, and whether the other text lacks it."""

    text: str
    changed: bool


def compare_words(one: str, other: str) -> tuple[list[WordDiff], list[WordDiff]] | None:
    """Cut two texts into pieces that both have and pieces that only one has; None if a text has
    more than `MOST` words, or the two more than `MOST_PAIRS` pairs of equal words.

    >>> one, other = compare_words("Ann met us", "Eve met us")
    >>> [piece.text for piece in other if piece.changed]
    ['Eve']
    """
    words: list[list[str]] = [_WORD.findall(text) for text in (one, other)]
    if max(map(len, words)) > MOST:
        return None
    bare = [[word.strip() for word in some] for some in words]
    counts = Counter(bare[0])
    if sum(counts[word] for word in bare[1]) > MOST_PAIRS:
        return None
    matcher = SequenceMatcher(None, bare[0], bare[1], autojunk=False)
    cut: tuple[list[WordDiff], list[WordDiff]] = ([], [])
    for kind, *places in matcher.get_opcodes():
        for side, (start, end) in enumerate((places[:2], places[2:])):
            text = "".join(words[side][start:end])
            cut[side].extend(
                WordDiff(part, kind != "equal" and not part.isspace())
                for part in _LINE.split(text)
                if part
            )
    return cut
