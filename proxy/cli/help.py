"""Format help pages: panels on a terminal, else plain text, with examples at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from typer.core import MarkupMode, TyperCommand, TyperGroup

__all__ = ["group_page", "markup_mode", "page"]

Notes = Callable[[], str]


def page(*examples: str, notes: Notes | None = None) -> type[TyperCommand]:
    """Return the class of a command whose help ends with examples.

    Args:
        examples: command lines, shown one a line.
        notes: returns the text above them. It is called only when the help is shown, so it may
            import modules that other help pages must not wait for.
    """

    class Page(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            super().format_help(ctx, formatter)  # rich prints at once
            formatter.write(_format_ending(examples, notes))

    return Page


def group_page(*examples: str) -> type[TyperGroup]:
    """Return the class of a group of commands whose help ends with examples."""

    class GroupPage(TyperGroup):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            super().format_help(ctx, formatter)
            formatter.write(_format_ending(examples))

    return GroupPage


def markup_mode() -> MarkupMode:
    """Return the style of help: panels on a terminal with colors, else plain text."""
    terminal = sys.stdout.isatty() and sys.stderr.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return "rich" if terminal and not plain else None


def _format_ending(examples: Sequence[str], notes: Notes | None = None) -> str:
    above = f"\n{notes().strip()}\n" if notes else ""
    return above + "\nExamples:\n" + "".join(f"  {example}\n" for example in examples)
