"""Find who stands beside private persons: the other surnames of a list, of lines of one form and
of speakers, the full names in the lines above and below, and the given name behind a surname.

A word alone is no evidence of a surname. Where at least two of a list are private persons, and at
least half of it are, the others are, too, unless they are words or places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

from perturb.release import Span
from perturb.selective.parts import Cover
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import is_given, is_ordinary_word, names_thing
from perturb.selective.patterns.settings import PROGRAMS
from perturb.selective.patterns.shape import words_of
from perturb.selective.public import load_public, read_key

__all__ = ["find_beside"]

_Place = tuple[int, int]
_WORD = r"[^\W\d_a-zß-öø-ÿ][^\W\d_A-Z]{2,20}"
_NAME = rf"(?<![\w@#$./\\-]){_WORD}(?:-{_WORD})?(?![\w@(]|\.\w)"
_SIGN = (
    r"(?:(?:\n[ \t]{0,4}|; )[^\W\d_][\w ]{1,24} ?: "  # with the next label, as in minutes
    r"|(?:[,;]| /| [-\u2013\u2014]| (?:and|und|et|y|e|en|i|og|och|&)) )"
)
_LIST = re.compile(rf"{_NAME}(?! {_WORD})(?:(?:{_SIGN}){_NAME}(?! {_WORD})){{1,40}}")
_SIGNS = re.compile(_SIGN)
_DAY = (
    r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?|mo|di|mi|do|fr|sa|so"
    r"|lun(?:di|es)?|mar(?:di|tes)?|mer(?:credi)?|mié(?:rcoles)?|jeu(?:di)?|jue(?:ves)?"
    r"|ven(?:dredi)?|vie(?:rnes)?|sam(?:edi)?|sáb(?:ado)?|dim(?:anche)?|dom(?:ingo)?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)"
)
# A line with one name: what stands before it, and after it.
_LINE = re.compile(
    r"[ \t]{0,12}(?:(?P<point>[-*\u2022] |\d{1,3}[.)] )"
    rf"|(?P<day>(?i:{_DAY})[.:]? )"
    r"|(?P<numbered>[^\W\d_]\w{1,12} \d{1,4}:? )"
    r"|(?P<time>\[?\d{1,2}:\d\d(?::\d\d)?\]? ))?"
    rf"(?P<name>{_NAME})"
    r"(?:(?P<said>: [^\n]*)|(?P<figure>[ \t;,|]{1,3}\d[\d.,/%]*)"
    r"|(?P<task> (?:to|will|should|soll|muss|doit|debe|deve) [^\n]*))?[ \t]{0,4}\r?",
)
_FULL = re.compile(
    r"[ \t]{0,12}(?P<point>[-*\u2022] |\d{1,3}[.)] )?"
    rf"(?P<name>(?P<given>{_WORD}) (?P<family>{_WORD}))[ \t]{{0,4}}\r?"
)
_ENDS = re.compile(r"\n|\\n|[\"'`]")  # of a line, and of a string
# What is named after a person, or stands below a name in a letter.
_THINGS = words_of(
    """
    cottage hotel house street road avenue lane park palace station school college university
    church chapel court hall tower bridge river lake mountain hill beach island garden gardens
    market director manager editor lead intern developer engineer officer assistant designer
    call period quickstart team group office studio restaurant cafe bar
    """
)
_LEAST = 2  # private persons of a list


def find_beside(text: str, found: Iterable[Span], private: Iterable[Span]) -> list[Span]:
    """Return the persons that stand in a list, or in lines of one form, with private ones.

    >>> text = "Present: Lindqvist, Nakamura, Kvamme"
    >>> known = [Span(9, 18, "PERSON"), Span(20, 28, "PERSON")]
    >>> find_beside(text, known, known)
    [Span(start=30, end=36, type='PERSON')]

    Args:
        found: what was found in the text, also what is publicly known.
        private: the findings that are not.
    """
    persons = [span for span in private if span.type == "PERSON"]
    if not persons:
        return []
    near = Cover(persons)
    others = Cover(span for span in found if span.type != "PERSON")
    lists = chain(_read_lists(text), _read_lines(text)) if len(persons) >= _LEAST else ()
    made: dict[_Place, None] = {}
    for places in lists:
        held = sum(near.meets(*place) for place in places)
        if held >= _LEAST and 2 * held >= len(places):
            made.update(dict.fromkeys(p for p in places if _may_be_surname(text[slice(*p)])))
    made.update(dict.fromkeys(chain(_find_full(text, near), _find_behind(text, persons))))
    free = (place for place in made if not near.meets(*place) and not others.meets(*place))
    return [Span(*place, "PERSON") for place in free]


_NOUN = re.compile(  # Ergebnis: offen
    r".{2,}(?:ung|heit|keit|nis|schaft|tion|tät|ismus|ment|ción|zione|ção|ście)(?:en|s|se)?"
)


def _may_be_surname(word: str) -> bool:
    """Tell if a word with a capital is no word of a dictionary, place or term."""
    if _NOUN.fullmatch(word):
        return False
    key, public = read_key(word), load_public()
    named = key in public.names or key in public.terms or key in PROGRAMS
    return not (named or is_ordinary_word(word) or is_everyday(word))


def _read_lists(text: str) -> Iterator[Sequence[_Place]]:
    """Yield the places of the single words of each list."""
    for match in _LIST.finditer(text):
        places, start = [], match.start()
        for sign in _SIGNS.finditer(text, *match.span()):
            places.append((start, sign.start()))
            start = sign.end()
        yield [*places, (start, match.end())]


def _read_lines(text: str) -> Iterator[Sequence[_Place]]:
    """Yield the places of the names in lines of one form that follow each other."""
    lines = [(_LINE.fullmatch(text, *place), place) for place in _cut(text, re.compile("\n"))]
    for form, group in groupby(lines, key=lambda line: _read_form(line[0])):
        if form is not None:
            yield [match.span("name") for match, _ in group if match is not None]


def _read_form(line: re.Match[str] | None) -> tuple[str, ...] | None:
    """Return which parts a line has beside its name; None for another line."""
    if line is None:
        return None
    return tuple(name for name, part in line.groupdict().items() if part and name != "name")


def _find_full(text: str, near: Cover) -> Iterator[_Place]:
    """Yield the names of two words that fill a line above or below that of a private person, also
    in a string: a given name and any word."""
    lines = [_FULL.fullmatch(text, *place) for place in _cut(text, _ENDS)]
    for filled, group in groupby(lines, key=bool):
        names = [line for line in group if line is not None] if filled else []
        held = sum(near.meets(*line.span("name")) for line in names)
        for line in names if held else ():
            given, family = line["given"], line["family"].lower()
            sure = held >= _LEAST or line["point"] or not is_ordinary_word(given)
            if sure and is_given(given) and not names_thing(given) and family not in _THINGS:
                yield line.span("name")


def _find_behind(text: str, persons: Iterable[Span]) -> Iterator[_Place]:
    """Yield the given names behind surnames and a comma, at the end of a string, a cell, an
    element or a line: `"Lindqvist, Sunniva"`."""
    for span in persons:
        given = _BEHIND.match(text, span.end)
        word = given["given"] if given and " " not in text[span.start : span.end] else ""
        if given and is_given(word) and not (is_ordinary_word(word) or names_thing(word)):
            yield given.span("given")


_BEHIND = re.compile(rf", (?P<given>{_WORD})(?=[\"'`<;|\n)\]]|\\|\r|\Z)")


def _cut(text: str, sign: re.Pattern[str]) -> Iterator[_Place]:
    """Yield the places between the signs of a text."""
    start = 0
    for found in sign.finditer(text):
        yield start, found.start()
        start = found.end()
    yield start, len(text)
