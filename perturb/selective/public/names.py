"""The list of publicly known names, and the keys by which names are compared.

`data/public.txt` lists names by their keys (`read_key`) in sections, and `data/public.json`
describes it; `scripts/list_public.py` makes both. `data/given_names.txt` lists given names.
Nothing here reads a text.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from perturb.errors import VocabularyError
from perturb.selective.patterns.given import list_given
from perturb.selective.surrogates.names import load_names
from perturb.text.fold import fold, fold_name
from perturb.vocabulary.word_list import dictionary_words

__all__ = [
    "BUNDLED_PUBLIC",
    "LONGEST",
    "PUBLIC_VERSION",
    "TOKEN",
    "PublicNames",
    "given_names",
    "load_public",
    "read_key",
]

BUNDLED_PUBLIC = Path(__file__).parents[2] / "data" / "public"
PUBLIC_VERSION = 2  # of the list and of the keys
LONGEST = 8  # words of a name
TOKEN = re.compile(r"[^\W_]+[+#]*+")
_SECTION = re.compile(r"\[([a-z]+)\]")


@dataclass(frozen=True, eq=False)
class PublicNames:
    """The keys of the list.

    Attributes:
        persons: full names, and surnames that mean one person.
        names: places, firms, works and other things, none of which is a person's name.
        terms: of programming, and abbreviations.
        shared: single names of places and things that may be people's names as well.
        surnames: common surnames: private where they stand alone.
        sha256: of the file.
    """

    persons: frozenset[str]
    names: frozenset[str]
    terms: frozenset[str]
    shared: frozenset[str]
    surnames: frozenset[str]
    sha256: str

    @cached_property
    def lengths(self) -> dict[str, int]:
        """Return the words of the longest name that begins with a word, by the word."""
        longest: dict[str, int] = {}
        for key in chain(self.persons, self.names, self.terms):
            first, blank, _ = key.partition(" ")
            if blank:
                longest[first] = max(longest.get(first, 0), key.count(" ") + 1)
        return longest

    @cached_property
    def families(self) -> frozenset[str]:
        """Return the surnames of the persons that are neither common nor words."""
        return self.last_names - self.surnames - given_names() - dictionary_words()

    @cached_property
    def last_names(self) -> frozenset[str]:
        """Return the last words of the persons' names."""
        return frozenset(key.rpartition(" ")[2] for key in self.persons)


@lru_cache(maxsize=1)
def load_public(path: Path = BUNDLED_PUBLIC) -> PublicNames:
    """Read and verify the list.

    >>> public = load_public()
    >>> "albert einstein" in public.persons, "new zealand" in public.names, "anna" in public.names
    (True, True, False)

    Args:
        path: of both files, without suffix.

    Raises:
        VocabularyError: a file is missing or damaged, or is another version.
    """
    sections: dict[str, list[str]] = {}
    try:
        data = path.with_suffix(".txt").read_bytes()
        side: dict[str, Any] = json.loads(path.with_suffix(".json").read_text("utf-8"))
        digest = hashlib.sha256(data).hexdigest()
        if side["sha256"] != digest:
            raise VocabularyError(f"{path.name}.txt is damaged: its SHA-256 differs")
        if side["version"] != PUBLIC_VERSION:
            raise VocabularyError(f"{path.name}.txt is not version {PUBLIC_VERSION}")
        for line in data.decode().splitlines():
            if found := _SECTION.fullmatch(line):
                keys = sections.setdefault(found[1], [])
            else:
                keys.append(line)
        return PublicNames(
            **{name: frozenset(keys) for name, keys in sections.items()}, sha256=digest
        )
    except (OSError, ValueError, KeyError, TypeError, UnboundLocalError) as exc:
        raise VocabularyError(
            f"cannot read the public names {path.name}.txt and {path.name}.json"
        ) from exc


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return given names of many languages, each by its key. Some are ordinary words, too.

    >>> {"anna", "jürgen", "mehmet", "xiaoming"} - given_names()
    {'jürgen'}
    >>> "jurgen" in given_names()
    True
    """
    drawn = (name for names in load_names().values() for name in names.given)
    return frozenset(map(read_key, (*list_given(), *drawn)))


def read_key(text: str) -> str:
    """Return the form of a name that its spellings share: its words in small letters, without
    accents and signs.

    >>> read_key("J.R.R. Tolkien"), read_key("Côte d’Ivoire"), read_key("C++")
    ('j r r tolkien', 'cote d ivoire', 'c++')
    """
    return " ".join(fold_name(word) for word in TOKEN.findall(fold(text)))
