"""Verify a text with only its sensitive parts replaced, from the released and the raw text alone,
never from the draw."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np

from perturb.errors import ReleaseError
from perturb.mechanisms.base import check_words, too_many_kept
from perturb.release import Perturbation, Replacement, Span
from perturb.sanitizer import DocumentOptions
from perturb.selective.marked import MarkingMechanism
from perturb.selective.profiles import ACTIONS
from perturb.selective.replace import (
    PartRun,
    TagCheck,
    cut_name,
    find_word,
    is_tag,
    split_name,
    split_pieces,
)
from perturb.selective.surrogates.check import SurrogateCheck
from perturb.selective.surrogates.names import read_person
from perturb.selective.surrogates.writer import PERSONS
from perturb.selective.values import ValueCheck, read_value
from perturb.text.fold import display, display_small, match_case
from perturb.text.search import Prefixes
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.work import compute_once

__all__ = ["check_replaced", "find_parts", "find_secrets"]

# A part of this many redrawn characters does not come back by chance: at most 1e-12 a place.
UNREPEATABLE = 12
SECRET_CHARACTERS = 4  # any text may hold a shorter part
SECRET_DIGITS = 9  # or a shorter number: years, amounts
LONGEST_PART = 1000  # characters of a part that is compared at each place; no honest one is longer
_WORD_CHARACTER = r"[\w\u0300-\u036f]"  # a combining accent belongs to its word
_WORD = re.compile(_WORD_CHARACTER)
_WHOLE_WORD = re.compile(f"{_WORD_CHARACTER}+")
_WORDS = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]+")
_TERM = re.compile(r"[^\W_]+")


def check_replaced(
    mechanism: MarkingMechanism,
    options: DocumentOptions,
    raw: str,
    spans: Sequence[Span],
    released: Perturbation,
) -> None:
    """Check the release of a text with marked parts against its raw text.

    The order of day and month may come from other texts of its request: it is checked in each.

    Everything outside the replaced parts must be the raw text. The parts must cover what the
    policy marks (`spans`), and every replacement must have the pieces of its part: words of V,
    fresh digits and letters, layout. No more words, and no more characters, may be unchanged than
    the channel explains (where equal parts have equal replacements, each counts once), and no part
    of many redrawn characters may occur anywhere in the text.

    Raises:
        ReleaseError: one of these rules is broken.
    """
    *orders, last = (None, True, False) if mechanism.action("DATE_TIME") == "value" else (None,)
    for day_first in orders:
        with suppress(ReleaseError):
            return _check_in_order(mechanism, options, raw, spans, released, day_first)
    return _check_in_order(mechanism, options, raw, spans, released, last)


def _check_in_order(
    mechanism: MarkingMechanism,
    options: DocumentOptions,
    raw: str,
    spans: Sequence[Span],
    released: Perturbation,
    day_first: bool | None,
) -> None:
    replaced = released.replaced or ()
    if released.text != "".join(_rebuild(raw, replaced)):
        raise ReleaseError("a released text differs from its document outside the marked parts")
    starts = [part.start for part in replaced]
    for span in spans:
        place = bisect_right(starts, span.start) - 1
        if place < 0 or replaced[place].end < span.end:
            raise ReleaseError("a part that the policy marks was not replaced")
        if mechanism.action(span.type) == "refuse":
            raise ReleaseError("a part of a type that is refused was released")
        part = replaced[place]
        if (part.start, part.end) == (span.start, span.end):
            given, wanted = mechanism.action(part.type), mechanism.action(span.type)
            if ACTIONS.index(given) < ACTIONS.index(wanted):
                raise ReleaseError("a marked part was released by a weaker action than its own")
    words, characters = _Draws(mechanism.consistent), _Draws(mechanism.consistent)
    waiting, unrepeatable = iter(released.words), set()
    numbers: dict[str, int] = {}
    surrogates, tags = _Surrogates(mechanism, options, raw, replaced), TagCheck()
    values = ValueCheck(mechanism.value_epsilon, consistent=mechanism.consistent)
    for part in replaced:
        entity = raw[part.start : part.end]
        if is_tag(part.text, part.type):
            tags.check(part.type, entity, part.text)
            continue
        if surrogates.check(part, entity):
            if surrogates.drawn >= UNREPEATABLE:
                unrepeatable.add(entity)
            continue
        value = None
        if mechanism.action(part.type) == "value":
            value = read_value(part.type, entity, day_first)
        if value is not None:
            values.check(part.type, value, part.text)
            continue
        if mechanism.action(part.type) != "replace" and mechanism.consistent:
            raise ReleaseError("a marked part was released by a weaker action than its own")
        shape = split_pieces(entity, mechanism.table, options)
        number, redrawn = numbers.setdefault(entity, len(numbers)), 0
        for piece, new in _align(shape, part.text, waiting):
            if piece.kind == "word":
                words.add(piece.text, piece, new)
            elif piece.kind != "layout":
                characters.add((number, redrawn), piece, new)
                redrawn += len(piece.text)
        if redrawn >= UNREPEATABLE:
            unrepeatable.add(entity)
    if find_parts(unrepeatable, released.text):
        raise ReleaseError("the released text contains a marked part")
    if next(waiting, None) is not None:
        raise ReleaseError("a released text does not belong to its document")
    places = np.array([piece.place for piece, _ in words], dtype=np.int32)
    check_words(mechanism, places, [word for _, word in words])
    kept, rates = _count_unchanged(characters)
    surrogates.checks.finish()
    kept += surrogates.checks.kept + values.kept
    rates += [*surrogates.checks.rates, *values.rates]
    if too_many_kept(kept, rates):
        raise ReleaseError("too many digits, letters and values of marked parts are unchanged")


class _Surrogates:
    """Check the replaced parts that have a surrogate.

    Attributes:
        drawn: how many characters of the last one were drawn.
    """

    def __init__(
        self,
        mechanism: MarkingMechanism,
        options: DocumentOptions,
        raw: str,
        replaced: Sequence[Replacement],
    ) -> None:
        self._mechanism, self._options = mechanism, options
        chosen = [part for part in replaced if mechanism.action(part.type) == "surrogate"]
        self.checks = SurrogateCheck(
            raw[part.start : part.end] for part in chosen if part.type in PERSONS
        )
        self.drawn = 0

    def check(self, part: Replacement, entity: str) -> bool:
        """Check a part; return False if it has no surrogate, by its type or its form."""
        self.drawn = 0
        redrawn = self._mechanism.redraws(part.type, entity)
        if self._mechanism.action(part.type) != "surrogate" and not redrawn:
            return False
        if part.type not in PERSONS:
            type_ = "NUMBER" if redrawn else part.type
            given = self.checks.check(type_, entity, part.text)
            self.drawn = self.checks.drawn
            return given
        pieces = cut_name(entity, self._mechanism.table, self._options)
        words, gaps = split_name(pieces or ())
        if read_person(words, gaps) is None:
            return False
        self.checks.check_person(words, gaps, list(_read_names(pieces or (), part.text)))
        return True


def _read_names(pieces: Sequence[PartRun], text: str) -> Iterator[str]:
    """Yield the word that stands for each word of a name; nothing else may be there."""
    end = 0
    for piece in pieces:
        if piece.kind == "word":
            found = _LETTERS.match(text, end)
            if not found:
                raise ReleaseError("a replacement differs in shape from its part")
            end = found.end()
            yield found[0]
        elif text.startswith(piece.shown, end):
            end += len(piece.shown)
        else:
            raise ReleaseError("a replacement differs in shape from its part")
    if end != len(text):
        raise ReleaseError("a replacement holds more than what was drawn")


def find_secrets(
    table: EmbeddingTable,
    raw: str,
    released: Perturbation,
    *,
    unrepeatable: bool = False,
    names: frozenset[str] = frozenset(),
    values: frozenset[str] = frozenset(),
) -> tuple[str, ...]:
    """Return the replaced parts of the raw text that are distinctive by themselves.

    They have four characters or more, or nine digits or more without a letter (any text may hold
    `2024`), and are not a single word of V (nor `Monday`). With `unrepeatable`, return only those
    with a word that no replacement contains, be it of V or of the public `names`, in small
    letters. `values` may come back as the place next to themselves, or to another value.
    """
    parts = {raw[part.start : part.end] for part in released.replaced or ()}
    return tuple(
        part
        for part in sorted(parts)
        if _is_distinctive(part, table)
        and not (
            unrepeatable and (part in values or _could_be_drawn(part, table.vocabulary, names))
        )
    )


def _is_distinctive(part: str, table: EmbeddingTable) -> bool:
    if not any(c.isalpha() for c in part):
        return sum(c.isnumeric() for c in part) >= SECRET_DIGITS
    return len(part) >= SECRET_CHARACTERS and not (part.isalpha() and find_word(part, table)[1])


def _could_be_drawn(part: str, vocabulary: Vocabulary, names: frozenset[str]) -> bool:
    """Tell if the channel could release a part by chance: each of its words, in some capitals, is
    one that replacements contain, or holds digits and is redrawn."""
    terms = filter(str.isalpha, _TERM.findall(display(part)))
    words = _drawable_words(vocabulary)
    return all(term.casefold() in words or term.casefold() in names for term in terms)


@lru_cache(maxsize=1)
def _drawable_words(vocabulary: Vocabulary) -> frozenset[str]:
    words = (*vocabulary.ascii_words, *vocabulary.words)
    return frozenset(word.casefold() for word in words)


def find_parts(parts: Collection[str], *texts: str) -> frozenset[str]:
    """Find the parts that occur in texts as whole words, in any capitals and any spelling of
    their characters (perturb.text.fold). One pass over the texts looks for all of them.

    >>> sorted(find_parts(["Anna", "Ann"], "ANNA called."))
    ['Anna']
    """
    if not parts:
        return frozenset()
    compared = [compute_once(_read_form, text) for text in texts]
    # A fast check: most parts have a word that is not there.
    words = frozenset[str]().union(*(own for _, own in compared))
    parts_by_form: dict[str, list[str]] = {}
    for part in parts:
        form = display_small(part)
        if form and words.issuperset(_WORDS.findall(form)):
            parts_by_form.setdefault(form, []).append(part)
    if not parts_by_form:
        return frozenset()
    short = [form for form in parts_by_form if len(form) <= LONGEST_PART]
    prefixes, folded = Prefixes(short), "\n".join([shown for shown, _ in compared])
    found: set[str] = set()
    for start in _find_starts(folded, short):
        forms = prefixes.find(folded, start)
        found.update(form for form in forms if not _WORD.match(folded, start + len(form)))
    if len(short) < len(parts_by_form):
        marked = _mark_words(folded)
        found.update(form for form in parts_by_form.keys() - short if _mark_words(form) in marked)
    return frozenset(part for form in found for part in parts_by_form[form])


def _read_form(text: str) -> tuple[str, frozenset[str]]:
    """Return a text as it is compared, and its words."""
    shown = display_small(text)
    return shown, frozenset(_WORDS.findall(shown))


def _find_starts(text: str, forms: Iterable[str]) -> Iterator[int]:
    """Yield the places of a text at which one of the forms may begin as a whole word."""
    first = "".join(map(re.escape, sorted({form[0] for form in forms})))
    starts = re.finditer(rf"(?<!{_WORD_CHARACTER})[{first}]", text) if first else ()
    return (found.start() for found in starts)


def _mark_words(text: str) -> str:
    """Mark the beginning and the end of every word, so that one text holds another only as whole
    words. Signs around a part may touch a word."""
    return _WHOLE_WORD.sub("\\0\\g<0>\\0", text)


def _rebuild(raw: str, replaced: Sequence[Replacement]) -> Iterator[str]:
    end = 0
    for part in replaced:
        if not end <= part.start < part.end <= len(raw):
            raise ReleaseError("the replaced parts are out of order")
        yield raw[end : part.start]
        yield part.text
        end = part.end
    yield raw[end:]


def _align(
    shape: Sequence[PartRun], text: str, words: Iterator[str]
) -> Iterator[tuple[PartRun, str]]:
    """Yield every piece with its replacement: the released word, fresh characters or layout."""
    end = 0
    for piece in shape:
        shown = new = piece.text
        if piece.kind == "word":
            new = next(words, "")
            if not new:
                raise ReleaseError("a released text does not belong to its document")
            shown = match_case(new, piece.text)
        elif piece.kind != "layout":
            shown = new = text[end : end + len(piece.text)]
            if not _fits(piece, new):
                raise ReleaseError("a replacement differs in shape from its part")
        if not text.startswith(shown, end):
            raise ReleaseError("a replacement holds more than what was drawn")
        end += len(shown)
        yield piece, new
    if end != len(text):
        raise ReleaseError("a replacement holds more than what was drawn")


def _fits(piece: PartRun, new: str) -> bool:
    """Tell if this may replace a run of digits, or a mixed one."""
    if len(new) != len(piece.text) or not new.isascii():
        return False
    if piece.kind == "digits" and len(new) > 1 and new[0] == "0":
        return False
    return all(
        c.isalpha() and c.isupper() == old.isupper() if old.isalpha() else c.isdigit()
        for old, c in zip(piece.text, new, strict=True)
    )


class _Draws:
    """Collect the draws, each once."""

    def __init__(self, consistent: bool) -> None:
        self._consistent = consistent
        self._by_key: dict[Hashable, str] = {}
        self._draws: list[tuple[PartRun, str]] = []

    def add(self, key: Hashable, piece: PartRun, new: str) -> None:
        """Add a draw. A consistent draw depends on `key` alone."""
        if self._consistent and key in self._by_key:
            if self._by_key[key] != new:
                raise ReleaseError("equal marked parts have different replacements")
            return
        self._by_key[key] = new
        self._draws.append((piece, new))

    def __iter__(self) -> Iterator[tuple[PartRun, str]]:
        return iter(self._draws)


def _count_unchanged(draws: _Draws) -> tuple[int, list[float]]:
    """Count the redrawn characters that are unchanged, and return the chance of each."""
    kept, rates = 0, []
    for piece, new in draws:
        for i, (old, c) in enumerate(zip(piece.text, new, strict=True)):
            kept += old == c
            if not old.isascii() or (old == "0" and _is_leading(piece, i)):
                rates.append(0.0)
            elif old.isalpha():
                rates.append(1 / 26)
            else:
                rates.append(1 / 9 if _is_leading(piece, i) else 1 / 10)
    return kept, rates


def _is_leading(piece: PartRun, i: int) -> bool:
    """Tell if a digit is the first of several, which is never drawn as 0."""
    return i == 0 and piece.kind == "digits" and len(piece.text) > 1
