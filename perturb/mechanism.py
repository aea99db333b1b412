"""What a word-level mechanism is, what it promises, and the registry of all of them.

A mechanism is a finite channel P(y | x) over V. It is built once for a table and frozen;
it holds no generator and no state, so threads share it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from perturb.embeddings import EmbeddingTable, load_table
from perturb.errors import ParameterError

__all__ = [
    "Draw",
    "Guarantee",
    "Mechanism",
    "Parameters",
    "Span",
    "get_mechanism",
    "ldp_guarantee",
    "mechanism_class",
    "mechanism_names",
    "register",
]

Words = NDArray[np.integer[Any]]
Known = Mapping[str, str]  # raw sensitive parts of other texts, each with its type
EMPTY: Known = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters every mechanism has; subclasses add their own and extend `__post_init__`."""

    epsilon: float = 6.0

    def __post_init__(self) -> None:
        number = self.epsilon
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ParameterError(f"epsilon must be a number, got {type(number).__name__}")
        try:
            value = float(number)
        except OverflowError:
            value = math.inf if number > 0 else -math.inf
        if not (math.isfinite(value) and value > 0):
            raise ParameterError(f"epsilon must be > 0 and finite, got {value:g}")
        object.__setattr__(self, "epsilon", value)


@dataclass(frozen=True)
class Guarantee:
    """What is proved of one released token.

    Attributes:
        kind: `ldp`; `metric` where ε is per unit of distance (metric differential privacy);
            `none` where the nominal ε is not a bound.
        nominal: the ε the mechanism was asked for.
        epsilon: the proved bound for replacing one token by any other that goes through the
            mechanism (metric mechanisms: ε times the largest distance there is); ∞ where none
            is proved.
        statement: one sentence that says it in words.
    """

    kind: Literal["ldp", "metric", "none"]
    nominal: float
    epsilon: float
    statement: str


def ldp_guarantee(epsilon: float) -> Guarantee:
    """ε-LDP for replacing one token, in the wording used everywhere."""
    return Guarantee(
        kind="ldp",
        nominal=epsilon,
        epsilon=epsilon,
        statement=(
            f"each released token is {epsilon:g}-LDP with respect to replacing that token, given "
            f"the public vocabulary, instruction and length; changing k tokens costs k·{epsilon:g}"
        ),
    )


@dataclass(frozen=True, order=True)
class Span:
    """A sensitive part of a text: characters `start` to `end` (exclusive), and what it is."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Draw:
    """Released words, and public statistics of how they were drawn (for the client only)."""

    words: NDArray[np.int32]
    statistics: Mapping[str, float] = field(default_factory=dict)


class Mechanism(ABC):
    """One mechanism over one embedding table.

    Subclasses set `name`, `summary` (for help texts) and `parameter_type`, and are registered.

    Attributes:
        verbatim: whether some raw words leave unchanged by design; an operator has to allow
            such a mechanism by name.
        exact: whether `channel` is computed, up to its stated error, rather than sampled.
        bounded_range: whether ln P(y|x)/P(y|x') lies, for every two words, in an interval of
            length ε over y (composes better than ε-LDP alone, which makes it 2ε; see
            `perturb.accounting`).
        consistent: where `spans` marks parts, whether equal words and equal parts get one
            replacement.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    parameter_type: ClassVar[type[Parameters]] = Parameters
    verbatim: ClassVar[bool] = False
    exact: bool = True
    bounded_range: ClassVar[bool] = False
    consistent: bool = True

    def __init__(self, table: EmbeddingTable, parameters: Parameters) -> None:
        self.table = table
        self.parameters = parameters

    @property
    def epsilon(self) -> float:
        """The nominal ε."""
        return self.parameters.epsilon

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is proved of one released token."""

    @abstractmethod
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        """Release one word for each word: int (n,), places in V → the same shape."""

    @abstractmethod
    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        """The rows P(· | x) of the words x, int (n,) → float64 (n, m), and the error of a row in
        total variation: numerical, or statistical where not `exact`; 0 for a closed form."""

    @abstractmethod
    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        """An upper bound on P(x | x) for each of the words, float64 (n,), from the channel and
        not from any draw: the guard compares a draw against it."""

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Two distributions, float64 (k,) each, that no two rows of the channel are easier to
        tell apart than: for every γ the hockey-stick divergence of any two rows is at most
        theirs. None where no such pair is known."""
        return None

    def spans(self, text: str, known: Known = EMPTY) -> tuple[Span, ...] | None:
        """The parts of a text that are to be perturbed, in order and disjoint; None for all of
        it. `known` parts are sensitive here, too. What lies outside them leaves verbatim
        (`selective` alone says so)."""
        del text, known
        return None

    def identity(self) -> dict[str, Any]:
        """Everything the channel depends on; equal exactly when the channels are equal."""
        return {"mechanism": self.name, "table": self.table.sha256, **asdict(self.parameters)}


_REGISTRY: dict[str, type[Mechanism]] = {}


def register(cls: type[Mechanism]) -> type[Mechanism]:
    """Class decorator: make a mechanism known by its name."""
    _REGISTRY[cls.name] = cls
    return cls


def mechanism_names() -> tuple[str, ...]:
    """The registered names, sorted."""
    return tuple(sorted(_REGISTRY))


def mechanism_class(name: str) -> type[Mechanism]:
    """The class of that name.

    Raises:
        ParameterError: no mechanism has that name.
    """
    try:
        return _REGISTRY[name]
    except KeyError:
        known = ", ".join(mechanism_names())
        raise ParameterError(f"mechanism must be one of {known}") from None


def get_mechanism(name: str, table: EmbeddingTable | None = None, **parameters: Any) -> Mechanism:
    """Build a mechanism by name: `get_mechanism("rantext", epsilon=6)`.

    Args:
        name: one of `mechanism_names()`.
        table: the embedding table; the bundled one is loaded where none is given.
        parameters: the mechanism's own, see its `parameter_type`.

    Raises:
        ParameterError: unknown name, unknown parameter, or a value that breaks its rule.
    """
    cls = mechanism_class(name)
    known = [f.name for f in fields(cls.parameter_type)]
    for key in parameters:
        if key not in known:
            raise ParameterError(f"{name} has no parameter {key!r}; it has {', '.join(known)}")
    checked = cls.parameter_type(**parameters)
    return cls(load_table() if table is None else table, checked)
