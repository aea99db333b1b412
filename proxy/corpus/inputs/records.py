"""Define the records of a corpus, as every reader returns them: an Arrow table.

Four columns whose names begin with `OURS` describe the documents: text, id, owner and problem. All
others are kept as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

__all__ = [
    "ADDED",
    "LARGEST",
    "OURS",
    "Block",
    "Columns",
    "Record",
    "make_record",
    "make_table",
    "unreadable",
]

LARGEST = 1 << 24  # bytes of one record; a larger one is not read
LONGEST_NAME = 256  # characters of an id or an owner
OURS = "_inferdpt_"  # begins the names of columns that are neither read nor written
ADDED = ("released", "epsilon", "epsilon_nominal", "unit", "mechanism", "outcome")


@dataclass(frozen=True)
class Columns:
    """Name the columns of the input.

    Attributes:
        text: the column of the texts; it is never kept.
        id: the column of the documents' ids; None names them by their places.
        owner: the column of their owners; None has one owner of all.
        drop: columns that are not kept.
    """

    text: str = "text"
    id: str | None = None
    owner: str | None = None
    drop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Block:
    """Hold the place of some records in the input.

    Attributes:
        number: its place among all blocks.
        paths: its file, or several of a folder of texts; relative to the input.
        start, stop: bytes, or records; of the file, or of its part.
        first: the number of its first record in the file.
        count: the number of its records.
        part: the row group or record batch of the file.
    """

    number: int
    paths: tuple[str, ...]
    start: int
    stop: int
    first: int
    count: int
    part: int = 0


class Record(NamedTuple):
    """Hold a document, or in `problem` why it is none: a kind and a reason, never text."""

    text: str | None
    id: str | None
    owner: str | None
    problem: str | None


def unreadable(place: str, reason: str) -> Record:
    """Return the record of something that cannot be read at a place."""
    return Record(None, place, None, f"Unreadable: {reason}")


def make_record(place: str, columns: Columns, text: Any, id: Any, owner: Any) -> Record:
    """Check the values of a record.

    Args:
        place: names the document if there is no column of ids.
        columns: the columns that were asked for.
        text, id, owner: their values; None where there is none.
    """
    name = place if columns.id is None else _read_name(id)
    of = "" if columns.owner is None else _read_name(owner)
    if name is None:
        return Record(None, place, None, f"BadId: {_state_rule(columns.id)}")
    if of is None:
        return Record(None, name, None, f"BadOwner: {_state_rule(columns.owner)}")
    if not isinstance(text, str):
        found = "null" if text is None else type(text).__name__
        return Record(None, name, of, f"BadText: {columns.text} must be a string, got {found}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return Record(None, name, of, f"BadText: {columns.text} must be valid Unicode")
    if size > LARGEST:
        return Record(None, name, of, f"TooLarge: {columns.text} has more than {LARGEST} bytes")
    return Record(text, name, of, None)


def make_table(records: Sequence[Record], kept: dict[str, Any] | None = None) -> pa.Table:
    """Return the table of records with the columns that are kept beside them."""
    columns: Iterable[Sequence[str | None]] = zip(*records, strict=True) if records else [()] * 4
    made = {
        OURS + name: pa.array(values, pa.large_string())
        for name, values in zip(Record._fields, columns, strict=True)
    }
    return pa.table(made | (kept or {}))


def _read_name(value: Any) -> str | None:
    """Return the name of a document or an owner; None if the value cannot be one."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
        return None
    return value if value.isprintable() else None


def _state_rule(column: str | None) -> str:
    return f"{column} must have 1 to {LONGEST_NAME} printable characters, or be a whole number"
