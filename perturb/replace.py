"""Sensitive parts of a text replaced in place: what `selective` does to a document.

A part is read as pieces: a run of letters is one word of the inner mechanism, digits and mixed
runs are redrawn character by character, layout stays, anything else goes. So the replacement has
the shape of what it replaces, and the rest of the text is untouched.
"""

from __future__ import annotations

import hmac
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from perturb.embeddings import EmbeddingTable
from perturb.mechanism import Mechanism, Span
from perturb.rng import keyed_generator
from perturb.sanitizer import Link, Perturbation, Receipt, Replacement
from perturb.vocabulary import LAYOUT, TokenClass

if TYPE_CHECKING:
    from perturb.document import DocumentOptions

__all__ = ["Kind", "Piece", "cased", "pieces", "replace", "text_link", "word_place"]

_LAYOUT = re.escape("".join(sorted(LAYOUT)))
_RUN = re.compile(rf"([{_LAYOUT}]+)|(\s+)|[^{_LAYOUT}\s]+")


class Kind(Enum):
    """How a piece is treated."""

    WORD = "word"  # letters: one word of the inner mechanism
    DIGITS = "digits"  # as many digits, the first of several not 0
    MIXED = "mixed"  # letters and digits: each redrawn as one of its kind
    LAYOUT = "layout"  # kept


@dataclass(frozen=True)
class Piece:
    """A run of a sensitive part, without the characters that go.

    `place` is the word of V that a WORD goes through the mechanism as; `known` says that it is
    that word itself.
    """

    kind: Kind
    text: str
    place: int = -1
    known: bool = False


def pieces(text: str, table: EmbeddingTable, options: DocumentOptions) -> list[Piece]:
    """Read a sensitive part: a fixed public function of its text."""
    out = []
    for run in _RUN.finditer(text):
        if run[1] or run[2]:
            kept = run[1] if run[1] and options.layout == "keep" else " "
            out.append(Piece(Kind.LAYOUT, kept))
            continue
        drawn = "".join(c for c in run[0] if c.isalpha() or c.isnumeric())
        letters = [c.isalpha() for c in drawn]
        if letters and all(letters):
            place, known = word_place(drawn, table)
            if known or options.oov == "map":
                out.append(Piece(Kind.WORD, drawn, place, known))
        elif letters and options.number == "random":
            out.append(Piece(Kind.MIXED if any(letters) else Kind.DIGITS, drawn))
    return out


def word_place(run: str, table: EmbeddingTable) -> tuple[int, bool]:
    """The word of V that stands for a run of letters, and whether it is the run itself.

    A run outside V goes to the nearest word of its longest token that spells letters (the fixed
    public table of the embedding file); one without such a token, to the first word of V.
    """
    vocabulary = table.vocabulary
    best, length = 0, 0
    for tokens in (vocabulary.encode(f" {run}"), vocabulary.encode(run)):
        for token in tokens.tolist():
            index, kind = int(vocabulary.index[token]), vocabulary.classes[token]
            if kind == TokenClass.WORD:
                word, place = vocabulary.words[index], index
            elif kind == TokenClass.OOV:
                word, place = vocabulary.others[index], int(table.nearest[index])
            else:
                continue
            if word == run:
                return place, kind == TokenClass.WORD
            if len(word) > length:
                best, length = place, len(word)
    return best, False


def cased(word: str, run: str) -> str:
    """A released word in the capitals of the run it stands for."""
    if run.isupper() and len(run) > 1:
        return word.upper()
    if run[0].isupper():
        return word[0].upper() + word[1:].lower()
    return word.lower() if run.islower() else word


def replace(
    text: str,
    spans: Sequence[Span],
    mechanism: Mechanism,
    options: DocumentOptions,
    rng: np.random.Generator,
    link: Link | None,
) -> Perturbation:
    """Replace the spans (in order, disjoint); everything else is left as it is.

    Args:
        rng: the noise where `link` is None.
        link: the noise of a word, or of a part's digits, by its raw text. With one, an equal
            word and an equal part have one replacement everywhere. The same word drawn afresh
            at every mention would let an observer average.
    """
    writer = _Writer(mechanism, options, link, rng)
    out: list[str] = []
    replaced: list[Replacement] = []
    end = 0
    for span in spans:
        new = writer.write(text[span.start : span.end])
        replaced.append(Replacement(span.start, span.end, span.type, new))
        out += [text[end : span.start], new]
        end = span.end
    out.append(text[end:])
    return Perturbation(
        text="".join(out),
        words=tuple(writer.words),
        receipt=_receipt(mechanism, options, writer, spans, empty=not text),
        replaced=tuple(replaced),
    )


