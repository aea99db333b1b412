"""Hold the public names that surrogate persons are made of (`perturb/data/names.txt`)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

__all__ = ["Names", "fold_name", "load_names", "name_words", "names_digest", "read_script"]

NAMES_FILE = Path(__file__).parents[2] / "data" / "names.txt"
_SECTION = re.compile(r"\[(\w+) (\w+)\]")


@dataclass(frozen=True)
class Names:
    """Hold the names of one script.

    Attributes:
        given, surnames: two lists without a common name.
    """

    given: tuple[str, ...]
    surnames: tuple[str, ...]

    @cached_property
    def roles(self) -> dict[str, str]:
        """Return the role of each name in small letters."""
        given = dict.fromkeys((name.casefold() for name in self.given), "given")
        return given | dict.fromkeys((name.casefold() for name in self.surnames), "surname")

    @cached_property
    def given_keys(self) -> dict[str, int]:
        """Return the place of each given name in its list, by its key (`fold_name`)."""
        return {fold_name(name): place for place, name in enumerate(self.given)}

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
    return {
        script: Names(
            tuple(parts[script, "given"]),
            tuple(a + b for a in parts[script, "beginnings"] for b in parts[script, "endings"]),
        )
        for script in dict.fromkeys(script for script, _ in parts)
    }


@lru_cache(maxsize=1)
def names_digest() -> str:
    """Return the SHA-256 of the list."""
    return hashlib.sha256(NAMES_FILE.read_bytes()).hexdigest()


@lru_cache(maxsize=1)
def name_words() -> frozenset[str]:
    """Return every name in small letters."""
    return frozenset(word for names in load_names().values() for word in names.roles)


def read_script(word: str) -> str:
    """Return the script of a word's letters, if there are names in it; "" if not.

    >>> read_script("Müller"), read_script("Коваленко"), read_script("李明")
    ('latin', 'cyrillic', '')
    """
    if all(c <= "\u024f" for c in word):
        return "latin"
    return "cyrillic" if all("\u0400" <= c <= "\u04ff" for c in word) else ""


def fold_name(word: str) -> str:
    """Return the form of a word that all its spellings share, in small letters without accents.

    >>> fold_name("MÜLLER")
    'muller'
    """
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))
