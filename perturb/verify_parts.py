"""The rules for a text of which only sensitive parts were replaced: read from the finished text
and the raw one, never from the draw."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from perturb.embeddings import EmbeddingTable
from perturb.errors import ReleaseError
from perturb.fold import fold
from perturb.frequencies import all_words
from perturb.mechanism import Mechanism, Span
from perturb.replace import Kind, Piece, cased, pieces, word_place
from perturb.sanitizer import Perturbation, Replacement
from perturb.verify import check_words, too_many_kept
from perturb.vocabulary import Vocabulary

if TYPE_CHECKING:
    from perturb.document import DocumentOptions

__all__ = ["check_replaced", "secrets", "standing"]

# Redrawn characters from which on a part does not come back by chance: at most 1e-12 a place.
UNREPEATABLE = 12
SECRET_CHARACTERS = 4  # a shorter part is in any text
SECRET_DIGITS = 9  # so is a shorter number: years, amounts
_WORD = r"[\w\u0300-\u036f]"  # an accent that stands apart belongs to its word
_WORDS = re.compile(r"\w+")
_TERM = re.compile(r"[^\W_]+")


def check_replaced(
    mechanism: Mechanism,
    options: DocumentOptions,
    raw: str,
    spans: Sequence[Span],
    released: Perturbation,
) -> None:
    """Everything outside the replaced parts is the raw text; the parts cover what the policy
    marks (`spans`); every replacement has the pieces of its part: words of V, fresh digits and
    letters, layout. No more words, and no more characters, are unchanged than the channel
    explains (where equal parts have equal replacements, each counts once), and no part of many
    redrawn characters stands anywhere in the text.

    Raises:
        ReleaseError: one of these is not so.
    """
    replaced = released.replaced or ()
    if released.text != "".join(_rebuilt(raw, replaced)):
        raise ReleaseError("a released text differs from its document outside the marked parts")
    starts = [part.start for part in replaced]
    for span in spans:
        place = bisect_right(starts, span.start) - 1
        if place < 0 or replaced[place].end < span.end:
            raise ReleaseError("a part that the policy marks was not replaced")
    words, characters = _Draws(mechanism.consistent), _Draws(mechanism.consistent)
    waiting, unrepeatable = iter(released.words), set()
    numbers: dict[str, int] = {}
    for part in replaced:
        entity = raw[part.start : part.end]
        shape = pieces(entity, mechanism.table, options)
        number, redrawn = numbers.setdefault(entity, len(numbers)), 0
        for piece, new in _aligned(shape, part.text, waiting):
            if piece.kind is Kind.WORD:
                words.add(piece.text, piece, new)
            elif piece.kind is not Kind.LAYOUT:
                characters.add((number, redrawn), piece, new)
                redrawn += len(piece.text)
        if redrawn >= UNREPEATABLE:
            unrepeatable.add(entity)
    if standing(unrepeatable, released.text):
        raise ReleaseError("a marked part stands in the released text")
    if next(waiting, None) is not None:
        raise ReleaseError("a released text does not belong to its document")
    places = np.array([piece.place for piece, _ in words], dtype=np.int32)
    check_words(mechanism, places, [word for _, word in words])
    kept, rates = _unchanged(characters)
    if too_many_kept(kept, rates):
        raise ReleaseError("too many digits and letters of marked parts are unchanged")


def secrets(
    table: EmbeddingTable, raw: str, released: Perturbation, *, unrepeatable: bool = False
) -> tuple[str, ...]:
    """The replaced parts of the raw text that say something by themselves: four characters or
    more, nine digits or more where there is no letter (`2024` is in any text), and not a single
    word of V (`Monday` is, too). Of them, `unrepeatable` are those with a word that no
    replacement is made of."""
    parts = {raw[part.start : part.end] for part in released.replaced or ()}
    return tuple(
        part
        for part in sorted(parts)
        if _tells(part, table) and not (unrepeatable and _writable(part, table.vocabulary))
    )


def _tells(part: str, table: EmbeddingTable) -> bool:
    if not any(c.isalpha() for c in part):
        return sum(c.isnumeric() for c in part) >= SECRET_DIGITS
    return len(part) >= SECRET_CHARACTERS and not (part.isalpha() and word_place(part, table)[1])


def _writable(part: str, vocabulary: Vocabulary) -> bool:
    """Whether a part could come out of a channel by chance: its words are, in some capitals,
    among those that replacements are made of, or hold digits and are redrawn."""
    terms = filter(str.isalpha, _TERM.findall(fold(part)))
    return all(term.casefold() in _words(vocabulary) for term in terms)


@lru_cache(maxsize=1)
def _words(vocabulary: Vocabulary) -> frozenset[str]:
    return frozenset(word.casefold() for word in all_words(vocabulary))


def standing(parts: Iterable[str], text: str) -> frozenset[str]:
    """Those of the parts that stand in a text as whole words, whatever the capitals and however
    blanks, hyphens and digits are written (perturb.fold)."""
    folded = fold(text).casefold()
    words = set(_WORDS.findall(folded))  # the quick look: most parts have a word that is not there
    return frozenset(
        part
        for part in parts
        if words.issuperset(_WORDS.findall(found := fold(part).casefold()))
        and found in folded
        and re.search(rf"(?<!{_WORD}){re.escape(found)}(?!{_WORD})", folded)
    )


def _rebuilt(raw: str, replaced: Sequence[Replacement]) -> Iterator[str]:
    end = 0
    for part in replaced:
        if not end <= part.start < part.end <= len(raw):
            raise ReleaseError("the replaced parts are out of order")
        yield raw[end : part.start]
        yield part.text
        end = part.end
    yield raw[end:]


def _aligned(
    shape: Sequence[Piece], text: str, words: Iterator[str]
) -> Iterator[tuple[Piece, str]]:
    """Every piece with what stands there now: the word as released, fresh characters, layout."""
    end = 0
    for piece in shape:
        shown = new = piece.text
        if piece.kind is Kind.WORD:
            new = next(words, "")
            if not new:
                raise ReleaseError("a released text does not belong to its document")
            shown = cased(new, piece.text)
        elif piece.kind is not Kind.LAYOUT:
            shown = new = text[end : end + len(piece.text)]
            if not _fits(piece, new):
                raise ReleaseError("a replacement has another shape than its part")
        if not text.startswith(shown, end):
            raise ReleaseError("a replacement holds more than what was drawn")
        end += len(shown)
        yield piece, new
    if end != len(text):
        raise ReleaseError("a replacement holds more than what was drawn")


def _fits(piece: Piece, new: str) -> bool:
    """Whether a run of digits, or a mixed one, may have become this."""
    if len(new) != len(piece.text) or not new.isascii():
        return False
    if piece.kind is Kind.DIGITS and len(new) > 1 and new[0] == "0":
        return False
    return all(
        c.isalpha() and c.isupper() == old.isupper() if old.isalpha() else c.isdigit()
        for old, c in zip(piece.text, new, strict=True)
    )


class _Draws:
    """What was drawn, each draw once."""

    def __init__(self, consistent: bool) -> None:
        self._consistent = consistent
        self._by_key: dict[Hashable, str] = {}
        self._draws: list[tuple[Piece, str]] = []

    def add(self, key: Hashable, piece: Piece, new: str) -> None:
        """Note a draw; `key` is what a consistent draw depends on."""
        if self._consistent and key in self._by_key:
            if self._by_key[key] != new:
                raise ReleaseError("equal marked parts have different replacements")
            return
        self._by_key[key] = new
        self._draws.append((piece, new))

    def __iter__(self) -> Iterator[tuple[Piece, str]]:
        return iter(self._draws)


def _unchanged(draws: _Draws) -> tuple[int, list[float]]:
    """How many redrawn characters are as they were, and the chance of each."""
    kept, rates = 0, []
    for piece, new in draws:
        for i, (old, c) in enumerate(zip(piece.text, new, strict=True)):
            kept += old == c
            if not old.isascii() or (old == "0" and _leads(piece, i)):
                rates.append(0.0)
            elif old.isalpha():
                rates.append(1 / 26)
            else:
                rates.append(1 / 9 if _leads(piece, i) else 1 / 10)
    return kept, rates


def _leads(piece: Piece, i: int) -> bool:
    """Whether a digit is the first of several: never drawn as 0."""
    return i == 0 and piece.kind is Kind.DIGITS and len(piece.text) > 1