def text_link(rng: np.random.Generator) -> Link:
    """A link for one text alone: a keyed function under a key drawn from `rng`."""
    secret = rng.bytes(32)

    def generator(entity: str) -> np.random.Generator:
        data = entity.encode("utf-8", "surrogatepass")
        return keyed_generator(hmac.digest(secret, data, "sha256"))

    return generator


class _Writer:
    """Writes replacements and remembers them, for one text."""

    def __init__(
        self,
        mechanism: Mechanism,
        options: DocumentOptions,
        link: Link | None,
        rng: np.random.Generator,
    ) -> None:
        self._mechanism, self._options, self._link, self._rng = mechanism, options, link, rng
        self._drawn: dict[str, int] = {}
        self._redrawn: dict[str, list[str]] = {}
        self.linked = link is not None
        self.words: list[str] = []
        self.classes: Counter[TokenClass] = Counter()

    def write(self, entity: str) -> str:
        parts = pieces(entity, self._mechanism.table, self._options)
        fresh = iter(self._characters(entity, parts))
        out = []
        for part in parts:
            if part.kind is Kind.WORD:
                word = self._mechanism.table.vocabulary.words[self._word(part)]
                self.words.append(word)
                out.append(cased(word, part.text))
                self.classes[TokenClass.WORD if part.known else TokenClass.OOV] += 1
            elif part.kind is Kind.LAYOUT:
                out.append(part.text)
                self.classes[TokenClass.LAYOUT] += 1
            else:
                out.append(next(fresh))
                mixed = part.kind is Kind.MIXED
                self.classes[TokenClass.OTHER if mixed else TokenClass.NUMBER] += 1
        return "".join(out)

    def _word(self, part: Piece) -> int:
        if self._link is None:
            return self._draw(part.place, self._rng)
        if part.text not in self._drawn:
            self._drawn[part.text] = self._draw(part.place, self._link(part.text))
        return self._drawn[part.text]

    def _draw(self, place: int, rng: np.random.Generator) -> int:
        return int(self._mechanism.draw(np.array([place]), rng).words[0])

    def _characters(self, entity: str, parts: Sequence[Piece]) -> list[str]:
        """Fresh characters for every run of digits and every mixed run of a part."""
        runs = [part for part in parts if part.kind in (Kind.DIGITS, Kind.MIXED)]
        if not runs:
            return []
        if self._link is None:
            return [_redraw(part, self._rng) for part in runs]
        if entity not in self._redrawn:
            rng = self._link(entity)
            self._redrawn[entity] = [_redraw(part, rng) for part in runs]
        return self._redrawn[entity]


def _redraw(part: Piece, rng: np.random.Generator) -> str:
    sizes = np.array([26 if c.isalpha() else 10 for c in part.text])
    drawn = rng.integers(0, sizes)
    if part.kind is Kind.DIGITS and len(sizes) > 1:
        drawn[0] = rng.integers(1, 10)
    return "".join(map(_character, part.text, drawn.tolist()))


def _character(old: str, drawn: int) -> str:
    if not old.isalpha():
        return str(drawn)
    return chr(ord("A" if old.isupper() else "a") + drawn)


def _receipt(
    mechanism: Mechanism,
    options: DocumentOptions,
    writer: _Writer,
    spans: Sequence[Span],
    *,
    empty: bool,
) -> Receipt:
    guarantee, identity = mechanism.guarantee, mechanism.identity()
    identity.pop("model", None)  # the operator's own matter, as the expressions are
    if "patterns" in identity:
        identity["patterns"] = [type_ for type_, _ in identity["patterns"]]
    released = len(writer.words)
    reveals = [
        "everything the policy did not mark, verbatim",
        "where the replaced parts stand, their punctuation and capitals, how many words they have "
        "and how many digits",
    ]
    if writer.linked:
        reveals.append(
            "which replaced words and parts are equal, here and in the client's other texts"
        )
    return Receipt(
        mechanism=identity.pop("mechanism"),
        table=identity.pop("table"),
        parameters=identity,
        tokens={kind.name.lower(): writer.classes[kind] for kind in TokenClass},
        treatment={
            "unmarked": "left as it is and not counted",
            "word": "perturbed",
            "oov": "mapped to V and perturbed" if options.oov == "map" else "dropped",
            "number": "redrawn" if options.number == "random" else "dropped",
            "layout": "kept" if options.layout == "keep" else "dropped",
            "other": "redrawn" if options.number == "random" else "dropped",
        },
        released=released,
        statistics={},
        guarantee=guarantee.kind,
        statement=guarantee.statement,
        epsilon_nominal=guarantee.nominal,
        epsilon_per_token=guarantee.epsilon,
        epsilon_per_document=0.0 if empty else math.inf,
        reveals=tuple(reveals),
        entities=dict(sorted(Counter(span.type for span in spans).items())),
    )
