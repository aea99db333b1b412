"""Find names of persons by what stands around them: titles, relations, roles, introductions, the
names of keys, e-mail addresses and telephone numbers. A capital alone is no evidence."""

from __future__ import annotations

from perturb.selective.patterns.persons.keys import KEYS
from perturb.selective.patterns.persons.lines import LINES
from perturb.selective.patterns.persons.relatives import OWN_KIN, RELATIONS, RELATIVES
from perturb.selective.patterns.persons.spoken import ALONE, SPOKEN, locate_alone
from perturb.selective.patterns.persons.titles import TITLES
from perturb.selective.patterns.persons.written import (
    ALSO_WORDS,
    CAPITALS,
    DEPARTMENTS,
    NO_NAMES,
    WRITTEN_FULL,
    WRITTEN_LOWER,
    WRITTEN_NAME,
    WRITTEN_TITLE,
    is_full_name,
    is_given_name,
    is_lower_name,
    is_misspelt,
    is_strange,
)

__all__ = [
    "ALONE",
    "ALSO_WORDS",
    "CAPITALS",
    "DEPARTMENTS",
    "NO_NAMES",
    "OWN_KIN",
    "PERSONS",
    "RELATIONS",
    "WRITTEN_FULL",
    "WRITTEN_LOWER",
    "WRITTEN_NAME",
    "WRITTEN_TITLE",
    "is_full_name",
    "is_given_name",
    "is_lower_name",
    "is_misspelt",
    "is_strange",
    "locate_alone",
]

PERSONS = (*KEYS, *SPOKEN, *TITLES, *RELATIVES, *LINES)
