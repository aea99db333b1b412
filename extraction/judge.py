"""The judge of generations and answers: which parts are about the document, which answer is best.

It reads raw text and runs on this machine, so what it decides costs no privacy: nothing that it
keeps or drops is sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perturb.whole.encoder import Encoder, load_static
from perturb.whole.passages import SENTENCE_END

__all__ = ["Judge", "build_judge", "split_parts"]

SHORTEST = 4  # words of a part that is judged alone; a shorter one goes with the next
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*\n?", re.MULTILINE | re.DOTALL)
_END = re.compile(rf"{SENTENCE_END}|\n+")


class Judge:
    """Keep what of a generation is about a document, and choose the best of several answers.

    Args:
        encode: the encoder of documents and parts.
        unrelated: the cosine of a document and the nearest sentence of a text on another subject
            that is exceeded in 2 % of such texts.
    """

    def __init__(self, encode: Encoder, unrelated: float) -> None:
        self._encode = encode
        self._unrelated = unrelated

    def keep_relevant(self, document: str, generation: str) -> str:
        """Return the relevant parts of a generation, joined as they stood; "" if there are none.

        A document without any word that the encoder knows is about nothing, and keeps nothing.
        """
        return "".join(self._find_relevant(document, generation)).strip()

    def keep_if_relevant(self, document: str, generation: str) -> str:
        """Return a generation whole if any part of it is relevant, else "".

        This is for a generation of one piece, and for an answer that has to win against one made
        without it: a relevant part speaks for the others, and what they spoil is not returned.
        An unrelated generation passes as rarely as it leaves a part in `keep_relevant`.
        """
        return generation if self._find_relevant(document, generation) else ""

    def _find_relevant(self, document: str, generation: str) -> list[str]:
        parts = split_parts(generation)
        if not parts:
            return []
        vectors = self._encode([document, *parts])
        cosines = vectors[1:] @ vectors[0]
        return [part for part, near in zip(parts, cosines > self._unrelated, strict=True) if near]

    def is_helpful(self, document: str, answer: str, material: Sequence[str]) -> bool:
        """Tell if all texts that an answer could be made of are nearer to a document than an
        answer made without them.

        Args:
            document: the private text.
            answer: made without the material.
            material: a generation, and the passage that the remote was shown. A remote that was
                shown a distant passage can only be near by chance.
        """
        alone, *helped = self.score(document, [answer, *material])
        return bool(min(helped) > alone)

    def choose_best(self, document: str, answers: Sequence[str]) -> int:
        """Return the place of the answer that is nearest to a document, the first of equals."""
        return int(np.argmax(self.score(document, answers)))

    def score(self, document: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosine of a document and each of n texts, float32 (n,).

        Parts that repeat the document word for word do not count, so a copy is no good answer. A
        text without other parts has -inf.
        """
        own = [_drop_copies(text, document) for text in texts]
        vectors = self._encode([document, *own])
        scores: NDArray[np.float32] = vectors[1:] @ vectors[0]
        scores[[not text for text in own]] = -np.inf
        return scores


def build_judge() -> Judge:
    """Build a judge over the bundled encoder."""
    encoder = load_static()
    return Judge(encoder, encoder.unrelated)


def split_parts(text: str) -> Sequence[str]:
    """Cut a text into sentences, lines and fenced blocks of code, each with the white space after
    it. A part of fewer than four words goes with the next.

    >>> split_parts("It rains today. The roof of the shed leaks.")
    ['It rains today. The roof of the shed leaks.']
    >>> split_parts("The roof of the shed leaks. Call the man who built it.")
    ['The roof of the shed leaks. ', 'Call the man who built it.']
    """
    pieces: list[str] = []
    start = 0
    for block in _FENCE.finditer(text):
        pieces += _split_prose(text[start : block.start()])
        pieces.append(block[0])
        start = block.end()
    pieces += _split_prose(text[start:])
    parts: list[str] = []
    waiting = ""
    for piece in pieces:
        waiting += piece
        if len(waiting.split()) >= SHORTEST:
            parts.append(waiting)
            waiting = ""
    if waiting.strip():
        if parts:
            parts[-1] += waiting
        else:
            parts.append(waiting)
    return parts


def _drop_copies(text: str, document: str) -> str:
    parts = (part.strip() for part in split_parts(text))
    return " ".join(part for part in parts if part not in document)


def _split_prose(text: str) -> list[str]:
    ends = [found.end() for found in _END.finditer(text)]
    starts = [0, *ends]
    return [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True) if text[a:b]]
