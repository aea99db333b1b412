"""Attacks that guess the raw word of each released one and share a table of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from benchmarks.harness.experiment import Experiment
from benchmarks.harness.markdown import format_percent
from benchmarks.harness.records import Estimate, Record

__all__ = ["CLAIM", "WordAttack", "list_by_set"]

CLAIM = {"mechanism": "rantext", "epsilon": 6.0}  # the point of InferDPT's claim about inversion


class WordAttack(Experiment):
    """Guess words up to case.

    Attributes:
        columns: the heads of its columns in the shared table.
        legend: an explanation of the columns.
        strongest_value: the value that is its success in one guess.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    legend: ClassVar[str] = ""
    strongest_value: ClassVar[str]

    def render(self, records: Sequence[Record], figure: str | None = None) -> Iterable[str]:
        del records, figure  # the shared table holds everything
        return ()

    def render_cells(self, record: Record) -> list[str]:
        """Return the cells under `columns`."""
        del record
        return []

    def render_remark(self, records: Sequence[Record]) -> str:
        """Return the remark below the shared table, or an empty string."""
        del records
        return ""

    @classmethod
    def read_success(cls, record: Record) -> tuple[str, Estimate]:
        """Return the attacker's name and its success in one guess."""
        success: Estimate = record.values[cls.strongest_value]
        return str(record.case.get("model", cls.name)), success


def list_by_set(records: Sequence[Record], value: str) -> str:
    """Return a rate of each record behind the name of its set."""
    return ", ".join(f"{r.case['dataset']} {format_percent(r.values[value])}" for r in records)
