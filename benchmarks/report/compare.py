"""Compare two runs to check that the second reproduces the first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.datasets import DataError
from benchmarks.harness.records import Estimate, Records

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """Hold the comparison of the figures that both runs have.

    Attributes:
        figures: the number of figures that were compared.
        equal: the number of them that are equal.
        apart: those with disjoint 95 % intervals: experiment, case, name, both figures.
    """

    figures: int
    equal: int
    apart: tuple[str, ...]


def compare(first: Path, second: Path) -> Comparison:
    """Compare two runs' folders, case by case.

    Raises:
        DataError: they have no case in common, or a record is damaged.
    """
    old = {(r.experiment, json.dumps(r.case, sort_keys=True)): r.values for r in Records(first)}
    figures = equal = 0
    apart: list[str] = []
    for record in Records(second):
        before = old.get((record.experiment, json.dumps(record.case, sort_keys=True)), {})
        for name, b in record.values.items():
            a = before.get(name)
            if not isinstance(a, Estimate) or not isinstance(b, Estimate):
                continue
            figures += 1
            equal += a.value == b.value
            if max(a.low, b.low) > min(a.high, b.high):
                where = " ".join(map(str, (record.experiment, *record.case.values(), name)))
                apart.append(
                    f"{where}: {a.value:.4g} ({a.low:.4g} to {a.high:.4g}), now {b.value:.4g} "
                    f"({b.low:.4g} to {b.high:.4g})"
                )
    if not figures:
        raise DataError(f"{first} and {second} have no measurement in common")
    return Comparison(figures, equal, tuple(apart))
