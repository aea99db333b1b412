"""selective: only what a policy marks as sensitive changes (SMDP, Maratkhan 2023).

The rest of a text leaves as it is and stays readable. How a marked part is replaced is
`perturb.replace`'s; what is marked is `perturb.policies`'.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perturb.embeddings import EmbeddingTable
from perturb.errors import ParameterError
from perturb.frequencies import common_words, proper_words
from perturb.mechanism import (
    EMPTY,
    Draw,
    Guarantee,
    Known,
    Mechanism,
    Parameters,
    Span,
    Words,
    get_mechanism,
    mechanism_class,
    mechanism_names,
    register,
)
from perturb.policies import (
    PatternPolicy,
    Policy,
    PresidioPolicy,
    own_shapes,
    settle,
)
from perturb.vocabulary import Vocabulary

__all__ = ["Selective", "SelectiveParameters"]

_POLICIES = ("regex", "digits", "presidio", "all")


@dataclass(frozen=True, kw_only=True)
class SelectiveParameters(Parameters):
    """What is sensitive, and what happens to it.

    Attributes:
        inner: the mechanism for sensitive words, at this ε and its other defaults. rantext_ldp
            by default: its bound is proved for every word (the thesis takes madlib, whose bound
            shrinks with the distance between words).
        policy: `regex`: the shipped patterns, capitalised names among them; `digits`: whatever
            holds a digit; `presidio`: Microsoft Presidio (extra `pii`); `all`: the whole text,
            which is the inner mechanism itself.
        patterns: an operator's own types and regular expressions, on top of any policy's.
        entities: the types to protect; none named, all that the policy knows.
        model: the installed spaCy model with which `presidio` finds names.
        consistent: whether equal words, and equal parts, get one replacement, in all the texts
            of one client of the proxy. It shows which are equal; without it, every mention is a
            fresh draw and an observer may average over the mentions of a word.
    """

    inner: str = "rantext_ldp"
    policy: Literal["regex", "digits", "presidio", "all"] = "regex"
    patterns: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    model: str = ""
    consistent: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.policy not in _POLICIES:
            raise ParameterError("policy must be 'regex', 'digits', 'presidio' or 'all'")
        if not isinstance(self.consistent, bool):
            raise ParameterError("consistent must be true or false")
        if not isinstance(self.model, str):
            raise ParameterError("model must be the name of an installed spaCy model")
        if self.model and self.policy != "presidio":
            raise ParameterError("model must be left out unless the policy is presidio")
        object.__setattr__(self, "entities", _names(self.entities))
        object.__setattr__(self, "patterns", _pairs(self.patterns))
        if self.policy == "all" and (self.patterns or self.entities):
            raise ParameterError("patterns and entities must be left out where the policy is all")
        own_shapes(dict(self.patterns))
        if self.inner not in mechanism_names() or mechanism_class(self.inner).verbatim:
            raise ParameterError(
                "inner must be 'rantext_ldp' or another mechanism that changes every word"
            )
        mechanism_class(self.inner).parameter_type(epsilon=self.epsilon)


def _names(entities: Any) -> tuple[str, ...]:
    if not isinstance(entities, (list, tuple)) or not all(isinstance(e, str) for e in entities):
        raise ParameterError("entities must be a list of types")
    return tuple(entities)


def _pairs(patterns: Any) -> tuple[tuple[str, str], ...]:
    """As pairs: hashable, and JSON in a fixed order."""
    try:
        return tuple(sorted((key, value) for key, value in dict(patterns).items()))
    except (TypeError, ValueError):
        raise ParameterError("patterns must map types to regular expressions") from None


@register
class Selective(Mechanism):
    """selective over one table.

    Args:
        policy: marks what is sensitive instead of the policy that the parameters name: anything
            with `find(text) -> spans` (`perturb.policies.Policy`). `patterns` and `entities` do
            not apply to it.
    """

    name = "selective"
    summary = "only what a policy marks is replaced, the rest leaves as it is"
    parameter_type = SelectiveParameters
    parameters: SelectiveParameters
    verbatim = True

    def __init__(
        self,
        table: EmbeddingTable,
        parameters: SelectiveParameters,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(table, parameters)
        self.inner = get_mechanism(parameters.inner, table, epsilon=parameters.epsilon)
        self.exact = self.inner.exact  # as the inner one's channel is
        self.consistent = parameters.consistent
        self._own = policy
        self._policies = [policy] if policy else _policies(parameters, table.vocabulary)
        self._common = common_words(table.vocabulary)

    @property
    def guarantee(self) -> Guarantee:
        """Of the whole text: none, for what is not marked leaves as it is, and which parts are
        marked shows. The statement says what holds for the words of marked parts."""
        if not self._policies:
            return self.inner.guarantee
        inner = self.inner.guarantee.statement.replace("each released token", "each of these")
        return Guarantee(
            kind="none",
            nominal=self.epsilon,
            epsilon=float("inf"),
            statement=(
                "the nominal ε is not an LDP bound of the text: what the policy does not mark "
                "leaves unchanged, and what it marks shows. For the words of marked parts alone: "
                f"{inner}"
            ),
        )

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
        # What was drawn when less was marked must not be sent once more is marked.
        found["marks"] = [getattr(policy, "version", "") for policy in self._policies]
        return found


def _policies(parameters: SelectiveParameters, vocabulary: Vocabulary) -> list[Policy]:
    """What marks, by the parameters; nothing for `all`."""
    if parameters.policy == "all":
        return []
    own, wanted = own_shapes(dict(parameters.patterns)), parameters.entities
    if wanted:
        own = tuple(shape for shape in own if shape.type in wanted)
        wanted = tuple(type_ for type_ in wanted if type_ not in {shape.type for shape in own})
    policies: list[Policy] = [PatternPolicy(own)] if own else []
    if parameters.entities and not wanted:
        return policies
    if parameters.policy == "presidio":
        return [PresidioPolicy(parameters.model, wanted), *policies]
    if parameters.policy == "digits":
        return [PatternPolicy.digits(wanted), *policies]
    return [PatternPolicy.shipped(wanted, proper_words(vocabulary)), *policies]
