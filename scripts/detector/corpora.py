"""Read the labelled corpora, and keep a part of each from training.

The corpora are not in the repository: tab_dev (Text Anonymization Benchmark, MIT), wikigold
(CC BY 4.0), presidio_synthetic (presidio-research, MIT) and echr_es (Spanish court cases, MIT), as
JSON lines of `text` and `spans`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["LABELS", "OPEN", "Example", "read_corpora", "read_records"]

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
}
WIKIGOLD_TRAINED = 1357  # sentences, which are in the order of their articles
CASES_TRAINED = 4  # of the ten Spanish ones
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


def read_corpora(folder: Path) -> Iterator[Example]:
    """Yield the examples to train on."""
    for name in OPEN:
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


def read_records(folder: Path, name: str) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield every record of a corpus, and whether it is kept from training."""
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    cases = 0
    for place, record in enumerate(map(json.loads, lines)):
        cases += record["text"] == CASE_HEADING
        if name == "tab_dev":
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
