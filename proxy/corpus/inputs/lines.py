"""Read JSONL and CSV: files of records that end at line breaks, read from the middle."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from extraction.codec import load_finite
from proxy.corpus.inputs.records import (
    ADDED,
    LARGEST,
    OURS,
    Block,
    Columns,
    Record,
    make_record,
    make_table,
    unreadable,
)
from proxy.errors import ConfigError

__all__ = ["RECORD", "Csv", "Jsonl", "check_columns"]

RECORD = OURS + "record"  # the kept part of a record of JSONL, as JSON in ASCII
BYTES = 1 << 22  # the most of a block, unless one record is larger
Lines = Iterator[tuple[int, bytes | None]]


class Jsonl:
    """Read a file with an object of JSON in each line."""

    def cut(self, file: Any, path: str, columns: Columns, rows: int) -> Iterator[Block]:
        """Yield the blocks of an open file, numbered from 0."""
        del columns  # each line has its own
        return _cut(_find_lines(file, 0), path, 0, rows)

    def read(self, file: Any, block: Block, columns: Columns) -> pa.Table:
        """Return the records of a block."""
        file.seek(block.start)
        records, kept = [], []
        [path] = block.paths
        number = block.first
        for _, line in _until(_find_lines(file, block.start), block.stop):
            record, rest = _read_object(line, f"{path}#{number}", columns)
            records.append(record)
            kept.append(rest)
            number += 1
        return make_table(records, {RECORD: pa.array(kept, pa.large_string())})


class Csv:
    """Read a file of comma-separated values with a header."""

    def cut(self, file: Any, path: str, columns: Columns, rows: int) -> Iterator[Block]:
        """Yield the blocks of an open file, numbered from 0.

        Raises:
            ConfigError: the columns are not those that `check_columns` wants.
        """
        header = self._read_header(file)
        check_columns(_parse(header) or [], columns)
        return _cut(_find_rows(file, len(header)), path, len(header), rows)

    def read(self, file: Any, block: Block, columns: Columns) -> pa.Table:
        """Return the records of a block."""
        names = _parse(self._read_header(file)) or []
        kept = {n: i for i, n in enumerate(names) if n != columns.text and n not in columns.drop}
        file.seek(block.start)
        records: list[Record] = []
        values: list[list[str | None]] = [[] for _ in kept]
        [path] = block.paths
        number = block.first
        for _, line in _until(_find_rows(file, block.start), block.stop):
            place = f"{path}#{number}"
            number += 1
            row = None if line is None else _parse(line)
            if row is None or len(row) != len(names):
                reason = f"must be a record of {len(names)} values, of at most {LARGEST} bytes"
                records.append(unreadable(place, reason))
                row = [""] * len(names)
            else:
                found = dict(zip(names, row, strict=True))
                wanted = (found.get(c or "") for c in (columns.text, columns.id, columns.owner))
                records.append(make_record(place, columns, *wanted))
            for column, i in zip(values, kept.values(), strict=True):
                column.append(row[i])
        arrays = (pa.array(column, pa.large_string()) for column in values)
        return make_table(records, dict(zip(kept, arrays, strict=True)))

    def _read_header(self, file: Any) -> bytes:
        header = next(_find_rows(file, 0), (0, b""))[1]
        if not header:
            raise ConfigError("a CSV file must begin with the names of its columns")
        return header


def check_columns(names: list[str], columns: Columns) -> None:
    """Check the names of the columns of a file.

    Raises:
        ConfigError: one is missing, is there twice, or is added to the output.
    """
    if len(set(names)) != len(names):
        raise ConfigError("a column of the input must have a name of its own")
    for option in ("text", "id", "owner"):
        wanted = getattr(columns, option)
        if wanted is not None and wanted not in names:
            raise ConfigError(f"--{option}: the input has no column {wanted!r}")
    for name in names:
        if name in ADDED and name != columns.text and name not in columns.drop:
            raise ConfigError(f"the input has a column {name!r}, which is added: use --drop")
        if name.startswith(OURS):
            raise ConfigError(f"no column of the input must have a name that begins with {OURS}")


def _read_object(line: bytes | None, place: str, columns: Columns) -> tuple[Record, str]:
    """Return the record in a line of JSON, and the part of the object that is kept."""
    if line is None:
        return unreadable(place, f"must have at most {LARGEST} bytes"), "{}"
    try:
        found = load_finite(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return unreadable(place, "must be an object of JSON"), "{}"
    text = found.pop(columns.text, None)
    kept = {name: value for name, value in found.items() if name not in columns.drop}
    if not kept.keys().isdisjoint(ADDED):
        return unreadable(place, f"must have no key among {', '.join(ADDED)}: use --drop"), "{}"
    names = (None if name is None else found.get(name) for name in (columns.id, columns.owner))
    return make_record(place, columns, text, *names), json.dumps(kept)


def _cut(records: Lines, path: str, start: int, rows: int) -> Iterator[Block]:
    """Yield blocks of at most so many records, which begin at a byte."""
    number = first = count = 0
    end = start
    for end, _ in records:
        count += 1
        if count == rows or end - start >= BYTES:
            yield Block(number, (path,), start, end, first, count)
            number, first, start, count = number + 1, first + count, end, 0
    if count:
        yield Block(number, (path,), start, end, first, count)


def _until(records: Lines, stop: int) -> Lines:
    for end, line in records:
        yield end, line
        if end >= stop:
            return


def _find_lines(file: Any, at: int) -> Lines:
    """Yield lines that are not blank, each with the byte after it; None for one that is too
    long."""
    return _find_ends(file, at, lambda line: True)


def _find_rows(file: Any, at: int) -> Lines:
    """Yield the rows of CSV: quoted values may have line breaks."""
    return _find_ends(file, at, lambda line: line.count(b'"') % 2 == 0)


def _find_ends(file: Any, at: int, is_even: Callable[[bytes], bool]) -> Lines:
    """Yield records. A line that is not even begins or ends a part with line breaks."""
    kept: list[bytes] = []
    size, even = 0, True
    while piece := file.readline(LARGEST):
        at += len(piece)
        size += len(piece)
        if size <= LARGEST:
            kept.append(piece)
        even ^= not is_even(piece)
        if even and piece.endswith(b"\n"):
            yield from _join(at, kept, size)
            kept, size = [], 0
    if size:
        yield from _join(at, kept, size)


def _join(at: int, kept: list[bytes], size: int) -> Lines:
    if size > LARGEST:
        yield at, None
    elif line := b"".join(kept).rstrip(b"\r\n"):
        yield at, line


def _parse(row: bytes) -> list[str] | None:
    """Return the values of a row of CSV; None if it is none, or several: a lone quote within a
    value hides the ends of rows. Bytes that are not UTF-8 become U+FFFD."""
    csv.field_size_limit(LARGEST)  # the row is in memory, and no larger
    try:
        text = row.decode("utf-8-sig", "replace")
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None
