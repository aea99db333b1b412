"""The base of word-by-word mechanisms, and their construction by name.

A mechanism is a finite channel P(y | x) over V. It is built once for a table and frozen. It holds
no generator and no state, so threads can share it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.document import Draw, WordByWord, Words
from perturb.errors import ParameterError
from perturb.registry import sanitizer_class, sanitizer_classes, sanitizer_names
from perturb.release import EMPTY, Guarantee, Known, Link, Perturbation, Unit
from perturb.rounding import format_upper
from perturb.sanitizer import Demands, DocumentOptions, Marking, Parameters, Resources, Sanitizer
from perturb.vocabulary.embeddings import EmbeddingTable, load_table

__all__ = [
    "Bounds",
    "Delegating",
    "Mechanism",
    "Perturber",
    "VectorNoise",
    "get_mechanism",
    "ldp_guarantee",
    "mechanism_class",
    "mechanism_names",
]


class Delegating(Sanitizer):
    """Pass every document on to the sanitizer `_treatment`."""

    @property
    @abstractmethod
    def _treatment(self) -> Sanitizer:
        """Return the sanitizer that treats the documents."""

    @property
    def divisible(self) -> bool:
        return self._treatment.divisible

    @property
    def restorable(self) -> bool:
        return self._treatment.restorable

    @property
    def shows(self) -> Literal["text", "words", "passages"]:
        return self._treatment.shows

    @property
    def marking(self) -> Marking | None:
        return self._treatment.marking

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        return self._treatment.perturb(text, rng, link=link, known=known)

    def verify(self, raw: str, released: Perturbation) -> None:
        self._treatment.verify(raw, released)

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        return self._treatment.units(text, least)

    def findings(self, text: str) -> Known:
        return self._treatment.findings(text)

    def index_known(self, known: Known) -> Known:
        return self._treatment.index_known(known)

    def known_in(self, text: str, known: Known) -> Known:
        return self._treatment.known_in(text, known)

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        return self._treatment.secrets(raw, released, unrepeatable=unrepeatable)


def ldp_guarantee(epsilon: float) -> Guarantee:
    """Return the guarantee of ε-LDP for replacing one token, in the wording used everywhere.

    >>> ldp_guarantee(6.0).kind
    'ldp'
    """
    shown = format_upper(epsilon)
    return Guarantee(
        kind="ldp",
        nominal=epsilon,
        epsilon=epsilon,
        statement=(
            f"each released token is {shown}-LDP with respect to replacing that token, given "
            f"the public vocabulary, instruction and length; changing k tokens costs k·{shown}"
        ),
    )


class Bounds(Protocol):
    """Bound a channel that is known only up to an error."""

    @property
    def proved_delta(self) -> float:
        """Return δ of the proved (ε, δ)-LDP at the nominal ε."""

    def least_epsilon(self) -> tuple[float, int, int]:
        """Return an ε below which the channel is not ε-LDP, with the words x and x' that show it:
        ln P(x|x)/P(x|x') is at least that ε."""

    def least_delta(
        self, words: NDArray[np.int64], rows: NDArray[np.float64], error: float
    ) -> float:
        """Return a lower bound on δ at the nominal ε from all pairs of the words, int (n,),
        whose channel rows, float64 (n, m), are known up to `error`."""

    def list_sizes(self, shares: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return quantiles of the number of words that can be released."""


class VectorNoise(Protocol):
    """Add noise to embeddings, with a known density."""

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Return n draws of the noise, float32 (n, d)."""

    def log_density(self, noisy: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return ln of the density of noisy vectors, (n, d), for every x, up to one constant:
        float64 (n, m)."""


class Mechanism(Delegating):
    """Draw a word for every word, over one embedding table. As a sanitizer, a mechanism takes
    documents with the default options; `Perturber` takes others.

    Subclasses set `name`, `summary` (for help texts) and `parameter_type`, implement `guarantee`,
    `draw`, `channel` and `keep_rate`, and are registered.

    >>> import numpy as np
    >>> from perturb import seeded_generator
    >>> mechanism = get_mechanism("rantext_ldp", epsilon=8)
    >>> river = mechanism.table.vocabulary.words.index("river")
    >>> mechanism.draw(np.array([river, river]), seeded_generator(1)).words.shape
    (2,)
    >>> rows, error = mechanism.channel(np.array([river]))
    >>> rows.shape, error
    ((1, 11000), 0.0)

    Attributes:
        exact: whether `channel` is computed, up to its stated error, rather than sampled.
        marks: whether only marked parts of a document change.
        audit_notes: notes for the reader of its audit, where another mechanism draws.
        distance: the symbol of the distance in its metric guarantee.
    """

    exact: bool = True
    marks: bool = False
    audit_notes: ClassVar[tuple[str, ...]] = ()
    distance: ClassVar[str] = "d"

    def __init__(self, table: EmbeddingTable, parameters: Parameters) -> None:
        self.table = table
        self.parameters = parameters

    @classmethod
    def build(cls, parameters: Any, resources: Resources) -> Sanitizer:
        mechanism = cls(resources.table, parameters)
        return Perturber(mechanism, resources.options, max_tokens=resources.max_tokens)

    @property
    def epsilon(self) -> float:
        """Return the nominal ε."""
        return self.parameters.epsilon

    @property
    def channel_draws(self) -> int:
        """Return the number of draws behind each row of `channel`, if it is sampled; 0 if it is
        computed."""
        return 0

    @property
    def drawn_by(self) -> Mechanism | None:
        """Return the other mechanism that draws for this one; None if it draws itself."""
        return None

    @abstractmethod
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        """Release one word for each word: int (n,), places in V → the same shape."""

    @abstractmethod
    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        """Return the rows P(· | x) of the words x, int (n,) → float64 (n, m), and the error of a
        row in total variation: numerical, or statistical where not `exact`; 0 for a closed
        form."""

    @abstractmethod
    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        """Return an upper bound on P(x | x) for each of the words, float64 (n,). It comes from the
        channel and not from any draw: the guard compares a draw with it."""

    def bounds(self) -> Bounds | None:
        """Return the bounds proved beside the channel; None if the channel is known exactly."""
        return None

    def vector_noise(self) -> VectorNoise | None:
        """Return the noise that it adds to embeddings; None if it adds none."""
        return None

    def identity(self) -> dict[str, Any]:
        return {"mechanism": self.name, "table": self.table.sha256, **asdict(self.parameters)}

    def documents(self, options: DocumentOptions, max_tokens: int | None = None) -> Sanitizer:
        """Return the treatment of documents with these options: word by word, by default.

        Args:
            options: the treatment of tokens outside V.
            max_tokens: longer documents, in cl100k tokens, are refused.
        """
        return WordByWord(self, options, max_tokens)

    @property
    def _treatment(self) -> Sanitizer:
        return self.documents(DocumentOptions())


class Perturber(Delegating):
    """Perturb documents with one mechanism and one set of options.

    Args:
        mechanism: draws the words.
        options: the treatment of tokens outside V.
        max_tokens: longer documents, in cl100k tokens, are refused.

    >>> from perturb import get_mechanism, seeded_generator
    >>> perturber = Perturber(get_mechanism("rantext_ldp", epsilon=8))
    >>> made = perturber.perturb("The meeting is on Monday at 12.", seeded_generator(1))
    >>> made.receipt.released, made.receipt.tokens["number"], made.receipt.unit
    (6, 1, 'token')
    >>> perturber.verify("The meeting is on Monday at 12.", made)
    """

    def __init__(
        self,
        mechanism: Mechanism,
        options: DocumentOptions | None = None,
        *,
        max_tokens: int | None = None,
    ) -> None:
        self.name = mechanism.name
        self.bounded_range = mechanism.bounded_range
        self.brief = mechanism.brief
        self.options = options or DocumentOptions()
        self.max_tokens = max_tokens
        self.vocabulary = mechanism.table.vocabulary
        self._mechanism = mechanism
        self._documents = mechanism.documents(self.options, max_tokens)

    @property
    def _treatment(self) -> Sanitizer:
        return self._documents

    @property
    def mechanism(self) -> Mechanism:
        return self._mechanism

    @property
    def guarantee(self) -> Guarantee:
        return self._guarantee

    @cached_property
    def _guarantee(self) -> Guarantee:
        return self._documents.guarantee

    def strengthen(self, demands: Demands, *, pass_weaker: bool = False) -> Perturber:
        mechanism = self._mechanism.strengthen(demands, pass_weaker=pass_weaker)
        assert isinstance(mechanism, Mechanism)
        return Perturber(mechanism, self.options, max_tokens=self.max_tokens)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return self._documents.identity()

    def identity(self) -> dict[str, Any]:
        return dict(self._identity)

    def places(self, tokens: NDArray[np.uint32]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Return which tokens go through the mechanism, bool (n,), and their places in V, int32.
        A word stands for itself, a mapped string for its nearest word."""
        return self._mechanism.table.places(tokens, mapped=self.options.oov == "map")


def mechanism_names() -> tuple[str, ...]:
    """Return the names of the sanitizers that are mechanisms, sorted. A plug-in that cannot be
    loaded is left out.

    >>> import perturb
    >>> "rantext" in mechanism_names()
    True
    """
    return tuple(name for name, kind in sanitizer_classes().items() if issubclass(kind, Mechanism))


def mechanism_class(name: str) -> type[Mechanism]:
    """Return the mechanism class of that name.

    >>> mechanism_class("rantext").summary
    'random adjacency list and exponential mechanism, as published; no LDP bound'

    Raises:
        ParameterError: no mechanism has that name.
        PluginError: the plug-in of that name cannot be used.
    """
    found = sanitizer_class(name) if name in sanitizer_names() else None
    if found is None or not issubclass(found, Mechanism):
        raise ParameterError(f"mechanism must be one of {', '.join(mechanism_names())}")
    return found


def get_mechanism(name: str, table: EmbeddingTable | None = None, **parameters: Any) -> Mechanism:
    """Build a mechanism by name.

    Args:
        name: one of `mechanism_names()`.
        table: the embedding table; None loads the bundled one.
        parameters: the mechanism's own, see its `parameter_type`.

    >>> get_mechanism("rantext_ldp", epsilon=8, shape="knn").guarantee.epsilon
    8.0

    Raises:
        ParameterError: unknown name, unknown parameter, or a value that breaks its rule.
        PluginError: the plug-in of that name cannot be used.
    """
    cls = mechanism_class(name)
    checked = cls.check_parameters(**parameters)
    return cls(load_table() if table is None else table, checked)
