"""Check surrogates from the raw and the released text alone."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

from perturb.errors import ReleaseError
from perturb.selective.patterns.composed import split_humps
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
from perturb.selective.surrogates.kinds import (
    ADDRESSES,
    DATES,
    HANDLES,
    URLS,
    WITHOUT,
    is_phrase,
)
from perturb.selective.surrogates.names import (
    NameWord,
    build_cast,
    load_names,
    read_person,
    read_script,
)
from perturb.selective.surrogates.phrases import PATH_WORDS, SCRIPT, PhrasePiece, read_phrase
from perturb.text.fold import fold_name, match_case

__all__ = ["SurrogateCheck"]

WRONG = "a surrogate differs in form from its part"
_LETTERS = re.compile(r"[^\W\d_]+")
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
            fits = one == own if one.lower() in kept else _fits(one, own)
            if not fits and not self._fit_humps(one, own):
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
            _fits(one, own) if changed[i] else named.get(i, (one, None))[1] is None
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


def _fits(old: str, new: str) -> bool:
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
