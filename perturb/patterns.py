"""The patterns that ship with `selective`: what is sensitive by its form, in regular expressions.

Types are named as Presidio names them where it has the type. Every expression runs in time
linear in the text: quantifiers are bounded or possessive, and a look-behind keeps a match from
being tried again inside the run that it failed in.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

__all__ = ["NAME", "SHIPPED", "Shape", "names", "shape_types", "telling_words"]

NAME = "NAME"  # found by `names`, not by an expression
RULES = 1  # goes up with every change of what the code here marks, beside the expressions


@dataclass(frozen=True)
class Shape:
    """A type of sensitive text: its expression, and what a match must pass beside it."""

    type: str
    pattern: re.Pattern[str]
    passes: Callable[[str], bool] = bool


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if "0" <= c <= "9"]


def _luhn(text: str) -> bool:
    """ISO/IEC 7812's check digit."""
    total = 0
    for place, digit in enumerate(reversed(_digits(text))):
        doubled = digit * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def _iban(text: str) -> bool:
    """ISO 13616: the rearranged number is 1 modulo 97."""
    plain = re.sub("[ -]", "", text)
    number = "".join(str(int(c, 36)) for c in plain[4:] + plain[:4])
    return 15 <= len(plain) <= 34 and int(number) % 97 == 1


def _address(text: str) -> bool:
    try:
        return int(ipaddress.ip_address(text)) > 0
    except ValueError:
        return False


def _phone(text: str) -> bool:
    """E.164 has at most 15 digits; an extension adds a few."""
    return 7 <= len(_digits(text)) <= 20


def _identifier(text: str) -> bool:
    """Letters and digits mixed, three digits or more: a case number, not `MP3` or `GPT-4`."""
    return len(_digits(text)) >= 3 and any(c.isalpha() for c in text)


_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|20)\d\d"
_DATES = "|".join(
    (
        r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d\d(?::\d\d)?)?",
        r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",
        rf"{_DAY}(?: of)?[ -]{_MONTH}\.?(?:,?[ -]\d{{2,4}})?",
        rf"{_MONTH}\.? {_DAY}(?:,? {_YEAR})?",
        rf"{_MONTH}\.?,? {_YEAR}",
        r"\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]\.?m\b\.?)?",
        r"\d{1,2} ?[ap]\.?m\b\.?",
        r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?",
        rf"{_YEAR}(?:s|[-–/]\d\d(?:\d\d)?)?",
    )
)
_STREETS = (
    "Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq|Place|Pl"
    "|Terrace|Way|Close|Crescent|Parkway|Pkwy|Highway|Hwy|Circle|Trail|Alley|Row|Walk|Gardens"
)
_UNIT = r"(?:,?\s{1,3}(?:Apt|Apartment|Suite|Unit|Floor|Fl|Room|Box)\b\.? ?#?\w{1,6})?"
_STREET = (
    rf"\d{{1,5}}[A-Za-z]?,? (?:[^\W\d_][\w'’.-]{{0,30}} ){{1,4}}(?:{_STREETS})\b\.?{_UNIT}"
    r"|P\.? ?O\.? ?Box \d{1,6}|(?:Apt|Apartment|Suite|Unit)\b\.? ?#?\d{1,5}(?: Box \d{1,6})?"
)
_AMOUNT = r"\d[\d,.]{0,20}"
_SCALE = r"(?: ?(?:k|m|bn|thousand|million|billion|trillion)\b)?"
_CURRENCY = "USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|francs?|yen"
_POSTCODE = (
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|\d{5}-\d{4}|\d{4} [A-Z]{2}"
    r"|\d{3} \d{2}|\d{2}-\d{3}"
)


def _shape(
    type: str, pattern: str, passes: Callable[[str], bool] = bool, *, case: bool = True
) -> Shape:
    return Shape(type, re.compile(pattern, 0 if case else re.IGNORECASE), passes)


