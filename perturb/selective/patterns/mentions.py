"""Find names of persons beside a telephone number, a role of a lawsuit or a household, and at the
head and the foot of documents."""

from __future__ import annotations

import re

from perturb.selective.patterns.clues import (
    all_clues,
    any_listed,
    any_match,
    any_string,
    least_digits,
)
from perturb.selective.patterns.given import is_given
from perturb.selective.patterns.persons import (
    CAPITALS,
    WRITTEN_FULL,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    is_full_name,
    is_given_name,
    is_lower_name,
)
from perturb.selective.patterns.settings import is_ordinary_word
from perturb.selective.patterns.shape import any_of, shape

__all__ = ["MENTIONS"]

_NUMBER = r"(?:\+|00|\(?0)\d?[\d ()/.-]{6,20}\d"
_ROLES = """
    executor executrix petitioner respondent plaintiff defendant babysitter bride groom widow
    widower stepson stepdaughter grandson granddaughter godson goddaughter guardian caregiver
    tochter sohn enkel enkelin bruder schwester schwager schwägerin neffe nichte patenkind
    babysitterin nuera yerno nieto nieta sobrino sobrina
"""
_NEIGHBOURS = """
    neighbours neighbors tenants landlords friends in-laws owners cousins guests family doors
"""
_ASKED = "fragen anrufen sagen schreiben erreichen bitten treffen einladen abholen gefragt gesehen"


def _is_unusual(name: str) -> bool:
    """Tell if words name a person of whom not all words are ordinary, and are no acronym."""
    words = re.split(r"[ -]+", name)
    return is_given_name(name) and not name.isupper() and not is_ordinary_word(words[0])


def _locate_called(match: re.Match[str]) -> tuple[int, int] | None:
    """Return the place of a name before a telephone number, from its given name on."""
    start, end = match.span("part")
    for word in match["part"].split(" "):
        if is_given(word.partition("-")[0]) and not is_ordinary_word(word):
            return start, end
        start += len(word) + 1
    return None


def _is_household(name: str) -> bool:
    return not is_ordinary_word(name) and not is_ordinary_word(name[:-1])


def _is_head(name: str) -> bool:
    words = name.split(" ")
    return any(map(is_given, words)) and not all(map(is_ordinary_word, words))


def _is_bare(name: str) -> bool:
    """Tell if several words are a name: the first is a given name, or none is ordinary."""
    words = re.split(r"[ -]+", name)
    return is_full_name(name) and (is_given(words[0]) or not any(map(is_ordinary_word, words)))


MENTIONS = (
    shape(  # Ring Amina at +254 722 555 012; Ortrud (04321 555 99)
        "PERSON",
        rf"(?<![\w'’-])(?P<part>{WRITTEN_NAME}) ?"
        r"(?:at |on |under |unter |au |al |em |op |på |pod |\()"
        rf"(?={_NUMBER})",
        clue=all_clues(least_digits(7), any_match(r"[ (](?:\+|\(?0)\d")),
        locate=_locate_called,
        reach=(200, 40),
    ),
    shape(  # tel. +39 340 555 0123. Ildebranda Scognamiglio
        "PERSON",
        rf"(?<![\w.])\+?\d[\d ()/-]{{6,24}}\d[.,;] (?P<part>{WRITTEN_FULL})(?=[.,]?\s*\Z|\n|, )",
        _is_bare,
        clue=all_clues(least_digits(8), any_match(rf"\d[.,;] [{CAPITALS}]")),
        reach=(30, 200),
    ),
    shape(  # executor Alphonse, Enkel Malte
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_ROLES)}) (?P<part>{WRITTEN_NAME})",
        lambda name: is_given(name.split(" ")[0]) and _is_unusual(name),
        clue=any_listed(_ROLES),
        reach=(20, 200),
    ),
    shape(  # our neighbours are the Mulvaneys
        "PERSON",
        rf"(?<!\w)(?i:{any_of(_NEIGHBOURS)})(?!\w)[^.!?\n]{{0,30}}? the "
        rf"(?P<part>[{CAPITALS}][^\W\d_]{{3,20}}s)"
        r"(?![\w'’-])",
        _is_household,
        clue=any_listed(_NEIGHBOURS),
        reach=(12, 80),
    ),
    shape(  # Hi, Trev here
        "PERSON",
        rf"(?m:^|(?<=[.!?] ))(?i:hi|hey|hello|hallo|moin),? (?P<part>{WRITTEN_NAME}) "
        r"(?:here|hier|speaking)(?!\w)",
        is_given_name,
        clue=any_listed("here hier speaking"),
        reach=(120, 10),
    ),
    shape(  # kannst du svenja fragen
        "PERSON",
        rf"(?<!\w)(?:du|ich|ihr|mal|bitte) (?P<part>{WRITTEN_LOWER}) (?:mal |bitte )?"
        rf"{any_of(_ASKED)}(?!\w)",
        lambda name: is_given(name) and is_lower_name(name),
        clue=any_listed(_ASKED),
        reach=(60, 14),
    ),
    shape(  # of letters and papers in LaTeX
        "PERSON",
        rf"\\(?:signature|author|name|fromname|begin\{{letter\}})\{{(?P<part>{WRITTEN_FULL})"
        r"(?=\}| \\\\|,)",
        is_full_name,
        clue=any_string("signature{", "author{", "name{", "letter}{"),
        reach=(18, 200),
    ),
    shape(  # above a CV
        "PERSON",
        rf"\A\s{{0,4}}(?P<part>[{CAPITALS}'’-]{{3,20}}(?: [{CAPITALS}'’-]{{2,20}}){{1,3}})"
        r"[ \t]{0,3}\r?\n"
        r"(?=[^@]{0,300}?(?:@|(?<!\w)\+?\d[\d ()-]{7,20}\d))",
        _is_head,
        clue=all_clues(any_match(rf"\A\s{{0,4}}[{CAPITALS}'’-]{{3}}"), any_string("\n")),
    ),
)
