"""Print what a verification found: counts by kind and endpoint, and every failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from proxy.verify.documents import DOCUMENTS
from proxy.verify.probe import FAILURES, Cell, ProbeResult, Verdict
from proxy.verify.values import TYPES

__all__ = ["format_report"]

_GOOD: tuple[Verdict, ...] = ("clean", "restored")


def format_report(findings: ProbeResult, *, markdown: bool = False) -> str:
    """Format a table of counts, the failures, if any, and the sums in the last lines."""
    if not findings.arrived:
        return "Nothing reached the throwaway upstream: is it the gateway's upstream?"
    parts = [_format_table(_count(findings), markdown)]
    if failures := findings.failures:
        parts.append(_format_table(_list_failures(failures), markdown))
    if findings.faults:
        lines = [["not in the form of its endpoint"], *([fault] for fault in findings.faults)]
        parts.append(_format_table(lines, markdown))
    return "\n\n".join((*parts, _sum_up(findings)))


def _count(findings: ProbeResult) -> list[list[str]]:
    """Return a line for each kind and a column for each endpoint, with the requests."""
    endpoints = list(dict.fromkeys(cell.endpoint for cell in findings.cells))
    kinds = {cell.kind for cell in findings.cells}
    lines = [["requests with", *(f"/v1/{endpoint}" for endpoint in endpoints)]]
    for kind in (*TYPES, *DOCUMENTS):
        if kind in kinds:
            cells = [cell for cell in findings.cells if cell.kind == kind]
            lines.append([kind, *(_format_count(cells, endpoint) for endpoint in endpoints)])
    places = {(cell.endpoint, cell.place) for cell in findings.cells}
    counts = Counter(endpoint for endpoint, _ in places)
    return [*lines, ["positions", *(str(counts[endpoint]) for endpoint in endpoints)]]


def _format_count(cells: Sequence[Cell], endpoint: str) -> str:
    """Return the number of requests, and of those that were not good."""
    verdicts = Counter(cell.verdict for cell in cells if cell.endpoint == endpoint)
    others = [f"{verdicts[each]} {each}" for each in ("refused", *FAILURES) if verdicts[each]]
    total = str(verdicts.total()) if verdicts else "-"
    return f"{total} ({', '.join(others)})" if others else total


def _list_failures(failures: Sequence[Cell]) -> list[list[str]]:
    """Return a line for each position and failure, with the kinds that failed."""
    kinds: dict[tuple[str, str, str], list[str]] = {}
    for cell in failures:
        leaked = f" ({', '.join(cell.leaked)})" if cell.leaked not in ((), (cell.kind,)) else ""
        place = (cell.verdict, f"/v1/{cell.endpoint}", cell.place)
        kinds.setdefault(place, []).append(cell.kind + leaked)
    lines = ([*place, ", ".join(failed)] for place, failed in kinds.items())
    return [["failure", "endpoint", "position", "with"], *lines]


def _sum_up(findings: ProbeResult) -> str:
    counts = ((findings.count(verdict), verdict) for verdict in (*_GOOD, "refused", *FAILURES))
    sums = ", ".join(f"{count} {verdict}" for count, verdict in counts)
    return f"{len(findings.cells)} requests: {sums}; {len(findings.faults)} faults of form."


def _format_table(lines: Sequence[Sequence[str]], markdown: bool) -> str:
    if markdown:
        rule = ["---"] * len(lines[0])
        return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], rule, *lines[1:]))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = (
        (cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    return "\n".join("  ".join(row).rstrip() for row in rows)
