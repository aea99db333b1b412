"""Find addresses on networks and telephone numbers."""

from __future__ import annotations

import ipaddress
import re

from perturb.selective.patterns.clues import (
    all_clues,
    any_listed,
    any_match,
    any_string,
    least_digits,
)
from perturb.selective.patterns.shape import any_of, digits, shape

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


def _is_one_address(text: str) -> bool:
    """Check an address of a machine: not of the machine itself, nor of a network, nor a version
    (121.0.0.0)."""
    return (
        is_ip_address(text)
        and not ipaddress.ip_address(text).is_loopback
        and not text.endswith(".0.0.0")
    )


def _is_phone(text: str) -> bool:
    """Check the number of digits: E.164 has at most 15, and an extension adds a few. A date is no
    telephone number."""
    least = 9 if text.startswith("0") else 6
    return least <= len(digits(text)) <= 20 and not _DATE.fullmatch(text)


# A number alone is no evidence: a telephone number has the form of one, or words before it.
_PHONES = "|".join(
    (
        r"\+\(?\d{1,3}\)?(?:[ ()./-]{0,3}\d){6,14}",  # +49 30 1234567, +41 (0)85 806 98 67
        r"00[1-9]\d{0,2}(?:[ ()/-]{0,3}\d){7,12}",
        r"(?:0{0,2}1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}",  # North America
        r"(?:\d{1,2} ?)?\(\d{2,5}\) ?\d{2,5}(?:[ -]\d{2,5}){1,3}",  # (020) 7946 0958
        r"0[1-9]\d{0,4}(?: ?[/.-] ?| )\d{2,8}(?:[ ./-]\d{2,6}){0,4}",  # 0171 / 234 56 78
        r"0[1-9]\d{9}|0[67]\d{8}",
        r"[6-9]\d\d(?: \d\d){3}|[6-9]\d{4} \d{5}",  # Spain, India
        r"(?<=[\u3400-\u9fff\uff1a])1[3-9]\d{9}",  # China, after a word
    )
)
_EXTENSION = r"(?: ?(?:x|ext\.?) ?\d{1,6})?"
_PHONE_WORDS = """
    phone phones telephone tel mobile cell cellular fax telefax desk call calls ring dial whatsapp
    sms msisdn messages answering telefon telefonnummer handy handynummer durchwahl rufnummer
    téléphone portable appelle appeler teléfono móvil celular llame llamar llámame telefono
    cellulare тел телефон вн
"""


CONTACT = (
    shape(
        "EMAIL_ADDRESS",
        # logo@2x.png is the name of a picture.
        r"(?<![\w.+%'-])[\w.+%'-]++@(?!\d{1,2}x\.\w)[\w-]++(?:\.[\w-]++)+",
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
        r"(?<![\w.])(?<!\w/)(?:\d{1,3}\.){3}\d{1,3}(?!\.?\d)",  # Chrome/121.0.6167.85 is none
        _is_one_address,
        clue=all_clues(least_digits(4), any_match(r"\.\d{1,3}\.\d")),
    ),
    shape(
        "IP_ADDRESS",
        r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?::\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])",
        _is_one_address,
        clue=any_match(":[0-9A-Fa-f]{0,4}:"),
    ),
    shape(
        "MAC_ADDRESS",
        r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])",
        clue=any_match("[:-][0-9A-Fa-f]{2}[:-]"),
    ),
    shape(
        "PHONE_NUMBER",
        rf"(?<![\w+])(?<!\d[.,:/-])(?:{_PHONES}){_EXTENSION}(?!\w|[.,]\d)",
        _is_phone,
        clue=least_digits(7),
    ),
    shape(
        "PHONE_NUMBER",
        rf"(?<!\w){any_of(_PHONE_WORDS)}\.?[\"')]?(?: ?(?:no|nr|number|nummer)\.?)?"
        r"[:=#\s\"'>]{1,4}(?:(?:me|him|her|us|them) )?(?:(?:at|on|to|under|unter|is|al|au) )?"
        rf"(?P<part>\(?\+?\d[\d ()./-]{{4,22}}(?<=\d){_EXTENSION})(?!\w|[.,]\d)",
        _is_phone,
        case=False,
        clue=all_clues(least_digits(6), any_listed(_PHONE_WORDS)),
    ),
)
