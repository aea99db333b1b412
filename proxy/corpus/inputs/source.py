"""Find the files of an input, cut them into blocks, and read a block: by path or URL (fsspec).

Besides lines of JSON and CSV these are Parquet files, the Arrow files of a data set of Hugging
Face's `datasets`, and folders of text files, each a document that its path names.
"""

from __future__ import annotations

import hashlib
import io
import json
import posixpath
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from proxy.corpus.inputs.lines import Csv, Jsonl, check_columns
from proxy.corpus.inputs.records import (
    LARGEST,
    Block,
    Columns,
    Record,
    make_record,
    make_table,
    unreadable,
)
from proxy.errors import ConfigError

__all__ = ["Arrow", "InputFiles", "Parquet", "cut_texts", "find_source", "read_texts"]


def cut_texts(paths: Sequence[str], rows: int) -> list[Block]:
    """Return the blocks of a folder, so many files each."""
    return [
        Block(number, tuple(some := paths[at : at + rows]), 0, 0, at, len(some))
        for number, at in enumerate(range(0, len(paths), rows))
    ]


def read_texts(open_file: Any, block: Block, columns: Columns) -> pa.Table:
    """Return the documents of a block; bytes that are not UTF-8 become U+FFFD.

    Args:
        open_file: opens the file at a path of the block for reading bytes.
    """
    records: list[Record] = []
    for path in block.paths:
        with open_file(path) as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            records.append(unreadable(path, f"must have at most {LARGEST} bytes"))
        else:
            records.append(make_record(path, columns, data.decode("utf-8", "replace"), path, None))
    return make_table(records, {"id": pa.array(block.paths, pa.large_string())})


PARTS = 16  # the most blocks of a row group, whose columns are decoded for each from their start


