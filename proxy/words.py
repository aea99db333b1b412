"""Split texts into the words by which the proxy compares them, in any script."""

from __future__ import annotations

import re
from itertools import islice

__all__ = ["find_word_ends", "find_words"]

# Scripts that do not separate words by spaces count by the character: Thai, Lao, Khmer, kana, Han,
# Hangul.
_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")


def find_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.casefold())


def find_word_ends(text: str, most: int | None = None) -> list[int]:
    """Return where the words of a text end, in characters; `most` is how many to look for."""
    found = _WORD.finditer(text)
    return [word.end() for word in (found if most is None else islice(found, most))]
