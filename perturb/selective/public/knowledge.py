"""Tell what is publicly known, and keep it: well-known people, places, firms, works and terms.

A finding is public if the list (`perturb.selective.public.names`) holds all of it, or if it is a
person in a passage on history, science or literature; and if nothing ties it to somebody's
private life:

- A person is private in a greeting, in a signature, as somebody's relation ("my neighbour …"), as
  a customer or a patient, and beside an address, a number or another contact.
- A place, a firm or a work is private in a sentence with a private person, in a form or an address
  with one, and where people tell where they live, work or learn ("I work at …").
- A term of programming has no private life.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from perturb.selective.patterns.composed import find_pairs, split_humps
from perturb.selective.public.invented import Invented
from perturb.selective.public.lists import Lists
from perturb.selective.public.names import load_public, read_key
from perturb.selective.public.questions import Questions
from perturb.selective.public.reading import PERSONS, THINGS, Marked, Name, TextWords, holds
from perturb.selective.public.ties import CONTACTS, RELATED, Ties

__all__ = ["drop_public"]

_BIRTHS = frozenset(("BIRTHPLACE", "DATE_OF_BIRTH"))
_BORN = re.compile(
    r"(?<!\w)(?:born|née?|nacid[oa]|nació|geboren|nat[oa]|nascid[oa]|nasceu)\b[^:\n]{0,28}\Z",
    re.IGNORECASE,
)
_LABELLED = frozenset(":=@")
_Finding = TypeVar("_Finding", bound=Marked)


def drop_public(
    text: str, findings: Iterable[_Finding], tied: Collection[str] = ()
) -> tuple[tuple[_Finding, ...], tuple[_Finding, ...]]:
    """Return the findings of a text that are not publicly known, and those that are.

    Args:
        tied: types of things that count as publicly known, too, unless they are a private person's
            place or firm.

    Only persons, places, organizations and other names may be public. Takes time linear in the
    text and the findings.

    >>> from perturb import Span
    >>> text = "Was Isaac Newton ever in France?"
    >>> drop_public(text, [Span(4, 16, "PERSON"), Span(25, 31, "LOCATION")])[0]
    ()
    >>> text = "Our neighbour Isaac Newton works in France."
    >>> [span.type for span in drop_public(text, [Span(14, 26, "PERSON")])[0]]
    ['PERSON']
    """
    runs: list[_Finding] = []
    given: list[_Finding] = []
    for finding in findings:
        known_run = finding.type == "USERNAME" and _is_public_run(text, finding)
        (runs if known_run else given).append(finding)
    if not any(finding.type in PERSONS or finding.type in THINGS for finding in given):
        return tuple(given), tuple(runs)
    known = _Knowledge(text, given, frozenset(tied))
    names = known.words.read(given)
    public = {name: known.is_public(name) for name in set(names)}
    decided = [(finding, public[name]) for finding, name in zip(given, names, strict=True)]
    left = tuple(finding for finding, kept in decided if not kept)
    return left, (*runs, *(finding for finding, kept in decided if kept))


def _is_public_run(text: str, finding: Marked) -> bool:
    """Tell if all full names inside a run in camel case are publicly known, and no label says that
    somebody is called so: `AlanTuringTest`, not `user: AlanTuringFan`."""
    if not _LABELLED.isdisjoint(text[max(0, finding.start - 3) : finding.start]):
        return False
    humps, known = split_humps(text[finding.start : finding.end]), load_public()
    names = [read_key(f"{humps[i]} {humps[i + 1]}") for i in find_pairs(humps)]
    return bool(names) and all(n in known.persons or n in known.terms for n in names)


class _Knowledge:
    """Decide which findings of one text are public.

    Attributes:
        words: of the text.
    """

    def __init__(self, text: str, findings: Sequence[Marked], tied: frozenset[str]) -> None:
        self._tied, self._text = tied, text
        self.words = words = TextWords(text)
        self._public, self._is_covered = words.public, words.is_covered
        names = words.read(findings)
        persons = sorted((n for n in names if n.type in PERSONS), key=lambda name: name.start)
        contacts = sorted(n.start for n in names if n.type in CONTACTS)
        self._ties = Ties(words, persons, contacts)
        self._tells_births = self._are_public([n for n in names if n.type in _BIRTHS])
        if self._tells_births:
            self._ties.contacts = []
        self._questions = Questions(words, self._ties)
        self._lists = Lists(words, self._ties, self._questions)
        self._invented = Invented(words, self._ties, self._questions)
        known = {name: self._is_known_person(name) for name in set(persons)}
        self._ties.add_private([n for n in persons if n.type == "PERSON" and not known[n]])

    def is_public(self, name: Name) -> bool:
        """Tell if a finding is publicly known, and nothing ties it to a private life."""
        if name.type in _BIRTHS:
            return self._tells_births
        if name.type not in PERSONS and name.type not in THINGS:
            return False
        public = self._public
        if self._ties.speaks(name) and not self._invented.is_assistant(name):
            return False
        if self._is_covered(name, public.terms):
            return not self._ties.is_borne(name)
        if self._means_nobody(name) or self._lists.ends_title(name):
            return True
        if self._is_covered(name, public.persons):
            own = self._ties.is_own(name) or self._ties.is_namesake(name)
            own = own or self._ties.is_field(name)
            return not own or self._invented.is_character(name)
        if name.type in THINGS and self._lists.is_in_title_cell(name):
            return True
        things = [public.persons, public.names, public.terms]
        if name.type in THINGS:
            things.append(public.shared)
        if self._is_covered(name, *things) or self.words.is_ordinary(name):
            if name.type in PERSONS:
                return not self._ties.is_own(name) or self._invented.is_character(name)
            return name.type in self._tied or not self._ties.is_tied_thing(name)
        if name.type in self._tied:
            return not self._ties.is_somebodys(name)
        return name.type in PERSONS and self._is_nobody(name)

    def _are_public(self, births: Sequence[Name]) -> bool:
        """Tell if a text says just when, and where, persons were born who are publicly known, each
        in a sentence of their own: `Barack Obama was born in 1961`. No label says so, as in the
        record of a patient, and nobody is spoken of as somebody's own."""
        if not births or len(self._ties.contacts) > sum(f.type in CONTACTS for f in births):
            return False
        if self._ties.selves or RELATED.search(self._text):
            return False
        persons = [f for f in self._ties.persons if f.type == "PERSON"]
        known = [f for f in persons if self._is_covered(f, self._public.persons)]
        whole = [f.start for f in known if " " in self._text[f.start : f.end]]
        return len(known) == len(persons) and all(
            _BORN.search(self._text, max(0, f.start - 30), f.start) is not None
            and holds(whole, f.low, f.high)
            for f in births
        )

    def _is_known_person(self, name: Name) -> bool:
        """Tell if a person is publicly known, before any is private beside it."""
        public = self._public
        if self._is_covered(name, public.terms, public.names):
            return not self._ties.is_borne(name)
        if self._means_nobody(name):
            return True
        if self._is_covered(name, public.persons):
            tied = self._ties.is_tied(name.start, name.end) or self._ties.is_field(name)
            return not tied or self._invented.is_character(name)
        return self.words.is_ordinary(name) or self._is_nobody(name)

    def _means_nobody(self, name: Name) -> bool:
        """Tell if a finding is a number, an example, an assistant, or of who has published."""
        return (
            self.words.is_number(name)
            or self._invented.is_example(name)
            or self._invented.is_assistant(name)
            or self._lists.is_cited(name)
        )

    def _is_nobody(self, name: Name) -> bool:
        """Tell if a person who is not on the list is none whom somebody knows."""
        return self._questions.ask_for(name) or self._lists.hold(name) or self._invented.hold(name)
