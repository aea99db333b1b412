"""The names that surrogates are made of (`perturb/data/names.txt`), and how names are read: which
of their words are given names, surnames and initials.

The given names are real ones. Surnames, places and firms are coined: each is a beginning and an
ending, without those that are well known or a word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise, product
from pathlib import Path

from perturb.selective.patterns.given import is_given, sex_of
from perturb.selective.patterns.words import NAME_PARTICLES, PARTICLES
from perturb.text.fold import fold_name, read, spell_plain

__all__ = [
    "Cast",
    "NameWord",
    "Names",
    "build_cast",
    "load_names",
    "name_words",
    "names_digest",
    "read_person",
    "read_script",
    "read_words",
]


NAMES_FILE = Path(__file__).parents[2] / "data" / "names.txt"
_SECTION = re.compile(r"\[(\w+) ([\w ]+)\]")


@dataclass(frozen=True)
class Names:
    """The names of one script.

    Attributes:
        women, men: the given names that are drawn.
        surnames, places, firms: lists without a common name; some scripts lack the last two.
        read: further given names, in small letters: they are read as such, and never drawn.
    """

    women: tuple[str, ...]
    men: tuple[str, ...]
    surnames: tuple[str, ...]
    places: tuple[str, ...] = ()
    firms: tuple[str, ...] = ()
    read: frozenset[str] = frozenset()

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Return the given names that are drawn."""
        return self.women + self.men

    @cached_property
    def by_role(self) -> Mapping[str, tuple[str, ...]]:
        """Return the lists by the role of their names."""
        return {
            "given": self.given,
            "surname": self.surnames,
            "place": self.places,
            "firm": self.firms,
        }

    @cached_property
    def roles(self) -> dict[str, str]:
        """Return the role of each name in small letters."""
        return {name.casefold(): role for role, some in self.by_role.items() for name in some}

    @cached_property
    def given_keys(self) -> dict[str, int]:
        """Return the place of each given name in its list, by its key (`fold_name`)."""
        places = (*enumerate(self.women), *enumerate(self.men))
        return {fold_name(name): place for place, name in places}

    def list_like(self, key: str) -> tuple[str, ...]:
        """Return the given names of those who bear one: of women, of men, or all."""
        sex = self._sexes.get(key) or sex_of(key)
        return {"f": self.women, "m": self.men}.get(sex, self.given)

    @cached_property
    def _sexes(self) -> dict[str, str]:
        own = {"f": self.women, "m": self.men}
        return {fold_name(name): sex for sex, names in own.items() for name in names}

    def is_given(self, key: str) -> bool:
        """Tell if a word, by its key, is known as a given name."""
        return key in self.given_keys or key in self.read or is_given(key)

    def role_of(self, word: str) -> str:
        """Return the role of a word that the lists hold, alone or as two of one list that are
        written together; "" for another word."""
        plain, roles = word.casefold(), self.roles
        if plain in roles:
            return roles[plain]
        for cut in range(2, len(plain) - 1):
            first = roles.get(plain[:cut])
            if first and first == roles.get(plain[cut:]):
                return first
        return ""


@lru_cache(maxsize=1)
def load_names() -> dict[str, Names]:
    """Return the names by script."""
    parts: dict[tuple[str, str], list[str]] = {}
    words: list[str] = []
    for line in NAMES_FILE.read_text("utf-8").splitlines()[1:]:
        if found := _SECTION.fullmatch(line):
            words = parts.setdefault((found[1], found[2]), [])
        else:
            words += line.split()

    def coin(script: str, role: str) -> tuple[str, ...]:
        known = frozenset(parts.get((script, "known"), ()))
        first = parts.get((script, f"{role} beginnings"), ())
        last = parts.get((script, f"{role} endings"), ())
        return tuple(name for a in first for b in last if (name := a + b) not in known)

    return {
        script: Names(
            women=tuple(parts[script, "women"]),
            men=tuple(parts[script, "men"]),
            surnames=coin(script, "surname"),
            places=coin(script, "place"),
            firms=coin(script, "firm"),
            read=frozenset(map(fold_name, parts.get((script, "read"), ()))),
        )
        for script in dict.fromkeys(script for script, _ in parts)
    }


