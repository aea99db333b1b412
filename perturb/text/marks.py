"""Name the marks that are combined with letters: accents, vowel signs of Indian scripts, tones.

Python's `\\w` has none of them, so an expression for words must name them.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["MARKS", "WORD"]

_BLOCKS = (range(0x300, 0x1E00), range(0x20D0, 0x2100), range(0xA66F, 0xABF0))


def _list_ranges() -> str:
    ranges: list[list[int]] = []
    for block in _BLOCKS:
        for code in block:
            if unicodedata.category(chr(code)).startswith("M"):
                if ranges and ranges[-1][1] == code - 1:
                    ranges[-1][1] = code
                else:
                    ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARKS = _list_ranges()  # for a class of characters of `re`: [{MARKS}]
WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")
