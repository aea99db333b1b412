"""List names that are publicly known and bundle the list.

    python scripts/list_public.py ../shared/data/corpus/train.jsonl.xz \
        --source 'Wikipedia 2015, arXiv abstracts' --licence 'CC BY-SA 3.0, CC0' \
        --wordnet /usr/share/wordnet/data.noun --titles titles.txt

The corpus is lines of JSON with the fields `title` and `text`, plain or xz-compressed. A name is
listed if it is a title, if enough documents have it in capitals, if WordNet has it as one thing
and no kind of things, or if a file in `scripts/public` holds it. WordNet 3.0 comes in Debian's
package wordnet-base. Further titles are lines of a file: the 38,000 most read of Wikipedia are the
keys of the model of npm's package compromise-wikipedia 0.1.1, which efrt's `unpack` reads. Names
of installed packages, commands and modules are added. What people are called is never listed
alone: given names, common surnames, and words that the corpus has after a given name.
"""

from __future__ import annotations

import argparse
import builtins
import hashlib
import json
import keyword
import lzma
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

from tqdm import tqdm  # noqa: E402

from perturb.files import write_atomically  # noqa: E402
from perturb.selective.public import (  # noqa: E402
    BUNDLED_PUBLIC,
    LONGEST,
    PUBLIC_VERSION,
    given_names,
    read_key,
)
from perturb.vocabulary.word_list import dictionary_words  # noqa: E402

CURATED = Path(__file__).parent / "public"
LEAST = 2  # documents that a name of several words is found in
LEAST_PERSON = 3  # the same, if it begins with a given name
LEAST_WORD = 3  # the same, for a single word
WELL_KNOWN = (
    12  # the same, for a single word that counts as known even where it seems a person's name
)
BORNE = (
    0.02  # share of a word's documents in which it follows a given name: a surname from here on
)
LEADING = (
    0.2  # share of a word's documents in which a surname follows it: a given name from here on
)
ALONE = 5  # documents that have a surname alone,
ONE_BEARER = (
    0.75  # if this share of those that have it with a given name mean one person: it is public
)
_OPENERS = """
    a about according after all also although among an and another any around as at because before
    between both but by de des during each even every following for from given he her his how
    however i if in instead into is it its la le les like los many modern most my near no not of on
    once one only or other our over several she since some such than that the their then there
    these they this those though three through throughout to today two under unlike until upon
    using was we were what when where which while who why with within without you your
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday ad bc
"""
OPENERS = frozenset(_OPENERS.split())  # words that are no part of the name they begin
_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĪİĶĻŁŃŇŌŐŒŘŚŞŠŤŪŮŰŹŻŽȘȚ"
_NAME_WORD = (
    rf"(?:[{_CAPITAL}]|(?:al|d|l)[-'’][{_CAPITAL}])(?:[\w&'’-]|\.(?=\w|[ ][{_CAPITAL}]))*+"
)
_LINK = r"(?:of|the|de|la|del|der|den|van|von|da|di|du|des|le|al|bin|ibn|and|for|y|e)"
PHRASE = re.compile(rf"(?<![\w'’-]){_NAME_WORD}(?:[ ](?:{_LINK}[ ]){{0,2}}{_NAME_WORD}){{0,7}}")
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_STARTS = re.compile(r"(?:^|[.!?:;\n\"“(])\s*\Z")


@dataclass
class Found:
    """Count the documents of names by their keys.

    Attributes:
        phrases: of names, wherever they stand.
        words: of single words inside a sentence.
        borne: of words that follow a given name.
        bearers: of the names of two or more words that begin with a given name, by their last.
        leading: of words that a name of two words begins with, if its second is no ordinary word.
        titles: the keys of titles.
        famous: names of persons in WordNet, surnames alone among them.
    """

    phrases: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    borne: Counter[str] = field(default_factory=Counter)
    bearers: dict[str, Counter[str]] = field(default_factory=dict)
    leading: Counter[str] = field(default_factory=Counter)
    titles: set[str] = field(default_factory=set)
    famous: set[str] = field(default_factory=set)
    records: int = 0


