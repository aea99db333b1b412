"""selective: replace only the parts that a policy marks as sensitive (SMDP, Maratkhan 2023).

The rest of a text is released unchanged and stays readable. `perturb.selective.policies` marks
the parts, `perturb.selective.replace` replaces them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturb.channel import Draw, Words
from perturb.errors import ParameterError
from perturb.mechanisms.base import Mechanism, get_mechanism, mechanism_class, mechanism_names
from perturb.options import DocumentOptions
from perturb.registry import register
from perturb.release import EMPTY, Guarantee, Known, Span
from perturb.sanitizer import Marking, Parameters, Sanitizer
from perturb.selective.documents import PartByPart
from perturb.selective.marked import MarkingMechanism
from perturb.selective.patterns import RULES
from perturb.selective.plugged import BUILT_IN, PluggedPolicy, policy_names
from perturb.selective.policies import (
    PatternPolicy,
    Policy,
    PresidioPolicy,
    compile_patterns,
    settle,
)
from perturb.vocabulary.frequencies import common_words, proper_words
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import Vocabulary

__all__ = ["Selective", "SelectiveParameters"]


@dataclass(frozen=True, kw_only=True)
class SelectiveParameters(Parameters):
    """Choose the sensitive parts and their treatment.

    >>> SelectiveParameters(policy="regex", entities=["EMAIL_ADDRESS"]).inner
    'rantext_ldp'

    Attributes:
        inner: the mechanism for sensitive words, at this ε and its other defaults. rantext_ldp
            by default: its bound is proved for every word (the thesis takes madlib, whose bound
            shrinks with the distance between words).
        policy: `regex`: the shipped patterns, capitalised names among them; `digits`: every word
            that holds a digit; `presidio`: Microsoft Presidio (extra `pii`); `all`: the whole
            text, which is the inner mechanism itself; a plug-in's name (entry-point group
            `inferdpt.policies`); or a list, which marks all that one of its policies marks.
        patterns: an operator's own types and regular expressions, on top of any policy's.
        entities: the types to protect; all that the policy knows if none is named. A plug-in's
            policy always marks all it knows.
        model: the installed spaCy model with which `presidio` finds names.
        consistent: whether equal words, and equal parts, get one replacement in all texts of one
            client of the proxy. This shows which are equal; without it, every mention is a fresh
            draw, and an observer may average over the mentions of a word.
    """

    inner: str = "rantext_ldp"
    policy: str | tuple[str, ...] = "regex"
    patterns: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    model: str = ""
    consistent: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "policy", _check_policy(self.policy))
        if not isinstance(self.consistent, bool):
            raise ParameterError("consistent must be true or false")
        if not isinstance(self.model, str):
            raise ParameterError("model must be the name of an installed spaCy model")
        if self.model and "presidio" not in self.policy_names:
            raise ParameterError("model must be left out unless the policy is presidio")
        object.__setattr__(self, "entities", _check_entities(self.entities))
        object.__setattr__(self, "patterns", _check_patterns(self.patterns))
        if self.policy == "all" and (self.patterns or self.entities):
            raise ParameterError("patterns and entities must be left out where the policy is all")
        if self.entities and not set(self.policy_names) & set(BUILT_IN):
            raise ParameterError("entities must be left out where a plug-in's policy marks alone")
        compile_patterns(dict(self.patterns))
        if self.inner not in mechanism_names() or mechanism_class(self.inner).verbatim:
            raise ParameterError(
                "inner must be 'rantext_ldp' or another mechanism that changes every word"
            )
        mechanism_class(self.inner).parameter_type(epsilon=self.epsilon)

    @property
    def policy_names(self) -> tuple[str, ...]:
        """Return the names of the policies, one or several."""
        return (self.policy,) if isinstance(self.policy, str) else self.policy


def _check_policy(given: Any) -> str | tuple[str, ...]:
    """Check the policy and return a name, or a tuple of two or more."""
    names: Any = (given,) if isinstance(given, str) else given
    listed = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    if not listed or not names or not all(n in BUILT_IN or n in policy_names() for n in names):
        plugged = policy_names()[len(BUILT_IN) :]
        raise ParameterError(
            "policy must be 'regex', 'digits', 'presidio' or 'all', or a list of names"
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


@register
class Selective(MarkingMechanism):
    """Replace the parts that a policy marks, over one table.

    Args:
        policy: marks the sensitive parts in place of the policy that the parameters name: any
            object with `find(text) -> spans` (`perturb.selective.policies.Policy`). `patterns`
            and `entities` do not apply to it.

    >>> from perturb import get_mechanism
    >>> text = "Write to anna@example.org by Monday."
    >>> mechanism = get_mechanism("selective", entities=("EMAIL_ADDRESS",))
    >>> [text[span.start : span.end] for span in mechanism.spans(text)]
    ['anna@example.org']
    """

    name = "selective"
    summary = "replaces only what a policy marks and keeps the rest"
    about = (
        "A policy marks the sensitive parts (digits, patterns, named entities, or all); marked "
        "words go through an inner mechanism, and the rest is released unchanged (SMDP, Maratkhan "
        "2023). A marked word has the guarantee of the inner mechanism, with the figures above. "
        "Nothing is guaranteed for the rest, nor for parts that the policy misses, and the "
        "release shows which parts were marked. Pick it where most of the text is not sensitive "
        "and has to stay readable."
    )
    parameter_type = SelectiveParameters
    parameters: SelectiveParameters
    audit_notes = ("the figures are of a word that the policy marks; the rest is sent",)

    def __init__(
        self,
        table: EmbeddingTable,
        parameters: SelectiveParameters,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(table, parameters)
        self.inner = get_mechanism(parameters.inner, table, epsilon=parameters.epsilon)
        self.exact = self.inner.exact
        self.consistent = parameters.consistent
        self._own = policy
        self._policies = [policy] if policy else _build_policies(parameters, table.vocabulary)
        self.marks = bool(self._policies)
        self._common = common_words(table.vocabulary)

    @property
    def drawn_by(self) -> Mechanism:
        return self.inner

    @property
    def guarantee(self) -> Guarantee:
        """Return the guarantee of the whole text: none.

        Unmarked text is released unchanged, and the release shows which parts are marked. The
        statement gives the guarantee for the words of marked parts.
        """
        if not self._policies:
            return self.inner.guarantee
        inner = self.inner.guarantee.statement.replace("each released token", "each of these")
        return Guarantee(
            kind="none",
            nominal=self.epsilon,
            epsilon=float("inf"),
            statement=(
                "the nominal ε is not an LDP bound of the text: unmarked text is released "
                "unchanged, and the marks are visible. For the words of marked parts alone: "
                f"{inner}"
            ),
            unit="marked part",
        )

    @property
    def part_guarantee(self) -> Guarantee:
        return self.inner.guarantee

    @property
    def policies(self) -> tuple[Policy, ...]:
        """Return the policies that mark; none where the whole text is perturbed."""
        return tuple(self._policies)

    @property
    def marking(self) -> Marking | None:
        if not self._policies:
            return None
        own = frozenset(dict(self.parameters.patterns))
        return Marking(
            self.policies, own, bool({"regex", "presidio"} & set(self.parameters.policy_names))
        )

    def documents(self, options: DocumentOptions, max_tokens: int | None = None) -> Sanitizer:
        if not self._policies:
            return super().documents(options, max_tokens)
        return PartByPart(self, options, max_tokens)

    def spans(self, text: str, known: Known = EMPTY) -> tuple[Span, ...] | None:
        if not self._policies:
            return None
        found = [span for policy in self._policies for span in policy.find(text)]
        return settle(text, found, known, self._common)

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return self.inner.draw(words, rng)

    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        return self.inner.channel(words)

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return self.inner.keep_rate(words)

    def identity(self) -> dict[str, Any]:
        found = {**super().identity(), "inner": self.inner.identity()}
        if self._own is not None:
            found["policy"] = f"own: {type(self._own).__qualname__}"
        # A draw made under rules that mark less must not be released under rules that mark more.
        found["marks"] = [RULES, *(getattr(policy, "version", "") for policy in self._policies)]
        return found


def _build_policies(parameters: SelectiveParameters, vocabulary: Vocabulary) -> list[Policy]:
    """Build the policies that the parameters name; none for `all`."""
    if parameters.policy == "all":
        return []
    own, wanted = compile_patterns(dict(parameters.patterns)), parameters.entities
    if wanted:
        own = tuple(shape for shape in own if shape.type in wanted)
        wanted = tuple(type_ for type_ in wanted if type_ not in {shape.type for shape in own})
    policies: list[Policy] = []
    for name in parameters.policy_names:
        if name not in BUILT_IN:
            policies.append(PluggedPolicy(name))
        elif parameters.entities and not wanted:
            continue  # the operator's own expressions find all requested types
        elif name == "presidio":
            policies.append(PresidioPolicy(parameters.model, wanted))
        elif name == "digits":
            policies.append(PatternPolicy.digits(wanted))
        else:
            proper, common = proper_words(vocabulary), common_words(vocabulary)
            policies.append(PatternPolicy.shipped(wanted, proper, common))
    return [*policies, PatternPolicy(own)] if own else policies
