"""Print a raw text beside its release: in columns on a terminal, else with written marks."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from perturb.display import Comparison

__all__ = ["print_comparison"]

NARROW = 60  # columns of a terminal that shows one text above the other
RAW, RELEASED = "underline red", "underline green"
# Characters that a terminal obeys instead of showing them.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def print_comparison(found: Comparison) -> None:
    """Print a comparison.

    A terminal shows two columns, what changed underlined and in color; NO_COLOR leaves out the
    color. A file or a pipe gets one text with marks, as `git diff --word-diff` writes them.
    """
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        print(found.to_text())
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    texts = (
        _style(((each.raw, each.changed) for each in found.segments), RAW),
        _style(((each.released, each.changed) for each in found.segments), RELEASED),
    )
    if console.width < NARROW:
        for title, text in zip(("raw", "released"), texts, strict=True):
            console.rule(title, align="left")
            console.print(text)
        return
    table = Table(expand=True, show_edge=False)
    for title in ("raw", "released"):
        table.add_column(title, ratio=1, overflow="fold")
    table.add_row(*texts)
    console.print(table)


def _style(parts: Iterable[tuple[str, bool]], style: str) -> Text:
    from rich.text import Text

    text = Text()
    for part, changed in parts:
        text.append(_CONTROLS.sub("\N{REPLACEMENT CHARACTER}", part), style if changed else None)
    return text
