"""Small pieces of HTML for notebooks.

They load nothing and hold no script. Everything is escaped. Styles are inline, since notebooks
drop style sheets; colours are translucent over the notebook's own, so that they suit light and
dark themes; a mark is underlined as well, for readers who cannot tell its colour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

__all__ = ["Parts", "format_value", "show_columns", "show_details", "show_rows"]

Parts = Iterable[tuple[str, bool]]  # stretches of a text, and whether each is marked
_COLORS = ("rgba(214, 69, 65, .28)", "rgba(38, 166, 91, .28)")
_BOX = "flex: 1 1 18em; border: 1px solid rgba(128, 128, 128, .5); padding: .4em .6em"
_TEXT = "white-space: pre-wrap; overflow-wrap: anywhere"


def show_columns(*columns: tuple[str, Parts]) -> str:
    """Return texts side by side, each with its title and marked parts; the last column has the
    colour of a release.

    >>> "<mark" in show_columns(("released", [("Mary", True), (" met us.", False)]))
    True
    """
    colors = _COLORS[-len(columns) :]
    boxes = (
        f'<div style="{_BOX}"><div style="opacity: .7">{escape(title)}</div>'
        f'<div dir="auto" style="{_TEXT}">{_mark(parts, color)}</div></div>'
        for (title, parts), color in zip(columns, colors, strict=True)
    )
    return f'<div style="display: flex; flex-wrap: wrap; gap: .6em">{"".join(boxes)}</div>'


def show_rows(rows: Iterable[tuple[str, Any]]) -> str:
    """Return names and values as a table, the names as its row headers.

    >>> "&lt;" in show_rows([("size", "<3")])
    True
    """
    body = "".join(
        f'<tr><th scope="row" style="text-align: left; vertical-align: top">{escape(name)}</th>'
        f'<td style="text-align: left">{escape(format_value(value))}</td></tr>'
        for name, value in rows
    )
    return f'<table style="color: inherit">{body}</table>'


def show_details(title: str, inside: str) -> str:
    """Return HTML that is folded until its title is clicked."""
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def format_value(value: Any) -> str:
    """Return a value of a receipt as a reader expects it.

    >>> format_value({"NAME": 2, "AGE": 1}), format_value(["a", "b"]), format_value({})
    ('2 NAME, 1 AGE', 'a; b', 'none')
    """
    if isinstance(value, Mapping):
        return ", ".join(_format_item(*item) for item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(map(format_value, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _format_item(key: Any, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value} {key}"
    return f"{key}: {format_value(value)}"


def _mark(parts: Parts, color: str) -> str:
    style = f"background: {color}; color: inherit; text-decoration: underline"
    return "".join(
        f'<mark style="{style}">{escape(text)}</mark>' if marked and text else escape(text)
        for text, marked in parts
    )
