"""Run a suite: measure every case that has no record yet."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments import list_experiments
from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.experiment import Experiment
from benchmarks.harness.records import Case, Record, Records, key
from benchmarks.harness.suite import Suite, load_suite
from proxy.cli.progress import show_progress

__all__ = ["describe", "load_last_suite", "read_commit", "run"]

ROOT = Path(__file__).resolve().parent.parent
SUITE = "suite.json"  # in a run's folder: the suite that was run last


def run(context: Context, *, known: dict[str, Experiment] | None = None) -> list[Record]:
    """Measure the cases of a suite that the run's folder does not hold yet.

    Args:
        context: suite, data and folder.
        known: the available experiments; those of the project by default.

    Returns:
        The suite's records, old and new, in the order of its experiments and cases.

    Raises:
        DataError: the suite names an unknown experiment, or a data file is missing.
    """
    known = list_experiments() if known is None else known
    suite, records = context.suite, Records(context.folder)
    for name in suite.experiments:
        if name not in known:
            raise DataError(f"experiments must be of {', '.join(known)}, got {name!r}")
    chosen = [known[name] for name in suite.experiments or known]
    jobs: dict[str, tuple[Experiment, Case]] = {
        key(experiment.name, case, suite.seed, suite.digest, context.data_digest): (
            experiment,
            case,
        )
        for experiment in chosen
        for case in experiment.cases(context)
    }
    context.folder.mkdir(parents=True, exist_ok=True)
    (context.folder / SUITE).write_text(suite.model_dump_json(indent=2) + "\n", "utf-8")
    missing = [job for place, job in jobs.items() if place not in records]
    points = list(dict.fromkeys(_point(case) for _, case in jobs.values()))
    missing.sort(key=lambda job: points.index(_point(job[1])))  # so a channel is read only once
    head = read_commit()
    held = len(jobs) - len(missing)
    with show_progress() as progress:
        for done, (experiment, case) in enumerate(missing, held):
            progress("cases", done, len(jobs), describe(experiment.name, case))
            began = time.perf_counter()
            found = experiment.measure(case, context)
            records.add(
                Record(
                    experiment=experiment.name,
                    case=case,
                    values=found.values,
                    breaches=found.breaches,
                    seed=suite.seed,
                    suite=suite.digest,
                    data=context.data_digest,
                    commit=head,
                    seconds=round(time.perf_counter() - began, 3),
                )
            )
        progress("cases", len(jobs), len(jobs))
    found_by_key = {record.key: record for record in records}
    return [found_by_key[place] for place in jobs]


def load_last_suite(folder: Path) -> Suite:
    """Return the suite that was run last in a folder.

    Raises:
        DataError: no suite was run there.
    """
    return load_suite(str(folder / SUITE))


def _point(case: Case) -> tuple[Any, Any]:
    """Return the mechanism and the ε of a case, if it has them."""
    return case.get("mechanism"), case.get("epsilon")


def describe(name: str, case: Case) -> str:
    """Describe a case in a few words."""
    return " ".join([name, *(f"{value}" for value in case.values())])


def read_commit(root: Path = ROOT) -> str:
    """Return the code's commit, marked `+` where files differ from it; `unknown` outside a
    repository."""

    def git(*arguments: Sequence[str]) -> str:
        command = ["git", "-C", str(root), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
