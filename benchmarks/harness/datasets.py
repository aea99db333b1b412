"""Texts to measure on, in InferDPT's open-ended form, and the digest that identifies them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

__all__ = [
    "Authored",
    "DataError",
    "Sample",
    "digest",
    "read_authored",
    "read_entries",
    "read_open_ended",
    "read_samples",
]

OPEN_ENDED = ("cnn_dailymail", "wikitext", "arxiv")


class DataError(Exception):
    """Report a data file that is missing or malformed; the message never holds its text."""


@dataclass(frozen=True)
class Sample:
    """Hold one text of the open-ended protocol (InferDPT §6.1).

    `prefix` is its first 50 GPT-2 tokens, the private document; `continuation` the next 100, the
    reference; `document` is the whole text that contains both. None of them is empty.
    """

    id: str
    prefix: str
    continuation: str
    document: str


@dataclass(frozen=True)
class Authored:
    """Hold a text and its author; neither is empty."""

    author: str
    text: str


def read_samples(path: Path) -> list[Sample]:
    """Read the samples of a JSONL file in UTF-8, in its order; empty lines and other keys are
    skipped.

    Raises:
        DataError: the file cannot be read or has no samples, or a line is not an object with
            the four keys, each a string that is not empty, and an id of its own.
    """
    samples: dict[str, Sample] = {}
    for place, entry in read_entries(path):
        sample = Sample(**_check_strings(entry, Sample, place))
        if sample.id in samples:
            raise DataError(f"{place}: the value of 'id' is a duplicate")
        samples[sample.id] = sample
    if not samples:
        raise DataError(f"{path}: no samples")
    return list(samples.values())


def read_authored(path: Path) -> list[Authored]:
    """Read the texts of a JSONL file with the keys `author` and `text`, in its order; empty lines
    and other keys are skipped.

    Raises:
        DataError: as `read_samples`, except for ids; or all texts are by one author.
    """
    texts = [
        Authored(**_check_strings(entry, Authored, place)) for place, entry in read_entries(path)
    ]
    if len({text.author for text in texts}) < 2:
        raise DataError(f"{path}: must hold texts of two authors or more")
    return texts


def read_entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the entry on each line of a JSONL file, with its location."""
    try:
        # Lines end at \n alone: str.splitlines would also cut at U+2028 within a string.
        lines = path.read_bytes().split(b"\n")
    except OSError as exc:
        raise DataError(f"{path}: cannot be read ({exc.strerror})") from exc
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        if not line.strip():
            continue
        try:
            yield place, json.loads(line.decode("utf-8"))
        except UnicodeDecodeError as exc:
            raise DataError(f"{place}: not UTF-8 at byte {exc.start + 1}") from None
        except json.JSONDecodeError as exc:
            raise DataError(f"{place}: not JSON at character {exc.pos + 1}") from None


def _check_strings(entry: Any, form: type[Authored | Sample], place: str) -> dict[str, str]:
    """Return the values of a form's keys; each must be a string that is not empty."""
    if not isinstance(entry, dict):
        raise DataError(f"{place}: must be an object, is {_name_kind(entry)}")
    keys = [field.name for field in fields(form)]
    for key in keys:
        if key not in entry:
            raise DataError(f"{place}: {key!r} is missing")
        if not isinstance(entry[key], str):
            raise DataError(f"{place}: {key!r} must be a string, is {_name_kind(entry[key])}")
        if not entry[key]:
            raise DataError(f"{place}: {key!r} is empty")
    return {key: entry[key] for key in keys}


def _name_kind(value: Any) -> str:
    """Return JSON's name for the type of a value."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}
    return kinds.get(type(value), "a number")


def read_open_ended(folder: Path) -> dict[str, list[Sample]]:
    """Read the three sets of the protocol by name, from `<name>.jsonl` in a folder.

    Raises:
        DataError: as `read_samples`.
    """
    return {name: read_samples(folder / f"{name}.jsonl") for name in OPEN_ENDED}


def digest(paths: Iterable[Path]) -> str:
    """Return one SHA-256 (64 hexadecimal digits) of the contents of files, in the order given,
    whatever their names. It is the digest of their own SHA-256s, one per line, as `sha256sum FILES
    | cut -c1-64 | sha256sum` prints it.

    Raises:
        DataError: a file cannot be read.
    """
    whole = hashlib.sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                one = hashlib.file_digest(file, "sha256")
        except OSError as exc:
            raise DataError(f"{path}: cannot be read ({exc.strerror})") from exc
        whole.update(f"{one.hexdigest()}\n".encode())
    return whole.hexdigest()
