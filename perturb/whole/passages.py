"""Public texts cut into passages of about equal length, for codebooks and their encoders."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["SENTENCE_END", "WORDS", "split_passages"]

WORDS = 60  # of a passage, about
SENTENCE_END = r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])"
_SENTENCE_END = re.compile(SENTENCE_END)


def split_passages(text: str, words: int = WORDS) -> Iterator[str]:
    """Yield passages of whole sentences, each of `words` words or a little more.

    A passage holds no line break. A sentence of more than twice as many words is cut. What is
    left at the end is a passage if it has half as many words.

    >>> list(split_passages("The sea rose. It fell again. All was calm.", words=5))
    ['The sea rose. It fell again.', 'All was calm.']
    """
    collected: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        collected += sentence.split()
        while len(collected) > 2 * words:
            yield " ".join(collected[:words])
            collected = collected[words:]
        if len(collected) >= words:
            yield " ".join(collected)
            collected = []
    if 2 * len(collected) >= words and collected:
        yield " ".join(collected)
