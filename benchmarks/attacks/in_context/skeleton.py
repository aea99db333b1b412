"""The layout of a text, which is public beside its released words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perturb import TokenClass, Vocabulary

__all__ = ["Gap", "fill_gaps", "find_gaps"]


@dataclass(frozen=True)
class Gap:
    """Hold the layout before a word, and whether a blank follows the layout."""

    layout: str
    apart: bool


def find_gaps(vocabulary: Vocabulary, text: str) -> list[Gap]:
    """Return the gap before each word of V of a raw text, as `WordByWord` releases it with layout
    kept. Numbers and strings outside V are released as noise, and are left out."""
    gaps: list[Gap] = []
    layout = ""
    for token in vocabulary.encode(text).tolist():
        kind = vocabulary.classes[token]
        if kind == TokenClass.LAYOUT:
            layout += vocabulary.decode([token])
        elif kind == TokenClass.WORD:
            glued = not layout and bool(gaps)  # a release separates joined words
            gaps.append(Gap(layout, glued or bool(vocabulary.spaced[token])))
            layout = ""
    return gaps


def fill_gaps(gaps: Sequence[Gap], words: Sequence[str]) -> str:
    """Fill the gaps with words; return the text."""
    return "".join(
        f"{gap.layout}{' ' if gap.apart else ''}{word}"
        for gap, word in zip(gaps, words, strict=True)
    )
