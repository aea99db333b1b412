"""Split a sensitive part into pieces, each of which is replaced in its own way.

A run of letters is one word of the inner mechanism, digits and mixed runs are redrawn character by
character, layout stays, and anything else is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from html import escape
from typing import Literal

from perturb.sanitizer import DocumentOptions
from perturb.text.fold import decode_entities
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import LAYOUT

__all__ = ["Kind", "PartRun", "cut_name", "find_word", "split_name", "split_pieces"]

_LAYOUT = re.escape("".join(sorted(LAYOUT)))
_RUN = re.compile(rf"([{_LAYOUT}]+)|(\s+)|[^{_LAYOUT}\s]+")


# A word of the inner mechanism for letters; as many digits, the first of several not 0; each
# letter or digit of a mixed run redrawn as one of its kind; layout, which is kept.
Kind = Literal["word", "digits", "mixed", "layout"]


@dataclass(frozen=True)
class PartRun:
    """A run of a sensitive part, without the characters that are dropped.

    `place` is the index of the word of V that stands for a WORD in the mechanism; `known` says
    that the run is that word.
    """

    kind: Kind
    text: str
    place: int = -1
    known: bool = False


def split_pieces(text: str, table: EmbeddingTable, options: DocumentOptions) -> list[PartRun]:
    """Split a sensitive part into pieces: a fixed public function of its text.

    HTML entities are decoded first, and the layout of such a part is escaped again. A blank that
    stands at its edge since what was there is dropped (`5 €`) is dropped, too: a replacement with
    blanks around it could not be told from them on its way back.
    """
    out: list[PartRun] = []
    plain = decode_entities(text)
    for run in _RUN.finditer(plain):
        if run[1] or run[2]:
            kept = run[1] if run[1] and options.layout == "keep" else " "
            kept = kept if out else kept.lstrip()
            if kept:
                out.append(PartRun("layout", kept if plain == text else escape(kept)))
            continue
        drawn = run[0]
        if not drawn.isalnum():
            drawn = "".join(c for c in drawn if c.isalpha() or c.isnumeric())
        if drawn.isalpha():
            place, known = find_word(drawn, table)
            if known or options.oov == "map":
                out.append(PartRun("word", drawn, place, known))
        elif drawn and options.number == "random":
            out.append(PartRun("mixed" if any(map(str.isalpha, drawn)) else "digits", drawn))
    while out and out[-1].kind == "layout" and out[-1].text[-1:].isspace():
        last = out.pop()
        if rest := last.text.rstrip():
            out.append(changed(last, text=rest))
    return out


def cut_name(text: str, table: EmbeddingTable, options: DocumentOptions) -> list[PartRun] | None:
    """Cut a name into words and layout; None if there is anything else in it."""
    kept = changed(options, oov="map", number="random")
    pieces = split_pieces(text, table, kept)
    kinds = {piece.kind for piece in pieces}
    return pieces if "word" in kinds and kinds <= {"word", "layout"} else None


def split_name(pieces: Sequence[PartRun]) -> tuple[list[str], list[str]]:
    """Return the words of a name, and the layout after each of them but the last."""
    words: list[str] = []
    gaps: list[str] = []
    for piece in pieces:
        if piece.kind == "word":
            words.append(piece.text)
            gaps.append("")
        elif words:
            gaps[-1] += piece.text
    return words, gaps[:-1]


def find_word(run: str, table: EmbeddingTable) -> tuple[int, bool]:
    """Return the index of the word of V that stands for a run of letters, and whether it is the
    run itself.

    A run outside V is mapped to the nearest word (by the fixed public table of the embedding file)
    of the string that stands for it, see `Vocabulary.find`; a run without one, to the first word
    of V.
    """
    token, known = table.vocabulary.find(run)
    if token < 0:
        return 0, False
    return table.find_place(token), known
