"""Texts cut into sentences by a fixed public rule."""

from __future__ import annotations

import re

__all__ = ["split_sentences"]

_BETWEEN = re.compile(r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)]))\s+(?=[\"'“‘(]?[A-Z0-9])")


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the white space around them. A line break
    ends a sentence, too.

    >>> split_sentences("The sea rose. It fell again.\\n\\nAll was calm")
    ['The sea rose.', 'It fell again.', 'All was calm']
    """
    parts = (part.strip() for line in text.splitlines() for part in _BETWEEN.split(line))
    return [part for part in parts if part]
