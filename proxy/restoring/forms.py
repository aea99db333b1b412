"""The forms in which a remote may write a replacement, and the raw value in each of them."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from html.entities import codepoint2name
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from perturb.selective.surrogates.forms import CALLING
from perturb.selective.values import ENGLISH, FRENCH, GERMAN, SPANISH
from perturb.text.fold import STROKES
from perturb.text.search import Prefixes
from proxy.restoring.cases import CASES, CYRILLIC, decline, romanize, romanize_briefly

__all__ = [
    "FORMS",
    "MOST_DIGITS",
    "PLAIN",
    "Form",
    "Number",
    "Numbers",
    "Spelling",
    "flatten",
    "fold_case",
    "is_tag",
    "recase",
    "simplify",
    "spell",
    "spell_amounts",
    "spell_beginnings",
    "spell_dates",
    "spell_endings",
    "spell_masks",
    "spell_streets",
]

# Months as they are written between a day and a year, and what stands between these.
_LANGUAGES = (
    (FRENCH, " "),
    (SPANISH, " de "),
    *(
        (tuple(months.split()), between)
        for months, between in (
            (
                "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
                "novembre dicembre",
                " ",
            ),
            (
                "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
                "dezembro",
                " de ",
            ),
            (
                "januari februari maart april mei juni juli augustus september oktober november "
                "december",
                " ",
            ),
            (
                "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
                "listopada grudnia",
                " ",
            ),
            (
                "января февраля марта апреля мая июня июля августа сентября октября ноября "
                "декабря",
                " ",
            ),
        )
    ),
)
_MONTHS = {
    **{name.lower(): number for names, _ in _LANGUAGES for number, name in enumerate(names, 1)},
    **{
        name[:size].lower(): number
        for names in (ENGLISH, GERMAN)
        for number, name in enumerate(names, 1)
        for size in (3, len(name))
    },
    "sept": 9,
}
_ISO = re.compile(r"(?P<y>[12][0-9]{3})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})")
_FIGURES = re.compile(r"(?P<a>[0-9]{1,2})(?P<s>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<y>[12][0-9]{3})")
_NAMED = (
    re.compile(
        r"(?P<d>[0-9]{1,2})(?:\.|st|nd|rd|th|er)?\s(?:(?:of|de)\s)?(?P<m>[^\W\d_]{3,12})\.?"
        r"(?:,?\s(?:de\s)?(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(
        r"(?P<m>[^\W\d_]{3,9})\.?\s(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?(?:,?\s(?P<y>[12][0-9]{3}))?"
    ),
    re.compile(r"(?P<m>[^\W\d_]{3,9})\.?,?\s(?P<y>[12][0-9]{3})(?P<d>)"),
)


class _Date(NamedTuple):
    """Hold a date; what it does not tell is 0."""

    year: int
    month: int
    day: int


def spell_dates(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield a date that replaces another one in each way to write it, with that one written so.

    Where the order of day and month is not known, it is read both ways.

    >>> dict(spell_dates("2023-06-09", "2021-05-12"))["June 9"]
    'May 12'
    """
    for ours, theirs in zip(_read_date(new), _read_date(raw), strict=False):
        if [bool(part) for part in ours] != [bool(part) for part in theirs]:
            continue
        for write in _WAYS:
            shown = write(ours)
            if shown is not None and shown != new:
                yield shown, write(theirs) or raw


def _read_date(text: str) -> list[_Date]:
    text = " ".join(text.split())
    if found := _ISO.fullmatch(text):
        read = [(found["y"], found["m"], found["d"])]
    elif found := _FIGURES.fullmatch(text):
        read = [(found["y"], found["b"], found["a"])]
        if found["s"] != ".":
            read.append((found["y"], found["a"], found["b"]))
    else:
        read = []
        for named in _NAMED:
            if found := named.fullmatch(text):
                month = _MONTHS.get(found["m"].lower(), 0)
                read = [(found["y"] or "0", str(month), found["d"] or "0")] if month else []
                break
    # What is no date in one order keeps its place: the orders of two dates pair up.
    return [_Date(*map(int, parts)) for parts in read]


def _has(date: _Date, parts: str) -> bool:
    told = {"y": date.year, "m": 1 <= date.month <= 12, "d": 1 <= date.day <= 31}
    return all(map(told.get, parts))


