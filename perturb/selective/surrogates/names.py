"""The names that surrogates are made of (`perturb/data/names.txt`).

The given names are real ones. Surnames, places and firms are coined: each is a beginning and an
ending, without those that are well known or a word.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from perturb.selective.patterns.given import is_given, sex_of
from perturb.text.fold import fold_name

__all__ = ["Names", "load_names", "name_words", "names_digest", "read_script"]

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
