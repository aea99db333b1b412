"""A long text as paragraphs that are perturbed, remembered and cleared one by one: editing one
of them draws that one afresh, and the others leave as they left before."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, insort
from itertools import accumulate

from proxy.guard import words_of

__all__ = ["split"]


def split(text: str, least: int) -> list[str]:
    """Split a text at blank lines, into units of `least` words or more where it has that many.

    Returns:
        The units in order, and between and around them the white space as strings of its own;
        joined they are the text.

    Where two units part depends on what stands nearby: the places between paragraphs are taken
    in the order of a hash of the paragraph before, and each that leaves `least` words on both
    sides parts. Counting from the beginning instead would move every border after an edit.
    """
    spans = _paragraphs(text)
    ends = list(accumulate(len(words_of(text[start:end])) for start, end in spans))
    borders = [0, *ends[-1:]]  # in words from the beginning
    cuts: list[int] = []  # units end after these paragraphs
    for _, i in sorted((_rank(text[start:end]), i) for i, (start, end) in enumerate(spans[:-1])):
        place = bisect_left(borders, ends[i])
        if ends[i] - borders[place - 1] >= least and borders[place] - ends[i] >= least:
            insort(borders, ends[i])
            cuts.append(i)
    out, last, first = [], 0, 0
    for i in [*sorted(cuts), *([len(spans) - 1] if spans else [])]:
        start, end = spans[first][0], spans[i][1]
        out += [text[last:start], text[start:end]]
        last, first = end, i + 1
    out.append(text[last:])
    return [piece for piece in out if piece]


def _rank(paragraph: str) -> bytes:
    return hashlib.sha256(paragraph.encode("utf-8", "surrogatepass")).digest()


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Where the paragraphs begin and end, without the white space around them."""
    spans: list[tuple[int, int]] = []
    start = end = place = 0
    inside = False
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            if not inside:
                start, inside = place + line.index(bare[0]), True
            end = place + len(line.rstrip())
        elif inside:
            spans.append((start, end))
            inside = False
        place += len(line) + 1
    return [*spans, (start, end)] if inside else spans
