"""Add the given names of the package Faker to `perturb/data/given_names.txt`.

    pip install faker && python -m scripts.list_given /usr/share/dict/* /usr/share/hunspell/*.dic

Faker lists names by country (MIT licence). What is left out: words of the dictionaries that are
given (Debian's wfrench, wspanish, witalian, wngerman, wdutch, wswedish, wportuguese, wbrazilian,
wpolish, wdanish, wnorwegian, wcatalan and hunspell-tr) and of our own, surnames that are coined,
names that the public list has for a person, a place or anything else, and what only the lists for
English have, which hold many surnames.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from perturb.selective.patterns.given import is_given
from perturb.selective.public import load_public, read_key
from perturb.selective.surrogates.names import load_names
from perturb.text.case import fold_name
from perturb.vocabulary.word_list import dictionary_words

__all__ = ["find_names", "main"]

FILE = Path(__file__).parents[1] / "perturb" / "data" / "given_names.txt"
SECTION = "\n[more]\n"
MIXED = {"en", "en_US"}
SHORT = 3  # letters without their accents, which are words of other languages, too
_NAME = re.compile(r"[A-ZÀ-ÞĀ-Ž][a-zß-ɏ]{2,}")


def find_names() -> dict[str, set[str]]:
    """Return the given names of Faker in Latin letters, with the countries that have each."""
    person = import_module("faker.providers.person")
    names: dict[str, set[str]] = {}
    for module in iter_modules(person.__path__):
        provider = import_module(f"faker.providers.person.{module.name}").Provider
        for word in _read(provider):
            if _NAME.fullmatch(word):
                names.setdefault(word, set()).add(module.name)
    return names


def _read(provider: type) -> Iterator[str]:
    for attribute in dir(provider):
        found = getattr(provider, attribute)
        if attribute.startswith("first_names") and not isinstance(found, property):
            for name in found:
                yield from (name if isinstance(name, str) else name[0]).split()


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


def main() -> None:
    """Write the section anew."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("dictionaries", type=Path, nargs="+", help="lists of words")
    others = read_words(parser.parse_args().dictionaries)
    text = FILE.read_text("utf-8").partition(SECTION)[0]
    FILE.write_text(text, "utf-8")
    public = load_public()
    known = public.persons | public.names | public.terms | public.shared | public.surnames
    words = dictionary_words() | load_names()["latin"].roles.keys()  # also what is coined
    names = sorted(
        name
        for name, places in find_names().items()
        if (len(places) > 1 or not places & MIXED)
        and not {read_key(name), name.lower()} & (known | words)
        and name.lower() not in others
        and fold_name(name) not in words
        and len(fold_name(name)) > SHORT
        and not is_given(name)
    )
    FILE.write_text(f"{text}{SECTION}{' '.join(names)}\n", "utf-8")
    print(f"{len(names):,} names")


if __name__ == "__main__":
    main()
