"""The record of a run: where it was made, and what it measured."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.scale.costs import Costs, PoolRun
from benchmarks.scale.growth import Growth

__all__ = ["Record", "RecordError", "read_record"]


class RecordError(Exception):
    """Report a record that is missing or unreadable."""


@dataclass
class Record:
    """Hold what one run measured.

    Attributes:
        machine: processor, cores, file system, Python and commit.
        documents: of each run.
        costs: of each mechanism.
        sizes: costs of the first mechanism by the size of a block.
        runs: on pools.
        growth: of the store, by requests and by blocks of a corpus.
    """

    machine: dict[str, str | int]
    documents: int
    costs: list[Costs] = field(default_factory=list)
    sizes: list[Costs] = field(default_factory=list)
    runs: list[PoolRun] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the record as JSON, with figures in six digits."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_round(asdict(self)), indent=1) + "\n", "utf-8")


def read_record(path: Path) -> Record:
    """Read what `Record.write` has written.

    Raises:
        RecordError: there is no such file, or it is no record of this version.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
        for name, kind in (("costs", Costs), ("sizes", Costs), ("runs", PoolRun)):
            found[name] = [kind(**row) for row in found[name]]
        found["growth"] = [Growth(**row) for row in found["growth"]]
        return Record(**found)
    except FileNotFoundError:
        raise RecordError(f"{path} does not exist: python -m benchmarks.scale makes it") from None
    except (ValueError, TypeError, KeyError) as exc:
        raise RecordError(f"{path} is not a record of this command: {exc}") from exc


def _round(value: object) -> object:
    if isinstance(value, dict):
        return {name: _round(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_round(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value
