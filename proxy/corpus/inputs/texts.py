"""Read a folder of text files: each is a document, named by its path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from proxy.corpus.inputs.records import (
    LARGEST,
    Block,
    Columns,
    Record,
    make_record,
    make_table,
    unreadable,
)

__all__ = ["cut_texts", "read_texts"]


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
