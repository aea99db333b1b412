"""List the whole words of a corpus and bundle the list.

    python scripts/list_words.py ../shared/data/corpus/train.jsonl.xz \
        --source 'Wikipedia 2015, arXiv abstracts' --licence 'CC BY-SA 3.0, CC0'

The corpus is lines of JSON with a field `text`, plain or xz-compressed. Words found in more
documents come first, then those found more often, then by spelling.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the project need not be installed

from tqdm import tqdm  # noqa: E402

from perturb.files import write_atomically  # noqa: E402
from perturb.vocabulary.word_list import BUNDLED_LIST, LIST_VERSION  # noqa: E402
from perturb.vocabulary.words import WORD, read_form  # noqa: E402

LEAST = 5  # documents that a word is found in
CAPITALS = 10  # times as frequent as in lower case: a word is then spelled with its capitals


def main() -> None:
    """Read the command line, count, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--source", required=True, help="a description of the corpus")
    parser.add_argument("--licence", required=True, help="the corpus's licence")
    parser.add_argument("--least", type=int, default=LEAST, help="documents a word must be in")
    parser.add_argument("--out", type=Path, default=BUNDLED_LIST, help="path without its suffix")
    arguments = parser.parse_args()

    spellings, documents, records = count_words(arguments.corpus)
    lines = list_words(spellings, documents, arguments.least)
    data = "".join(f"{word} {number}\n" for word, number in lines).encode("ascii")
    side = {
        "version": LIST_VERSION,
        "words": len(lines),
        "counted": sum(number for _, number in lines),
        "records": records,
        "least": arguments.least,
        "source": arguments.source,
        "licence": arguments.licence,
        "corpus_sha256": hashlib.sha256(arguments.corpus.read_bytes()).hexdigest(),
        "created": datetime.now(UTC).date().isoformat(),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    write_atomically(arguments.out.with_suffix(".txt"), data)
    write_atomically(
        arguments.out.with_suffix(".json"), (json.dumps(side, indent=2) + "\n").encode()
    )
    print(json.dumps(side, indent=2))


def count_words(corpus: Path) -> tuple[Counter[str], Counter[str], int]:
    """Count the spellings of all words without their accents, and the documents that each form is
    in; return both and the number of documents."""
    spellings: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    opener = lzma.open if corpus.suffix == ".xz" else open
    lines: IO[str]
    with opener(corpus, "rt", encoding="utf-8") as lines:
        records = 0
        for line in tqdm(lines, unit="record"):
            records += 1
            words = Counter(WORD.findall(json.loads(line)["text"]))
            found = {word: read_plain(word) for word in words}
            for word, number in words.items():
                spellings[found[word]] += number
            documents.update({plain.lower() for plain in found.values()})
    return spellings, documents, records


def read_plain(word: str) -> str:
    """Return a word's form in its own capitals where it is ASCII, else in lower case."""
    plain = word.replace("’", "'")
    form = read_form(word)
    return plain if plain.lower() == form else form


def list_words(
    spellings: Counter[str], documents: Counter[str], least: int
) -> list[tuple[str, int]]:
    """Return the words of the list, each with its count in any capitals, in order."""
    written: dict[str, Counter[str]] = {}
    for spelling, number in spellings.items():
        written.setdefault(spelling.lower(), Counter())[spelling] = number
    out = []
    for form, kinds in written.items():
        if documents[form] >= least and form.strip("'") == form != "":
            spelling, most = kinds.most_common(1)[0]
            usual = spelling if most >= CAPITALS * kinds[form] else form
            out.append((usual, kinds.total()))
    return sorted(out, key=lambda line: (-documents[line[0].lower()], -line[1], line[0]))


if __name__ == "__main__":
    main()
