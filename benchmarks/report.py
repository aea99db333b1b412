"""A run's records as one page of Markdown with figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.datasets import DataError
from benchmarks.figures import draw_all
from benchmarks.markdown import table
from benchmarks.records import Record, Records
from benchmarks.report_advice import advice
from benchmarks.report_attacks import attacks
from benchmarks.report_utility import utility
from benchmarks.run import last_suite
from benchmarks.suite import Suite

__all__ = ["page", "write_report"]

HEAD = """\
# Results

Made by `python -m benchmarks run --suite {suite} --data DATA --out DIR` and
`python -m benchmarks report DIR`. Every figure has its 95 % interval beside it: Clopper–Pearson
for rates, bootstrap over texts for means; a figure without one is computed, not sampled. Words
are attacked up to case. ε is per token and, where nothing is proved, nominal.
"""


def write_report(folder: Path, to: Path) -> Path:
    """Write `results.md` and its figures; return the page's path.

    Raises:
        DataError: the folder holds no measurements, or those of several configurations.
    """
    suite = last_suite(folder)
    records = [record for record in Records(folder) if record.suite == suite.digest]
    if len({r.data for r in records}) != 1:
        raise DataError(f"{folder}: no measurements of its suite, or of several data sets")
    to.mkdir(parents=True, exist_ok=True)
    drawn = draw_all(records, to)
    path = to / "results.md"
    figures = {name: file.name for name, file in drawn.items()}
    path.write_text(page(suite, records, figures), "utf-8")
    return path


def page(suite: Suite, records: Sequence[Record], figures: dict[str, str]) -> str:
    """The page; `figures` are files by name, relative to it."""
    parts = [
        HEAD.format(suite=suite.name),
        *advice(records, figures),
        *attacks(records, figures),
        *utility(records),
        _made_of(suite, records),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _made_of(suite: Suite, records: Sequence[Record]) -> str:
    spent: dict[str, list[float]] = {}
    for record in records:
        spent.setdefault(record.experiment, []).append(record.seconds)
    rows = [[f"`{name}`", str(len(times)), f"{sum(times):.0f}"] for name, times in spent.items()]
    commits = ", ".join(dict.fromkeys(f"`{record.commit[:12]}`" for record in records))
    return (
        "## What this was made of\n\n"
        + table(["role", "model"], [[role, name] for role, name in suite.models.items()])
        + f"\n\nSuite `{suite.name}`, SHA-256 `{suite.digest[:16]}…`; seed {suite.seed}; data "
        f"`{records[0].data[:16]}…`; code {commits}.\n\n"
        + table(["experiment", "measurements", "seconds"], rows)
    )
