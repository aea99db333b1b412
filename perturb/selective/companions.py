"""Find the names beside private persons: in a letter that tells of Wiebke, Rocco is no well-known
one either, and who is listed after two persons is a third."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from perturb.release import Span
from perturb.selective.parts import Cover
from perturb.selective.patterns.given import stands_beside
from perturb.selective.patterns.persons import CAPITALS, is_strange, locate_alone
from perturb.text.fold import read

__all__ = ["find_companions"]

_NAME = re.compile(
    rf"(?<![\w'’.@/#&-])(?P<part>[{CAPITALS}][^\W\d_{CAPITALS}]{{3,14}})"
    r"(?![\w@(/=-]|\.\w|['’](?!s\b))"
)


_STRANGE = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}}"
_NEXT = re.compile(
    rf"[,;] (?P<part>{_STRANGE} (?:{_STRANGE}-)?{_STRANGE})"
    r"(?=[,.;:)\n]|\Z| (?:and|und|et|y|e|i|en) )"
)


def find_companions(text: str, found: Sequence[Span], private: Sequence[Span]) -> Iterator[Span]:
    """Yield the given names of a text that stand alone where a person of it is private, and the
    next names of a list that begins with two such persons. None is a finding already.

    Args:
        found: what was found in the text, also what is publicly known.
        private: the findings that are not.
    """
    persons = sorted(span for span in private if span.type == "PERSON")
    if not persons:
        return
    known, shown = Cover(found), read(text)
    yield from _find_next(text, persons, known)
    for match in _NAME.finditer(shown.text):
        if stands_beside(match["part"]) and (place := locate_alone(match)):
            start, end = shown.span(*place)
            if not known.meets(start, end):
                yield Span(start, end, "PERSON")


def _find_next(text: str, persons: Sequence[Span], known: Cover) -> Iterator[Span]:
    for (_, end, _), last in pairwise(persons):
        if text[end : last.start] not in (", ", "; "):
            continue
        while match := _NEXT.match(text, last.end):
            last = Span(*match.span("part"), "PERSON")
            if not is_strange(match["part"].replace("-", " ")) or known.meets(*last[:2]):
                break
            yield last
