"""Find street addresses and postcodes of several countries."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import (
    all_clues,
    any_listed,
    any_match,
    any_string,
    least_digits,
)
from perturb.selective.patterns.shape import any_of, shape

__all__ = ["PLACES"]

_NUMBER = r"\d{1,4}(?: ?[a-zA-Z]|/\d{1,3})?(?!\w)"
# A word of a street's name; one that opens a clause belongs to no address.
_NO_NAME = any_of(
    "the of and or in a an at to by on for from with that which this these his her its their is",
    "was were are had has have would not § art under before after between",
)
_WORD = rf"(?!{_NO_NAME}\b)[^\W\d_][\w'’.-]{{0,30}}"
_CAPITAL = r"(?-i:[A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ])[\w'’-]{1,30}+"

# -- number first: United States, United Kingdom, Ireland, Canada, Australia ----------------------
_SURE = "street st avenue ave road rd boulevard blvd lane ln drive dr parkway pkwy highway hwy"
_ALSO = (
    "court ct square sq place pl terrace way close crescent circle trail alley row walk gardens"
    " grove mews quay"
)
_UNIT = r"(?:,?\s{1,3}(?:apt|apartment|suite|unit|floor|fl|room|box|flat)\b\.? ?#?\w{1,6})?"
_ENGLISH = "|".join(
    (
        rf"\d{{1,5}}[a-z]?,? (?:{_WORD} ){{1,4}}{any_of(_SURE)}\b\.?{_UNIT}",
        # `12 November 1998 Court` is a year.
        rf"(?!(?:19|20)\d\d\b)\d{{1,5}}[a-z]?,? (?:{_WORD} ){{1,4}}{any_of(_ALSO)}\b\.?{_UNIT}",
        r"p\.? ?o\.? ?box \d{1,6}",
        r"(?:apt|apartment|suite|unit|flat)\b\.? ?#?\d{1,5}(?: box \d{1,6})?",
    )
)
# -- type first, number before or after: France, Spain, Italy, Portugal, Poland -------------------
_TYPES = any_of(
    "rue avenue av. boulevard bd chemin allée impasse quai faubourg place cours route",
    "calle c/ avenida avda avda. plaza pza. paseo camino carretera ctra. ronda travesía glorieta",
    "rambla vía via viale piazza corso largo rua praça travessa ulica ul. al. aleja trg ulice",
)
_LINK = r"(?:(?:de|du|des|della|delle|del|di|do|da|dos|das|la|le|les|el|los|las)\s|d['’]|l['’])"
_ROMANCE = (
    rf"(?:\d{{1,4}}(?: ?(?:bis|ter|[a-z]))?,? )?{_TYPES}\s?{_LINK}{{0,3}}"
    rf"{_CAPITAL}(?:\s{_LINK}{{0,2}}{_CAPITAL}){{0,3}}(?:,? (?:n[º°.]\s?)?{_NUMBER})?"
)
# -- type last, in one word or two: German, Dutch, Scandinavian, Finnish, Hungarian ---------------
_ENDS = ("straße", "strasse", "str.", "straat", "gatan", "vägen", "veien", "gracht")
_CAPITAL_ENDS = (
    *("weg", "platz", "allee", "gasse", "damm", "ufer", "chaussee", "steig", "markt"),
    *("laan", "plein", "gade", "vej", "vegen", "gata", "gate", "katu", "tie", "utca", "út"),
)
_GERMANIC = rf"(?:{_CAPITAL} )?(?=[^\W\d_])[\w.-]{{3,40}}+ {_NUMBER}"
_PREPOSITION = rf"(?:Am|An de[rn]|Im|In der|Auf de[mr]|Unter den|Zu[mr]|Beim) {_CAPITAL} {_NUMBER}"


def _is_street(text: str) -> bool:
    """Tell if the word before the house number ends as a kind of street."""
    word = text[: re.search(r" \d", text).start()].rpartition(" ")[2]  # type: ignore[union-attr]
    return word.lower().endswith(_ENDS) or (
        text[0].isupper() and word.lower().endswith(_CAPITAL_ENDS)
    )


_CITY = rf"(?:,?\s{{1,3}}(?:[A-Z]{{1,2}}-)?\d{{4,5}}(?: ?[A-Z]{{2}})? {_CAPITAL}(?: {_CAPITAL})?)?"
# A name and a house number before a postcode: `Jagerij 64, 9999 AA`.
_BARE = (
    rf"{_CAPITAL}(?: {_CAPITAL}){{0,3}} \d{{1,4}}[a-z]?"
    r"(?=,?\s{1,3}(?:[A-Z]{1,2}-)?\d{4,5} [A-ZÀ-ÖØ-Þ])"
)

_POSTCODE = (
    r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z][ -]?\d[A-Z]\d|\d{5}-\d{4}|\d{4} [A-Z]{2}"
    r"|\d{3} \d{2}|\d{2}-\d{3}"
)

PLACES = (
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-])(?=[\dafpsu])(?:{_ENGLISH})(?!\w)",
        case=False,
        clue=all_clues(
            least_digits(1),
            any_listed(_SURE, _ALSO, "box obox pobox apt apartment suite unit flat"),
        ),
    ),
    shape("STREET_ADDRESS", rf"(?<![\w-])(?=[\dacbfilpqrstuv])(?:{_ROMANCE}){_CITY}", case=False),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-]){_GERMANIC}{_CITY}",
        _is_street,
        clue=all_clues(
            least_digits(1), any_string(*(f"{end} " for end in (*_ENDS, *_CAPITAL_ENDS)))
        ),
    ),
    shape(
        "STREET_ADDRESS",
        rf"(?<![\w-]){_PREPOSITION}{_CITY}",
        clue=all_clues(
            least_digits(1), any_match("(?:Am|de[nmr]|Im|In der|Zu[mr]|Beim) [A-ZÀ-ÖØ-ÞŁŚŻŽŠČĐİ]")
        ),
    ),
    shape("STREET_ADDRESS", rf"(?<![\w-])(?:{_BARE}){_CITY}", clue=least_digits(5)),
    shape("ZIP_CODE", rf"(?<![\w-])(?:{_POSTCODE})(?![\w-])", clue=least_digits(2)),
)
