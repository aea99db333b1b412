"""Choose an action for each type of marked parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from perturb.errors import ParameterError
from perturb.release import Span
from perturb.selective.detector import NAMES
from perturb.selective.parts import CUSTOM, Cover
from perturb.selective.patterns import NAME
from perturb.selective.surrogates.kinds import WITHOUT
from perturb.selective.values import VALUES

__all__ = ["ACTIONS", "EVERY", "Actions", "check_actions", "drop_claimed"]

# From the weakest to the strongest: a request may only move a type to the right.
ACTIONS = ("keep", "value", "replace", "surrogate", "tag", "refuse")
EVERY = "*"  # all types without an action of their own
_OTHER = "OTHER"  # any type without a value
_DEFAULT, _ELSE = "surrogate", "tag"  # where a type has no surrogate
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
        return next((each for each in (found, _DEFAULT) if _has(type_, each)), _ELSE)

    def is_left_to_tags(self, type_: str) -> bool:
        """Tell if parts of a type get a tag because the given action has nothing for them."""
        return self.of(type_) == _ELSE != self._given(type_)

    def _given(self, type_: str) -> str:
        own = self._own
        every = own.get(EVERY, _DEFAULT)
        if type_ == CUSTOM and every == "keep":  # a term that is always marked is never kept
            every = _DEFAULT
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
        return action in (self._own.get(EVERY, _DEFAULT), *self._own.values())

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
