"""Leave the words around a person's name out of a finding: `Jamal Musiala traf`, `Sara. Insieme`,
`Según Szabo`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from perturb.release import Span
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import is_given, is_ordinary_word
from perturb.selective.patterns.shape import words_of
from perturb.selective.patterns.words import AFTER_PARTICLES, PARTICLES

__all__ = ["cut_edges"]

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_SENTENCE = re.compile(r"(?<=[^\W\d_]{4})\. (?=(?P<next>[^\W\d_]+))")
_BEFORE = words_of(
    "according con avec mit laut selon secondo segundo según według podle volgens enligt ifølge"
)
_LEAST = 2  # capitals before a word in small letters: `Peter klein` is a name


def cut_edges(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """Yield findings, persons without the next sentence, and without everyday words in small
    letters after a full name or a preposition before a name.

    >>> text = "Jamal Musiala traf zum Ausgleich."
    >>> [span] = cut_edges(text, [Span(0, 18, "PERSON")])
    >>> text[span.start : span.end]
    'Jamal Musiala'
    """
    for span in found:
        yield _cut(text, span) if span.type == "PERSON" else span


def _cut(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    if " " not in text[start:end]:
        return span
    for gap in _SENTENCE.finditer(text, start, end):
        word = gap["next"]
        if not is_given(word) and (is_everyday(word) or is_ordinary_word(word)):
            end = gap.start()
            break
    words = list(_WORD.finditer(text, start, end))
    capitals = sum(word[0][0].isupper() for word in words)
    while len(words) > 1 and capitals >= _LEAST and _is_small(words[-1][0]):
        words.pop()
        end = words[-1].end()
    if len(words) > 1 and words[0][0].lower() in _BEFORE and words[1][0][0].isupper():
        start = words[1].start()
    return Span(start, end, span.type) if start < end else span


def _is_small(word: str) -> bool:
    """Tell if a word in small letters is one of everyday, and no part of a name."""
    named = word in PARTICLES or word in AFTER_PARTICLES or is_given(word)
    return word.islower() and is_everyday(word) and not named
