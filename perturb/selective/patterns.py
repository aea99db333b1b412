"""Find sensitive parts by their form, with the regular expressions that ship with `selective`.

Types are named as Presidio names them where it has the type. Every expression runs in time
linear in the text: quantifiers are bounded or possessive, and a look-behind keeps a failed
match from being tried again inside the same run.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from perturb.text.expressions import Expression

__all__ = ["NAME", "SHIPPED", "Shape", "find_distinctive_words", "find_names", "shape_types"]

NAME = "NAME"  # found by `find_names`, not by an expression
RULES = 2  # increment whenever the code here, beside the expressions, marks other parts


@dataclass(frozen=True)
class Shape:
    """Describe a type of sensitive text: its expression, and a check that a match must pass.

    An operator's expression is bounded in time; the shipped ones need no bound.
    """

    type: str
    pattern: re.Pattern[str] | Expression
    passes: Callable[[str], bool] = bool


def _digits(text: str) -> list[int]:
    return [int(c) for c in text if "0" <= c <= "9"]


def _passes_luhn(text: str) -> bool:
    """Check the check digit of ISO/IEC 7812."""
    total = 0
    for place, digit in enumerate(reversed(_digits(text))):
        doubled = digit * (1 + place % 2)
        total += doubled - 9 * (doubled > 9)
    return total % 10 == 0


def _is_iban(text: str) -> bool:
    """Check by ISO 13616 that the rearranged number is 1 modulo 97."""
    plain = re.sub("[ -]", "", text)
    number = "".join(str(int(c, 36)) for c in plain[4:] + plain[:4])
    return 15 <= len(plain) <= 34 and int(number) % 97 == 1


def _is_address(text: str) -> bool:
    try:
        return int(ipaddress.ip_address(text)) > 0
    except ValueError:
        return False


def _is_phone(text: str) -> bool:
    """Check the number of digits: E.164 has at most 15, and an extension adds a few."""
    return 7 <= len(_digits(text)) <= 20


def _is_identifier(text: str) -> bool:
    """Check for letters mixed with three digits or more: a case number, not `MP3` or `GPT-4`."""
    return not text.isalpha() and len(_digits(text)) >= 3 and any(c.isalpha() for c in text)


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


SHIPPED = (  # of overlapping matches, the first of the longest gives the type
    _shape("EMAIL_ADDRESS", r"(?<![\w.+%'-])[\w.+%'-]++@[\w-]++(?:\.[\w-]++)+"),
    _shape("URL", r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"“”]*(?<![.,;:!?)\]'’])", case=False),
    _shape(
        "URL",
        r"(?<![\w.@-])[\w-]++(?:\.[\w-]++)+(?:"
        + "|".join(rf"(?<=\.{end})" for end in ("com", "org", "net", "edu", "gov", "info", "io"))
        + r")(?:/[^\s<>\"“”]*(?<![.,;:!?)\]'’]))?",
        case=False,
    ),
    _shape("IP_ADDRESS", r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)", _is_address),
    _shape(
        "IP_ADDRESS",
        r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?::\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])",
        _is_address,
    ),
    _shape("MAC_ADDRESS", r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])"),
    _shape("DATE_TIME", rf"(?<!\w)(?=[\dADFJMNOSTW])(?:{_DATES})(?!\w)", case=False),
    _shape("CREDIT_CARD", r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)", _passes_luhn),
    _shape("IBAN_CODE", r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{1,4}){3,8}(?!\w)", _is_iban),
    _shape("US_SSN", r"(?<![\w-])\d{3}[- ]\d{2}[- ]\d{4}(?![\w-])"),
    _shape(
        "PHONE_NUMBER",
        r"(?<![\w+])(?:\+|\(\+?)?\d[\d ()./-]{5,24}(?<=\d)(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\w)",
        _is_phone,
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
        r"(?=\d)(?:(?<!\w)\d{1,3}(?=[ -]?(?:years?|yrs?|months?)[ -]old|[ -]?y\.?/?o\b)"
        r"|(?:(?<=\baged )|(?<=\bage )|(?<=\bage of )|(?<=\bturn )|(?<=\bturned )|(?<=\bturns )"
        r"|(?<=\bI'm )|(?<=\bI am ))\d{1,3}(?!\w))",
        case=False,
    ),
    _shape("ID", r"(?<![\w-])[A-Za-z0-9]++(?:[-/_][A-Za-z0-9]++)*(?!\w)", _is_identifier),
    _shape("NUMBER", r"(?<!\w)\d(?:\d|[,. -](?=\d))*", lambda found: len(_digits(found)) > 2),
)


def shape_types() -> tuple[str, ...]:
    """Return every type that the shipped set finds, sorted.

    >>> "EMAIL_ADDRESS" in shape_types()
    True
    """
    return tuple(sorted({NAME, *(shape.type for shape in SHIPPED)}))


_WORD = re.compile(r"[^\W\d_]+(?:['’-](?!s\b)[^\W\d_]+)*")  # without a genitive's s
_OPENING = re.compile(r"[.!?:\n]")  # a sentence or a line begins after it
_BREAK = re.compile(r"-?[ \t]*+\r?[\n\v\f\x85\u2028\u2029][ \t>]*+")  # of a line, also quoted
_TITLES = frozenset(("mr", "mrs", "ms", "miss", "dr", "prof", "sir", "st"))
_PARTICLES = "al bin da de del der di du el la le of van von y zu"
# Words that open sentences: capitalised there, they are not part of a name.
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


def find_names(
    text: str, proper: Collection[str] = (), common: Collection[str] = ()
) -> Iterator[tuple[int, int]]:
    """Find likely proper names: (start, end) of runs of words with a capital letter.

    >>> list(find_names("Please write to Anna Schmidt."))
    [(16, 28)]

    A run of two words or more counts anywhere, also across the end of a line. A single word
    counts only where it does not begin a sentence, after a title, before a comma and another
    name (`Schmidt, Maria`), or if it is one of the `proper` words, which are hardly ever written
    without a capital. Words that open sentences, and `common` ones, do not count as names before
    a comma. Scripts without capitals have no names.
    """
    run: list[re.Match[str]] = []
    opens = True  # the run stands where a sentence begins
    last: re.Match[str] | None = None
    for word in _WORD.finditer(text):
        if not run and not word[0][0].isupper():  # most words: nothing begins or ends here
            last = word
            continue
        gap = text[last.end() : word.start()] if last else "\n"
        broken = bool(run) and _BREAK.fullmatch(gap) is not None
        joined = (
            bool(run) and gap in (" ", "-", ". ", " & ") and (gap != ". " or _is_initial(last))
        )
        if (joined or broken) and word[0] in _PARTICLE_SET and gap not in ("-", ". ", " & "):
            last = word  # part of the run if a capital follows
            continue
        if broken and not joined:
            alone = opens and len(run) == 1 and not _is_proper(run[0][0], proper)
            goes_on = not alone or _is_proper(word[0], proper)
            joined = goes_on and word[0].lower() not in _OPENER_SET
        if not joined:
            first = gap == ", " and _is_capitalised(word[0]) and _may_be_surname(run, common)
            yield from _accept_run(run, opens and not first, proper)
            run = []
        if _is_capitalised(word[0]):
            if not run:
                opens = _OPENING.search(gap) is not None and not _follows_title(last, gap)
            run.append(word)
        else:
            yield from _accept_run(run, opens, proper)
            run = []
        last = word
    yield from _accept_run(run, opens, proper)


def _may_be_surname(run: list[re.Match[str]], common: Collection[str]) -> bool:
    """Tell if a single word before a comma may be a surname."""
    return (
        len(run) == 1
        and run[0][0].lower() not in _OPENER_SET
        and (run[0][0].lower() not in common)
    )


def find_distinctive_words(name: str) -> Iterator[tuple[int, int]]:
    """Find the words of a name that identify it by themselves: (start, end) of each.

    They have three letters or more and a capital, and do not open sentences.

    >>> list(find_distinctive_words("Anna de Groot"))
    [(0, 4), (8, 13)]
    """
    for word in _WORD.finditer(name):
        plain = word[0].lower() in _OPENER_SET | _TITLES
        if len(word[0]) >= 3 and word[0][0].isupper() and not plain:
            yield word.start(), word.end()


def _is_proper(word: str, proper: Collection[str]) -> bool:
    return word in proper and word.lower() not in _OPENER_SET


def _is_capitalised(word: str) -> bool:
    """Tell if a word may belong to a name: capitalised, and no title or pronoun."""
    pronoun = word in ("I", "OK") or word.startswith(("I'", "I’"))
    return word[0].isupper() and not pronoun and word.lower() not in _TITLES


def _is_initial(word: re.Match[str] | None) -> bool:
    """Tell if a word is an initial: a full stop after it belongs to it."""
    return word is not None and len(word[0]) == 1


def _follows_title(word: re.Match[str] | None, gap: str) -> bool:
    return word is not None and gap == ". " and word[0].lower() in _TITLES


def _accept_run(
    run: list[re.Match[str]], opens: bool, proper: Collection[str]
) -> Iterator[tuple[int, int]]:
    if opens and run and run[0][0].lower() in _OPENER_SET:
        run, opens = run[1:], False
    if len(run) > 1 or (run and (not opens or _is_proper(run[0][0], proper))):
        yield run[0].start(), run[-1].end()
