"""A griffe extension that renders the examples in docstrings as code.

As in doctest, an example extends from `>>>` to a blank line.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

__all__ = ["Doctests", "fenced"]

_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n.*\S.*)*", re.MULTILINE)


class Doctests(griffe.Extension):
    """Fence the examples of every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite a docstring."""
        _rewrite(obj)

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Rewrite a package's docstring; griffe does not pass packages to `on_object`."""
        _rewrite(pkg)


def _rewrite(obj: griffe.Object) -> None:
    if obj.docstring is not None and "```pycon" not in obj.docstring.value:
        obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Return a docstring with a fence around each of its examples."""
    return _EXAMPLE.sub(r"\1```pycon\n\g<0>\n\1```", text)
