"""Find the files of an input, cut them into blocks, and read a block: by path or URL (fsspec)."""

from __future__ import annotations

import hashlib
import io
import json
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from proxy.corpus.inputs.columnar import Arrow, Parquet
from proxy.corpus.inputs.lines import Csv, Jsonl
from proxy.corpus.inputs.records import Block, Columns
from proxy.corpus.inputs.texts import cut_texts, read_texts
from proxy.errors import ConfigError

__all__ = ["InputFiles", "find_source"]

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
