"""Find the names in lists of persons: `"kids": ["Ione", "Caspian"]`, `our sons Tobe and Idris`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perturb.selective.patterns.clues import Facts, any_listed
from perturb.selective.patterns.forms import read_label
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.persons import CAPITALS
from perturb.selective.patterns.settings import is_ordinary_word, is_placeholder
from perturb.selective.patterns.shape import any_of, words_of
from perturb.selective.patterns.words import PARTICLES
from perturb.text.marks import MARKS

__all__ = ["find_listed", "is_in_list"]

_RELATED = """
    kids siblings grandchildren kinder geschwister enkel enfants hijos hijas nietos hermanos figli
    figlie fratelli nipoti filhos filhas irmãos netos kinderen kleinkinderen dzieci děti børn
    lapset gyerekek çocuklar copii дети діти brothers sisters sons daughters family_members
"""
# Of people, or of the parts of programs.
_GROUPS = words_of(
    """
    children barn given given_names members participants attendees guests authors speakers
    assignees reviewers watchers players students teachers employees patients passengers tenants
    residents witnesses volunteers invitees recipients contacts people persons users friends crew
    staff team_members mitglieder teilnehmer gäste mitarbeiter membres invités participants
    miembros invitados participantes membros membri partecipanti leden deelnemers
    """
)
_KEYS = words_of(_RELATED)
_LIST = re.compile(
    r":[ \t]*(?:\[(?P<items>[^\[\]{}]{2,800})\]"
    r"|\r?\n(?P<block>(?:[ \t]*- [^\n:{}\[\]]{2,60}(?:\n|\Z)){1,40}))"
)
_BEFORE = 48  # characters before a colon that its label is in
_ITEM = re.compile(rf"[^\W\d_](?:[^\W\d_]|[{MARKS} .'’-]){{1,50}}")
_BREAK = re.compile(r"[,\n]")
_PROSE_WORDS = f"{_RELATED} children söhne töchter fils filles bambini barn twins zwillinge"
_NAME = (
    rf"[{CAPITALS}][^\W\d_]{{1,20}}(?:-[{CAPITALS}]?[^\W\d_]{{1,20}})?"
    rf"(?: [{CAPITALS}][^\W\d_]{{1,20}})?"
)
_AGE = r"(?: ?\(\d{1,2}\b[^()\n]{0,20}\)|, (?:aged )?\d{1,2}(?!\w))?"
_PROSE = re.compile(
    rf"(?<!\w)(?P<own>(?:my|our|two|three|four|meine|unsere|zwei|drei|vier|mes|nos|deux|trois"
    r"|mis|nuestr[oa]s|dos|tres|os meus|i miei|onze|mijn) )?"
    rf"(?:{any_of(_PROSE_WORDS)})(?!\w)"
    r"(?: (?:are|sind|sont|son|sono|zijn|called|named|heißen|heten|(?:are|sind) called|namens))?"
    rf":?,? ?[(–—]? ?(?P<items>(?-i:{_NAME}){_AGE}"
    rf"(?:,? (?:and|und|et|y|e|en|og|och|i|ja|és|&) (?-i:{_NAME}){_AGE}"
    rf"|, (?-i:{_NAME}){_AGE}){{0,8}})(?![\w'’-])",
    re.IGNORECASE,
)
_CLUE = any_listed(_PROSE_WORDS)
_WORDS = re.compile(_NAME)


_OPENED = re.compile(
    rf"(?<!\w){any_of(_RELATED)}[\"']?(?:\s?:\s?[(\[]?|\s\(|:\s{{1,8}}- )[\"']?"
    r"(?:[\w-]{1,20}[\"']?(?:, ?|\s{1,8}- )[\"']?){0,6}\Z",
    re.IGNORECASE,
)


def is_in_list(text: str, low: int, start: int) -> bool:
    """Tell if a list of somebody's children or siblings goes on at a place of a text.

    >>> [is_in_list(text, 0, len(text)) for text in ('"kids": ["Ione", "', '"cities": ["')]
    [True, False]
    """
    return _OPENED.search(text, low, start) is not None


def find_listed(facts: Facts) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each name in a list of persons.

    >>> text = "Our kids: Adanna, Tobe"
    >>> [text[start:end] for start, end in find_listed(Facts(text))]
    ['Adanna', 'Tobe']
    """
    text = facts.text
    for found in _LIST.finditer(text):
        label = read_label(text[max(0, found.start() - _BEFORE) : found.start()])
        if label in _KEYS or label in _GROUPS:
            group = "block" if found["items"] is None else "items"
            items = list(_read_items(found[group], found.start(group)))
            yield from _choose(text, items, sure=label in _KEYS)
    for found in _PROSE.finditer(text) if _CLUE(facts) else ():
        items = [word.span() for word in _WORDS.finditer(text, *found.span("items"))]
        yield from _choose(text, items, sure=bool(found["own"]), alone=_has_age(found["items"]))


def _choose(
    text: str, items: Sequence[tuple[int, int]], sure: bool, alone: bool = True
) -> Iterator[tuple[int, int]]:
    """Yield the items of a list of persons: all where given names are among them; of a list that
    can hold nobody else, also those that are no ordinary words."""
    known = [is_given(text[start:end].split()[0]) for start, end in items]
    ordinary = sum(_is_ordinary(text[slice(*item)]) for item in items)
    unknown = 2 * ordinary < len(items)
    enough = sum(known) * (3 if sure or unknown else 2) >= len(items)
    if enough and (sure or alone or len(items) > 1):
        yield from items
    elif sure:
        yield from (item for item in items if not _is_ordinary(text[slice(*item)]))


def _read_items(items: str, place: int) -> Iterator[tuple[int, int]]:
    """Yield the places of the items of a list that have the form of a name."""
    for part in _BREAK.split(items):
        item = part.strip(" \t\r\\\"'`-")
        words = item.split()
        formed = _ITEM.fullmatch(item) and len(words) < 5 and not is_placeholder(item)
        if formed and all(word[0] == word[0].title() or word in PARTICLES for word in words):
            start = place + part.find(item)
            yield start, start + len(item)
        place += len(part) + 1


def _is_ordinary(name: str) -> bool:
    return all(map(is_ordinary_word, name.split()))


def _has_age(items: str) -> bool:
    return any(map(str.isdigit, items))
