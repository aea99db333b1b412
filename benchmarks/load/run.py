"""Run a plan: each target in turn, with the machine to itself, through all its cases."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks.load.measure import Measurement, describe_machine, measure
from benchmarks.load.plan import Plan
from benchmarks.load.processes import LoadError
from benchmarks.load.profile import record_profile
from benchmarks.load.record import Record
from benchmarks.load.rivals import LITELLM, VLLM_ROUTER, build_environment
from benchmarks.load.targets import Target
from benchmarks.load.upstream import start_upstream
from benchmarks.load.wrk import Case

__all__ = ["run"]

PROFILE_SECONDS = 10.0


def run(
    plan: Plan,
    *,
    rounds: int = 1,
    profile: bool = False,
    report: Callable[[Measurement], None],
    save: Callable[[Record], None],
) -> Record:
    """Measure every case of a plan.

    A target that cannot be started is left out, and the record says why.

    Args:
        rounds: repetitions of the whole plan, one after the other.
        profile: sample the proxy, too, in the first round and after its cases.
        report: called with each row.
        save: called with the record after each target.
    """
    versions: dict[str, str | int] = {
        rival.name: rival.version for rival in (LITELLM, VLLM_ROUTER)
    }
    record = Record(describe_machine() | versions, plan.seconds, rounds)
    targets = [(target, cases) for target, cases in plan.cases if _install(target, record)]
    total = rounds * sum(len(cases) for _, cases in targets)
    bar = tqdm(total=total, unit="case", leave=False, disable=not sys.stderr.isatty())
    with tempfile.TemporaryDirectory(prefix="inferdpt-load-") as folder, bar:
        for round_ in range(rounds):
            for number, (target, cases) in enumerate(targets):
                room = Path(folder) / f"{round_}-{number}"
                begun = len(record.rows)
                try:
                    _visit(
                        target, cases, record, report, bar, room, round_, profile and round_ == 0
                    )
                except LoadError as exc:
                    _skip(target, exc, record)
                    bar.update(len(cases) - len(record.rows) + begun)
                save(record)
    return record


def _visit(
    target: Target,
    cases: Sequence[Case],
    record: Record,
    report: Callable[[Measurement], None],
    bar: tqdm[Any],
    folder: Path,
    round_: int,
    profile: bool,
) -> None:
    """Start a target and the upstream, and measure all the cases."""
    with (
        start_upstream(folder / "upstream") as upstream,
        target.start(folder / "target", upstream) as running,
    ):
        for case in cases:
            bar.set_description(f"{target.name}: {case.name}")
            wrk = folder / "wrk"
            row = measure(target.name, running, upstream, case, record.seconds, wrk, round_)
            record.rows.append(row)
            report(row)
            bar.update()
        if profile and target.profiled:
            bar.set_description(f"{target.name}: profile")
            seconds = max(PROFILE_SECONDS, record.seconds)
            record.profiles[target.name] = record_profile(running, Case(), seconds, folder)


def _install(target: Target, record: Record) -> bool:
    if target.rival is None:
        return True
    try:
        build_environment(target.rival)
    except LoadError as exc:
        _skip(target, exc, record)
        return False
    return True


def _skip(target: Target, reason: LoadError, record: Record) -> None:
    record.skipped.append(f"{target.name}: {reason}")
    tqdm.write(f"left out: {record.skipped[-1]}", file=sys.stderr)
