"""Find names that are private because they stand beside a private person.

Nothing else finds them; what the policies found is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from perturb.release import Span
from perturb.selective.parts import Cover
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import (
    is_ordinary_word,
    list_given,
    names_beside,
    names_thing,
)
from perturb.selective.patterns.persons import (
    ALONE,
    ALSO_WORDS,
    CAPITALS,
    NO_NAMES,
    is_strange,
    locate_alone,
)
from perturb.selective.public.names import load_public, read_key
from perturb.text.fold import read

__all__ = ["find_companions"]


@lru_cache(maxsize=1)
def _names_inside() -> frozenset[str]:
    """Return the given names, in small letters, that are a word of another language than the ones
    in which they are borne, but not well known: with a capital inside a sentence, each names a
    person beside a private one, except in German, in which nouns have one: `Toen ik Lotte vroeg`.
    """
    public = load_public()
    known = public.persons | public.names | public.terms | public.shared
    return frozenset(
        name.lower()
        for name in list_given()
        if len(name) > _SHORT_NAME
        and read_key(name) not in known
        and not is_ordinary_word(name)
        and not is_everyday(name)
        and not names_thing(name)
        and name.lower() not in NO_NAMES | ALSO_WORDS
    )


_SHORT_NAME = 3  # letters, which are words of other languages, too
_GERMAN_WORD = re.compile(
    r"(?<!\w)(?:und|der|die|das|ist|nicht|ein|eine|mit|ich|sie|wir|für)(?!\w)"
)
_GERMAN_LEAST = 4


def _is_german(text: str) -> bool:
    """Tell if a text may be in German, in which every noun has a capital.

    >>> _is_german("Der Hund und die Katze sind nicht mit mir.")
    True
    >>> _is_german("Die Hard and die die")
    False
    """
    words = {found[0] for found in islice(_GERMAN_WORD.finditer(text), 200)}
    return len(words) >= _GERMAN_LEAST


_COMPANION = re.compile(ALONE)
_USED = re.compile(r"(?<!\w)(?i:read|watch|deploy|install|using|use|class|import) \Z")
_MONTHS = frozenset(("april", "june", "avril", "august", "julio"))  # that are given names
_DAY_BEFORE = re.compile(r"(?<!\d)\d{1,2}(?:\.|st|nd|rd|th)?(?: of| de)? \Z")
_UNKNOWN = rf"[{CAPITALS}][^\W\d_{CAPITALS}]{{2,14}}"
_NEXT = re.compile(
    rf"[,;] (?P<part>{_UNKNOWN} (?:{_UNKNOWN}-)?{_UNKNOWN})"
    r"(?=[,.;:)\n]|\Z| (?:and|und|et|y|e|i|en) )"
)


def find_companions(text: str, found: Sequence[Span], private: Sequence[Span]) -> list[Span]:
    """Return the given names of a text that stand alone where a person of it is private, and the
    next names of a list that begins with two such persons. None is a finding already.

    Args:
        found: what was found in the text, also what is publicly known.
        private: the findings that are not.
    """
    persons = sorted(span for span in private if span.type == "PERSON")
    if not persons:
        return []
    made = [*_find_next(text, persons)]
    shown, names = read(text), names_beside()
    if not _is_german(shown.text):
        names = names | _names_inside()
    for match in _COMPANION.finditer(shown.text):
        low, name = max(0, match.start() - 12), match["part"].lower()
        used = _USED.search(shown.text, low, match.start()) or (
            name in _MONTHS and _DAY_BEFORE.search(shown.text, low, match.start())
        )
        if name in names and not used and (place := locate_alone(match)):
            made.append(Span(*shown.span(*place), "PERSON"))
    known = Cover(found) if made else None
    return [span for span in made if known and not known.meets(span.start, span.end)]


def _find_next(text: str, persons: Sequence[Span]) -> Iterator[Span]:
    for (_, end, _), last in pairwise(persons):
        if text[end : last.start] not in (", ", "; "):
            continue
        while match := _NEXT.match(text, last.end):
            last = Span(*match.span("part"), "PERSON")
            if not is_strange(match["part"].replace("-", " ")):
                break
            yield last
