"""Halves of surrogate pairs, which JSON can spell and UTF-8 cannot encode."""

from __future__ import annotations

__all__ = ["replace_surrogates"]


def replace_surrogates(text: str) -> str:
    """Return a text with U+FFFD in place of each lone surrogate.

    >>> replace_surrogates("a\\ud83d\\ude00 \\ud800") == "a\\U0001f600 \\ufffd"
    True
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
