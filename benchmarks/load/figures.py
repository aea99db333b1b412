"""Figures of a record: medians over its rounds, ratios within a round, and the goals."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.load.measure import Measurement
from benchmarks.load.record import Record
from benchmarks.load.wrk import Case

__all__ = ["GOALS", "Figures", "Goal", "Verdict"]

BASE = "LiteLLM"
FULL_SPEED = 0.9  # of the rate at 16 connections is no loss at 64


class Figures:
    """Find a record's rows by target and case."""

    def __init__(self, record: Record) -> None:
        self.targets = list(dict.fromkeys(row.target for row in record.rows))
        self._rows: dict[tuple[str, Case], list[Measurement]] = {}
        for row in record.rows:
            case = Case(row.connections, row.stream, row.words, row.repeat)
            self._rows.setdefault((row.target, case), []).append(row)

    def rows(self, target: str, case: Case) -> list[Measurement]:
        """Return the rows of a case, one for each round; empty if it was not measured."""
        return self._rows.get((target, case), [])

    def median(self, target: str, case: Case, of: str) -> float | None:
        """Return the median over the rounds of one field, or None where a round has none."""
        values = [getattr(row, of) for row in self.rows(target, case)]
        return None if not values or None in values else statistics.median(values)

    def total(self, target: str, case: Case, of: str) -> int:
        """Return the sum over the rounds of one field that counts."""
        return sum(getattr(row, of) for row in self.rows(target, case))

    def last_rss(self, target: str, round_: int) -> float | None:
        """Return the memory after the short chats of a round, in MB."""
        found = [
            row.rss_mb
            for (name, case), rows in self._rows.items()
            for row in rows
            if name == target and row.round == round_ and _is_plain(case)
        ]
        return max(found, default=None)

    def rounds(self) -> list[int]:
        """Return the numbers of the rounds."""
        return sorted({row.round for rows in self._rows.values() for row in rows})

    def of_round(self, target: str, case: Case, round_: int) -> Measurement | None:
        """Return the row of a case in one round."""
        return next((row for row in self.rows(target, case) if row.round == round_), None)


def _is_plain(case: Case) -> bool:
    return not case.stream and not case.repeat and case == Case(case.connections)


@dataclass(frozen=True)
class Goal:
    """State something to reach, with one value a round.

    Args:
        what: the quantity.
        limit: the goal, as text.
        value: computes it from figures, a target and a round; None where it was not measured.
        met: whether a value is good enough.
    """

    what: str
    limit: str
    value: Callable[[Figures, str, int], float | None]
    met: Callable[[float], bool]

    def judge(self, figures: Figures, target: str) -> Verdict | None:
        """Return the goal's state for a target, or None where it was not measured."""
        values = [self.value(figures, target, round_) for round_ in figures.rounds()]
        known = [value for value in values if value is not None]
        return Verdict(known, all(map(self.met, known))) if known else None


@dataclass(frozen=True)
class Verdict:
    """Hold a goal's values, one a round, and whether all of them meet it."""

    values: list[float]
    met: bool

    def __str__(self) -> str:
        middle, low, high = statistics.median(self.values), min(self.values), max(self.values)
        spread = f" ({low:.3g} to {high:.3g})" if len(self.values) > 1 else ""
        return f"{middle:.3g}{spread}, {'met' if self.met else 'not met'}"


def _ratio(
    of: str, connections: int, *, stream: bool = False
) -> Callable[[Figures, str, int], float | None]:
    def value(figures: Figures, target: str, round_: int) -> float | None:
        case = Case(connections, stream)
        ours = figures.of_round(target, case, round_)
        base = figures.of_round(BASE, case, round_)
        if ours is None or base is None:
            return None
        first, second = getattr(ours, of), getattr(base, of)
        return first / second if first is not None and second else None

    return value


def _memory(figures: Figures, target: str, round_: int) -> float | None:
    ours, base = figures.last_rss(target, round_), figures.last_rss(BASE, round_)
    return ours / base if ours and base else None


def _kept(figures: Figures, target: str, round_: int) -> float | None:
    few, many = (figures.of_round(target, Case(connections), round_) for connections in (16, 64))
    if few is None or many is None or not few.requests:
        return None
    return many.requests_per_second / few.requests_per_second


def _late(figures: Figures, target: str, round_: int) -> float | None:
    row = figures.of_round(target, Case(64), round_)
    if row is None:
        return None
    return float(row.late + row.wrong + row.failed if row.requests else row.connections)


def _cpu(figures: Figures, target: str, round_: int) -> float | None:
    row = figures.of_round(target, Case(16), round_)
    return None if row is None else row.cpu_ms


def _goals() -> Iterator[Goal]:
    times = f"as a multiple of {BASE}'s"
    rate, half = _ratio("requests_per_second", 16), _ratio("p50_ms", 1)
    ready = _ratio("ready_seconds", 16)
    streamed = _ratio("requests_per_second", 16, stream=True)
    yield Goal(f"requests/s at 16 connections, {times}", "≥ 5", rate, lambda x: x >= 5)
    yield Goal(f"the same with streamed answers, {times}", "≥ 5", streamed, lambda x: x >= 5)
    yield Goal(f"p50 at 1 connection, {times}", "≤ 0.4", half, lambda x: x <= 0.4)
    yield Goal(f"memory after load, {times}", "≤ 0.5", _memory, lambda x: x <= 0.5)
    yield Goal(f"time to ready, {times}", "≤ 0.2", ready, lambda x: x <= 0.2)
    yield Goal(
        "requests/s at 64 connections, as a multiple of those at 16",
        f"≥ {FULL_SPEED}",
        _kept,
        lambda x: x >= FULL_SPEED,
    )
    yield Goal("late or bad answers at 64 connections", "0", _late, lambda x: x == 0)
    yield Goal("CPU a request at 16 connections, ms", "≤ 3.5", _cpu, lambda x: x <= 3.5)


GOALS = tuple(_goals())
