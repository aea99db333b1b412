"""Make values of every type, each different from all others, and recognise them again."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

__all__ = ["IN_CONTEXT", "NUMBER", "TYPES", "Value", "Values", "find_values"]

_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_FIRST = ("Ottilie", "Bartosz", "Henrike", "Aurelio", "Milena", "Thaddeus", "Ginevra", "Ruprecht")
_STREETS = ("Street", "Avenue", "Road", "Lane", "Drive")
NUMBER = "NUMBER"  # the type of a bare number without a check digit
_CHECKED = "CREDIT_CARD"
_SEPARATORS = re.compile(r"[^\w]|_")


@dataclass(frozen=True)
class Value:
    """Hold a planted value.

    Attributes:
        type: its type.
        text: the value as it is planted.
        cores: parts of it of which none may be seen upstream.
    """

    type: str
    text: str
    cores: tuple[str, ...]

    @property
    def number(self) -> int | None:
        """Return the value as a number, if it has nine digits or more and no letters."""
        digits = "".join(filter(str.isdigit, self.text))
        numeric = len(digits) >= 9 and not any(c.isalpha() for c in self.text)
        return int(digits) if numeric and digits[0] != "0" else None

    @property
    def number_type(self) -> str:
        """Return the type of the value where it is a bare number."""
        return self.type if self.type == _CHECKED else NUMBER

    @property
    def name(self) -> str | None:
        """Return the value as the name of a function; None if it cannot be one."""
        spelled = self.text.replace(" ", "_") if self.type == "NAME" else self.text
        return spelled if re.fullmatch(r"[A-Za-z0-9_-]+", spelled) else None


def find_values(values: Iterable[Value], texts: Iterable[str]) -> set[Value]:
    """Return the values that texts show, in any capitals and with any separators."""
    values = tuple(values)
    folded = "\n".join(dict.fromkeys(texts)).casefold()
    cores = {core.casefold() for value in values for core in value.cores}
    numbers = {str(value.number) for value in values if value.number is not None}
    shown = _find_words(cores, folded)
    shown_numbers = _find_words(numbers, _SEPARATORS.sub("", folded))
    return {
        value
        for value in values
        if not shown.isdisjoint(core.casefold() for core in value.cores)
        or str(value.number) in shown_numbers
    }


def _find_words(words: Collection[str], text: str) -> set[str]:
    """Return the words that a text holds; one pass, however many words there are."""
    size = min(map(len, words), default=0)
    by_start: dict[str, list[str]] = {}
    for word in words:
        by_start.setdefault(word[:size], []).append(word)
    found: set[str] = set()
    for i in range(len(text) - size + 1) if by_start else ():
        for word in by_start.get(text[i : i + size], ()):
            if text.startswith(word, i):
                found.add(word)
    return found


class Values:
    """Make values from a seed, no two alike."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)  # noqa: S311 - made-up values are no secrets
        self._made: set[str] = set()

    def make(self, type_: str) -> Value:
        """Make a new value of a type: of `TYPES`, a PASSWORD or a PRIVATE_KEY."""
        while True:
            text, cores = (TYPES | IN_CONTEXT)[type_](self)
            if not self._made.intersection(cores):
                self._made.update(cores)
                return Value(type_, text, cores)

    def word(self) -> str:
        """Return a word that is in no dictionary."""
        return "".join(self._random.choices(_SYLLABLES, k=4))

    def digits(self, count: int) -> str:
        """Return random digits, none of them 0."""
        return "".join(self._random.choices("123456789", k=count))

    def pick(self, options: tuple[str, ...]) -> str:
        """Return one of several options."""
        return self._random.choice(options)


Made = tuple[str, tuple[str, ...]]


def _whole(make: Callable[[Values], str]) -> Callable[[Values], Made]:
    """Return a maker of values that may not be seen as a whole."""

    def made(values: Values) -> Made:
        text = make(values)
        return text, (text,)

    return made


def _make_name(values: Values) -> Made:
    surname = values.word().capitalize()
    return f"{values.pick(_FIRST)} {surname}", (surname,)


def _make_mail(values: Values) -> Made:
    user = values.word()
    return f"{user}.{values.digits(2)}@example.org", (user,)


def _make_url(values: Values) -> Made:
    user = values.word()
    return f"https://{values.word()}.example/~{user}/notes.html", (user,)


def _make_street(values: Values) -> Made:
    street = values.word().capitalize()
    return f"{values.digits(3)} {street} {values.pick(_STREETS)}", (street,)


def _make_card(values: Values) -> str:
    """Return a number with the check digit of ISO/IEC 7812."""
    digits = "4" + values.digits(14)
    doubled = [int(d) * (1 + (i % 2 == 0)) for i, d in enumerate(reversed(digits))]
    check = -sum(d - 9 * (d > 9) for d in doubled) % 10
    number = f"{digits}{check}"
    return "-".join(number[i : i + 4] for i in range(0, 16, 4))


def _make_iban(values: Values) -> str:
    """Return a German account number with the check digits of ISO 13616."""
    account = values.digits(18)
    check = 98 - int(account + "131400") % 97
    return f"DE{check:02d}{account}"


def _make_date(values: Values) -> str:
    year, month, day = (values.pick(tuple(map(str, range(*r)))) for r in _RANGES)
    return f"{year}-{int(month):02d}-{int(day):02d}"


_RANGES = ((1930, 2030), (1, 13), (1, 29))


def _group(values: Values, *counts: int) -> str:
    return "-".join(values.digits(count) for count in counts)


def _make_mac(values: Values) -> str:
    return ":".join(f"{values.digits(1)}{values.pick(tuple('ABCDEF'))}" for _ in range(6))


def _make_key(values: Values) -> str:
    return f"sk-{values.word()}{values.digits(4)}{values.word()}{values.digits(4)}"


def _make_private_key(values: Values) -> Made:
    lines = tuple("".join(values.pick(_BASE64) for _ in range(64)) for _ in range(4))
    return "\n".join((_BEGIN, *lines, _END)), lines


_BASE64 = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_BEGIN, _END = (f"-----{word} PRIVATE KEY-----" for word in ("BEGIN", "END"))


TYPES: dict[str, Callable[[Values], Made]] = {
    "NAME": _make_name,
    "EMAIL_ADDRESS": _make_mail,
    "PHONE_NUMBER": _whole(lambda v: f"+49 {v.digits(3)} {v.digits(8)}"),
    "STREET_ADDRESS": _make_street,
    "DATE_TIME": _whole(_make_date),
    "CREDIT_CARD": _whole(_make_card),
    "IBAN_CODE": _whole(_make_iban),
    "US_SSN": _whole(lambda v: _group(v, 3, 2, 4)),
    "IP_ADDRESS": _whole(lambda v: ".".join(v.digits(2) for _ in range(4))),
    "MAC_ADDRESS": _whole(_make_mac),
    "URL": _make_url,
    "MONEY": _whole(lambda v: f"${v.digits(2)},{v.digits(3)},{v.digits(3)}"),
    "ID": _whole(lambda v: f"CX-{v.digits(8)}"),
    "API_KEY": _whole(_make_key),
}
# Types whose values are known by what stands around them: they are in documents only.
IN_CONTEXT: dict[str, Callable[[Values], Made]] = {
    "PASSWORD": _whole(lambda v: f"{v.word()}-{v.word().capitalize()}{v.digits(2)}"),
    "PRIVATE_KEY": _make_private_key,
}
