"""Read records of the corpus as paragraphs of clean English prose."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Document", "hash_file", "read_corpus", "split_sentences"]

HELD_OUT_EVERY = 100  # every hundredth record is for validation only
SHORTEST_PARAGRAPH = 120  # characters; shorter lines are headings and list items
MARKUP = re.compile(r"[|{}\\$<>=_^~#*]|https?:|www\.|\b\w+\.(?:com|org)\b")
EMPTY_BRACKETS = re.compile(r" ?[(\[][\s,;:]*[)\]]")  # what stripped markup leaves behind
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]?\s+(?=[\"'(]?[A-Z])")
ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Mr|Mrs|Dr|St|vs|No|al|cf|ca|Fig|e\.g|i\.e|etc|Jr))\.$")


@dataclass(frozen=True)
class Document:
    """Hold one record: its source, its title, and its paragraphs of prose."""

    source: str
    title: str
    paragraphs: tuple[str, ...]


def hash_file(path: Path) -> str:
    """Return the file's SHA-256, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_corpus(path: Path) -> tuple[list[Document], list[Document]]:
    """Read `{source, title, text}` lines (xz) into documents: for training, and held out.

    Records without a paragraph of prose are left out.
    """
    kept: tuple[list[Document], list[Document]] = ([], [])
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            record = json.loads(line)
            paragraphs = tuple(
                text for raw in record["text"].split("\n") if (text := _tidy(raw)) is not None
            )
            if paragraphs:
                document = Document(record["source"], record["title"], paragraphs)
                kept[number % HELD_OUT_EVERY == 0].append(document)
    return kept


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph after `.`, `!` and `?`, but not after an abbreviation or an initial."""
    out: list[str] = []
    for piece in SENTENCE_END.split(paragraph):
        if out and ABBREVIATION.search(out[-1]):
            out[-1] += " " + piece
        else:
            out.append(piece)
    return out


def _tidy(line: str) -> str | None:
    """Return the line as prose, or None if it is a heading, a list item, a formula or
    markup."""
    line = EMPTY_BRACKETS.sub("", " ".join(line.split()))
    if len(line) < SHORTEST_PARAGRAPH or line[-1] not in ".!?\"'" or MARKUP.search(line):
        return None
    letters = sum(c.isalpha() or c == " " for c in line)
    strange = sum(ord(c) > 0x2122 for c in line) + 4 * line.count("  ")
    if letters < 0.88 * len(line) or strange:
        return None
    return line if line[0].isupper() or line[0] in "\"'" else None
