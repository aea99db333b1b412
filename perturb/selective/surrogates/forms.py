"""Read the form of numbers and keys: which characters a surrogate keeps, and which checks hold."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product

from perturb.selective.patterns.checks import (
    has_national_check,
    has_vat_check,
    is_iban,
    passes_luhn,
)
from perturb.selective.patterns.contact import INTERNAL, is_ip_address
from perturb.selective.patterns.shape import words_of

__all__ = ["CALLING", "SurrogateForm", "has_check", "read_form"]

_LOWER, _UPPER, _DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
_MACHINES = ("INTERNAL_HOST", "IP_ADDRESS", "PRIVATE_ADDRESS")
_HEX = {"MAC_ADDRESS", *_MACHINES}
_PRIVATE = re.compile(r"(?:10|192\.168|172\.(?:1[6-9]|2[0-9]|3[01]))\.")  # RFC 1918
_INTERNAL_END = re.compile(rf"\.(?:{'|'.join(INTERNAL)})\Z")
# Written with and without blanks or strokes: equal numbers get equal surrogates in any grouping.
_GROUPED = {
    *("ACCOUNT_NUMBER", "CREDIT_CARD", "IBAN_CODE", "NATIONAL_ID", "PHONE_NUMBER", "US_SSN"),
    "VAT_NUMBER",
}
_BETWEEN = re.compile(r"[\s()./>|-]")
# The codes of countries with two digits (ITU-T E.164); one has 1 and 7, the others three.
CALLING = words_of(
    """
    20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65
    66 81 82 84 86 90 91 92 93 94 95 98
    """
)
_CALLED = re.compile(
    rf"(?:\+|00)[ (]?(?:[17]|{'|'.join(sorted(CALLING))}|[2-9][0-9]{{2}})"
    r"[ )./-]{0,3}(?:\(0\)|0)?"
)
_EXTENSION = re.compile(r"(?:ext|x)(?=\.? ?[0-9])")
_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "CREDIT_CARD": passes_luhn,
    "IBAN_CODE": is_iban,
    **dict.fromkeys(_MACHINES, is_ip_address),
    "NATIONAL_ID": has_national_check,
    "VAT_NUMBER": has_vat_check,
}
# Numbers that are reserved for fiction: 01 after the exchange 555 in North America (ATIS), and
# 7700 900 among British mobile numbers (Ofcom). With the digits that such a number has.
_RESERVED = (
    (
        re.compile(
            r"(?:\+?1[ .-]?\(?[2-9][0-9]{2}\)?[ .-]?|\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])"
            r"[0-9]{3}[ .-]?[0-9]{4}"
        ),
        "***55501**",
    ),
    (re.compile(r"(?:\+44 ?(?:\(0\) ?)?|0)7[0-9]{3} ?[0-9]{3} ?[0-9]{3}"), "7700900***"),
)
# Upper bounds on the chance of a character to stay, where a check ties it to the others.
_TIED = {**dict.fromkeys(_MACHINES, 0.5), "NATIONAL_ID": 0.25, "VAT_NUMBER": 0.25}


@dataclass(frozen=True)
class SurrogateForm:
    """The form of a part.

    Attributes:
        type: of the part.
        raw: the part; of a telephone number, a reserved one that it is made of.
        alphabets: the characters that each place may hold; "" for one that is not drawn.
        computed: the places of check digits, which follow from the other characters.
        reserved: the last digits of a telephone number that nobody has; * for one that is drawn.
    """

    type: str
    raw: str
    alphabets: tuple[str, ...]
    computed: tuple[int, ...] = ()
    reserved: str = ""

    @property
    def free(self) -> list[int]:
        """Return the places that are drawn."""
        return [i for i, alphabet in enumerate(self.alphabets) if alphabet]

    @property
    def grouped(self) -> bool:
        """Tell if blanks and strokes in it do not matter."""
        return self.type in _GROUPED

    @property
    def name(self) -> str:
        """Return the name of the form: equal for parts that share a permutation."""
        if self.reserved:
            return f"{self.type} {self.reserved}"
        sizes = [len(alphabet) for alphabet in self.alphabets if alphabet]
        if self.type == "PHONE_NUMBER":  # with and without the code of its country
            return f"{self.type} {sizes}"
        drawn = {*self.free, *self.computed}
        spelled = "".join("*" if i in drawn else c for i, c in enumerate(self.raw))
        if self.grouped:
            spelled = _BETWEEN.sub("", spelled)
        return f"{self.type} {spelled} {sizes}"

    def join(self, text: str) -> str:
        """Return a text of this form as it is in all its groupings."""
        if self.reserved:
            return "".join(filter(str.isdigit, text))[-len(self.reserved) :]
        if self.type == "PHONE_NUMBER":
            return "".join(text[i] for i in self.free)
        return _BETWEEN.sub("", text) if self.grouped else text

    def passes(self, text: str) -> bool:
        """Tell if a text of this form has the right check digits, where the part has them."""
        return not has_check(self.type, self.raw) or has_check(self.type, text)

    def fill(self, drawn: str) -> str:
        """Return the part with other characters at the places that are drawn."""
        out = list(self.raw)
        for place, c in zip(self.free, drawn, strict=True):
            out[place] = c
        if self.type == "IBAN_CODE" and self.computed:
            choices: Iterable[Sequence[str]] = [_find_iban_digits("".join(out), self.computed)]
        else:
            choices = product(*(_read_alphabet(self.raw[i]) for i in self.computed))
        for digits in choices:  # without check digits, one choice of none
            for place, c in zip(self.computed, digits, strict=True):
                out[place] = c
            if not self.computed or has_check(self.type, "".join(out)):
                break
        return "".join(out)

    def fits(self, text: str) -> bool:
        """Tell if a text has this form and its check digits, and differs from the part."""
        return (
            len(text) == len(self.raw)
            and text != self.raw
            and all(
                c in (_read_alphabet(old) if i in self.computed else alphabet or old)
                for i, (old, c, alphabet) in enumerate(
                    zip(self.raw, text, self.alphabets, strict=True)
                )
            )
            and self.passes(text)
        )

    def rates(self) -> list[float]:
        """Return an upper bound on the chance of each drawn character to stay."""
        tied = _TIED.get(self.type, 0.0)
        # The first of several digits is never 0; a check may rule out a few more.
        return [max(tied, 1.1 / len(self.alphabets[place])) for place in self.free]


_QUOTED = re.compile(r"%[0-9A-Fa-f]{2}")  # of an address of the web: it would be none afterwards


def read_form(type_: str, raw: str) -> SurrogateForm | None:
    """Return the form of a part; None where nothing in it could be drawn as letters and digits.

    Zeros at the beginning of a number stay, and so do an IBAN's and a VAT number's country, the
    code of a telephone number's, and the first two digits of a card, which are its issuer's. An
    address of a private network (RFC 1918) stays one, and a host of it keeps the last part of its
    name.

    A telephone number becomes one that is reserved for fiction, in the forms of North America and
    of British mobile numbers.

    >>> form = read_form("ID", "AB-0471")
    >>> form.free, [len(alphabet) for alphabet in form.alphabets]
    ([0, 1, 4, 5, 6], [26, 26, 0, 0, 9, 10, 10])
    """
    if not raw.isascii() or not any(map(str.isdigit, raw)) or _QUOTED.search(raw):
        return None
    if type_ == "PHONE_NUMBER" and (reserved := _reserve(raw)):
        return reserved
    numeral = _HEX if ":" in raw or type_ == "MAC_ADDRESS" else ()
    letters = "ABCDEF" if raw.upper() == raw else "abcdef"
    hexadecimal = _DIGITS + letters if type_ in numeral else ""
    alphabets = [
        hexadecimal * (c in string.hexdigits) if hexadecimal else _read_alphabet(c) for c in raw
    ]
    if type_ not in numeral:
        _keep_zeros(type_, raw, alphabets)
    places = [i for i, c in enumerate(raw) if c.isalnum()]
    computed = tuple(_find_check_places(type_, raw, places))
    kept = 0
    if type_ in ("IBAN_CODE", "VAT_NUMBER", "CREDIT_CARD"):
        kept = 3 if raw.startswith(("BE", "CHE")) else 2
    if type_ in _MACHINES and is_ip_address(raw) and (found := _PRIVATE.match(raw)):
        kept = sum(map(str.isdigit, found[0]))
    if type_ == "INTERNAL_HOST" and (found := _INTERNAL_END.search(raw)):
        alphabets[found.start() :] = [""] * len(found[0])
    if type_ == "VAT_NUMBER":  # a letter is a part of the country's form
        alphabets = [a if c.isdigit() else "" for a, c in zip(alphabets, raw, strict=True)]
    for place in (*places[:kept], *computed):
        alphabets[place] = ""
    if type_ == "PHONE_NUMBER" and (found := _CALLED.match(raw)):
        alphabets[: found.end()] = [""] * found.end()
        first = next((i for i, alphabet in enumerate(alphabets) if alphabet), 0)
        if raw[first] != "0":
            alphabets[first] = _DIGITS[1:]
    if type_ == "PHONE_NUMBER" and (found := _EXTENSION.search(raw)):
        alphabets[found.start() : found.end()] = [""] * len(found[0])
    form = SurrogateForm(type_, raw, tuple(alphabets), computed)
    return form if form.free else None


def _reserve(raw: str) -> SurrogateForm | None:
    """Return the form of a telephone number whose surrogate is one that nobody has."""
    for form, digits in _RESERVED:
        if form.fullmatch(raw):
            places = [i for i, c in enumerate(raw) if c.isdigit()][-len(digits) :]
            template, alphabets = list(raw), [""] * len(raw)
            for place, digit in zip(places, digits, strict=True):
                if digit == "*":
                    alphabets[place] = _DIGITS
                else:
                    template[place] = digit
            if digits[0] == "*":  # no code of an area begins with 0 or 1
                alphabets[places[0]] = _DIGITS[2:]
            return SurrogateForm(
                "PHONE_NUMBER", "".join(template), tuple(alphabets), reserved=digits
            )
    return None


def _find_check_places(type_: str, raw: str, places: Sequence[int]) -> Sequence[int]:
    """Return the places of the check digits of a part that has the right ones."""
    if not has_check(type_, raw):
        return ()
    match type_, raw[:2]:
        case ("IBAN_CODE", _) | ("VAT_NUMBER", "FR"):
            return places[2:4]
        case ("CREDIT_CARD", _) | ("VAT_NUMBER", "DE" | "IT" | "PL"):
            return places[-1:]
        case "VAT_NUMBER", "GB":
            return places[-2:]
        case "NATIONAL_ID", _:  # of France, 15 characters long, it has two
            return places[-2:] if len(places) == 15 else places[-1:]
    return ()


def has_check(type_: str, text: str) -> bool:
    """Tell if a text of a type with check digits has the right ones."""
    check = _CHECKS.get(type_)
    try:
        return check is not None and check(text)
    except (ValueError, IndexError):  # a policy may give any text the type
        return False


def _read_alphabet(c: str) -> str:
    return next((alphabet for alphabet in (_DIGITS, _LOWER, _UPPER) if c in alphabet), "")


def _keep_zeros(type_: str, raw: str, alphabets: list[str]) -> None:
    """Keep the zeros at the beginning of each number; the next digit is never a zero."""
    places = [i for i, c in enumerate(raw) if c.isdigit()]
    if type_ in _GROUPED:
        runs = [places]
    else:
        groups = groupby(enumerate(places), key=lambda pair: pair[1] - pair[0])
        runs = [[place for _, place in group] for _, group in groups]
    for run in runs:
        for place in run:
            if raw[place] != "0":
                alphabets[place] = _DIGITS[1:] if len(run) > 1 else _DIGITS
                break
            alphabets[place] = ""


def _find_iban_digits(text: str, places: Sequence[int]) -> str:
    """Return the check digits of an IBAN, whatever stands in their places."""
    plain = "".join(c for i, c in enumerate(text) if c.isalnum() and i not in places)
    number = "".join(str(int(c, 36)) for c in plain[2:] + plain[:2] + "00")
    return f"{98 - int(number) % 97:02d}"
