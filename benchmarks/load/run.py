"""Run a plan: each target in turn, alone on the machine, through all its cases."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.load.measure import Measurement, describe_machine, measure
from benchmarks.load.plan import Plan
from benchmarks.load.processes import LoadError
from benchmarks.load.record import Record
from benchmarks.load.rivals import LITELLM, VLLM_ROUTER
from benchmarks.load.targets import Target
from benchmarks.load.upstream import start_upstream
from benchmarks.load.wrk import Case

__all__ = ["run"]


def run(plan: Plan, *, rounds: int = 1, report: Callable[[Measurement], None]) -> Record:
    """Measure every case of a plan; `report` is called with each row.

    A target that cannot be started is left out, and the record says why.
    """
    versions = {rival.name: rival.version for rival in (LITELLM, VLLM_ROUTER)}
    record = Record(describe_machine() | versions, plan.seconds, rounds)
    targets = [(target, cases) for target, cases in plan.cases if _prepare(target, record)]
    total = rounds * sum(len(cases) for _, cases in targets)
    bar = tqdm(total=total, unit="case", leave=False, disable=not sys.stderr.isatty())
    with tempfile.TemporaryDirectory(prefix="inferdpt-load-") as folder, bar:
        for round_ in range(rounds):
            for number, (target, cases) in enumerate(targets):
                room = Path(folder) / f"{round_}-{number}"
                try:
                    for row in _rows(target, cases, plan.seconds, room, round_, bar):
                        record.rows.append(row)
                        report(row)
                except LoadError as exc:
                    _skip(target, exc, record)
    return record


def _prepare(target: Target, record: Record) -> bool:
    try:
        target.prepare()
    except LoadError as exc:
        _skip(target, exc, record)
        return False
    return True


def _rows(
    target: Target,
    cases: Sequence[Case],
    seconds: float,
    folder: Path,
    round_: int,
    bar: tqdm[Any],
) -> Iterator[Measurement]:
    with (
        start_upstream(folder / "upstream") as upstream,
        target.start(folder / "target", upstream) as running,
    ):
        for case in cases:
            bar.set_description(f"{target.name}: {case.name}")
            wrk = folder / "wrk"
            yield measure(target.name, running, upstream, case, seconds, wrk, round_)
            bar.update()


def _skip(target: Target, reason: LoadError, record: Record) -> None:
    record.skipped.append(f"{target.name}: {reason}")
    tqdm.write(f"left out: {record.skipped[-1]}", file=sys.stderr)
