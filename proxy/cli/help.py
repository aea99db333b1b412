"""Format tables and help pages: panels on a terminal, else plain text, examples at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from typer.core import MarkupMode, TyperCommand, TyperGroup

__all__ = ["PANELS", "Panels", "group_page", "lay_out", "markup_mode", "page"]

Notes = Callable[[], str]


class Panels(NamedTuple):
    """Hold the titles under which the commands are listed, in their order."""

    setting_up: str = "Set up and check"
    running: str = "Run the proxy"
    clients: str = "Clients and their accounts"
    texts: str = "Texts and documents"
    tables: str = "Tables and codebooks"


PANELS = Panels()


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

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            """List the commands by panel, as rich does."""
            shown = {n: c for n, c in self.commands.items() if not c.hidden}
            width = max(map(len, shown))
            panels: dict[str, list[tuple[str, str]]] = {}
            for name, command in shown.items():
                title = getattr(command, "rich_help_panel", None) or "Commands"
                text = command.get_short_help_str(formatter.width - 6 - width)
                panels.setdefault(title, []).append((name.ljust(width), text))
            for title, rows in panels.items():
                with formatter.section(title):
                    formatter.write_dl(rows)

    return GroupPage


def markup_mode() -> MarkupMode:
    """Return the style of help: panels on a terminal with colors, else plain text."""
    terminal = sys.stdout.isatty() and sys.stderr.isatty()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return "rich" if terminal and not plain else None


def _format_ending(examples: Sequence[str], notes: Notes | None = None) -> str:
    above = f"\n{notes().strip()}\n" if notes else ""
    return above + "\nExamples:\n" + "".join(f"  {example}\n" for example in examples)


def lay_out(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines with their cells below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
