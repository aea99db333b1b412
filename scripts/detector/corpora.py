"""Read the labelled corpora, and keep a part of each from training.

The corpora are not in the repository: tab_dev (Text Anonymization Benchmark, MIT), wikigold
(CC BY 4.0), presidio_synthetic (presidio-research, MIT) and echr_es (Spanish court cases, MIT), as
JSON lines of `text` and `spans`; and pupa_dev (PUPA, MIT), prompts that people wrote to a chat
model, as JSON lines of `text` and `units`, what annotators called private, without types.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LABELS", "OPEN", "Example", "Guess", "find_units", "read_corpora", "read_records"]

LABELS = (
    *("O", "PERSON", "LOCATION", "ORGANIZATION", "DATE_TIME", "DEMOGRAPHIC", "QUANTITY"),
    *("ID", "OTHER_NAME"),
)
TAB = {
    "PERSON": ("PERSON",),
    "PER": ("PERSON",),
    "LOC": ("LOCATION",),
    "ORG": ("ORGANIZATION",),
    "DATETIME": ("DATE_TIME",),
    "DEM": ("DEMOGRAPHIC",),
    "QUANTITY": ("QUANTITY",),
    "CODE": ("ID",),
    "MISC": ("OTHER_NAME",),
}
WIKIGOLD = {
    "PER": ("PERSON",),
    "LOC": ("LOCATION",),
    "ORG": ("ORGANIZATION",),
    "MISC": ("OTHER_NAME", "DEMOGRAPHIC"),  # nationalities are among them
}
PRESIDIO = {
    **dict.fromkeys(("PERSON", "TITLE"), ("PERSON",)),
    **dict.fromkeys(("GPE", "STREET_ADDRESS", "ZIP_CODE"), ("LOCATION",)),
    **dict.fromkeys(("NRP", "AGE"), ("DEMOGRAPHIC",)),
    "ORGANIZATION": ("ORGANIZATION",),
    "DATE_TIME": ("DATE_TIME",),
}
# What a corpus does not label: words without a label may be of these types, too.
OPEN = {
    "wikigold": ("DATE_TIME", "QUANTITY", "ID"),
    "presidio_synthetic": ("QUANTITY",),
    "tab_dev": (),
    "echr_es": (),
    "pupa_dev": ("DATE_TIME", "QUANTITY", "DEMOGRAPHIC"),
}
UNIT = "UNIT"  # the type of PUPA's units
WIKIGOLD_TRAINED = 1357  # sentences, which are in the order of their articles
CASES_TRAINED = 4  # of the ten Spanish ones
FOLDS, LAST = 5, 4  # equal parts of PUPA's prompts; the published detector has not seen the last
SHARE = 0.3  # of the words of a unit, from which on the unit may be of their type
CASE_HEADING = "PROCEDIMIENTO"


@dataclass(frozen=True)
class Example:
    """Hold a text with its labelled parts.

    Attributes:
        parts: (start, end, labels): a part has one of the labels.
        outside: the labels that a word in no part may have.
    """

    text: str
    parts: tuple[tuple[int, int, tuple[str, ...]], ...]
    outside: tuple[str, ...] = ("O",)


# Yields (start, end, most likely label that is not "O") of each word of a text.
Guess = Callable[[str], Iterator[tuple[int, int, str]]]


def read_corpora(folder: Path, guess: Guess, fold: int = LAST) -> Iterator[Example]:
    """Yield the examples to train on.

    Args:
        guess: says what types the units of PUPA may have.
        fold: the part of PUPA's prompts that is kept from training.
    """
    for record, held_out in read_records(folder, "pupa_dev", fold):
        if not held_out:
            yield _read_prompt(record, guess)
    for name in OPEN:
        if name == "pupa_dev":
            continue
        for record, held_out in read_records(folder, name):
            if not held_out:
                parts = tuple(
                    (span["start"], span["end"], _read_labels(name, span))
                    for span in record["spans"]
                )
                yield Example(record["text"], parts, ("O", *OPEN[name]))


def _read_labels(name: str, span: dict[str, Any]) -> tuple[str, ...]:
    if name == "presidio_synthetic":
        return PRESIDIO.get(span["type"], ("ID",))
    return (WIKIGOLD if name == "wikigold" else TAB)[span["label"]]


def find_units(text: str, units: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of private units, whole words in any capitals, in order."""
    found = {
        match.span()
        for unit in units
        if unit.strip()
        for match in re.finditer(rf"(?<!\w){re.escape(unit)}(?!\w)", text, re.IGNORECASE)
    }
    return sorted(found)


def _read_prompt(record: dict[str, Any], guess: Guess) -> Example:
    """Read a prompt of PUPA. A unit may be of the types that its words are guessed to have; of a
    word that is a part of a unit elsewhere, and of a very short unit in small letters, nothing is
    known."""
    text = record["text"]
    words = list(guess(text))
    parts: list[tuple[int, int, tuple[str, ...]]] = []
    named = {word for unit in record["units"] for word in unit.lower().split() if len(word) > 3}
    parts += [(s, e, LABELS) for s, e, _ in words if text[s:e].lower() in named]
    for span in record["spans"]:
        start, end = span["start"], span["end"]
        unit = text[start:end]
        if len(unit) < 4 and unit.islower():
            parts.append((start, end, LABELS))
            continue
        counts = Counter(label for s, e, label in words if s < end and e > start)
        labels = [label for label, n in counts.items() if n >= SHARE * counts.total()]
        digits = sum(map(str.isdigit, unit))
        if "://" in unit or "@" in unit or "www." in unit.lower() or "_" in unit:
            labels = ["ID"]
        elif digits > len(unit) / 3:
            labels = ["ID", "DATE_TIME", "LOCATION", "QUANTITY"]
        elif not digits and not {*labels}.difference(("QUANTITY", "DATE_TIME")):
            labels = ["OTHER_NAME"]
        elif unit.isupper() and unit.isalpha() and labels == ["PERSON"]:
            labels = ["PERSON", "ORGANIZATION", "OTHER_NAME"]
        parts.append((start, end, tuple(labels)))
    return Example(text, tuple(parts), ("O", *OPEN["pupa_dev"]))


def read_records(
    folder: Path, name: str, fold: int = LAST
) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every record of a corpus, and whether it is kept from training; of PUPA, the prompts
    of a fold are."""
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    cases = 0
    for place, record in enumerate(map(json.loads, lines)):
        cases += record["text"] == CASE_HEADING
        if name == "pupa_dev":
            places = find_units(record["text"], record["units"])
            record["spans"] = [{"start": s, "end": e, "type": UNIT} for s, e in places]
            yield record, place * FOLDS // len(lines) == fold
        elif name == "tab_dev":
            yield record, record["split"] == "dev"
        elif name == "wikigold":
            yield record, place >= WIKIGOLD_TRAINED
        elif name == "echr_es":
            yield record, cases > CASES_TRAINED
        else:
            yield record, _hash_template(record) % 4 == 0


def _hash_template(record: dict[str, Any]) -> int:
    """Hash a synthetic sentence without its parts: sentences of one template stay together."""
    pieces: list[str] = []
    end = 0
    for span in sorted(record["spans"], key=lambda span: int(span["start"])):
        pieces += record["text"][end : span["start"]], span["type"]
        end = max(end, span["end"])
    template = "".join([*pieces, record["text"][end:]]).casefold()
    return int.from_bytes(hashlib.sha256(template.encode()).digest()[:4])
