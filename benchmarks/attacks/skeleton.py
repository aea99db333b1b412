"""What of a text is public beside its released words: the layout they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perturb import TokenClass, Vocabulary

__all__ = ["Gap", "fill", "skeleton"]


@dataclass(frozen=True)
class Gap:
    """What stands before a word: layout, and whether a blank comes after it."""

    layout: str
    apart: bool


def skeleton(vocabulary: Vocabulary, text: str) -> list[Gap]:
    """The gap before each word of V of a raw text, as `perturb.document` releases it with layout
    kept. Numbers and strings outside V are released as noise, and are left out."""
    gaps: list[Gap] = []
    layout = ""
    for token in vocabulary.encode(text).tolist():
        kind = vocabulary.classes[token]
        if kind == TokenClass.LAYOUT:
            layout += vocabulary.decode([token])
        elif kind == TokenClass.WORD:
            gaps.append(Gap(layout, bool(vocabulary.spaced[token]) if layout else bool(gaps)))
            layout = ""
    return gaps


def fill(gaps: Sequence[Gap], words: Sequence[str]) -> str:
    """A text of these words."""
    return "".join(
        f"{gap.layout}{' ' if gap.apart else ''}{word}"
        for gap, word in zip(gaps, words, strict=True)
    )
