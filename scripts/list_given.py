"""Add the given names of the package Faker to `perturb/data/given_names.txt`.

    pip install faker && python -m scripts.list_given /usr/share/dict/* /usr/share/hunspell/*.dic

Faker lists names by country (MIT licence). What is left out: words of the dictionaries that are
given (Debian's wfrench, wspanish, witalian, wngerman, wdutch, wswedish, wportuguese, wbrazilian,
wpolish, wdanish, wnorwegian, wcatalan and hunspell-tr) and of our own, surnames that are coined,
names that the public list has for a person, a place or anything else, and what only the lists for
English have, which hold many surnames.

Of these and of the file's own names, those that no dictionary has as a word, and the public list
not even as one of several, name a person where they stand alone: the section [alone]. Those that
are one word of several of a well-known name do so beside a private person: the section [beside].

A name has `/f` or `/m` behind it where Faker's lists of women, or of men, are `CLEARLY` times as
many that have it: `Andrea` is a woman's name, `Kim` is anybody's.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from perturb.selective.public import load_public, read_key
from perturb.selective.surrogates.names import load_names
from perturb.text.fold import fold_name
from perturb.vocabulary.word_list import dictionary_words

__all__ = ["find_names", "main"]

FILE = Path(__file__).parents[1] / "perturb" / "data" / "given_names.txt"
SECTION, BESIDE, ALONE = "\n[more]\n", "\n[beside]\n", "\n[alone]\n"
MIXED = {"en", "en_US"}
ENDINGS = ("e", "n", "en", "er", "es", "ern")
SHORT = 3  # letters without their accents, which are words of other languages, too
CLEARLY = 4
_NAME = re.compile(r"[A-ZÀ-ÞĀ-Ž][a-zß-ɏ]{2,}")


@dataclass
class Bearers:
    """Who bears a name: the countries that list it, and how many do so for each sex."""

    places: set[str] = field(default_factory=set)
    sexes: Counter[str] = field(default_factory=Counter)

    @property
    def mark(self) -> str:
        """Return `/f` or `/m`; "" where it is not clear."""
        for sex, other in ("fm", "mf"):
            if self.sexes[sex] >= max(1, CLEARLY * self.sexes[other]):
                return f"/{sex}"
        return ""


def find_names() -> dict[str, Bearers]:
    """Return the given names of Faker, with who bears each."""
    person = import_module("faker.providers.person")
    found: dict[str, Bearers] = defaultdict(Bearers)
    for module in iter_modules(person.__path__):
        provider = import_module(f"faker.providers.person.{module.name}").Provider
        for sex, name in set(_read(provider)):
            found[name].places.add(module.name)
            found[name].sexes.update(sex)
    return found


def _read(provider: type) -> Iterator[tuple[str, str]]:
    """Yield the sex, if a list is of one, and each name."""
    for attribute in dir(provider):
        found = getattr(provider, attribute)
        if attribute.startswith("first_names") and not isinstance(found, property):
            sex = "f" if "_female" in attribute else "m" if "_male" in attribute else ""
            for name in found:
                for word in (name if isinstance(name, str) else name[0]).split():
                    yield sex, word


def read_words(files: Iterable[Path]) -> set[str]:
    """Return the words in small letters of lists of words, a line each."""
    found: set[str] = set()
    for file in files:
        data = file.read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data.decode("latin-1")
        words = (line.partition("/")[0].strip() for line in text.splitlines())
        found.update(word for word in words if word.islower())
    return found


def read_nouns(files: Iterable[Path]) -> set[str]:
    """Return the words with a capital that German dictionaries also have in other cases or
    numbers: nouns, and no names."""
    words = {
        word
        for file in files
        if "german" in file.name
        for word in file.read_text("utf-8").splitlines()
        if word.istitle()
    }
    return {word for word in words if words & {word + end for end in ENDINGS}}


def main() -> None:
    """Write the section anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("dictionaries", type=Path, nargs="+", help="lists of words")
    given = parser.parse_args().dictionaries
    listed_words, nouns = read_words(given), read_nouns(given)
    text = FILE.read_text("utf-8").partition(SECTION)[0]
    listed_names = find_names()
    bearers: dict[str, Bearers] = defaultdict(Bearers)  # of all spellings of a name
    for name, found in listed_names.items():
        bearers[fold_name(name)].sexes.update(found.sexes)

    def mark(name: str) -> str:
        name, sign, own = name.partition("/")
        return name + (bearers[fold_name(name)].mark or sign + own)

    lines = [
        line if line[:1] in ("#", "[") else " ".join(map(mark, line.split()))
        for line in text.splitlines()
    ]
    own = {
        name.partition("/")[0]
        for line in lines
        if line[:1] not in ("#", "[")
        for name in line.split()
    }
    keys = set(map(fold_name, own))
    public = load_public()
    listed = public.persons | public.names | public.terms | public.shared
    known = listed | public.surnames
    drawn = load_names()["latin"].roles.items()
    words = dictionary_words() | {name for name, role in drawn if role != "given"}  # coined ones

    taken = known | words

    def is_no_word(name: str) -> bool:
        return (
            not {read_key(name), name.lower()} & taken
            and name.lower() not in listed_words
            and fold_name(name) not in words
            and len(fold_name(name)) > SHORT
        )

    names = {
        name
        for name, found in listed_names.items()
        if _NAME.fullmatch(name)
        and (len(found.places) > 1 or not found.places & MIXED)
        and is_no_word(name)
        and fold_name(name) not in keys
    }
    parts = {part for key in listed for part in key.split()}
    beside = {
        name
        for name in names.union(filter(_NAME.fullmatch, own))
        if is_no_word(name) and name not in nouns
    }
    alone = {name for name in beside if read_key(name) not in parts}
    more = SECTION + " ".join(map(mark, sorted(names - alone)))
    others = BESIDE + " ".join(map(mark, sorted(beside - alone)))
    last = ALONE + " ".join(map(mark, sorted(alone)))
    FILE.write_text("\n".join(lines) + f"{more}{others}{last}\n", "utf-8")
    told = f"{len(alone):,} that stand alone, {len(beside):,} beside"
    print(f"{len(names):,} names of Faker, {told}")


if __name__ == "__main__":
    main()
