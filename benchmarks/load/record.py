"""The record of a run: where it was made, and its rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.json_record import JsonRecord
from benchmarks.load.measure import Measurement
from benchmarks.load.processes import LoadError

__all__ = ["Record", "read_record"]


@dataclass
class Record(JsonRecord):
    """Hold what one run measured. `skipped` names what it could not measure, with the reason.

    Args:
        machine: processor, cores, versions and commit.
        seconds: length of each case.
        rounds: how often the whole comparison was made.
    """

    machine: dict[str, str | int]
    seconds: float
    rounds: int = 1
    rows: list[Measurement] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    profiles: dict[str, str] = field(default_factory=dict)  # summaries by target


def read_record(path: Path) -> Record:
    """Read what `Record.write` has written.

    Raises:
        LoadError: there is no such file, or it is no record of this version.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
        found["rows"] = [Measurement(**row) for row in found["rows"]]
        return Record(**found)
    except FileNotFoundError:
        raise LoadError(f"{path} does not exist: python -m benchmarks.load makes it") from None
    except (ValueError, TypeError, KeyError) as exc:
        raise LoadError(f"{path} is not a record of this command: {exc}") from exc
