"""What is done with a part of each type: the profiles say what is sensitive, in seven steps from
keys alone to every word; the actions say how a sensitive part is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.selective.detector import NAMES
from perturb.selective.parts import CUSTOM, Cover
from perturb.selective.patterns import NAME
from perturb.selective.surrogates.kinds import WITHOUT
from perturb.selective.values import VALUES

__all__ = [
    "ACTIONS",
    "DEFAULT",
    "EVERY",
    "PROFILES",
    "SECRET_TYPES",
    "Actions",
    "Profile",
    "check_actions",
    "drop_claimed",
]

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
# From the weakest to the strongest: a request may only move a type to the right.
ACTIONS = ("keep", "value", "replace", "surrogate", "tag", "refuse")
EVERY = "*"  # all types without an action of their own
_OTHER = "OTHER"  # any type without a value
_DEFAULT_ACTION, _ELSE = "surrogate", "tag"  # where a type has no surrogate
_RANKS = {"keep": -1, "refuse": 1}
# What the patterns find where no other type claims a number, see `patterns.identifiers.OTHERS`.
_UNCLAIMED = frozenset(("ID", "NUMBER"))


@dataclass(frozen=True)
class Actions:
    """The action for each type.

    An action for NAME is also that of PERSON, LOCATION and ORGANIZATION, where they have none of
    their own.

    Attributes:
        pairs: types, or `*`, with their actions, in order.

    >>> actions = Actions((("*", "keep"), ("NAME", "refuse")))
    >>> [actions.of(type_) for type_ in ("NAME", "PERSON", "AGE", "CUSTOM")]
    ['refuse', 'refuse', 'keep', 'surrogate']
    """

    pairs: tuple[tuple[str, str], ...] = ()

    def of(self, type_: str) -> str:
        """Return the action for parts of a type: `tag` where the given one has nothing for it."""
        found = self._given(type_)
        return next((each for each in (found, _DEFAULT_ACTION) if _has(type_, each)), _ELSE)

    def is_left_to_tags(self, type_: str) -> bool:
        """Tell if parts of a type get a tag because the given action has nothing for them."""
        return self.of(type_) == _ELSE != self._given(type_)

    def _given(self, type_: str) -> str:
        own = self._own
        every = own.get(EVERY, _DEFAULT_ACTION)
        if type_ == CUSTOM and every == "keep":  # a term that is always marked is never kept
            every = _DEFAULT_ACTION
        named = own.get(NAME, every) if type_ in NAMES else every
        return own.get(type_, named)

    @cached_property
    def _own(self) -> dict[str, str]:
        return dict(self.pairs)

    def rank(self, type_: str) -> int:
        """Return the rank of a type among findings that overlap: one that is refused gives the
        type to all of them, one that is kept to none."""
        return _RANKS.get(self.of(type_), 0)

    def uses(self, action: str) -> bool:
        """Tell if some type has an action."""
        return action in (self._own.get(EVERY, _DEFAULT_ACTION), *self._own.values())

    def check_weaker(self, given: Iterable[tuple[str, str]], known: Collection[str]) -> None:
        """Check that no given action is weaker than the one here.

        Args:
            given: checked pairs, see `check_actions`.
            known: the types that the error may name.

        Raises:
            ParameterError: one is.
        """
        for type_, action in given:
            least = self.of(type_)
            if ACTIONS.index(action) < ACTIONS.index(least):
                name = type_ if type_ in known or type_ == EVERY else "TYPE"
                raise ParameterError(
                    f"actions.{name} must not be weaker than the {least} in force, got {action}"
                )

    def strengthen(self, given: Iterable[tuple[str, str]]) -> Actions:
        """Return for every type the stronger of the action here and the given one.

        A given `*` is for every type that is not given.
        """
        asked = Actions(tuple(given))

        def both(type_: str) -> str:
            return _stronger(self.of(type_), asked._floor(type_))

        made = {type_: both(type_) for type_, _ in (*self.pairs, *asked.pairs)}
        if any(type_ == EVERY for type_, _ in asked.pairs):
            # Types for which an action here has nothing are treated more strictly by it already.
            if _is_weaker(Actions(tuple(made.items())).of(_OTHER), both(_OTHER)):
                made = {**{type_: both(type_) for type_ in VALUES}, **made, EVERY: both(_OTHER)}
            if _is_weaker(Actions(tuple(made.items())).of(CUSTOM), both(CUSTOM)):
                made[CUSTOM] = both(CUSTOM)
        return Actions(tuple(sorted(made.items())))

    def _floor(self, type_: str) -> str:
        """Return the action that is asked for; the weakest where none is."""
        every = (EVERY, ACTIONS[0])
        return Actions(tuple(dict((every, *self.pairs)).items())).of(type_)


def _has(type_: str, action: str) -> bool:
    """Tell if a type has a surrogate, or a value, where the action needs one."""
    if action == "value":
        return type_ in VALUES or type_ == EVERY
    return action != "surrogate" or type_ not in WITHOUT


def _is_weaker(one: str, other: str) -> bool:
    return ACTIONS.index(one) < ACTIONS.index(other)


def _stronger(one: str, other: str) -> str:
    """Return the stronger of two actions."""
    return max(one, other, key=ACTIONS.index)


def check_actions(given: Any, known: Collection[str] | None = None) -> tuple[tuple[str, str], ...]:
    """Return pairs of types and actions, in order.

    Args:
        given: a mapping, or pairs.
        known: the types that there are; None if they are not known.

    Raises:
        ParameterError: an unknown type or action. The message names no type that is not known.
    """
    try:
        pairs = sorted((key, value) for key, value in dict(given).items())
    except (TypeError, ValueError):
        raise ParameterError("actions must map types, or *, to actions") from None
    for type_, action in pairs:
        if not isinstance(type_, str) or not (known is None or type_ == EVERY or type_ in known):
            raise ParameterError(
                f"actions must be for *, or for types among {', '.join(sorted(known or ()))}"
            )
        named = type_ if known is not None else "TYPE"
        if not isinstance(action, str) or action not in ACTIONS:
            raise ParameterError(f"actions.{named} must be one of {', '.join(ACTIONS)}")
        if type_ != EVERY and not _has(type_, action):
            raise ParameterError(f"actions.{named} must not be {action}: the type has none")
        if type_ == CUSTOM and action == "keep":
            raise ParameterError("actions.CUSTOM must not be keep: its terms are always marked")
    return tuple(pairs)


def drop_claimed(found: Iterable[Span], own: Collection[str]) -> list[Span]:
    """Drop the numbers that another type claims: findings of NUMBER and ID inside a finding of
    another type.

    Args:
        own: types that the operator named, which count even if they have these names.
    """
    found, loose = list(found), _UNCLAIMED.difference(own)
    claimed = Cover(span for span in found if span.type not in loose)
    return [s for s in found if s.type not in loose or not claimed.holds(s.start, s.end)]
