"""Define the parameters of `selective`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perturb.errors import ParameterError
from perturb.mechanisms.base import mechanism_class, mechanism_names
from perturb.sanitizer import Parameters
from perturb.selective.detector import DETECTED
from perturb.selective.parts import CUSTOM, check_terms
from perturb.selective.patterns import NAME, shape_types
from perturb.selective.plugged import BUILT_IN, policy_names
from perturb.selective.policies import compile_patterns
from perturb.selective.profiles import DEFAULT, EVERY, PROFILES, check_actions

__all__ = ["SelectiveParameters", "check_thresholds"]

FINDERS = ("regex", "detector")
LARGEST = 100.0  # an ε of a step at which no value moves


@dataclass(frozen=True, kw_only=True)
class SelectiveParameters(Parameters):
    """Choose the sensitive parts and their treatment.

    >>> SelectiveParameters(policy="regex", entities=["EMAIL_ADDRESS"]).inner
    'rantext_ldp'

    Attributes:
        inner: the mechanism for the words of parts that are replaced word by word, at this ε and
            its other defaults. rantext_ldp by default: its bound is proved for every word (the
            thesis takes madlib, whose bound shrinks with the distance between words).
        profile: what is sensitive, from `secrets` (keys and passwords alone) over `contact`,
            `people`, `business`, `names` and `record` (all that the finders know) to
            `everything` (every word), see `perturb.selective.profiles`. `people` by default;
            "" where a policy or `entities` is named without a profile: all that it finds.
        policy: who finds: `regex`: the shipped patterns, capitalised names among them; `digits`:
            every word that holds a digit; `detector`: the bundled token classifier, best together
            with `regex`; `all`: the whole text, which is the inner mechanism itself; a plug-in's
            name (entry-point group `inferdpt.policies`); or a list, which marks all that one of
            its policies marks. [regex, detector] by default.
        patterns: an operator's own types and regular expressions, on top of any policy's.
        entities: the types to protect, in place of a profile; all that the policy knows if none
            is named. Of `regex` and `detector`, each marks those it knows; NAME is also PERSON,
            LOCATION and ORGANIZATION. A plug-in's policy always marks all it knows.
        consistent: whether equal words, and equal parts, get one replacement in all texts of one
            client of the proxy. This shows which are equal; without it, every mention is a fresh
            draw, and an observer may average over the mentions of a word.
        actions: the action for a type, or for `*`: `surrogate` (the default) writes another
            person, address or number of the same form, drawn under the client's key and without
            an ε; `tag` writes its type and a number (`PERSON_417`), also where a type has no
            surrogate, and for every secret; `replace` draws every word of a part anew, with the
            ε of the inner mechanism; `value` writes a number or a date near its own, on a public
            grid; `keep` leaves parts of the type as they are, unless they overlap a part of
            a type that is not kept, which then counts for all of it; `refuse` refuses a text with
            such a part. NAME is also PERSON, LOCATION and ORGANIZATION.
        allow: terms that are never marked, as whole words in any capitals. A longer part that
            holds one is marked.
        deny: terms that are always marked, of the type CUSTOM, also inside an allowed one.
        value_epsilon: ε of the action `value`, for one step of the grid: the smaller, the farther.
        thresholds: the probability from which `detector` marks a type, also one that the profile
            leaves; the most likely label of a word counts for types without one.
    """

    inner: str = "rantext_ldp"
    profile: str = ""
    policy: str | tuple[str, ...] = ""
    patterns: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    consistent: bool = True
    actions: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    thresholds: Mapping[str, float] | tuple[tuple[str, float], ...] = ()
    value_epsilon: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        profile, policy = _choose(self.profile, self.policy, named=bool(self.entities))
        object.__setattr__(self, "profile", profile)
        object.__setattr__(self, "policy", _check_policy(policy))
        if not isinstance(self.consistent, bool):
            raise ParameterError("consistent must be true or false")
        object.__setattr__(self, "entities", _check_entities(self.entities))
        object.__setattr__(self, "patterns", _check_patterns(self.patterns))
        for name in ("allow", "deny"):
            object.__setattr__(self, name, check_terms(name, getattr(self, name)))
        number = self.value_epsilon
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ParameterError("value_epsilon must be a number")
        if not 0 < number <= LARGEST:
            raise ParameterError(f"value_epsilon must be > 0 and <= {LARGEST:g}, got {number:g}")
        object.__setattr__(self, "value_epsilon", float(number))
        thresholds = check_thresholds(self.thresholds, self.policy_names)
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "actions", check_actions(self.actions, self.types))
        self._check_consistent()
        if profile and "digits" in self.policy_names:
            raise ParameterError("profile must be left out where the policy is digits")
        if self.policy == "all" and (self.patterns or self.entities):
            raise ParameterError("patterns and entities must be left out where the policy is all")
        if self.policy == "all" and (self.actions or self.allow or self.deny):
            raise ParameterError(
                "actions, allow and deny must be left out where the policy is all: it marks no "
                "single part"
            )
        if self.entities and not set(self.policy_names) & set(BUILT_IN):
            raise ParameterError("entities must be left out where a plug-in's policy marks alone")
        compile_patterns(dict(self.patterns))
        if self.inner not in mechanism_names() or mechanism_class(self.inner).verbatim:
            raise ParameterError(
                "inner must be 'rantext_ldp' or another mechanism that changes every word"
            )
        mechanism_class(self.inner).parameter_type(epsilon=self.epsilon)

    def _check_consistent(self) -> None:
        drawn = dict(self.actions).get(EVERY), *dict(self.actions).values()
        if not self.consistent and not {None, "surrogate", "tag"}.isdisjoint(drawn):
            raise ParameterError(
                "consistent must be true where an action is surrogate (the default) or tag"
            )

    @property
    def policy_names(self) -> tuple[str, ...]:
        """Return the names of the policies, one or several."""
        return (self.policy,) if isinstance(self.policy, str) else self.policy

    @property
    def types(self) -> frozenset[str] | None:
        """Return the types that may be marked, NAME for names among them; None where a policy may
        find further ones."""
        if not {"regex", "digits", "detector", "all"}.issuperset(self.policy_names):
            return None
        more = (NAME, CUSTOM, *dict(self.patterns))
        profile = PROFILES.get(self.profile)
        if profile is None or profile.types is None:
            return frozenset((*shape_types(), *DETECTED, "NUMBER", *more))
        detected = {**dict(profile.detected or ()), **dict(self.thresholds)}
        return profile.types.union(detected, more)


def _choose(profile: Any, policy: Any, *, named: bool) -> tuple[str, Any]:
    """Return the profile and the policy, with the defaults for those that are not given."""
    if profile and (not isinstance(profile, str) or profile not in PROFILES):
        raise ParameterError(f"profile must be one of {', '.join(PROFILES)}")
    if profile and named:
        raise ParameterError("entities must be left out where a profile is named")
    if profile == "everything" and policy in ("", "all"):
        return profile, "all"
    if profile == "everything":
        raise ParameterError("policy must be left out where the profile is everything")
    if isinstance(policy, str) and not policy:
        return profile or ("" if named else DEFAULT), FINDERS
    return profile or "", policy


def _check_policy(given: Any) -> str | tuple[str, ...]:
    """Check the policy and return a name, or a tuple of two or more."""
    names: Any = (given,) if isinstance(given, str) else given
    listed = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    if listed and "presidio" in names and "presidio" not in policy_names():
        raise ParameterError(
            "policy presidio is a plug-in that is not installed: it is the package in the folder "
            "examples/presidio of the source"
        )
    if not listed or not names or not all(n in BUILT_IN or n in policy_names() for n in names):
        plugged = policy_names()[len(BUILT_IN) :]
        raise ParameterError(
            "policy must be 'regex', 'digits', 'detector' or 'all', or a list of names"
            + (f"; plug-ins have {', '.join(plugged)}" if plugged else "")
        )
    if len(names) > 1 and "all" in names:
        raise ParameterError("policy must be 'all' alone: it marks the whole text")
    distinct = tuple(dict.fromkeys(names))
    return distinct[0] if len(distinct) == 1 else distinct


def _check_entities(entities: Any) -> tuple[str, ...]:
    if not isinstance(entities, (list, tuple)) or not all(isinstance(e, str) for e in entities):
        raise ParameterError("entities must be a list of types")
    return tuple(entities)


def _check_patterns(patterns: Any) -> tuple[tuple[str, str], ...]:
    """Return pairs: hashable, and JSON in a fixed order."""
    try:
        return tuple(sorted((key, value) for key, value in dict(patterns).items()))
    except (TypeError, ValueError):
        raise ParameterError("patterns must map types to regular expressions") from None


def check_thresholds(thresholds: Any, policies: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Return pairs of types and probabilities, in order.

    Raises:
        ParameterError: they are none of the detector's, or none of the policies is the detector.
    """
    try:
        pairs = sorted((key, value) for key, value in dict(thresholds).items())
    except (TypeError, ValueError):
        raise ParameterError("thresholds must map types to probabilities") from None
    if pairs and "detector" not in policies:
        raise ParameterError("thresholds must be left out unless the policy is detector")
    for type_, least in pairs:
        if type_ not in DETECTED:
            raise ParameterError(f"thresholds must be for types among {', '.join(DETECTED)}")
        number = isinstance(least, (int, float)) and not isinstance(least, bool)
        if not number or not 0 < least < 1:
            raise ParameterError(f"thresholds.{type_} must be a number > 0 and < 1")
    return tuple((type_, float(least)) for type_, least in pairs)