class Parquet:
    """Read a Parquet file."""

    def cut(self, file: Any, path: str, columns: Columns, rows: int) -> Iterator[Block]:
        """Yield the blocks of an open file, numbered from 0; raise as `check_columns` does."""
        opened = pq.ParquetFile(file)
        check_columns(opened.schema_arrow.names, columns)
        facts = opened.metadata
        number = first = 0
        for part in range(facts.num_row_groups):
            size = facts.row_group(part).num_rows
            step = max(rows, -(-size // PARTS))
            for start in range(0, size, step):
                stop = min(start + step, size)
                yield Block(number, (path,), start, stop, first + start, stop - start, part)
                number += 1
            first += size

    def read(self, file: Any, block: Block, columns: Columns) -> pa.Table:
        """Return the records of a block."""
        opened = pq.ParquetFile(file)
        wanted = [name for name in opened.schema_arrow.names if _is_read(name, columns)]
        found, at = [], 0
        for batch in opened.iter_batches(
            block.stop - block.start, row_groups=[block.part], columns=wanted
        ):
            start, stop = max(block.start - at, 0), min(block.stop - at, len(batch))
            if start < stop:
                found.append(batch.slice(start, stop - start))
            at += len(batch)
            if at >= block.stop:
                break
        return _make_records(pa.Table.from_batches(found), block, columns)


class Arrow:
    """Read a stream of Arrow's record batches in a file on this machine."""

    def cut(self, file: Any, path: str, columns: Columns, rows: int) -> Iterator[Block]:
        """Yield the blocks of an open file, numbered from 0; raise as `check_columns` does."""
        number = first = 0
        stream = pa.ipc.open_stream(file)
        check_columns(stream.schema.names, columns)
        for part, batch in enumerate(stream):
            for start in range(0, len(batch), rows):
                stop = min(start + rows, len(batch))
                yield Block(number, (path,), start, stop, first + start, stop - start, part)
                number += 1
            first += len(batch)

    def read(self, file: Any, block: Block, columns: Columns) -> pa.Table:
        """Return the records of a block."""
        stream = pa.ipc.open_stream(file)
        for _ in range(block.part):
            stream.read_next_batch()
        batch = stream.read_next_batch().slice(block.start, block.stop - block.start)
        table = pa.Table.from_batches([batch])
        wanted = [name for name in table.column_names if _is_read(name, columns)]
        return _make_records(table.select(wanted), block, columns)


def _is_read(name: str, columns: Columns) -> bool:
    return name not in columns.drop or name in (columns.text, columns.id, columns.owner)


def _make_records(table: pa.Table, block: Block, columns: Columns) -> pa.Table:
    """Return records with the values of a table. Other columns keep their types."""
    [path] = block.paths
    empty = [None] * len(table)
    values = [
        empty if name is None else table[name].to_pylist()
        for name in (columns.text, columns.id, columns.owner)
    ]
    records = [
        make_record(f"{path}#{block.first + i}", columns, *row)
        for i, row in enumerate(zip(*values, strict=True))
    ]
    out = {*columns.drop, columns.text}
    kept = {name: table[name] for name in table.column_names if name not in out}
    return make_table(records, kept)


ENDINGS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".csv": "csv"}
ENDINGS |= {".txt": "texts", ".arrow": "arrow"}
FORMATS: dict[str, Any] = {"jsonl": Jsonl(), "csv": Csv(), "parquet": Parquet(), "arrow": Arrow()}
DATASET, DATASETS = "state.json", "dataset_dict.json"  # of Hugging Face's `save_to_disk`
BUFFER = 1 << 20


@dataclass(frozen=True)
class InputFiles:
    """Name the files of an input. Workers receive it; it opens them where it is used.

    Attributes:
        url: of the file or the folder, with what is needed to open it. Never printed.
        format: of all files.
        paths: of the files, relative to the folder, in the order of reading.
        columns: of the records.
        rows: the most records of a block.
    """

    url: str
    format: str
    paths: tuple[str, ...]
    columns: Columns
    rows: int

    def blocks(self) -> Iterator[Block]:
        """Yield all blocks in order, the same ones whenever the files are the same.

        Raises:
            ConfigError: a column is missing, or has a name that the output adds; or a file is
                damaged.
            OSError: a file cannot be read.
        """
        if self.format == "texts":
            yield from cut_texts(self.paths, self.rows)
            return
        number = 0
        for path in self.paths:
            with self._open(path) as file:
                for block in FORMATS[self.format].cut(file, path, self.columns, self.rows):
                    yield replace(block, number=number)
                    number += 1

    def read(self, block: Block) -> pa.Table:
        """Return the records of a block, see `proxy.corpus.inputs.records`.

        Raises:
            ConfigError: the file is damaged.
            OSError: the file cannot be read.
        """
        if self.format == "texts":
            return read_texts(self._open, block, self.columns)
        with self._open(block.paths[0]) as file:
            return FORMATS[self.format].read(file, block, self.columns)

    def fingerprint(self) -> str:
        """Return a hash of the files' names, sizes and times, which tells if they changed."""
        found = [[path, self._fs.ukey(self._locate(path))] for path in self.paths]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()

    @cached_property
    def _fs(self) -> Any:
        return url_to_fs(self.url)[0]

    def _locate(self, path: str) -> str:
        root = url_to_fs(self.url)[1]
        return root if posixpath.basename(root) == path else posixpath.join(root, path)

    @contextmanager
    def _open(self, path: str) -> Iterator[Any]:
        where = self._locate(path)
        try:
            if self.format == "arrow":
                with pa.memory_map(where) as mapped:
                    yield mapped
            else:
                with self._fs.open(where, "rb") as raw:
                    yield io.BufferedReader(raw, BUFFER)  # its `readline` has a limit everywhere
        except (pa.ArrowException, UnicodeError) as exc:
            raise ConfigError(f"IN: {path} is damaged ({type(exc).__name__})") from exc


def find_source(url: str, columns: Columns, rows: int) -> InputFiles:
    """Find the files of an input: one file, a folder, or a data set saved to disk.

    Raises:
        ConfigError: there is none, or they are of several or of unknown formats.
    """
    fs, root = url_to_fs(url)
    if columns.text in columns.drop or {columns.id, columns.owner} & {*columns.drop}:
        raise ConfigError("--drop: must not name the column of texts, ids or owners")
    paths: tuple[str, ...]
    if fs.isfile(root):
        paths = (posixpath.basename(root),)
    elif not fs.isdir(root):
        raise ConfigError("IN: there is no such file or folder")
    elif fs.isfile(posixpath.join(root, DATASETS)):
        raise ConfigError("IN: holds several data sets: name the folder of one of them")
    elif fs.isfile(posixpath.join(root, DATASET)):
        if not isinstance(fs, LocalFileSystem):
            raise ConfigError("IN: a saved data set must be a folder of this machine")
        paths = _read_dataset(root)
    else:
        found = (path.removeprefix(root).lstrip("/") for path in fs.find(root))
        paths = tuple(sorted(path for path in found if _is_visible(path)))
    formats = {ENDINGS.get(posixpath.splitext(path)[1].lower()) for path in paths}
    if len(formats) != 1 or None in formats:
        raise ConfigError(f"IN: all files must have one of the endings {', '.join(ENDINGS)}")
    [kind] = formats
    assert kind is not None
    if kind == "texts":
        if columns.id or columns.owner:
            raise ConfigError("--id, --owner: a folder of texts has no columns")
        columns = replace(columns, text="text")
    return InputFiles(url, kind, paths, columns, rows)


def _read_dataset(root: str) -> tuple[str, ...]:
    """Return the names of the files of a saved data set, which lie in its folder.

    Raises:
        ConfigError: the list of files is damaged, or names one outside of the folder.
    """
    try:
        state = json.loads(Path(root, DATASET).read_bytes())
        names = [file["filename"] for file in state["_data_files"]]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ConfigError(f"IN: {DATASET} is damaged") from None
    folder = Path(root).resolve()
    for name in names:
        plain = isinstance(name, str) and "\0" not in name and name == posixpath.basename(name)
        if not plain or Path(root, name).resolve().parent != folder:
            raise ConfigError(f"IN: {DATASET} must name files in its own folder")
    return tuple(names)


def _is_visible(path: str) -> bool:
    return not any(part.startswith((".", "_")) for part in path.split("/"))
