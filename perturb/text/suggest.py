"""Suggestions for an unknown name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["closest", "did_you_mean"]


def closest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to a name, if one is similar enough.

    >>> closest("rantxt", ["rantext", "santext"])
    'rantext'

    Args:
        cutoff: the least similarity, from 0 to 1.
    """
    return next(iter(get_close_matches(name, list(known), 1, cutoff)), None)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name; empty if no known name is similar.

    >>> "unknown mechanism 'rantxt'" + did_you_mean("rantxt", ["rantext", "tem"])
    "unknown mechanism 'rantxt'; did you mean 'rantext'?"
    """
    found = closest(name, known)
    return f"; did you mean {found!r}?" if found else ""
