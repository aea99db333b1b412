"""Print what a verification found, as tables of plain text or of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from proxy.verify.probe import Cell, Findings

__all__ = ["format_report", "is_proved"]


def is_proved(findings: Findings) -> bool:
    """Tell if requests arrived, none with a value, and none was lost in an error."""
    bad = findings.count("LEAK") + findings.count("error")
    return findings.arrived and not bad


def format_report(findings: Findings, *, markdown: bool = False) -> str:
    """Format the tables, and the sums in the last lines."""
    parts = []
    for endpoint, cells in findings.cells.items():
        parts += [_title(f"/v1/{endpoint}", markdown), _table(cells, markdown)]
    parts += [_title("The way back", markdown), _table(findings.back, markdown)]
    parts.append(_sum_up(findings))
    return "\n\n".join(parts)


def _title(text: str, markdown: bool) -> str:
    return f"## {text}" if markdown else text


def _sum_up(findings: Findings) -> str:
    if not findings.arrived:
        return "Nothing reached the throwaway upstream: is it the gateway's upstream?"
    verdicts = ("clean", "refused", "LEAK", "error")
    counts = ", ".join(f"{findings.count(verdict)} {verdict}" for verdict in verdicts)
    back = [cell.verdict for cell in findings.back]
    return f"Values: {counts}. Way back: {back.count('restored')} of {len(back)} restored."


def _table(cells: Sequence[Cell], markdown: bool) -> str:
    """Format a table with a row for each position and a column for each type."""
    types = list(dict.fromkeys(cell.type for cell in cells))
    rows: dict[str, list[str]] = {}
    for cell in cells:
        rows.setdefault(cell.place, []).append(cell.verdict)
    lines = [["position", *types], *([place, *verdicts] for place, verdicts in rows.items())]
    if markdown:
        lines.insert(1, ["---"] * (1 + len(types)))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n".join(_align(lines))


def _align(lines: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(cells).rstrip()
