"""Find names that are private because they stand beside a private person.

Nothing else finds them; what the policies found is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise

from perturb.release import Span
from perturb.selective.parts import Cover
from perturb.selective.patterns.everyday import is_everyday
from perturb.selective.patterns.given import (
    is_given,
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
from perturb.selective.patterns.settings import PROGRAMS
from perturb.selective.patterns.shape import words_of
from perturb.selective.public.names import load_public, read_key
from perturb.text.fold import read

__all__ = ["find_beside", "find_companions"]


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


# -- in lists and lines ---------------------------------------------------------------------------
# A word alone is no evidence of a surname. Where two of a list are private persons, and half of it
# are, the others are, too, unless they are words or places.
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
    call period quickstart team group office studio restaurant cafe bar airport
    """
)
# What stands in a rota in place of somebody.
_NOBODY_ON = words_of(
    """
    offsite holiday vacation remote closed training sick leave feiertag urlaub frei homeoffice
    dienst krank schulung fortbildung congé vacances télétravail férié formation festivo
    vacaciones libre ferie chiuso cerrado
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
    found = tuple(found)
    others = Cover(span for span in found if span.type != "PERSON")
    known = Cover(span for span in found if span.type == "PERSON")
    lists = chain(_read_lists(text), _read_lines(text)) if len(persons) >= _LEAST else ()
    made: dict[_Place, None] = {}
    for places in lists:
        held = sum(near.meets(*place) for place in places)
        if held >= _LEAST and 2 * held >= len(places):
            made.update(dict.fromkeys(p for p in places if _may_be_surname(text[slice(*p)])))
    made.update(dict.fromkeys(chain(_find_full(text, near, known), _find_behind(text, persons))))
    free = (place for place in made if not near.meets(*place) and not others.meets(*place))
    return [Span(*place, "PERSON") for place in free]


_NOUN = re.compile(  # Ergebnis: offen
    r".{2,}(?:ung|heit|keit|nis|schaft|tion|tät|ismus|ment|ción|zione|ção|ście)(?:en|s|se)?"
)


def _may_be_surname(word: str) -> bool:
    """Tell if a word with a capital is no word of a dictionary, place or term."""
    if _NOUN.fullmatch(word) or word.lower() in _NOBODY_ON:
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


def _find_full(text: str, near: Cover, known: Cover) -> Iterator[_Place]:
    """Yield the names of two words that fill a line above or below that of a private person, also
    in a string: a given name and any word. Who is publicly known stays so among others who are."""
    lines = [_FULL.fullmatch(text, *place) for place in _cut(text, _ENDS)]
    for filled, group in groupby(lines, key=bool):
        names = [line for line in group if line is not None] if filled else []
        held = sum(near.meets(*line.span("family")) for line in names)
        mostly = 2 * held >= len(names)
        for line in names if held else ():
            if not mostly and known.meets(*line.span("name")):
                continue
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
