"""A text as policies read it: look-alikes written plainly, every character in its place."""

from __future__ import annotations

import re

__all__ = ["fold"]

_BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_HYPHENS = "\u2010-\u2015\u2212"
_WIDE = "\uff01-\uff5e"  # ASCII in full width
# Characters of no width: soft hyphen, zero-width blanks and joiners, marks of direction, fillers;
# and half surrogates.
_HIDDEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
_LOOK_ALIKE = re.compile(rf"([{_BLANKS}])|([{_HYPHENS}])|[{_WIDE}]|[^\D0-9]")
_INSIDE = re.compile(rf"(?<=[\w@])[{_HIDDEN}]+(?=[\w@])")
_HIDDEN_RUN = re.compile(rf"[{_HIDDEN}]+")
_ESCAPE = re.compile(r"(?<!\\)\\++(?:[nrt]|u([0-9a-fA-F]{4}))")


def fold(text: str) -> str:
    """A string of the same length: unusual blanks as blanks, hyphens and dashes as `-`, digits
    of any script and full-width forms as ASCII, characters of no width as a letter inside a word
    and as a blank elsewhere. JSON's escapes are what they stand for, line breaks as blanks: what
    follows the `n` of one is the beginning of a word."""
    if "\\" in text:
        text = _ESCAPE.sub(_escape, text)
    if text.isascii():
        return text
    text = _LOOK_ALIKE.sub(_plain, text)
    text = _INSIDE.sub(lambda found: "x" * len(found[0]), text)
    return _HIDDEN_RUN.sub(lambda found: " " * len(found[0]), text)


def _escape(found: re.Match[str]) -> str:
    return (chr(int(found[1], 16)) if found[1] else " ") * len(found[0])


def _plain(found: re.Match[str]) -> str:
    if found[1]:
        return " "
    if found[2]:
        return "-"
    return str(int(found[0])) if found[0].isdecimal() else chr(ord(found[0]) - 0xFEE0)
