"""Define the profiles: what is sensitive, in seven steps from keys alone to every word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

__all__ = ["DEFAULT", "PROFILES", "SECRET_TYPES", "Profile"]

SECRET_TYPES = frozenset(("API_KEY", "PASSWORD", "PRIVATE_KEY"))
_CONTACT = SECRET_TYPES | {
    *("ACCOUNT_NUMBER", "COORDINATES", "CREDIT_CARD", "CRYPTO", "EMAIL_ADDRESS", "IBAN_CODE"),
    *("INTERNAL_HOST", "IP_ADDRESS", "MAC_ADDRESS", "NATIONAL_ID", "PHONE_NUMBER", "PUBLIC_KEY"),
    *("PRIVATE_ADDRESS", "STREET_ADDRESS", "URL", "USERNAME", "US_SSN", "VAT_NUMBER", "ZIP_CODE"),
}
_PEOPLE = _CONTACT | {
    *("BIRTHPLACE", "CASE_NUMBER", "DATE_OF_BIRTH", "DIAGNOSIS_CODE", "PERSON", "RESIDENCE"),
}
_NUMBER = re.compile(r"(?:[0-9a-fA-F]|[\W_])+[nLuU]{0,3}")  # 9007199254740993n, too
_BESIDE = frozenset(("PRIVATE_ADDRESS",))
_TIED = frozenset(("LOCATION", "ORGANIZATION"))
_BUSINESS = _PEOPLE | {
    *("LOCATION", "MONEY", "ORGANIZATION"),
}


@dataclass(frozen=True)
class Profile:
    """A choice of the types that are sensitive.

    Attributes:
        name: of the profile.
        hides: what it adds to the one before it, in words.
        types: the types that the patterns mark; None for all.
        detected: the types that the detector marks, each from a probability, or, without one,
            where it is the most likely label of a word; None for all types without one.
        named: the probability from which the detector marks a person whose word has the form of
            a name, and whether it marks given names before a word of no dictionary
            (`DetectorPolicy`).
        keeps_public: whether well-known names are left (`perturb.selective.public`).
        tied: types that are sensitive only where they are a private person's: an employer, a home.
        beside: types that are sensitive only in a text that holds another sensitive part: an
            amount of money in a question of arithmetic is nobody's.
        numbers_beside: types of which a number, or what looks like a hash, is sensitive only in
            such a text.
    """

    name: str
    hides: str
    types: frozenset[str] | None = None
    detected: tuple[tuple[str, float | None], ...] | None = None
    named: float | None = None
    keeps_public: bool = False
    tied: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()
    numbers_beside: frozenset[str] = frozenset()

    @property
    def thresholds(self) -> dict[str, float]:
        """Return the probabilities of `detected`."""
        return {type_: least for type_, least in self.detected or () if least is not None}

    def needs_others(self, type_: str, found: str) -> bool:
        """Tell if a part is sensitive only beside others."""
        number = type_ in self.numbers_beside and _NUMBER.fullmatch(found) is not None
        return number or type_ in self.beside


_LIST = (
    Profile(
        "secrets",
        "keys, passwords, tokens, private keys, credentials in connection strings",
        SECRET_TYPES,
        (),
    ),
    Profile(
        "contact",
        "e-mail, street and network addresses, telephone, card, account and identity numbers, "
        "user names, personal web addresses",
        _CONTACT,
        (),
        beside=_BESIDE,
    ),
    Profile(
        "people",
        "names of private persons, dates and places of their birth, their firms and places that "
        "are not publicly known; beside them, numbers of cases and codes of diagnoses",
        _PEOPLE | _TIED,
        (("LOCATION", 0.95), ("ORGANIZATION", 0.9), ("PERSON", 0.7)),
        named=0.4,
        keeps_public=True,
        tied=_TIED,
        beside=_BESIDE | {"CASE_NUMBER", "DIAGNOSIS_CODE"},
    ),
    Profile(
        "business",
        "organisations and places that are not publicly known; beside them, amounts of money",
        _BUSINESS,
        (("LOCATION", 0.95), ("ORGANIZATION", 0.9), ("PERSON", 0.7)),
        named=0.4,
        keeps_public=True,
        beside=_BESIDE | {"CASE_NUMBER", "DIAGNOSIS_CODE", "MONEY"},
    ),
    Profile(
        "names",
        "publicly known names, too, and titles of works",
        _BUSINESS,
        (
            ("ID", 0.5),
            ("LOCATION", 0.1),
            ("ORGANIZATION", 0.1),
            ("OTHER_NAME", 0.1),
            ("PERSON", 0.1),
        ),
        named=0.1,
        beside=_BESIDE | {"CASE_NUMBER", "DIAGNOSIS_CODE", "MONEY"},
        numbers_beside=frozenset(("ID", "LOCATION")),
    ),
    Profile(
        "record",
        "dates, ages, durations, professions, nationalities, quantities: all that is found",
        detected=(
            *((type_, None) for type_ in ("DATE_TIME", "DEMOGRAPHIC", "ID", "QUANTITY")),
            *((type_, 0.1) for type_ in ("LOCATION", "ORGANIZATION", "PERSON")),
            ("OTHER_NAME", 0.15),
        ),
        named=0.1,
    ),
    Profile("everything", "every word"),
)
PROFILES: Mapping[str, Profile] = MappingProxyType({each.name: each for each in _LIST})
DEFAULT = "people"
