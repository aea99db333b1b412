"""Measurements on disk: one JSON line each, so that a stopped run resumes where it was."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness.datasets import DataError

__all__ = ["Case", "Estimate", "Record", "Records", "key", "select"]

Case = dict[str, Any]  # the subject of a measurement, JSON-ready: {"mechanism": …, "epsilon": …}


@dataclass(frozen=True)
class Estimate:
    """Hold a figure and its 95 % interval, `low` to `high`, over `n` units; `low == high` if
    the figure is computed rather than estimated."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def exact(cls, value: float, n: int = 1) -> Estimate:
        """Return a figure without sampling error."""
        return cls(value, value, value, n)


@dataclass(frozen=True)
class Record:
    """Hold one measurement and everything it depends on.

    Attributes:
        experiment, case: the subject of the measurement.
        values: figures by name: an `Estimate`, or anything JSON-ready.
        breaches: one sentence for every proved bound that was exceeded; a sound run has none.
        suite: SHA-256 of the configuration.
        data: SHA-256 of the data files.
        commit: of the code.
    """

    experiment: str
    case: Case
    values: dict[str, Any]
    breaches: tuple[str, ...]
    seed: int
    suite: str
    data: str
    commit: str
    seconds: float

    @property
    def key(self) -> str:
        """Return the identity of the measurement: everything but its outcome and the commit."""
        return key(self.experiment, self.case, self.seed, self.suite, self.data)


def key(experiment: str, case: Case, seed: int, suite: str, data: str) -> str:
    """Return the identity of a measurement, before it is made."""
    parts = json.dumps([experiment, case, seed, suite, data], sort_keys=True)
    return hashlib.sha256(parts.encode()).hexdigest()


def select(records: Iterable[Record], experiment: str, **case: object) -> list[Record]:
    """Return the records of an experiment whose case has these values."""
    return [
        record
        for record in records
        if record.experiment == experiment and case.items() <= record.case.items()
    ]


class Records:
    """Read and append to the file `records.jsonl` of a run's folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "records.jsonl"
        self._records = {record.key: record for record in self._read()}

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def add(self, record: Record) -> None:
        """Append a measurement; it is on disk when this returns."""
        line = json.dumps(asdict(record), ensure_ascii=False) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._records[record.key] = _parse_record(json.loads(line))

    def _read(self) -> Iterator[Record]:
        if not self.path.exists():
            return
        lines = self.path.read_bytes().split(b"\n")
        if lines[-1]:  # the run was killed while writing
            os.truncate(self.path, self.path.stat().st_size - len(lines[-1]))
        for number, line in enumerate(lines[:-1], 1):
            try:
                yield _parse_record(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError):
                raise DataError(f"{self.path}, line {number}: not a measurement") from None


def _parse_record(fields: dict[str, Any]) -> Record:
    values = {
        name: Estimate(**value)
        if isinstance(value, dict) and value.keys() == Estimate.__annotations__.keys()
        else value
        for name, value in fields["values"].items()
    }
    return Record(**{**fields, "values": values, "breaches": tuple(fields["breaches"])})
