"""Lay out tables in plain text."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["lay_out"]


def lay_out(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with their cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
