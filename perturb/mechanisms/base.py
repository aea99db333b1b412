"""Word-by-word mechanisms: how they treat a document, their base, and their construction by name.

A mechanism is a finite channel P(y | x) over V. It is built once for a table and frozen. It holds
no generator and no state, so threads can share it.

The public class of a token decides its treatment. Words go through the channel. Other strings of
letters are mapped to V first, or dropped. Numbers are redrawn or dropped, and layout is kept or
dropped, as configured. Everything else is dropped.

The check reads the finished text, and the guard of the proxy applies it before anything is sent.
It stops a broken mechanism, a stale release or a mixed-up text.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError, ReleaseError
from perturb.registry import sanitizer_class, sanitizer_classes, sanitizer_names
from perturb.release import (
    EMPTY,
    Guarantee,
    Known,
    Link,
    Perturbation,
    Receipt,
    Unit,
    format_upper,
)
from perturb.rng import secure_generator
from perturb.sanitizer import (
    FALSE_ALARM,
    Demands,
    DocumentOptions,
    Marking,
    Parameters,
    Resources,
    Sanitizer,
)
from perturb.units import Piece, split_units
from perturb.vocabulary.embeddings import load_table
from perturb.vocabulary.table import EmbeddingTable
from perturb.vocabulary.vocabulary import LAYOUT, TokenClass

__all__ = [
    "Bounds",
    "Delegating",
    "Draw",
    "Mechanism",
    "Perturber",
    "VectorNoise",
    "WordByWord",
    "WordChannel",
    "Words",
    "check_letters",
    "check_words",
    "get_mechanism",
    "ldp_guarantee",
    "mechanism_class",
    "mechanism_names",
    "too_many_kept",
]


Words = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Draw:
    """Released words, and public statistics of the draw (for the client only).

    Attributes:
        words: places in V, int32 (n,).
        statistics: public figures by name.
    """

    words: NDArray[np.int32]
    statistics: Mapping[str, float] = field(default_factory=dict)


class WordChannel(Protocol):
    """Draw a word of V for every word of V."""

    name: str
    table: EmbeddingTable

    @property
    def guarantee(self) -> Guarantee:
        """Return the guarantee of one released word."""

    def identity(self) -> dict[str, Any]:
        """Return everything the channel depends on."""

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        """Release one word for each word: int (n,), places in V → the same shape."""

    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        """Return an upper bound on P(x | x) for each of the words, float64 (n,)."""


_BETWEEN = "".join(sorted(LAYOUT)) + "0123456789"
_LETTERS = re.compile(f"[^{re.escape(_BETWEEN)}]+")
_ASCII_BETWEEN = _BETWEEN.encode("ascii", "ignore")


def too_many_kept(kept: int, rates: Sequence[float] | NDArray[Any]) -> bool:
    """Tell whether `kept` unchanged words or characters are more than the channel explains.
    `rates` holds the probability of each to stay unchanged. An honest draw is refused with
    probability at most `FALSE_ALARM`.

    Hoeffding's bound (1963, theorem 1) for a sum of n independent indicators with mean rate p:
    Pr[sum ≥ a·n] ≤ e^{−n·KL(a‖p)} for a > p. A channel of rate 1 may keep everything.

    >>> too_many_kept(3, [0.1] * 100)
    False
    >>> too_many_kept(60, [0.1] * 100)
    True
    """
    n, mean = len(rates), float(np.sum(rates))
    if kept == 0 or kept <= mean:
        return False
    if mean == 0:
        return True
    bound = kept * math.log(kept / mean)
    if kept < n:
        bound += (n - kept) * math.log((n - kept) / (n - mean))
    return -bound < math.log(FALSE_ALARM)


def check_letters(text: str, words: Sequence[str]) -> None:
    """Check that a text holds released words, digits and layout, and nothing else.

    >>> check_letters("On 12 tables.", ["On", "tables"])

    Raises:
        ReleaseError: it holds anything else, or a released word is missing.
    """
    # Most texts are ASCII between the words, which is fast: without it, only letters are left.
    letters = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_BETWEEN)
    joined = "".join(words)
    if letters.isascii() and letters == joined.encode("utf-8", "surrogatepass"):
        return
    if "".join(_LETTERS.findall(text)) != joined:
        raise ReleaseError("a released text holds more than released words")


def check_words(mechanism: WordChannel, places: NDArray[np.int32], words: Sequence[str]) -> None:
    """Check that there is one released word of V for each private word (`places` in V), and that
    not too many words are unchanged.

    Raises:
        ReleaseError: the numbers differ, a word is not in V, or more words are kept than the
            channel explains.
    """
    if len(places) != len(words):
        raise ReleaseError("a released text does not belong to its document")
    known = mechanism.table.vocabulary.places
    try:
        released = np.fromiter(map(known.__getitem__, words), np.int32, len(words))
    except KeyError:
        raise ReleaseError("a released word is not in the vocabulary") from None
    if too_many_kept(int((released == places).sum()), mechanism.keep_rate(places)):
        raise ReleaseError("the mechanism left too many words unchanged")


_NAMED = ("mechanism", "table")  # fields of a receipt; the rest of an identity are parameters
_NUMBER, _LAYOUT = TokenClass.NUMBER.value, TokenClass.LAYOUT.value


class WordByWord(Sanitizer):
    """Perturb documents word by word with one channel and one set of options.

    Args:
        channel: draws the words.
        options: the treatment of tokens outside V.
        max_tokens: longer documents, in cl100k tokens, are refused.
    """

    divisible = True
    shows = "words"

    def __init__(
        self, channel: WordChannel, options: DocumentOptions, max_tokens: int | None = None
    ) -> None:
        self.name = channel.name
        self.options = options
        self.max_tokens = max_tokens
        self.vocabulary = channel.table.vocabulary
        self._channel = channel

    @cached_property
    def guarantee(self) -> Guarantee:
        """Return the channel's guarantee, which names what is outside ε with these options."""
        found = self._channel.guarantee
        outside = "; ".join(self.options.reveals)
        return replace(
            found, statement=f"{found.statement}; outside ε and sent as it is: {outside}"
        )

    def identity(self) -> dict[str, Any]:
        return {**self._channel.identity(), **asdict(self.options)}

    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        del link, known  # every word is drawn by itself
        rng = rng or secure_generator()
        tokens = self.vocabulary.encode_once(text, at_most=self.max_tokens)
        classes = self.vocabulary.classes[tokens]
        is_word, places = self.places(tokens)
        draw = self._channel.draw(places, rng)
        words = self.vocabulary.word_array[draw.words]
        numbers = self._draw_numbers(tokens, classes, rng)
        shown = self._render(tokens, is_word, words, numbers, self.options)
        return Perturbation(
            text="".join(shown.ravel().tolist()),
            words=tuple(words.tolist()),
            receipt=self._build_receipt(tokens, len(words), dict(draw.statistics)),
        )

    def verify(self, raw: str, released: Perturbation) -> None:
        check_letters(released.text, released.words)
        _, places = self.places(self.vocabulary.encode_once(raw))
        check_words(self._channel, places, released.words)

    def places(self, tokens: NDArray[np.uint32]) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        """Return which tokens go through the channel, bool (n,), and their places in V, int32.
        A word stands for itself, a mapped string for its nearest word."""
        return self._channel.table.places(tokens, mapped=self.options.oov == "map")

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        if least is None or text.count("\n") < 2:
            if text.strip() == text != "" and self.vocabulary.fits(text, self.max_tokens):
                return [Unit(text)]
            least = None
        tokens = self.vocabulary.encode_once(text, at_most=self.max_tokens)
        if least is None and text.strip() == text != "":
            return [Unit(text)]
        found = split_units(text, self._build_skeleton(text, tokens), least)
        if self.options.layout == "keep":
            return found
        return [Unit(unit.text, start=unit.start) for unit in found]

    def _build_skeleton(self, text: str, tokens: NDArray[np.uint32]) -> list[Piece]:
        """Return the part of each token that every release shows, whatever is drawn: a word as
        `w`, digits as `0`, layout as itself."""
        is_word, _ = self.places(tokens)
        sizes = self.vocabulary.index[tokens[self.vocabulary.classes[tokens] == _NUMBER]]
        words = np.full(int(is_word.sum()), "w", dtype=object)
        numbers = ["0" * size for size in sizes.tolist()]
        kept = DocumentOptions(oov=self.options.oov, number=self.options.number)
        blanks, pieces = self._render(tokens, is_word, words, numbers, kept).T
        shown = (blanks + pieces).tolist()
        raw = self.vocabulary.split(text)
        return [Piece(piece, data) for piece, data in zip(shown, raw, strict=True)]

    def _render(
        self,
        tokens: NDArray[np.uint32],
        is_word: NDArray[np.bool_],
        words: NDArray[np.object_],
        numbers: list[str],
        options: DocumentOptions,
    ) -> NDArray[np.object_]:
        """Return a blank or "", and the released piece, of each token: (n, 2). A dropped token has
        neither.

        A blank always separates two words, also where the tokenizer split one raw word in two.
        At the beginning and after layout, a word follows a blank only if its token did.
        """
        vocabulary, kinds = self.vocabulary, self.vocabulary.classes[tokens]
        is_number = (kinds == _NUMBER) & (options.number == "random")
        is_layout = (kinds == _LAYOUT) & (options.layout == "keep")
        out = np.full((len(tokens), 2), "", dtype=object)
        blanks, pieces = out.T
        pieces[is_word] = words
        if options.number == "random":
            pieces[is_number] = numbers
        pieces[is_layout] = vocabulary.layout[tokens[is_layout]]

        shown = np.flatnonzero(is_word | is_number | is_layout)
        after = np.concatenate((shown[-1:], shown[:-1]))  # the one before each; any for the first
        free = is_layout[after] if options.layout == "keep" else np.zeros(len(shown), np.bool_)
        free[:1] = True
        spaced = vocabulary.spaced[tokens[shown]] & (options.layout == "keep")
        # A number joins the number that its token continues.
        joins = is_number[after] & (kinds[shown - 1] == _NUMBER)
        apart = np.where(free, spaced & is_word[shown], is_word[shown] | ~joins)
        apart &= ~is_layout[shown]
        blanks[shown[apart]] = " "
        return out

    def _draw_numbers(
        self, tokens: NDArray[np.uint32], classes: NDArray[np.uint8], rng: np.random.Generator
    ) -> list[str]:
        """Return a string of fresh digits for each number token.

        Every digit is uniform, except that the first of a run of several digits is never 0. The
        draw depends on the number of digits alone.
        """
        numbers = classes == _NUMBER
        if not numbers.any():
            return []
        sizes = self.vocabulary.index[tokens[numbers]]
        continues = np.append(False, numbers[:-1])[numbers]
        follows = np.append(numbers[1:], False)[numbers]
        ends = np.cumsum(sizes)
        leading = ~continues & ((sizes > 1) | follows)
        digits = rng.integers(0, 10, size=int(ends[-1]), dtype=np.uint8)
        digits[(ends - sizes)[leading]] = rng.integers(1, 10, int(leading.sum()), dtype=np.uint8)
        drawn = (digits + ord("0")).tobytes().decode("ascii")
        return [drawn[end - size : end] for end, size in zip(ends, sizes, strict=True)]

    def _build_receipt(
        self, tokens: NDArray[np.uint32], released: int, statistics: dict[str, float]
    ) -> Receipt:
        epsilon = self.guarantee.epsilon
        return Receipt(
            **self._facts,
            parameters=dict(self._parameters),
            tokens=self.vocabulary.count_classes(tokens),
            treatment=dict(self._treatments),
            released=released,
            statistics=statistics,
            epsilon_per_document=epsilon * released if released else 0.0,
            unbounded=0 if math.isfinite(epsilon) else released,
        )

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        return {k: v for k, v in self._channel.identity().items() if k not in _NAMED}

    @cached_property
    def _treatments(self) -> dict[str, str]:
        options = self.options
        return {
            "word": "perturbed",
            "oov": "mapped to V and perturbed" if options.oov == "map" else "dropped",
            "number": "redrawn" if options.number == "random" else "dropped",
            "layout": "kept" if options.layout == "keep" else "dropped",
            "other": "dropped",
        }

    @cached_property
    def _facts(self) -> dict[str, Any]:
        """Return what is the same in the receipts of all documents."""
        guarantee, identity = self.guarantee, self._channel.identity()
        return {
            **{name: identity[name] for name in _NAMED},
            "guarantee": guarantee.kind,
            "statement": guarantee.statement,
            "epsilon_nominal": guarantee.nominal,
            "epsilon_per_token": guarantee.epsilon,
            "reveals": self.options.reveals,
            "vocabulary": self.vocabulary.description,
            "unit": guarantee.unit,
        }


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

    @cached_property
    def guarantee(self) -> Guarantee:
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
