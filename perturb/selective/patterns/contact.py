"""Find addresses on networks and telephone numbers."""

from __future__ import annotations

import ipaddress
import re

from perturb.selective.patterns.clues import all_clues, any_match, any_string, least_digits
from perturb.selective.patterns.shape import digits, shape

__all__ = ["CONTACT", "is_ip_address"]

_DOMAINS = ("com", "org", "net", "edu", "gov", "info", "io", "dev", "app", "ai", "eu")

_MONTH, _DAY = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(  # in figures, also with the hour that follows
    rf"(?:(?:1[5-9]|20)\d\d(?P<a>[-/.]){_MONTH}(?P=a){_DAY}"
    rf"|(?:{_MONTH}(?P<b>[-/.]){_DAY}|{_DAY}(?P<c>[-/.]){_MONTH})"
    r"(?:(?P=b)|(?P=c))(?:(?:1[5-9]|20)\d\d|\d\d))(?: \d{1,2})?"
)


def is_ip_address(text: str) -> bool:
    """Check an address of IPv4 or IPv6."""
    try:
        return int(ipaddress.ip_address(text)) > 0
    except ValueError:
        return False


def _is_phone(text: str) -> bool:
    """Check the number of digits: E.164 has at most 15, and an extension adds a few. A date is no
    telephone number."""
    return 7 <= len(digits(text)) <= 20 and not _DATE.fullmatch(text)


CONTACT = (
    shape(
        "EMAIL_ADDRESS",
        r"(?<![\w.+%'-])[\w.+%'-]++@[\w-]++(?:\.[\w-]++)+",
        clue=any_string("@"),
    ),
    shape(
        "URL",
        r"(?<!\w)(?:https?://|ftp://|www\.)[^\s<>\"“”]*(?<![.,;:!?)\]'’])",
        case=False,
        clue=any_string("://", "www."),
    ),
    shape(
        "URL",
        r"(?<![\w.@-])[\w-]++(?:\.[\w-]++)+(?:"
        + "|".join(rf"(?<=\.{end})" for end in _DOMAINS)
        + r")(?:/[^\s<>\"“”]*(?<![.,;:!?)\]'’]))?",
        case=False,
        clue=any_string(*(f".{end}" for end in _DOMAINS)),
    ),
    shape(
        "IP_ADDRESS",
        r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)",
        is_ip_address,
        clue=all_clues(least_digits(4), any_match(r"\.\d{1,3}\.\d")),
    ),
    shape(
        "IP_ADDRESS",
        r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?::\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])",
        is_ip_address,
        clue=any_match(":[0-9A-Fa-f]{0,4}:"),
    ),
    shape(
        "MAC_ADDRESS",
        r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])",
        clue=any_match("[:-][0-9A-Fa-f]{2}[:-]"),
    ),
    shape(
        "PHONE_NUMBER",
        r"(?<![\w+])(?:\+|\(\+?)?\d[\d ()./-]{5,24}(?<=\d)(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\w)",
        _is_phone,
        clue=least_digits(7),
    ),
)