def main() -> None:
    """Read the command line, count, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--wordnet", type=Path, help="WordNet's file data.noun")
    parser.add_argument("--titles", type=Path, help="a file with a title in each line")
    parser.add_argument("--source", required=True, help="a description of the corpus")
    parser.add_argument("--licence", required=True, help="the corpus's licence")
    parser.add_argument("--least", type=int, default=LEAST, help="documents a name must be in")
    parser.add_argument(
        "--least-person", type=int, default=LEAST_PERSON, help="documents a person must be in"
    )
    parser.add_argument(
        "--least-word", type=int, default=LEAST_WORD, help="documents a single word must be in"
    )
    parser.add_argument("--out", type=Path, default=BUNDLED_PUBLIC, help="path without its suffix")
    arguments = parser.parse_args()

    found = count_names(arguments.corpus)
    for title in arguments.titles.read_text("utf-8").splitlines() if arguments.titles else ():
        found.titles.add(read_key(_BRACKETS.sub("", title)))
    if arguments.wordnet:
        found.famous, things = read_wordnet(arguments.wordnet)
        found.titles |= things
    sections = list_names(found, arguments.least, arguments.least_person, arguments.least_word)
    data = "".join(
        f"[{name}]\n" + "".join(f"{key}\n" for key in sorted(keys))
        for name, keys in sections.items()
    ).encode()
    side = {
        "version": PUBLIC_VERSION,
        **{name: len(keys) for name, keys in sections.items()},
        "records": found.records,
        "least": [arguments.least, arguments.least_person, arguments.least_word],
        "source": "; ".join(
            [
                arguments.source,
                *(["WordNet 3.0"] if arguments.wordnet else []),
                *(["titles much read in Wikipedia"] if arguments.titles else []),
                "lists of this project",
            ]
        ),
        "licence": arguments.licence + ", WordNet 3.0 license" * bool(arguments.wordnet),
        "attribution": "Titles and names from Wikipedia, by its authors, and from WordNet 3.0, "
        "Copyright 2006 by Princeton University; no sentence is copied.",
        "corpus_sha256": hashlib.sha256(arguments.corpus.read_bytes()).hexdigest(),
        "created": datetime.now(UTC).date().isoformat(),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    write_atomically(arguments.out.with_suffix(".txt"), data)
    write_atomically(
        arguments.out.with_suffix(".json"), (json.dumps(side, indent=2) + "\n").encode()
    )
    print(json.dumps(side, indent=2))


def count_names(corpus: Path) -> Found:
    """Count the documents of every name in capitals."""
    given, common, found = given_names(), dictionary_words(), Found()
    opener = lzma.open if corpus.suffix == ".xz" else open
    lines: IO[str]
    with opener(corpus, "rt", encoding="utf-8") as lines:
        for line in tqdm(lines, unit="record"):
            record = json.loads(line)
            found.records += 1
            if title := read_key(_BRACKETS.sub("", record.get("title") or "")):
                found.titles.add(title)
            phrases, words = set[str](), set[str]()
            for phrase, opening in find_phrases(record["text"]):
                (words if " " not in phrase and not opening else phrases).add(phrase)
            found.phrases.update(phrases | words)
            found.words.update(words)
            borne, leading = set[str](), set[str]()
            for phrase in phrases:
                first, _, last = phrase.rpartition(" ")
                start = first.partition(" ")[0]
                if start in given or len(start) == 1:
                    borne.add(last)
                    if len(start) > 1:
                        found.bearers.setdefault(last, Counter())[phrase] += 1
                if start == first and last not in common:
                    leading.add(start)
            found.borne.update(borne)
            found.leading.update(leading)
    return found


def read_wordnet(file: Path) -> tuple[set[str], set[str]]:
    """Return the keys of the persons that WordNet has, and of its other single things."""
    persons, things = set[str](), set[str]()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            fields = line.partition(" | ")[0].split()
            if line.startswith("  ") or "@i" not in fields:  # a licence; kinds of things
                continue
            words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            keys = {read_key(word.replace("_", " ")) for word in words if word[0].isupper()}
            (persons if fields[1] == PERSONS_OF_WORDNET else things).update(keys)
    return persons, things


PERSONS_OF_WORDNET = "18"  # its file of nouns that are people, gods and characters included


def find_phrases(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the key of each name in capitals, and whether it opens a sentence."""
    for match in PHRASE.finditer(text):
        words = read_key(match[0]).split(" ")
        start = 0
        while start < len(words) and words[start] in OPENERS:
            start += 1
        end = len(words)
        while end > start and (words[end - 1] in OPENERS or words[end - 1] == "s"):
            end -= 1
        if start < end <= start + LONGEST:
            opening = not start and bool(
                _STARTS.search(text, max(0, match.start() - 4), match.start())
            )
            yield " ".join(words[start:end]), opening


