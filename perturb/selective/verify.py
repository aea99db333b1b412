"""Verify a text with only its sensitive parts replaced, from the released and the raw text alone,
never from the draw; its surrogates, too."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise

import numpy as np

from perturb.errors import ReleaseError
from perturb.mechanisms.base import check_words, too_many_kept
from perturb.release import Perturbation, Replacement, Span
from perturb.sanitizer import DocumentOptions
from perturb.selective.marked import MarkingMechanism
from perturb.selective.patterns.composed import split_humps
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
from perturb.selective.surrogates.addresses import (
    DOMAIN,
    Address,
    is_made_of_names,
    read_address,
    read_handle,
    read_humps,
    read_url,
)
from perturb.selective.surrogates.dates import SHIFTS, shift_date
from perturb.selective.surrogates.forms import SurrogateForm, read_form
from perturb.selective.surrogates.kinds import ADDRESSES, DATES, HANDLES, URLS, WITHOUT, is_phrase
from perturb.selective.surrogates.names import (
    NameWord,
    build_cast,
    load_names,
    read_person,
    read_script,
)
from perturb.selective.surrogates.phrases import PATH_WORDS, SCRIPT, PhrasePiece, read_phrase
from perturb.selective.surrogates.writer import PERSONS
from perturb.selective.values import ValueCheck, read_value
from perturb.text.fold import display, display_small, fold_name, match_case
from perturb.text.search import Prefixes
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Vocabulary
from perturb.work import compute_once

__all__ = ["SurrogateCheck", "check_replaced", "find_parts", "find_secrets"]

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
    _check_marked(mechanism, spans, replaced)
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


def _check_marked(
    mechanism: MarkingMechanism, spans: Sequence[Span], replaced: Sequence[Replacement]
) -> None:
    """Check that every marked part is replaced, and by no weaker action than its own."""
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


WRONG = "a surrogate differs in form from its part"
_ORDERS = (None, True, False)  # of day and month


class SurrogateCheck:
    """Check the surrogates of one text: public names, or characters of the same form; never the
    raw value, and equal for equal parts. Its dates are moved by the same number of days.

    Args:
        names: the raw names of the text that have a surrogate.

    Attributes:
        kept, rates: how many drawn characters are unchanged, and the chance of each.
        drawn: how many characters of the last number were drawn.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._cast = build_cast(names)
        self._found: dict[tuple[str, ...], str] = {}
        self._words: dict[tuple[str, str], str] = {}  # the raw word of each name
        self._initials: list[tuple[tuple[str, str], str]] = []
        self._letters: dict[tuple[str, str], set[str]] = {}  # that given names begin with
        self._moves = [(days, order) for order in _ORDERS for days in SHIFTS]
        self.kept = 0
        self.rates: list[float] = []
        self.drawn = 0

    def check(self, type_: str, raw: str, new: str) -> bool:
        """Check a part of any type but a person's name; return False if it has no surrogate, by
        its type or its form."""
        self.drawn = 0
        if type_ in WITHOUT:
            return False
        if type_ in ADDRESSES:
            return self.check_address(raw, new)
        if type_ in HANDLES:
            return self.check_handle(raw, new)
        if type_ in URLS:
            return self.check_url(raw, new)
        if type_ in DATES:
            return self.check_date(raw, new)
        if is_phrase(type_, raw):
            return self.check_phrase(type_, raw, new)
        return self.check_form(type_, raw, new)

    def check_person(
        self, words: Sequence[str], between: Sequence[str], new: Sequence[str]
    ) -> None:
        """Check the words of a name."""
        read = read_person(words, between)
        if read is None or len(new) != len(words):
            raise ReleaseError(WRONG)
        for word, raw, own in zip(read, words, new, strict=True):
            if word.role == "particle":
                if own != raw:
                    raise ReleaseError(WRONG)
                continue
            script = read_script(word.key)
            if read_script(own) != script or match_case(own, raw) != own:
                raise ReleaseError(WRONG)
            if word.role == "initial":
                if len(own) != 1:
                    raise ReleaseError(WRONG)
                self._check_initial(word, own, script)
                continue
            role = load_names()[script].role_of(own)
            if role not in ("given", "surname") or word.role not in ("alone", role):
                raise ReleaseError("a surrogate is no public name")
            if fold_name(own) == word.key:
                raise ReleaseError("a surrogate is its own raw value")
            # Spellings of one name may have surrogates of their own.
            self._check_equal((script, role, raw.lower()), own.casefold())
            if role == "given":
                self._letters.setdefault((script, word.key), set()).add(own[0].casefold())
            if self._words.setdefault((role, own.casefold()), word.key) != word.key:
                raise ReleaseError("two names have one surrogate")

    def check_address(self, raw: str, new: str) -> bool:
        """Check an address; return False if it has no surrogate."""
        old, made = read_address(raw), read_address(new)
        if old is None:
            return False
        self._check_local(old, made)
        self._check_domain(old.domain, made.domain if made else "")
        self._check_equal(("address", *_plain(old)), new.casefold())
        return True

    def check_handle(self, raw: str, new: str) -> bool:
        """Check the name of a user; return False if it has no surrogate."""
        old, made = read_handle(raw), read_handle(new)
        if old is None:
            return False
        self._check_local(old, made)
        self._check_equal(("handle", *_plain(old)), new.casefold())
        return True

    def check_url(self, raw: str, new: str) -> bool:
        """Check an address of the web; return False if it has no surrogate."""
        pieces = read_url(raw)
        if pieces is None:
            return False
        made = read_url(new) or ()
        if len(made) != len(pieces):
            raise ReleaseError(WRONG)
        for old, own in zip(pieces, made, strict=True):
            if old.kind == "host":
                self._check_domain(old.text.lower(), own.text)
            elif old.kind == "address":
                self.check_form("IP_ADDRESS", old.text, own.text)
            elif old.handle:
                self._check_local(old.handle, read_handle(own.text), PATH_WORDS)
            elif old.text != own.text:
                raise ReleaseError(WRONG)
        self.drawn = 0
        self._check_equal(("url", raw), new)
        return True

    def check_date(self, raw: str, new: str) -> bool:
        """Check a date; return False if it has no surrogate. The dates before it tell how far it
        may be moved."""
        if shift_date(raw, SHIFTS[0]) is None:
            return False
        self._moves = [(days, o) for days, o in self._moves if shift_date(raw, days, o) == new]
        if not self._moves:
            raise ReleaseError("a date is not moved as the others are")
        return True

    def check_phrase(self, type_: str, raw: str, new: str) -> bool:
        """Check a place, a firm or an address of a street; return False if it has no surrogate."""
        pieces = read_phrase(type_, raw)
        if pieces is None:
            return False
        end = 0
        for piece in pieces:
            if piece.kind == "word":
                found = _LETTERS.match(new, end)
                if found is None:
                    raise ReleaseError(WRONG)
                self._check_coined(piece, found[0])
                end = found.end()
                continue
            begin, end = end, _find_same(piece.text, new, end, kept=piece.kind == "kept")
            if piece.kind == "code":
                self.check_form("ZIP_CODE", piece.text, new[begin:end])
            elif piece.kind == "number":
                form = piece.form
                if form is None or not form.fits(new[begin:end]):
                    raise ReleaseError(WRONG)
                self._check_drawn(("number", piece.key), form, piece.text, new[begin:end])
        if end != len(new):
            raise ReleaseError(WRONG)
        self.drawn = 0
        return True

    def check_form(self, type_: str, raw: str, new: str) -> bool:
        """Check a number or a key; return False if it has no surrogate."""
        form = read_form(type_, raw)
        if form is None:
            return False
        if new == raw or not form.fits(new):
            raise ReleaseError(WRONG)
        self._check_drawn(("form", form.name), form, raw, new)
        self.drawn = len(form.free)
        return True

    def finish(self) -> None:
        """Check the initials, once all names are known."""
        for given, letter in self._initials:
            if letter not in self._letters.get(given, letter):
                raise ReleaseError("an initial is not that of its name")

    def _check_initial(self, word: NameWord, own: str, script: str) -> None:
        if given := self._cast.find_given(word):
            self._initials.append(((script, given), own.casefold()))

    def _check_local(self, old: Address, made: Address | None, kept: Container[str] = ()) -> None:
        """Check a local part, run by run; words of `kept` stay."""
        if made is None or len(old.tokens) != len(made.tokens):
            raise ReleaseError(WRONG)
        for one, own in zip(old.tokens, made.tokens, strict=True):
            alike = one == own if one.lower() in kept else _is_written_alike(one, own)
            if not alike and not self._fit_humps(one, own):
                raise ReleaseError(WRONG)

    def _fit_humps(self, old: str, new: str) -> bool:
        """Tell if this may replace a run of letters in camel case that holds a full name. Two
        words of it change, and what stays is no name of the text."""
        humps, made = split_humps(old), split_humps(new)
        changed = [one != own for one, own in zip(humps, made, strict=False)]
        if len(humps) != len(made) or not any(map(all, pairwise(changed))):
            return False
        # What the writer knows of other texts, this one does not; of its own it knows all.
        named = dict(enumerate(read_humps(old, self._cast) or ()))
        return all(
            _is_written_alike(one, own) if changed[i] else named.get(i, (one, None))[1] is None
            for i, (one, own) in enumerate(zip(humps, made, strict=True))
        )

    def _check_domain(self, old: str, own: str) -> None:
        label = own.removesuffix(DOMAIN)
        public = load_names()[SCRIPT].role_of(label) == "surname"
        if not public or own != label.lower() + DOMAIN or own == old:
            raise ReleaseError("a surrogate is no public name")
        self._check_equal(("domain", old), label)

    def _check_coined(self, piece: PhrasePiece, new: str) -> None:
        """Check a word of a place or a firm, with the kind of a street at its end."""
        own = new.removesuffix(piece.end)
        if own + piece.end != new or load_names()[SCRIPT].role_of(own) != piece.role:
            raise ReleaseError("a surrogate is no public name")
        shown = match_case(own, piece.text) if piece.text.isalpha() else own.capitalize()
        if own != shown or fold_name(own) == piece.key:
            raise ReleaseError(WRONG)
        self._check_equal((piece.role, piece.key), own.casefold())
        if self._words.setdefault((piece.role, own.casefold()), piece.key) != piece.key:
            raise ReleaseError("two names have one surrogate")

    def _check_drawn(self, key: tuple[str, ...], form: SurrogateForm, raw: str, new: str) -> None:
        """Check that a drawn number is that of its equals, and count what is unchanged once."""
        key = (*key, form.join(raw))
        if key not in self._found:
            self.kept += sum(raw[i] == new[i] for i in form.free)
            self.rates += form.rates()
        self._check_equal(key, form.join(new))

    def _check_equal(self, key: tuple[str, ...], own: str) -> None:
        if self._found.setdefault(key, own) != own:
            raise ReleaseError("equal marked parts have different replacements")


def _is_written_alike(old: str, new: str) -> bool:
    """Tell if this may replace a run of letters, of digits, or a sign of an address."""
    if old.isalpha():
        same = len(old) > 1 and old.lower() == new.lower()
        return new.isalpha() and is_made_of_names(new) and not same and match_case(new, old) == new
    if old.isdigit():
        form = read_form("EMAIL", old)
        return old == new if form is None else form.fits(new)
    return old == new


def _find_same(old: str, new: str, start: int, *, kept: bool) -> int:
    """Return the end of what stands for a piece of the same length; a kept one must be there."""
    end = start + len(old)
    if end > len(new) or (kept and new[start:end] != old):
        raise ReleaseError(WRONG)
    return end


def _plain(address: Address) -> tuple[str, ...]:
    return (*(token.lower() for token in address.tokens), address.domain)
