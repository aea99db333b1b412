"""Split texts into the words by which the proxy compares them, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["find_words", "locate_words"]

# Scripts that do not separate words by spaces count by the character: Thai, Lao, Khmer, kana, Han,
# Hangul.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def find_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.casefold())


def locate_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word of a text begins and ends, in characters."""
    return (found.span() for found in _WORD.finditer(text))