@lru_cache(maxsize=1)
def names_digest() -> str:
    """Return the SHA-256 of the list."""
    return hashlib.sha256(NAMES_FILE.read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def name_words() -> frozenset[str]:
    """Return every name that is drawn, in small letters."""
    return frozenset(word for names in load_names().values() for word in names.roles)


def read_script(word: str) -> str:
    """Return the script of a word's letters, if there are names in it; "" if not.

    >>> read_script("Müller"), read_script("Коваленко"), read_script("李明")
    ('latin', 'cyrillic', '')
    """
    if all(c <= "\u024f" for c in word):
        return "latin"
    return "cyrillic" if all("\u0400" <= c <= "\u04ff" for c in word) else ""


@dataclass(frozen=True)
class NameWord:
    """A word of a name.

    Attributes:
        role: `given`, `surname`, `initial`, `alone` for a single word, or `particle`, which stays.
        key: its form that all spellings share.
        surname: the key of the surname beside an initial.
    """

    role: str
    key: str
    surname: str = ""


def read_person(words: Sequence[str], between: Sequence[str]) -> list[NameWord] | None:
    """Return the words of a name with their roles; None for a script without names.

    The last word, and those joined to it by a hyphen, are the surname; before a comma, the first
    ones are. A particle with a capital is read as a given name: `Van` may be one.

    >>> [word.role for word in read_person(["Anna", "Lena", "de", "Groot"], ["-", " ", " "])]
    ['given', 'given', 'particle', 'surname']

    Args:
        between: the layout after each word but the last.
    """
    if not words or not all(map(read_script, words)):
        return None
    keys = [fold_name(word) for word in words]
    full = [i for i, key in enumerate(keys) if len(key) > 1]
    last = full[-1] if full else -1
    comma = next((i for i, gap in enumerate(between) if "," in gap), -1)
    if 0 <= comma < last:
        surnames = {i for i in full if i <= comma and keys[i] not in PARTICLES}
    else:
        surnames = {last}
        while last > 0 and between[last - 1] == "-":
            last -= 1
            surnames.add(last)
        surnames.intersection_update(full)
    surname = next((keys[i] for i in sorted(surnames, reverse=True)), "")
    alone = len(keys) == 1 and len(full) == 1
    out = []
    for i, key in enumerate(keys):
        if words[i] in NAME_PARTICLES and i < last:
            out.append(NameWord("particle", key))
        elif len(key) < 2:
            out.append(NameWord("initial", key, surname))
        elif alone:
            out.append(NameWord("alone", key))
        else:
            out.append(NameWord("surname" if i in surnames else "given", key))
    return out


@dataclass
class Cast:
    """The persons that the parts of a text name, and what single words are in their names.

    Attributes:
        roles: the role of each word, by its key.
        persons: given names and surname of each full name, by their keys.
        spellings: the key of each way to write a word in an address.
    """

    roles: dict[str, str] = field(default_factory=dict)
    persons: list[tuple[tuple[str, ...], str]] = field(default_factory=list)
    spellings: dict[str, str] = field(default_factory=dict)

    def add(self, words: Sequence[str], between: Sequence[str]) -> None:
        """Add a name."""
        read = read_person(words, between) or ()
        for word, raw in zip(read, words, strict=False):
            if word.role in ("initial", "particle"):
                continue
            self.spellings.setdefault(word.key, word.key)
            for spelled in spell_plain(raw):
                self.spellings.setdefault(spelled, word.key)
            if word.role != "alone":
                self.roles.setdefault(word.key, word.role)
        given = tuple(word.key for word in read if word.role == "given")
        for word in read:
            if word.role == "surname" and given and (given, word.key) not in self.persons:
                self.persons.append((given, word.key))

    def role_of(self, word: NameWord) -> str:
        """Return the role of a word: that in a full name, else that in the lists, else it is a
        surname."""
        if word.role != "alone":
            return word.role
        if word.key in self.roles:
            return self.roles[word.key]
        listed = load_names().get(read_script(word.key))
        return "given" if listed and listed.is_given(word.key) else "surname"

    def find_given(self, initial: NameWord) -> str:
        """Return the key of the given name that an initial stands for; "" if no name tells."""
        for given in self._given_by_surname.get(initial.surname, ()):
            if given.startswith(initial.key):
                return given
        return ""

    def split(self, token: str) -> list[NameWord] | None:
        """Return the words that a run of letters in an address is made of, if it is made of the
        names of one person: `schmidt`, `annaschmidt`, `aschmidt`, `schmidta`."""
        if token in self.spellings:
            return [NameWord("alone", self.spellings[token])]
        return self._joined.get(token)

    @cached_property
    def _given_by_surname(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for given, surname in self.persons:
            found.setdefault(surname, []).extend(given)
        return found

    @cached_property
    def _joined(self) -> dict[str, list[NameWord]]:
        """Return the words of each run that is made of a given name, or its initial, and a
        surname."""
        spelled: dict[str, list[str]] = {}
        for written, key in self.spellings.items():
            spelled.setdefault(key, []).append(written)
        for key in (key for given, surname in self.persons for key in (*given, surname)):
            spelled.setdefault(key, [key])  # `Joerg` beside `Jörg`, whose spelling it is, too
        found: dict[str, list[NameWord]] = {}
        for given, surname in self.persons:
            family = NameWord("surname", surname)
            letters = [NameWord("initial", key[0], surname) for key in given]
            if len(letters) > 1:  # jcdupre: Jean-Christophe Dupré
                initials = "".join(letter.key for letter in letters)
                for last in spelled[surname]:
                    found.setdefault(initials + last, [*letters, family])
                    found.setdefault(last + initials, [family, *letters])
            for last, key in product(spelled[surname], given):
                letter = NameWord("initial", key[0], surname)
                for first, word in (
                    *((s, NameWord("given", key)) for s in spelled[key]),
                    (key[0], letter),
                ):
                    found.setdefault(first + last, [word, family])
                    found.setdefault(last + first, [family, word])
        return found


_LETTERS = re.compile(r"[^\W\d_]+")


def read_words(text: str) -> tuple[list[str], list[str]]:
    """Return the runs of letters of a text as it is displayed, and what stands between them."""
    text = read(text).text
    found = list(_LETTERS.finditer(text))
    gaps = [text[a.end() : b.start()] for a, b in pairwise(found)]
    return [word[0] for word in found], gaps


def build_cast(names: Iterable[str]) -> Cast:
    """Return the cast of names."""
    cast = Cast()
    for name in names:
        cast.add(*read_words(name))
    return cast
