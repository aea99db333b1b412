"""Write the folder of a run: a file for each block, which appears when it is whole.

data/part-00000.parquet     the released documents of a block; the file is also its mark
failed_records/part-….jsonl the documents of a block that were not released, if there are any
summaries/part-….json       the counts of a block and of the owners in it
accounts.jsonl              every owner's documents and ε, written at the end
ids.sqlite                  digests of the ids that were released
run.json                    the run that the folder belongs to
report.json                 written at the end
"""

from __future__ import annotations

import fcntl
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from proxy.corpus.inputs.lines import RECORD
from proxy.corpus.inputs.records import ADDED, OURS
from proxy.errors import ConfigError

__all__ = ["IDS", "Output", "open_output"]

ENDINGS = {"jsonl": "jsonl", "csv": "csv"}  # others are written as Parquet
FOLDERS = ("data", "failed_records", "summaries")
IDS = "ids.sqlite"
PARTIAL = ".partial"


class Output:
    """Write and read the files of a run, see `open_output`."""

    def __init__(self, folder: Path, format: str) -> None:
        self._folder = folder
        self._ending = ENDINGS.get(format, "parquet")

    def is_done(self, number: int) -> bool:
        """Tell whether a block is written."""
        return self._part(number).exists()

    def write(self, number: int, result: pa.Table, summary: Mapping[str, Any]) -> None:
        """Write a block: first its summary and the documents that failed, then all of them. That
        file marks the block as done. A block that was interrupted is written anew."""
        _replace(self._summary(number), json.dumps(summary).encode())
        failed = result.filter(pc.not_equal(result["outcome"], "released"))
        if len(failed):
            names = ("id", "outcome", "reason")
            rows = failed.select([f"{OURS}id", "outcome", f"{OURS}reason"]).to_pylist()
            lines = (dict(zip(names, row.values(), strict=True)) for row in rows)
            place = self._folder / "failed_records" / f"part-{number:05d}.jsonl"
            _replace(place, "".join(f"{json.dumps(line)}\n" for line in lines).encode())
        _replace(self._part(number), self._spell(result))

    def read_summary(self, number: int) -> dict[str, Any]:
        """Return the summary of a block that is done."""
        found: dict[str, Any] = json.loads(self._summary(number).read_bytes())
        return found

    def write_report(
        self, report: Mapping[str, Any], accounts: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write the report of the run, and the accounts of its owners."""
        lines = "".join(f"{json.dumps(account)}\n" for account in accounts)
        _replace(self._folder / "accounts.jsonl", lines.encode())
        _replace(self._folder / "report.json", json.dumps(report, indent=2).encode() + b"\n")

    def _summary(self, number: int) -> Path:
        return self._folder / "summaries" / f"part-{number:05d}.json"

    def _part(self, number: int) -> Path:
        return self._folder / "data" / f"part-{number:05d}.{self._ending}"

    def _spell(self, result: pa.Table) -> bytes:
        """Return the bytes of a part: the kept columns and those that are added."""
        if self._ending == "jsonl":
            records = result[RECORD].to_pylist()
            rows = result.select(ADDED).to_pylist()
            lines = (
                json.dumps({**json.loads(record), **row})
                for record, row in zip(records, rows, strict=True)
            )
            return "".join(f"{line}\n" for line in lines).encode()
        table = result.select([name for name in result.column_names if not name.startswith(OURS)])
        buffer = io.BytesIO()
        if self._ending == "csv":
            pa.csv.write_csv(table, buffer)
        else:
            pq.write_table(table, buffer, compression="zstd")
        return buffer.getvalue()


@contextmanager
def open_output(folder: Path, format: str, run: Mapping[str, Any]) -> Iterator[Output]:
    """Open the folder of a run, a new one or one that was interrupted; nobody else writes to it.

    Args:
        folder: is made if it is not there.
        format: of the input; JSONL and CSV are written as such.
        run: names the run. Its values must be those of the run that began the folder.

    Raises:
        ConfigError: the folder belongs to another run, holds other files or links, or is in use.
    """
    ours = {*FOLDERS, "run.lock", f"run.json{PARTIAL}"}  # what a run makes before run.json
    new = not (folder / "run.json").exists()
    found = list(folder.iterdir()) if folder.exists() else []
    if new and {path.name for path in found} - ours:
        raise ConfigError("--out: the folder holds files of something else")
    if any(path.is_symlink() for path in found):
        raise ConfigError("--out: the folder holds a link, which would lead the output elsewhere")
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / "run.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError("--out: another run writes to the folder") from None
        for partial in folder.rglob(f"*{PARTIAL}"):
            partial.unlink()
        _check_run(folder / "run.json", run)
        yield Output(folder, format)


def _check_run(path: Path, run: Mapping[str, Any]) -> None:
    if not path.exists():
        _replace(path, json.dumps(run, indent=2).encode() + b"\n")
    began = json.loads(path.read_bytes())
    changed = sorted(name for name in run if began.get(name) != json.loads(json.dumps(run[name])))
    if changed:
        raise ConfigError(
            f"--out: the folder belongs to a run with another {', '.join(changed)}: name another "
            "folder"
        )


def _replace(path: Path, data: bytes) -> None:
    """Write a file whole: other processes, and the next run, see all of it or nothing."""
    partial = path.with_name(path.name + PARTIAL)
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