def list_names(
    found: Found, least: int, least_person: int, least_word: int
) -> dict[str, set[str]]:
    """Return the keys of each section of the list."""
    given, common = given_names(), dictionary_words()
    surnames = set(map(read_key, read_words("surnames")))
    private = given | surnames
    called = {
        word
        for words, share in ((found.borne, BORNE), (found.leading, LEADING))
        for word, number in words.items()
        if number >= 2 and number > share * max(found.words[word], 1)
    }
    people = called | private
    places = set(map(read_key, read_entries("places")))
    things = {read_key(entry) for name in ("firms", "things") for entry in read_entries(name)}
    terms = set(map(read_key, installed_names())) - places - things
    terms = (terms | set(map(read_key, read_entries("terms")))) - private
    persons = {
        key
        for name in ("persons", "history", "letters", "stage", "characters")
        for key in map(read_key, read_entries(name))
        if key not in private
    }
    persons |= {
        word
        for word, bearers in found.bearers.items()
        if found.words[word] >= ALONE
        and word not in private
        and word not in common
        and max(bearers.values()) >= ONE_BEARER * bearers.total() > 1
    }

    own = places | things | terms
    persons |= found.famous - private - common - own
    words = {word for word, number in found.words.items() if number >= least_word}
    phrases = {key for key in found.phrases if " " in key} | found.titles
    for key in phrases - own:
        first, last = key.partition(" ")[0], key.rpartition(" ")[2]
        number, title = found.phrases[key], key in found.titles
        if " " not in key:
            words.add(key)
        elif first in given or (last in people and {first, last}.isdisjoint(common)):
            if title or (number >= least_person and last not in surnames):
                persons.add(key)
        elif title or number >= least:
            things.add(key)
    words -= common | people | own
    # A place or a firm that people are also called after; a thing with a given name is left out.
    single = {key for key in places | things if " " not in key and key in people}
    shared = words | {key for key in single if key in places or key not in private}
    known = {word for word in words if found.words[word] >= WELL_KNOWN}
    sections = {
        "persons": persons - places - terms,
        "names": (places | things | known) - single - persons - terms - private,
        "terms": terms,
        "shared": shared - persons - known - terms,
    }
    return {**{name: tidy(keys) for name, keys in sections.items()}, "surnames": surnames}


def tidy(keys: Iterable[str]) -> set[str]:
    """Return the true keys of a few words, without those that are digits or one letter."""
    return {
        key
        for key in keys
        if len(key) > 1
        and key.count(" ") < LONGEST
        and not key.replace(" ", "").isdigit()
        and read_key(key) == key
    }


def read_entries(name: str) -> Iterator[str]:
    """Yield the entries of a list of the project, which commas separate."""
    for line in (CURATED / f"{name}.txt").read_text("utf-8").splitlines():
        if not line.startswith("# "):
            yield from filter(None, (entry.strip() for entry in re.split(r",\s+(?!D\.C\.)", line)))


def read_words(name: str) -> Iterator[str]:
    """Yield the words of a list of the project."""
    for line in (CURATED / f"{name}.txt").read_text("utf-8").splitlines():
        if not line.startswith("# "):
            yield from line.split()


def installed_names() -> set[str]:
    """Return the names of installed packages, modules and commands, and Python's own words."""
    names = {*sys.stdlib_module_names, *dir(builtins), *keyword.kwlist, *keyword.softkwlist}
    for package in distributions():
        names.add(package.metadata["Name"])
        names |= set((package.read_text("top_level.txt") or "").split())
    for folder in ("/bin", "/usr/bin", "/sbin", "/usr/sbin"):
        if os.path.isdir(folder):
            names |= set(os.listdir(folder))
    return {name for name in names if not name.startswith("_") and re.search(r"[^\W\d_]{3}", name)}


if __name__ == "__main__":
    main()
