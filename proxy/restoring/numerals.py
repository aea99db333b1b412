"""Write numbers in the ways in which a remote may write them: amounts, and the last four digits
of a number. `Numbers` finds long ones, whatever their separators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from perturb.text.prefixes import Prefixes

__all__ = ["MOST_DIGITS", "Number", "Numbers", "spell_amounts", "spell_endings"]

FEWEST_DIGITS = 7  # of a number that is known without its separators
MOST_DIGITS = 40
ENDED = 9  # digits of a number that people tell by its last four
YEARS = range(1900, 2101)
CALLING = {
    *("20", "27", "30", "31", "32", "33", "34", "36", "40", "41", "43", "44", "45", "46", "47"),
    *("48", "49", "51", "52", "54", "55", "56", "57", "60", "61", "62", "63", "64", "65", "66"),
    *("81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98"),
}
ENDINGS = (
    *("ending in ", "ending with ", "ends in ", "ends with ", "ending ", "ended in "),
    *("last four digits ", "last 4 digits ", "last four digits: ", "last 4 digits: "),
    *("last four digits are ", "last 4 digits are ", "last four ", "last 4: "),
    *("endet auf ", "endend auf ", "endet mit ", "mit der endung ", "endziffern "),
    *("letzte vier ziffern ", "letzten vier ziffern ", "letzte vier ziffern: "),
    *("*", "* ", "*-", "•", "• ", "…", "… ", "...", "... ", "xxxx", "xxxx ", "xxxx-", "x"),
)
_SEPARATORS = re.compile(r"[ .\-/()+]")
_RUN = re.compile(rf"[0-9](?:[ .\-/()]{{0,3}}[0-9]){{0,{MOST_DIGITS - 1}}}")
_AMOUNT = re.compile(
    r"(?P<before>[^\w\s]?\s?|[A-Z]{3}\s?)(?P<whole>[0-9]{1,3}(?:(?P<sign>[ ,.'])[0-9]{3})"
    r"(?:(?P=sign)[0-9]{3}){0,4}|[0-9]{1,9})(?:[.,](?P<part>[0-9]{1,2}))?"
    r"(?P<after>\s?[^\d\s]{0,12})"
)
_LONG = re.compile(r"[A-Z0-9]{9,40}")


def _read_digits(text: str) -> str:
    """Return the digits of a number, or nothing if it is none."""
    digits = _SEPARATORS.sub("", text)
    return digits if digits.isascii() and digits.isdigit() else ""


def spell_amounts(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield an amount with other separators, or without its unit, with the raw one written so.

    >>> dict(spell_amounts("$4,310.50", "$950"))["4310.50"]
    '950'
    """
    ours, theirs = _AMOUNT.fullmatch(new), _AMOUNT.fullmatch(raw)
    if not ours or not theirs or len(whole := re.sub(r"\D", "", ours["whole"])) < 4:
        return
    bare = not (ours["before"] or ours["after"])
    if bare and not ours["sign"]:
        return
    same_unit = (ours["before"], ours["after"]) == (theirs["before"], theirs["after"])
    for thousands, point in (("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), ("'", ".")):
        for is_round in (False, True):
            if is_round and (ours["part"] or "").strip("0"):
                continue
            told = [_write(each, thousands, point, is_round=is_round) for each in (ours, theirs)]
            shown, value = told
            if same_unit and not bare:
                shown_unit, unit = (f"{a['before']}{{}}{a['after']}" for a in (ours, theirs))
                yield shown_unit.format(shown), unit.format(value)
            if thousands or (ours["part"] and not is_round) or int(whole) not in YEARS:
                yield shown, value


def _write(amount: re.Match[str], thousands: str, point: str, *, is_round: bool) -> str:
    whole = f"{int(re.sub(r'[^0-9]', '', amount['whole'])):,}".replace(",", thousands)
    part = amount["part"] or ""
    return whole if not part or (is_round and not part.strip("0")) else whole + point + part


def spell_endings(new: str, raw: str) -> Iterator[tuple[str, str, int]]:
    """Yield the last four digits of a long number, as they are told, with those of the raw one,
    and the length of what comes before them. Four digits alone may be anything."""
    ours, theirs = (_SEPARATORS.sub("", text) for text in (new, raw))
    if not (_LONG.fullmatch(ours) and _LONG.fullmatch(theirs)):
        return
    if not ours[-4:].isdigit() or not theirs[-4:].isdigit() or sum(map(str.isdigit, ours)) < ENDED:
        return
    for told in ENDINGS:
        yield told + ours[-4:], theirs[-4:], len(told)
    if int(ours[-4:]) not in YEARS:
        yield ours[-4:], theirs[-4:], 0


class Number(NamedTuple):
    """Hold where a number ends, its replacement, and its raw value with the separators that are
    written; None for that if two values share it."""

    end: int
    new: str
    raw: str | None


class Numbers:
    """Find long numbers, whatever their separators: telephones, cards, accounts.

    Args:
        raw_of: the raw value of each replacement.
    """

    def __init__(self, raw_of: Mapping[str, str]) -> None:
        self._raws: dict[str, dict[str, str]] = {}  # by digits: the raw digits, and whose
        for new, raw in raw_of.items():
            ours, theirs = _read_digits(new), _read_digits(raw)
            if len(ours) < FEWEST_DIGITS or not theirs or len(ours) > MOST_DIGITS:
                continue
            if new.startswith("+") != raw.startswith("+"):
                continue
            self._add(ours, theirs, new)
            if not new.startswith("+"):
                continue
            self._add("00" + ours, "00" + theirs, new)
            if ours[:2] == theirs[:2] and ours[:2] in CALLING:
                self._add("0" + ours[2:], "0" + theirs[2:], new)
                self._add(f"{ours[:2]}0{ours[2:]}", f"{theirs[:2]}0{theirs[2:]}", new)
            elif ours[0] == theirs[0] == "1":
                self._add(ours[1:], theirs[1:], new)
        self._prefixes = Prefixes(self._raws)

    def _add(self, ours: str, theirs: str, new: str) -> None:
        self._raws.setdefault(ours, {}).setdefault(theirs, new)

    def __bool__(self) -> bool:
        return bool(self._raws)

    def find(self, text: str, start: int, *, whole: bool) -> list[Number] | None:
        """Find the numbers that begin at a digit, the longest first.

        Returns:
            None if it depends on what follows.
        """
        run = _RUN.match(text, start)
        if run is None:
            return []
        places = [place for place in range(start, run.end()) if text[place].isdigit()]
        digits = "".join(text[place] for place in places)
        rest = text[run.end() : run.end() + 4]
        may_continue = len(rest) < 4 and not rest.strip(" .-/()")
        if not whole and may_continue and self._prefixes.continues(digits):
            return None
        found = []
        for number in self._prefixes.find(digits, 0):
            end = places[len(number) - 1] + 1
            (raw, new), *others = self._raws[number].items()
            value = None if others else _lay_out(raw, text[start:end], len(number))
            found.append(Number(end, new, value))
        return found


def _lay_out(raw: str, written: str, count: int) -> str:
    """Write the digits of a raw number with the separators of another one."""
    if len(raw) != count:
        return raw
    digits = iter(raw)
    return "".join(next(digits) if c.isdigit() else c for c in written)