def _figures(pattern: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        shown = pattern.format(y=date.year, m=date.month, d=date.day)
        return shown if _has(date, "ymd") else None

    return write


def _words(pattern: str, names: tuple[str, ...], parts: str) -> Callable[[_Date], str | None]:
    def write(date: _Date) -> str | None:
        if not _has(date, parts):
            return None
        day = date.day
        ordinal = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
        month = names[date.month - 1]
        first = "1er" if day == 1 else day  # of a month in French
        return pattern.format(
            y=date.year, m=month, s=month[:3], d=day, o=f"{day}{ordinal}", f=first
        )

    return write


def _write_year(date: _Date) -> str | None:
    return str(date.year) if date.year else None


_WAYS = (
    *map(_figures, ("{y}-{m:02}-{d:02}", "{y}/{m:02}/{d:02}", "{y}{m:02}{d:02}")),
    _figures("{y}, {m}, {d}"),
    *map(_figures, ("{d:02}.{m:02}.{y}", "{d}.{m}.{y}", "{d:02}/{m:02}/{y}", "{d}/{m}/{y}")),
    *map(_figures, ("{m:02}/{d:02}/{y}", "{m}/{d}/{y}", "{d:02}-{m:02}-{y}", "{m:02}-{d:02}-{y}")),
    *(
        _words(pattern.replace("M", month) + year, ENGLISH, "md" + "y" * bool(year))
        for pattern, years in (
            ("{d} M", (" {y}", "")),
            ("{d:02} M", (" {y}", "")),
            ("{d:02}-M", ("-{y}",)),
            ("{d}-M", ("-{y}",)),
            ("M {d}", (", {y}", " {y}", "")),
            ("{o} M", (" {y}", "")),
            ("{o} of M", (" {y}", ", {y}", "")),
            ("M {o}", (", {y}", "")),
        )
        for month in ("{m}", "{s}")
        for year in years
    ),
    *(
        _words(pattern, GERMAN, "md" + "y" * pattern.endswith("{y}"))
        for pattern in ("{d}. {m} {y}", "{d}. {m}", "{d} {m} {y}")
    ),
    *(
        _words(pattern, names, "my")
        for pattern in ("{m} {y}", "{s} {y}")
        for names in (ENGLISH, GERMAN)
    ),
    *(
        _words(f"{day}{between}{{m}}{year}", names, "md" + "y" * bool(year))
        for names, between in _LANGUAGES
        for day in ("{d}", "{f}")[: 1 + (names is _LANGUAGES[0][0])]
        for year in (f"{between}{{y}}", "")
    ),
    *(_words(f"{{m}}{between}{{y}}", names, "my") for names, between in _LANGUAGES),
    _write_year,
)


FEWEST_DIGITS = 7  # of a number that is known without its separators
MOST_DIGITS = 40
ENDED = 8  # digits of a number that people tell by its last four
YEARS = range(1900, 2101)
ENDINGS = (
    *("ending in ", "ending with ", "ends in ", "ends with ", "ending ", "ended in "),
    *("last four digits ", "last 4 digits ", "last four digits: ", "last 4 digits: "),
    *("last four digits are ", "last 4 digits are ", "last four ", "last 4: "),
    *("endet auf ", "endend auf ", "endet mit ", "mit der endung ", "endziffern "),
    *("letzte vier ziffern ", "letzten vier ziffern ", "letzte vier ziffern: "),
    *("*", "* ", "*-", "•", "• ", "…", "… ", "...", "... ", "xxxx", "xxxx ", "xxxx-", "x"),
)
BEGINNINGS = (
    *("starting with ", "starts with ", "beginning with ", "begins with "),
    *("beginnt mit ", "beginnend mit "),
)
MAIL_MASKS = ("***", "****", "*****", "...")
MASKS = (" *", "-*", "*", " x", "-x", "x", " \u2022")  # after the first four digits
_SEPARATORS = re.compile(r"[ .\-/()+]")
_RUN = re.compile(rf"[0-9](?:[ .\-/()]{{0,3}}[0-9]){{0,{MOST_DIGITS - 1}}}")
_STREET_NUMBER = r"(?P<number>[0-9]{1,5} ?[A-Za-z]?(?:[-/][0-9]{1,5}[A-Za-z]?)?)"
_STREET_WORDS = r"(?P<words>(?=.{0,80}[^\W\d_]{4})[^\d\n,]{4,80}"
_FIRST_NUMBER = re.compile(rf"{_STREET_NUMBER},? {_STREET_WORDS})")
_LAST_NUMBER = re.compile(rf"{_STREET_WORDS}?),? {_STREET_NUMBER}")
_AMOUNT = re.compile(
    r"(?P<before>[^\w\s]?\s?|[A-Z]{3}\s?)(?P<whole>[0-9]{1,3}(?:(?P<sign>[ ,.'])[0-9]{3})"
    r"(?:(?P=sign)[0-9]{3}){0,4}|[0-9]{1,9})(?:[.,](?P<part>[0-9]{1,2}))?"
    r"(?P<after>\s?[^\d\s]{0,12})"
)
_LONG = re.compile(r"[A-Z0-9]{8,40}")


def _read_digits(text: str) -> str:
    """Return the digits of a number; "" if the text is not one."""
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


def spell_beginnings(new: str, raw: str) -> Iterator[tuple[str, str, int, bool]]:
    """Yield the digits that an IBAN or a card begins with, as they are told, with those of the raw
    one, the length of what comes before them, and whether they can be nothing else.

    >>> iban = spell_beginnings("DE89370400440532013000", "DE12500105170648489890")
    >>> [shown for shown, *_ in iban]
    ['370400440532013000', 'DE89', 'DE89...3000', 'DE89…3000']
    """
    ours, theirs = (_SEPARATORS.sub("", text).upper() for text in (new, raw))
    if _IBAN.fullmatch(ours) and _IBAN.fullmatch(theirs):
        yield ours[4:], theirs[4:], 0, True
        yield ours[:4], theirs[:4], 0, True
        for dots in ("...", "\u2026"):
            yield ours[:4] + dots + ours[-4:], theirs[:4] + dots + theirs[-4:], 0, True
    elif _CARD.fullmatch(ours) and _CARD.fullmatch(theirs):
        for told in BEGINNINGS:
            yield told + ours[:4], theirs[:4], len(told), True
        for mask in MASKS:
            yield ours[:4] + mask, theirs[:4] + mask, 0, True
        for dots in ("...", "\u2026"):
            yield ours[:4] + dots + ours[-4:], theirs[:4] + dots + theirs[-4:], 0, True
        yield ours[:6], theirs[:6], 0, False


def spell_masks(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield an address of e-mail with a part of its name masked, and the raw one masked as much.

    >>> dict(spell_masks("edward@beckwade.example", "anna@firm.de"))["e***@beckwade.example"]
    'a***@firm.de'
    """
    ours, theirs = _MAIL.fullmatch(new), _MAIL.fullmatch(raw)
    if not ours or not theirs or min(len(ours[1]), len(theirs[1])) < 3:
        return
    names = (ours[1], theirs[1])
    for first, last, masks in ((1, 0, MAIL_MASKS), (1, 1, MAIL_MASKS[:1]), (2, 0, MAIL_MASKS[:1])):
        for mask in dict.fromkeys((*masks, "*" * (len(ours[1]) - first - last))):
            shown, value = (name[:first] + mask + name[len(name) - last :] for name in names)
            yield f"{shown}@{ours[2]}", f"{value}@{theirs[2]}"


def spell_streets(new: str, raw: str) -> Iterator[tuple[str, str]]:
    """Yield a street and a number in each order, or with the street in short, with the raw ones.

    >>> [shown for shown, _ in spell_streets("12 Baker Street", "4 Elm Road")][1:4]
    ['Baker Street 12', '12, Baker Street', 'Baker Street, 12']
    """
    for numbered in (_FIRST_NUMBER, _LAST_NUMBER):
        ours, theirs = numbered.fullmatch(new), numbered.fullmatch(raw)
        if ours and theirs:
            break
    else:
        return
    texts = (ours["number"], ours["words"]), (theirs["number"], theirs["words"])
    for form in ("{0} {1}", "{1} {0}", "{0}, {1}", "{1}, {0}", "{1} no. {0}", "{1} nr. {0}"):
        yield form.format(*texts[0]), form.format(*texts[1])
    for kind in ("straße", "strasse"):
        if all(words.endswith(kind) for _, words in texts):
            for brief in ("str. ", "str "):
                shown, value = (
                    words.removesuffix(kind) + brief + number for number, words in texts
                )
                yield shown, value


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
            for shown, value in _spell_calls(new, ours, theirs):
                if len(shown) >= FEWEST_DIGITS:
                    self._add(shown, value, new)
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


def _spell_calls(new: str, ours: str, theirs: str) -> Iterator[tuple[str, str]]:
    """Yield the digits of a telephone number with another beginning: as it is called from abroad,
    or from the same country; and those of the raw one.

    >>> [shown for shown, _ in _spell_calls("+34 612 457 889", "34612457889", "34698765432")]
    ['0034612457889', '612457889', '0612457889', '340612457889']
    """
    if new.startswith("+"):
        yield "00" + ours, "00" + theirs
        size = 1 if ours[0] in "17" else 2 if ours[:2] in CALLING else 3
        code, rest, value = ours[:size], ours[size:], theirs[size:]
        if code != theirs[:size]:
            return
        yield rest, value
        if code != "1":
            trunk = "8" if code == "7" else "0"
            yield trunk + rest, trunk + value
            yield f"{code}{trunk}{rest}", f"{code}{trunk}{value}"
    elif ours[0] == theirs[0] == "0" and "0" not in (ours[1], theirs[1]):
        yield ours[1:], theirs[1:]  # after the code of the country
    elif len(ours) == len(theirs) == 10 and new[0] in "(23456789":
        yield "1" + ours, "1" + theirs


def _lay_out(raw: str, written: str, count: int) -> str:
    """Write the digits of a raw number with the separators of another one."""
    if len(raw) != count:
        return raw
    digits = iter(raw)
    return "".join(next(digits) if c.isdigit() else c for c in written)


LONGEST_FORM = 100  # characters of a replacement that has other forms than its own
MOST_WORDS = 6  # of a replacement that is looked for as one word
_ABBREVIATIONS = (
    "AC AD AI AM API AR AS AT BA BC BE BS CA CC CD CE CEO CFO CI CLI CM CO CPU CS CSS CSV "
    "CTO CV DB DC DE DI DJ DM DNA DNS DO DR EC EG EM EN EOF ER ES EU FAQ FR FTP FX GB GDP "
    "GO GP GPS GPU GUI HD HR HTTP ID IDE IE IF II III IN IO IP IS ISO IT IV JD JS JSON KB "
    "KM KPI LA LLM LP MA MB MBA MD ML MM MP MR MS MVP NA NASA NATO NB NDA NET NLP NO NY OK "
    "ON OR OS PA PC PDF PE PH PHP PI PM PO PR PS QA RAM RE REST RNA RO RSS SA SD SDK SE SEO "
    "SI SMS SO SQL SSD SSH SSL TB TLS TO TV UI UK UN UP URL US USA USB USD UTC UX VAT VI VM "
    "VP VPN VR WA WE WWW XML "
    "BB BBC CBD CF CNC EEG EKG FC FM HC HQ JV KG KO LC LG LP LT MC MF MG MO MRI MT NE NW PB PD PG "
    "PT PV QC RB RC RF RH SC SE SF SK SN SP SR SS ST SW TA TC TD TP TS TÜV VC VS WC WP XP XS "
)
# Initials that are a word of their own.
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())
# Words of one letter that stand before a name: `A Weber` need not be Anna, nor `I Weber` Ida.
ONE_LETTER = frozenset("AIO")
# Initials with dots that are a word of their own.
_DOTTED_WORDS = (
    "A.D. A.I. A.M. B.A. B.C. B.S. D.C. E.U. I.D. L.A. M.A. M.D. N.B. N.Y. P.M. P.O. P.S. U.K. "
    "U.S. R.I.P."
)
_DOTTED = frozenset(_DOTTED_WORDS.split())
_TAG = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+){0,6}_[1-9][0-9]{0,3}")
_PLAIN_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
_LETTERS = re.compile(r"[^\W\d_]+")
_ALNUM = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")
_NUMBERED_WORD = r"(?:[^\W\d_]{1,40}(?:['\u2019-][^\W\d_]{1,40}){0,2}|[0-9]{1,6}[a-zA-Z]?)"
_NUMBERED = re.compile(
    rf"(?=.{{0,80}}[^\W\d_]{{3}}){_NUMBERED_WORD}(?:[.,]{{0,2}}\s{{1,2}}{_NUMBERED_WORD}){{1,12}}\.?",
    re.DOTALL,
)
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[-'\u2019][^\W\d_]+)*")
_MAIL = re.compile(r"([^\s@:/<>]+)@([^\s@:/<>]+\.[^\s@:/.<>]+)")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_CARD = re.compile(r"[2-6][0-9]{14,15}")

Spell = Callable[[str], str | None]


class Form(NamedTuple):
    """Hold one form.

    Attributes:
        name: of the form, for readers of the table.
        spell: returns a replacement in it, or None if the replacement has no such form.
        respell: the same for a raw value.
        exact: whether other capitals are something else.
        certain: whether it can be restored. Anything else is counted and left.
        capital: whether a small letter in it that stands alone is something else.
    """

    name: str
    spell: Spell
    respell: Spell
    exact: bool = False
    certain: bool = True
    capital: bool = False


class Spelling(NamedTuple):
    """Hold a replacement in one form.

    Attributes:
        new, raw: the replacement and its value.
        shown: the replacement in the form, see `flatten`.
        key: the same in small letters.
        form: see `Form`.
        kept: how many characters at its beginning, such as `ending in `, stay as they are.
        year: whether it is a year that is no part of another date.
    """

    new: str
    raw: str
    shown: str
    key: str
    form: Form
    kept: int = 0
    year: bool = False


_BLANK = re.compile(r"[^\S ]")
_ASCII_BLANKS = bytes(32 if chr(i).isspace() else i for i in range(128)).ljust(256)
_ALIKE = str.maketrans("\u2010\u2011\u2012\u2013\u2212\u2019", "-----'")


def flatten(text: str) -> str:
    """Return a text with blanks for white space, and plain hyphens and apostrophes."""
    if text.isascii():
        return text if text.isprintable() else text.encode().translate(_ASCII_BLANKS).decode()
    return _BLANK.sub(" ", text).translate(_ALIKE)


def fold_case(text: str) -> str:
    """Return a text in small letters, character by character: the length stays, and a part of a
    text is folded as it is in the whole."""
    if text.isascii() or (
        "Σ" not in text and "İ" not in text
    ):  # whose small letters depend on others, or are two
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def is_tag(new: str) -> bool:
    """Tell if a replacement is a type and a number, such as `PERSON_417`."""
    return _TAG.fullmatch(new) is not None


def spell(new: str, raw: str, *, declined: bool = False, given: bool = False) -> list[Spelling]:
    """Return a replacement in each form that it has. Its own form is the first; of two forms that
    are written alike, the first counts.

    Args:
        declined: whether to decline names in Latin letters, too.
        given: whether it is a given name.
    """
    found, seen = [], set[str]()
    for shown, value, form, kept, year in _spell_all(new, raw, declined=declined, given=given):
        is_plain = shown.isascii() and shown.isprintable()
        folded = shown.lower() if is_plain else fold_case(shown)
        written = shown if form is DATE else folded  # `mai` is French, `Mai` is German
        if written not in seen:
            seen.add(written)
            even = shown if is_plain else flatten(shown)
            key = folded if even == shown else fold_case(even)
            found.append(Spelling(new, value, even, key, form, kept, year))
    return found


def _spell_all(
    new: str, raw: str, *, declined: bool, given: bool
) -> Iterator[tuple[str, str, Form, int, bool]]:
    """Yield the forms as `Spelling` has them: how each is shown, its value, the form, what is kept
    of it, and whether it is a year."""
    yield new, raw, PLAIN, 0, False
    if len(new) > LONGEST_FORM:
        return
    is_tagged = is_tag(new)
    forms: tuple[Form, ...] = FORMS
    if is_tagged:
        forms = TAG_FORMS
    elif _PLAIN_WORDS.fullmatch(new):  # most names: there is nothing to escape
        forms = FORMS_OF_WORDS if " " in new else FORMS_OF_WORD
    else:
        forms = next((few for plain, few in _FORMS_OF_PLAIN if plain.fullmatch(new)), FORMS)
    if not is_tagged and not new.isascii() and CYRILLIC.search(new):
        forms += (*CASE_FORMS, *LATIN_FORMS)
    elif declined and not is_tagged:
        forms += CASE_FORMS if " " in new or not given else CASE_FORMS_OF_GIVEN
    for form in forms:
        shown = form.spell(new)
        if shown is not None and shown != new:  # a raw value without it is seen in `recase`
            yield shown, raw, form, 0, False
    if is_tagged:
        return
    if "@" in new:
        for shown, value in spell_masks(new, raw):
            yield shown, value, VALUE, 0, False
    if not any(map(str.isdigit, new)):
        return
    for shown, value in spell_streets(new, raw):
        yield shown, value, VALUE, 0, False
    for shown, value in spell_dates(new, raw):
        yield shown, value, DATE, 0, shown.isdigit() and len(shown) == 4
    for shown, value in spell_amounts(new, raw):
        yield shown, value, VALUE, 0, shown.isdigit() and len(shown) == 4
    for shown, value, kept in spell_endings(new, raw):
        yield shown, value, VALUE if kept else UNCERTAIN, kept, False
    for shown, value, kept, certain in spell_beginnings(new, raw):
        yield shown, value, VALUE if certain else UNCERTAIN, kept, False


def recase(found: Spelling, written: str, *, joined: bool) -> str | None:
    """Return the raw value in the form and in the capitals of what is written; None if that is
    something else.

    Args:
        found: what is written, but for its capitals.
        joined: whether it is a part of a longer name, such as `PERSON_417_file`.
    """
    form, new, raw = found.form, found.new, found.raw
    if form.exact and written != found.shown:
        return None
    if form.capital and any(len(w.strip(".,")) == 1 and w.islower() for w in written.split()):
        return None  # `v. Weber`
    if is_tag(new):
        return _join_words(raw, written) if joined and written != new else form.respell(raw)
    if written != found.shown and _has_capitals(raw):
        cased = _recase_words(new, raw, fold_case(found.shown), written)
        raw = _recase_whole(form, new, raw, written) if cased is None else cased
    return form.respell(raw)


def _join_words(raw: str, written: str) -> str:
    """Return a value as a part of a longer name, if it is made of words."""
    if not all(map(str.isalpha, raw.split())):
        return raw
    between = "_" if "_" in written else "-" if "-" in written else ""
    cased = raw.lower() if written.islower() else raw
    return between.join(cased.split())


def _has_capitals(raw: str) -> bool:
    """Tell if other capitals leave a value what it is: a key of letters and digits has its own.
    Numbers beside words, as in an address or a date, are no key."""
    return "@" in raw or not any(map(str.isdigit, raw)) or bool(_NUMBERED.fullmatch(raw))


def _recase_words(new: str, raw: str, shown: str, written: str) -> str | None:
    """Return a raw value, each word in the capitals of its word; None if they do not pair up."""
    ours, theirs = _LETTERS.findall(new), _LETTERS.findall(raw)
    if len(ours) != len(theirs):
        return None
    place, cases = 0, []
    for word, value in zip(ours, theirs, strict=True):
        start = shown.find(fold_case(word), place)
        if start < 0:
            return None
        place = start + len(word)
        cases.append(_recase_word(word, written[start:place], value))
    words = iter(cases)
    return _LETTERS.sub(lambda _: next(words), raw)


def _recase_word(word: str, written: str, value: str) -> str:
    if written == word:
        return value
    if written.islower():
        return value.lower()
    if written.isupper() and len(written) > 1:
        return value.upper()
    if written[:1].isupper() and written[1:] == written[1:].lower():
        keeps = value[:1].isupper() and not value.isupper()
        return value if keeps else value[:1].upper() + value[1:].lower()
    return value


def _recase_whole(form: Form, new: str, raw: str, written: str) -> str:
    for case in (str.upper, str.lower):
        if form.spell(case(new)) == written:
            return case(raw)
    plain = _ESCAPES.sub("", written)
    return raw.upper() if plain.isupper() else raw.lower() if plain.islower() else raw


_ESCAPES = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9a-fA-F]{4}|&#?\w{1,8};")


def _same(text: str) -> str | None:
    return text


def _symmetric(name: str, spell_: Spell, *, certain: bool = True) -> Form:
    return Form(name, spell_, spell_, certain=certain)


def _split(text: str) -> list[str]:
    """Return the words of a text that can become one word, or nothing."""
    if "@" in text or "//" in text or not _LETTERS.search(text):
        return []
    return _ALNUM.findall(_APOSTROPHE.sub("", text))


def _write_joined(name: str, between: str) -> Form:
    """Return the form in which words are joined: file names, names of variables, addresses."""

    def spell_joined(text: str) -> str | None:
        words = _split(text)
        return between.join(words) if 1 < len(words) <= MOST_WORDS else None

    def respell_joined(text: str) -> str | None:
        return between.join(_split(text)) or None

    return Form(name, spell_joined, respell_joined)


def _space_out(name: str, between: str) -> Form:
    """Return the form in which white space is written as something else."""

    def spell_spaced(text: str) -> str | None:
        words = text.split()
        return between.join(words) if len(words) <= MOST_WORDS else None

    return _symmetric(name, spell_spaced)


def _write_name(
    name: str,
    write: Callable[[list[str]], str],
    *,
    exact: bool = False,
    capital: bool = False,
    besides: frozenset[str] = frozenset(),
) -> Form:
    """Return a form of a person's name, but for some that are something else. Only a name of
    several words has one."""

    def spell_name(text: str) -> str | None:
        words = text.split()
        if not 1 < len(words) <= 4 or not all(map(_NAME_WORD.fullmatch, words)):
            return None
        return write(words)

    def spell_replacement(text: str) -> str | None:
        shown = spell_name(text)
        return None if shown is None or not besides.isdisjoint(shown.split()) else shown

    return Form(name, spell_replacement, spell_name, exact, capital=capital)


def _possess(text: str) -> str | None:
    """Return a name with the `s` of a genitive or a plural: `Webers`."""
    if not text or not text[-1].isalpha() or len(text) < 3:
        return None
    return text + "s"


def _possess_plural(text: str) -> str | None:
    """Return a name with the `s'` of a genitive of a plural: `the Webers' house`."""
    plural = _possess(text)
    return plural and plural + "'"


def _possess_raw_plural(text: str) -> str | None:
    """Return a name whose own genitive ends in an apostrophe, so that there are not two of them:
    `the Fuchs' house`. Others are found as a plural before an apostrophe."""
    own = _possess_raw(text)
    return own if own and own.endswith("'") else None


def _possess_raw(text: str) -> str | None:
    if not text or not text[-1].isalpha():
        return None
    return text + ("'" if text[-1] in "sxzßSXZ" else "S" if text.isupper() else "s")


def _put_backslashes(*signs: str) -> Spell:
    """Return a function that writes a backslash before each of some characters."""
    wanted = re.compile(f"[{re.escape(''.join(signs))}]")
    return lambda text: wanted.sub(lambda found: f"\\{found[0]}", text)


def _spell_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _name_entities(text: str) -> str:
    """Write a text with the named entities of HTML."""
    return "".join(
        f"&{codepoint2name[ord(c)]};" if ord(c) in codepoint2name else c
        for c in text.replace("'", "&#39;").replace("&#39;", "\0")
    ).replace("\0", "&#39;")


def _number_entities(text: str) -> str:
    return "".join(f"&#{ord(c)};" if not c.isascii() or c in "&<>\"'" else c for c in text)


def _strip_accents(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.translate(_LIGATURES))
    return "".join(c for c in plain if not unicodedata.combining(c))


def simplify(text: str) -> str:
    """Return a text in small letters without accents or umlauts: `müller` is written `mueller`."""
    return fold_case(_strip_accents(text.translate(_UMLAUTS)))


_LIGATURES = {ord("ß"): "ss"} | STROKES
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"}
)


def _spell_domain(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[2] if found else None


def _spell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found and len(found[1]) > 3 else None


def _respell_local(text: str) -> str | None:
    found = _MAIL.fullmatch(text)
    return found[1] if found else None


def _spell_out(name: str, at: str, dot: str = ".", inner: str | None = None) -> Form:
    """Return the form in which an address of e-mail is written for people. The dots before the
    `@` may be written in another way."""

    def spell_at(text: str) -> str | None:
        if not (found := _MAIL.fullmatch(text)):
            return None
        return found[1].replace(".", inner or dot) + at + found[2].replace(".", dot)

    return _symmetric(name, spell_at)


def _group(name: str, between: str) -> Form:
    """Return a form of an IBAN, in groups of four."""

    def spell_groups(text: str) -> str | None:
        plain = re.sub(r"[\s-]", "", text).upper()
        if not _IBAN.fullmatch(plain):
            return None
        return between.join(plain[i : i + 4] for i in range(0, len(plain), 4))

    return _symmetric(name, spell_groups)


def _tag(
    name: str, between: str, last: str, respell: Spell = _same, *, certain: bool = True
) -> Form:
    """Return a form of a tag: with something else between its words, and before its number."""

    def spell_tag(text: str) -> str | None:
        *words, number = text.split("_")
        # `Person 7` may be the remote's own.
        sure = len(words) > 1 or len(number) > 2 or last not in ("", " ")
        return between.join(words) + last + number if sure == certain else None

    return Form(name, spell_tag, respell, certain=certain)


_markdown = _put_backslashes("\\", "`", "*", "_", "[", "]", "<", ">", "#", "|", "~")
_regex = _put_backslashes(*".*+?^$(){}|[]\\")

# As it is written, and values that change with the form.
PLAIN = _symmetric("as written", _same)
VALUE = _symmetric("another way to write a value", _same)
DATE = _symmetric("another way to write a date", _same)
UNCERTAIN = _symmetric("what may be something else", _same, certain=False)
FORMS = (
    _symmetric("URL", lambda text: quote(text, safe="")),
    _symmetric("query of a URL", quote_plus),
    _symmetric("path of a URL", lambda text: quote(text, safe="@:+,;=&")),
    _symmetric("JSON", _spell_json),
    _symmetric("JSON inside a string", lambda text: _spell_json(_spell_json(text))),
    _symmetric("JSON with slashes", lambda text: _spell_json(text).replace("/", "\\/")),
    _symmetric("HTML", html.escape),
    _symmetric("HTML, apostrophes", lambda t: html.escape(t).replace("&#x27;", "&#39;")),
    _symmetric("HTML, apostrophes by name", lambda t: html.escape(t).replace("&#x27;", "&apos;")),
    _symmetric("HTML, text alone", lambda text: html.escape(text, quote=False)),
    _symmetric("HTML, by name", _name_entities),
    _symmetric("HTML, by number", _number_entities),
    _symmetric("regular expression", _regex),
    _symmetric("regular expression, escaped twice", lambda t: _spell_json(_regex(t) or "")),
    _symmetric("regular expression of Python", re.escape),
    _symmetric("regular expression, a class", lambda text: text.replace(".", "[.]")),
    _symmetric("Markdown", _markdown),
    _symmetric("Markdown, all signs", _put_backslashes(*"\\`*_{}[]<>()#+-.!|~@")),
    _symmetric("LaTeX", _put_backslashes(*"&%$#_{}")),
    _symmetric("shell", lambda text: re.sub(r"([^\w@%+=:,./-])", r"\\\1", text)),
    _symmetric("shell, in quotes", lambda text: text.replace("'", "'\\''")),
    _symmetric("SQL, in quotes", lambda text: text.replace("'", "''")),
    _symmetric("a backslash before quotes", _put_backslashes("'", '"', "\\")),
    _space_out("HTML blanks", "&nbsp;"),
    _space_out("LaTeX blanks", "~"),
    _space_out("blanks of a regular expression", r"\s+"),
    _space_out("blanks of a regular expression, any", r"\s*"),
    _space_out("one blank of a regular expression", r"\s"),
    _write_joined("snake_case", "_"),
    _write_joined("snake_case in Markdown", r"\_"),
    _write_joined("kebab-case", "-"),
    _write_joined("with dots", "."),
    _write_joined("camelCase", ""),
    _write_joined("with blanks", " "),
    _symmetric("no accents", _strip_accents),
    _symmetric("no umlauts", lambda text: text.translate(_UMLAUTS)),
    Form("genitive", _possess, _possess_raw),
    Form("genitive of a plural", _possess_plural, _possess_raw_plural),
    _write_name(
        "an initial", lambda w: " ".join([*(f"{x[0]}." for x in w[:-1]), w[-1]]), capital=True
    ),
    _write_name(
        "an initial without a dot",
        lambda w: " ".join([*(x[0] for x in w[:-1]), w[-1]]),
        capital=True,
        besides=ONE_LETTER,
    ),
    _write_name("an initial, no blank", lambda w: "".join([*(f"{x[0]}." for x in w[:-1]), w[-1]])),
    _write_name("an initial, in one word", lambda w: "".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("an initial, snake_case", lambda w: "_".join([*(x[0] for x in w[:-1]), w[-1]])),
    _write_name("the first initial", lambda w: f"{w[0][0]}. {w[-1]}", capital=True),
    _write_name("the first initial, LaTeX", lambda w: f"{w[0][0]}.~{w[-1]}", capital=True),
    _write_name("the first initial, HTML", lambda w: f"{w[0][0]}.&nbsp;{w[-1]}", capital=True),
    _write_name("the surname first, in one word", lambda w: w[-1] + "".join(w[:-1])),
    _write_name("an initial after a comma", lambda w: f"{w[-1]}, {w[0][0]}.", capital=True),
    _write_name("an initial at the end", lambda w: f"{w[-1]} {w[0][0]}.", capital=True),
    _write_name(
        "an initial at the end, no dot",
        lambda w: f"{w[-1]} {w[0][0]}",
        exact=True,
        besides=ONE_LETTER,
    ),
    _write_name("the surname's initial", lambda w: f"{' '.join(w[:-1])} {w[-1][0]}."),
    _write_name("initials", lambda w: " ".join(f"{x[0]}." for x in w), exact=True),
    _write_name(
        "initials, no blank",
        lambda w: "".join(f"{x[0]}." for x in w),
        exact=True,
        besides=_DOTTED,
    ),
    _write_name(
        "initials, letters alone",
        lambda w: "".join(x[0] for x in w),
        exact=True,
        besides=ABBREVIATIONS,
    ),
    _group("IBAN", " "),
    _group("IBAN, no blanks", ""),
    _group("IBAN, hyphens", "-"),
    _symmetric("domain", _spell_domain),
    Form("local part", _spell_local, _respell_local),
    _spell_out("at in brackets", " [at] "),
    _spell_out("at in parentheses", " (at) "),
    _spell_out("at in brackets, no blanks", "[at]"),
    _spell_out("at in parentheses, no blanks", "(at)"),
    _spell_out("at as a word", " at "),
    _spell_out("at and dot as words", " at ", " dot "),
    _spell_out("at and dot as words, but in the name", " at ", " dot ", "."),
    _spell_out("at and dot in brackets", " [at] ", " [dot] "),
    _spell_out("at and dot in brackets, but in the name", " [at] ", " [dot] ", "."),
)


def _choose_forms(*samples: str) -> tuple[Form, ...]:
    """Return the forms in which one of some texts is written in another way."""
    return tuple(
        form
        for form in FORMS
        if any(form.spell(sample) not in (None, sample) for sample in samples)
    )


FORMS_OF_WORDS, FORMS_OF_WORD = _choose_forms("Rbcd Zfgh"), _choose_forms("Rbcd")
# Texts of a kind, and the forms that one of them may have: the samples have all signs of it.
_FORMS_OF_PLAIN = (
    (
        re.compile(r"[A-Za-z0-9._+-]{1,90}@[A-Za-z0-9-]{1,90}(?:\.[A-Za-z0-9-]{1,90}){1,9}"),
        _choose_forms("r.bc_d-e+1@fg-h.example"),
    ),
    (re.compile(r"[0-9 ()/.+-]{1,100}"), _choose_forms("+1 (2) 3/4-5.6")),
    (re.compile(r"[A-Za-z0-9.-]{1,100}"), _choose_forms("r1-b.c-d.example", "rb1", "DE89" * 5)),
    (
        re.compile(r"[A-Za-z0-9 ]{1,100}"),
        _choose_forms("Rb1 2Zf", "Rb2Cd", "DE89 3704 0044 0532 0130 00"),
    ),
)


def _decline(case: str) -> Form:
    return Form(
        case,
        lambda text: decline(text, case),
        lambda text: decline(text, case) or text,
    )


CASE_FORMS = tuple(map(_decline, CASES))
# `Martina` need not be Martin's: it may be another name.
CASE_FORMS_OF_GIVEN = tuple(map(_decline, ("dative", "instrumental", "dative in -ovi")))
LATIN_FORMS = (
    _symmetric("in Latin letters", romanize),
    _symmetric("in Latin letters, in short", romanize_briefly),
)
_BETWEEN = (("_", _same), (r"\_", _markdown), (r"\\_", _same), (" ", _same), ("-", _same))
TAG_FORMS = (
    *(
        _tag(f"tag: {a!r} and {b!r}", a, b, respell)
        for a, respell in _BETWEEN
        for b, _ in _BETWEEN
        if a == b or "\\" not in a + b
    ),
    _tag("tag in one word", "", ""),
    _tag("tag in one word, then a sign", "", "_"),
    _tag("tag that may be something else", " ", " ", certain=False),
    _tag("tag in one word that may be something else", "", "", certain=False),
    _tag("tag in a URL", "%5F", "%5F", lambda text: quote(text, safe="")),
    _tag("tag in HTML", "&#95;", "&#95;", html.escape),
    _tag("tag with dots", ".", "."),
    Form("genitive of a tag", lambda text: f"{text}s", _possess_raw),
)
