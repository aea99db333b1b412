"""Write a word in the capitals of another, or without regard to its spelling."""

from __future__ import annotations

import unicodedata

__all__ = ["fold_name", "match_case", "spell_plain"]

_EXPANDED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def match_case(word: str, run: str) -> str:
    """Return a released word in the capitals of the run it stands for.

    >>> match_case("table", "MONDAY"), match_case("Table", "monday"), match_case("table", "Monday")
    ('TABLE', 'table', 'Table')
    """
    if run.isupper() and len(run) > 1:
        return word.upper()
    if run[0].isupper():
        return word[0].upper() + word[1:].lower()
    return word.lower() if run.islower() else word


def fold_name(word: str) -> str:
    """Return the form of a word that all its spellings share, in small letters without accents.

    >>> fold_name("MÜLLER")
    'muller'
    """
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


def spell_plain(word: str) -> set[str]:
    """Return the ways to write a name in an address: without its accents, or with its umlauts as
    two letters.

    >>> sorted(spell_plain("Müller"))
    ['mueller', 'muller']
    """
    return {fold_name(word), fold_name(word.casefold().translate(_EXPANDED))}
