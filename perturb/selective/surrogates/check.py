"""Check surrogates from the raw and the released text alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from perturb.errors import ReleaseError
from perturb.selective.surrogates.addresses import (
    DOMAIN,
    Address,
    is_made_of_names,
    read_address,
)
from perturb.selective.surrogates.forms import Form, read_form
from perturb.selective.surrogates.names import fold_name, load_names, read_script
from perturb.selective.surrogates.persons import Word, build_cast, read_person
from perturb.text.case import match_case

__all__ = ["SurrogateCheck"]

WRONG = "a surrogate differs in form from its part"


class SurrogateCheck:
    """Check the surrogates of one text: public names, or characters of the same form; never the
    raw value, and equal for equal parts.

    Args:
        names: the raw names of the text that have a surrogate.

    Attributes:
        kept, rates: how many drawn characters are unchanged, and the chance of each.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._cast = build_cast(names)
        self._found: dict[tuple[str, ...], str] = {}
        self._words: dict[tuple[str, str], str] = {}  # the raw word of each name
        self._initials: list[tuple[tuple[str, ...], str]] = []
        self.kept = 0
        self.rates: list[float] = []

    def check_person(
        self, words: Sequence[str], between: Sequence[str], new: Sequence[str]
    ) -> None:
        """Check the words of a name."""
        read = read_person(words, between)
        if read is None or len(new) != len(words):
            raise ReleaseError(WRONG)
        for word, raw, own in zip(read, words, new, strict=True):
            script = read_script(word.key)
            if read_script(own) != script or match_case(own, raw) != own:
                raise ReleaseError(WRONG)
            if word.role == "initial":
                if len(own) != 1:
                    raise ReleaseError(WRONG)
                self._check_initial(word, own, script)
                continue
            role = load_names()[script].role_of(own)
            if not role or (word.role != "alone" and role != word.role):
                raise ReleaseError("a surrogate is no public name")
            if fold_name(own) == word.key:
                raise ReleaseError("a surrogate is its own raw value")
            self._check_equal((script, role, word.key), own.casefold())
            if self._words.setdefault((role, own.casefold()), word.key) != word.key:
                raise ReleaseError("two names have one surrogate")

    def check_address(self, raw: str, new: str) -> None:
        """Check an address."""
        old, made = read_address(raw), read_address(new)
        if old is None or made is None or len(old.tokens) != len(made.tokens):
            raise ReleaseError(WRONG)
        for one, own in zip(old.tokens, made.tokens, strict=True):
            if not _fits(one, own):
                raise ReleaseError(WRONG)
        label = made.domain.removesuffix(DOMAIN)
        public = load_names()["latin"].role_of(label) == "surname"
        if not public or made.domain != label + DOMAIN or made.domain == old.domain:
            raise ReleaseError("a surrogate is no public name")
        self._check_equal(("domain", old.domain), label)
        self._check_equal(("address", *_plain(old)), new.casefold())

    def check_form(self, type_: str, raw: str, new: str) -> None:
        """Check a number or a key."""
        form = read_form(type_, raw)
        if form is None or not form.fits(new):
            raise ReleaseError(WRONG)
        spelled = _join(form, raw), _join(form, new)
        self._check_equal(("form", form.name, spelled[0]), spelled[1])
        self.kept += sum(raw[i] == new[i] for i in form.free)
        self.rates += form.rates()

    def finish(self) -> None:
        """Check the initials, once all names are known."""
        for given, letter in self._initials:
            own = self._found.get(given)
            if own is not None and own[0] != letter:
                raise ReleaseError("an initial is not that of its name")

    def _check_initial(self, word: Word, own: str, script: str) -> None:
        if given := self._cast.find_given(word):
            self._initials.append(((script, "given", given), own.casefold()))

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


def _plain(address: Address) -> tuple[str, ...]:
    return (*(token.lower() for token in address.tokens), address.domain)


def _join(form: Form, text: str) -> str:
    return re.sub("[ .-]", "", text) if form.grouped else text