SHIPPED = (  # where matches overlap, the longest gives the type, of equals the first
    _shape("EMAIL_ADDRESS", r"(?<![\w.+%'-])[\w.+%'-]++@[\w-]++(?:\.[\w-]++)+"),
    _shape("URL", r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"“”]*(?<![.,;:!?)\]'’])", case=False),
    _shape(
        "URL",
        r"(?<![\w.@-])[\w-]++(?:\.[\w-]++)+(?:"
        + "|".join(rf"(?<=\.{end})" for end in ("com", "org", "net", "edu", "gov", "info", "io"))
        + r")(?:/[^\s<>\"“”]*(?<![.,;:!?)\]'’]))?",
        case=False,
    ),
    _shape("IP_ADDRESS", r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)", _address),
    _shape(
        "IP_ADDRESS",
        r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?::\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])",
        _address,
    ),
    _shape("MAC_ADDRESS", r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])"),
    _shape("DATE_TIME", rf"(?<!\w)(?:{_DATES})(?!\w)", case=False),
    _shape("CREDIT_CARD", r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)", _luhn),
    _shape("IBAN_CODE", r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,8}(?!\w)", _iban),
    _shape("US_SSN", r"(?<![\w-])\d{3}[- ]\d{2}[- ]\d{4}(?![\w-])"),
    _shape(
        "PHONE_NUMBER",
        r"(?<![\w+])(?:\+|\(\+?)?\d[\d ()./-]{5,24}(?<=\d)(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\w)",
        _phone,
    ),
    _shape("STREET_ADDRESS", rf"(?<![\w-])(?:{_STREET})(?!\w)"),
    _shape("ZIP_CODE", rf"(?<![\w-])(?:{_POSTCODE})(?![\w-])"),
    _shape(
        "MONEY",
        rf"(?<!\w)[$€£¥]\s?{_AMOUNT}{_SCALE}"
        rf"|(?<!\w){_AMOUNT}{_SCALE} ?(?:[€£¥]|(?:{_CURRENCY})\b)",
        case=False,
    ),
    _shape(
        "AGE",
        r"(?<!\w)\d{1,3}(?=[ -]?(?:years?|yrs?|months?)[ -]old|[ -]?y\.?/?o\b)"
        r"|(?:(?<=\baged )|(?<=\bage )|(?<=\bage of )|(?<=\bturn )|(?<=\bturned )|(?<=\bturns )"
        r"|(?<=\bI'm )|(?<=\bI am ))\d{1,3}(?!\w)",
        case=False,
    ),
    _shape("ID", r"(?<![\w-])[A-Za-z0-9]++(?:[-/_][A-Za-z0-9]++)*(?!\w)", _identifier),
    _shape("NUMBER", r"(?<!\w)\d(?:\d|[,. -](?=\d))*", lambda found: len(_digits(found)) > 2),
)


def shape_types() -> tuple[str, ...]:
    """Every type the shipped set finds, sorted."""
    return tuple(sorted({NAME, *(shape.type for shape in SHIPPED)}))


_WORD = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*")  # a genitive's s is apart
_OPENING = re.compile(r"[.!?:\n]")  # a sentence or a line begins after it
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof", "sir", "st"))
_PARTICLES = "al bin da de del der di du el la le of van von y zu"
# Words that open sentences: with a capital there, they are no part of a name.
_OPENERS = """
    a about after all also although an and any are as at because before both but by can could dear
    did do does during each either for from had has have he hello her here hi his how however i if
    in is it its just last let many may more most my new next no not now of on once one only or
    other our out over please same she should since so some still such than that the their them
    then there these they this those though through to today tomorrow under until up us was we were
    what when where which while who whose why will with without would yes yesterday yet you your
    conversely furthermore interestingly lastly secondly
    answer ask call check compare contact create describe draft email explain find give help list
    make meet read reply review rewrite see send show summarise summarize tell thank thanks
    translate use visit write
"""
_PARTICLE_SET, _OPENER_SET = frozenset(_PARTICLES.split()), frozenset(_OPENERS.split())


def names(text: str, proper: Collection[str] = ()) -> Iterator[tuple[int, int]]:
    """Where proper names seem to stand: (start, end) of runs of words with a capital letter.

    A run of two words or more is taken anywhere; a single word only where no sentence begins
    with it, after a title, or if it is one of the `proper` words, which are hardly ever written
    without a capital. Scripts without capitals have none.
    """
    run: list[re.Match[str]] = []
    opens = True  # whether the run stands where a sentence begins
    last: re.Match[str] | None = None
    for word in _WORD.finditer(text):
        gap = text[last.end() : word.start()] if last else "\n"
        joined = bool(run) and gap in (" ", "-", ". ", " & ") and (gap != ". " or _short(last))
        if joined and word[0].lower() in _PARTICLE_SET and word[0].islower() and gap == " ":
            last = word  # taken if a capital follows
            continue
        if not joined:
            yield from _taken(run, opens, proper)
            run = []
        if _capital(word[0]):
            if not run:
                opens = _OPENING.search(gap) is not None and not _titled(last, gap)
            run.append(word)
        else:
            yield from _taken(run, opens, proper)
            run = []
        last = word
    yield from _taken(run, opens, proper)


def telling_words(name: str) -> Iterator[tuple[int, int]]:
    """Where the words of a name stand that stand for it alone: three letters or more with a
    capital, and no word that opens sentences."""
    for word in _WORD.finditer(name):
        plain = word[0].lower() in _OPENER_SET | _TITLES
        if len(word[0]) >= 3 and word[0][0].isupper() and not plain:
            yield word.start(), word.end()


def _proper(word: str, proper: Collection[str]) -> bool:
    return word in proper and word.lower() not in _OPENER_SET


def _capital(word: str) -> bool:
    """Whether a word may be of a name: a capital, and no title or pronoun."""
    pronoun = word in ("I", "OK") or word.startswith(("I'", "I’"))
    return word[0].isupper() and not pronoun and word.lower() not in _TITLES


def _short(word: re.Match[str] | None) -> bool:
    """Whether a full stop after the word belongs to it: an initial."""
    return word is not None and len(word[0]) == 1


def _titled(word: re.Match[str] | None, gap: str) -> bool:
    return word is not None and gap == ". " and word[0].lower() in _TITLES


def _taken(
    run: list[re.Match[str]], opens: bool, proper: Collection[str]
) -> Iterator[tuple[int, int]]:
    if opens and run and run[0][0].lower() in _OPENER_SET:
        run, opens = run[1:], False
    if len(run) > 1 or (run and (not opens or _proper(run[0][0], proper))):
        yield run[0].start(), run[-1].end()
