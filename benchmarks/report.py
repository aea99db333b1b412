"""A run's records as Markdown and figures."""

from __future__ import annotations

from pathlib import Path

from benchmarks.records import Records

__all__ = ["write_report"]


def write_report(folder: Path, to: Path) -> Path:
    """Write `results.md` and its figures; return the page's path."""
    page = to / "results.md"
    page.write_text("".join(f"{r.experiment} {r.case} {r.values}\n" for r in Records(folder)))
    return page
