"""Read Parquet files, and the Arrow files of a data set of Hugging Face's `datasets`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from proxy.corpus.inputs.lines import check_columns
from proxy.corpus.inputs.records import Block, Columns, make_record, make_table

__all__ = ["Arrow", "Parquet"]

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
