"""The contract of sanitizers, which turn a private text into one that may be released.

Word-by-word mechanisms (perturb.mechanisms), the replacement of marked parts (perturb.selective)
and paraphrasing models are all sanitizers. One registry finds them by name (perturb.registry).
Options choose how the tokens outside V are treated; demands are what a key or a request asks for
beyond the configuration.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.proof import Proof
from perturb.release import EMPTY, Guarantee, Known, Link, Perturbation, Span, Unit
from perturb.text.suggest import did_you_mean
from perturb.vocabulary.table import EmbeddingTable
from perturb.work import SHORT, offload

__all__ = [
    "FALSE_ALARM",
    "Demands",
    "DocumentOptions",
    "Marking",
    "Parameters",
    "Policy",
    "Resources",
    "Sanitizer",
    "Variant",
]


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """Choose the treatment of the tokens that are not in V.

    Attributes:
        oov: `map` replaces a string of letters by its nearest word of V, by a fixed public table,
            and perturbs that word; `drop` removes it (the paper).
        number: `random` draws every digit afresh and keeps their number; `drop` removes them.
        layout: `keep` keeps punctuation, blanks and newlines, which is readable and reveals the
            skeleton of the text; `drop` removes them (the paper).

    >>> DocumentOptions(layout="drop")
    DocumentOptions(oov='map', number='random', layout='drop')
    """

    oov: Literal["map", "drop"] = "map"
    number: Literal["random", "drop"] = "random"
    layout: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        rules = {"oov": ("map", "drop"), "number": ("random", "drop"), "layout": ("keep", "drop")}
        for each in fields(self):
            if getattr(self, each.name) not in rules[each.name]:
                raise ParameterError(f"{each.name} must be one of {', '.join(rules[each.name])}")

    @property
    def reveals(self) -> tuple[str, ...]:
        """Return the facts about a text that every word-by-word release shows, whatever is drawn:
        its skeleton, which no ε covers.

        >>> DocumentOptions(layout="drop", number="drop").reveals
        ('how many words the text has',)
        """
        out = ["how many words the text has"]
        if self.layout == "keep":
            out.append("punctuation, blanks and line breaks, verbatim and in place")
        if self.number == "random":
            out.append("where numbers stand and how many digits they have")
        return tuple(out)


@dataclass(frozen=True, kw_only=True)
class Demands:
    """The options of a key or a request beyond the configuration. None of them marks less.

    Attributes:
        actions: pairs of a type of marked parts, or `*`, and an action that is not weaker, see
            `perturb.selective.profiles`.
        deny: terms that are always marked.
        thresholds: pairs of a type and the probability from which the detector marks it, too.
    """

    actions: tuple[tuple[str, str], ...] = ()
    deny: tuple[str, ...] = ()
    thresholds: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(
        cls,
        actions: Mapping[str, str] | None,
        deny: Iterable[str] | None,
        thresholds: Mapping[str, float] | None,
    ) -> Demands:
        """Build demands from mappings and a list; None asks for nothing."""
        return cls(
            actions=tuple(sorted((actions or {}).items())),
            deny=tuple(deny or ()),
            thresholds=tuple(sorted((thresholds or {}).items())),
        )

    def only(self, name: str) -> Demands:
        """Return one of the attributes alone."""
        return Demands(**{name: getattr(self, name)})

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the attributes that ask for something."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name))


FALSE_ALARM = 1e-9  # of a check that reads what was drawn


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters that every sanitizer has. Subclasses add their own, and extend
    `__post_init__`.

    >>> Parameters(epsilon=8).epsilon
    8.0
    >>> Parameters(epsilon=-1)
    Traceback (most recent call last):
    perturb.errors.ParameterError: epsilon must be > 0 and finite, got -1
    """

    may_be_zero: ClassVar[bool] = False  # whether ε = 0 is a release that tells nothing
    epsilon: float = 6.0

    def __post_init__(self) -> None:
        number = self.epsilon
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise ParameterError(f"epsilon must be a number, got {type(number).__name__}")
        try:
            value = float(number)
        except OverflowError:
            value = math.inf if number > 0 else -math.inf
        if not (math.isfinite(value) and (value > 0 or (self.may_be_zero and value == 0))):
            rule = ">= 0" if self.may_be_zero else "> 0"
            raise ParameterError(f"epsilon must be {rule} and finite, got {value:g}")
        object.__setattr__(self, "epsilon", value)

    @property
    def server_clips(self) -> bool:
        """Tell whether the server of the local model has to clip logits."""
        return False


class Policy(Protocol):
    """Mark the sensitive parts of a text. Threads may share a policy; equal texts get equal
    marks."""

    def find(self, text: str) -> Iterable[Span]:
        """Return the sensitive parts of a text, in any order; they may overlap."""


@dataclass(frozen=True)
class Marking:
    """Describe what a sanitizer that replaces marked parts also marks in public text.

    Attributes:
        policies: the policies that mark parts there.
        own: the types that the operator named.
        names: whether it looks for names, too.
        allow: the operator's terms that are never marked.
    """

    policies: tuple[Policy, ...]
    own: frozenset[str] = frozenset()
    names: bool = True
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Resources:
    """The resources that a sanitizer is built with.

    Attributes:
        table: the embedding table and its vocabulary.
        options: the treatment of tokens outside V.
        max_tokens: longer documents, in cl100k tokens, are refused.
        model: the result of the class's `prepare`.
        encoder: the embedding model of the operator's local server, a
            `perturb.whole.encoder.AsyncEncoder`; None if there is none.
    """

    table: EmbeddingTable
    options: DocumentOptions = field(default_factory=DocumentOptions)
    max_tokens: int | None = None
    model: Any = None
    encoder: Any = None


@dataclass(frozen=True)
class Variant:
    """Name a set of parameters that the documentation shows beside the defaults."""

    title: str
    about: str
    parameters: dict[str, Any]


class Sanitizer(ABC):
    """Sanitize private texts for release. Threads may share a sanitizer.

    A class that is found by name sets `name`, `summary` and `parameter_type`, implements `build`,
    and is registered (`perturb.registry`).

    >>> from perturb import get_mechanism, seeded_generator
    >>> sanitizer = get_mechanism("rantext_ldp", epsilon=8)
    >>> released = sanitizer.perturb("The meeting is on Monday.", seeded_generator(1))
    >>> sanitizer.verify("The meeting is on Monday.", released)
    >>> len(released.words)
    5

    Attributes:
        name: its published name.
        summary: one line for help texts.
        about: a paragraph for the documentation.
        variants: sets of parameters that the documentation shows, too.
        parameter_type: its parameters, a frozen dataclass of keyword-only fields.
        verbatim: whether it releases some raw words unchanged by design; an operator has to
            allow such a sanitizer by name.
        needs_model: whether it is built with a local model (`prepare`). Clients cannot choose
            such a sanitizer unless the operator configured it.
        certifiable: whether a certificate can prove its ε.
        bounded_range: whether ln P(y|x)/P(y|x') lies, for every two inputs, in an interval of
            length ε over y. Such a sanitizer composes better than by ε-LDP alone, where the
            length may be 2ε; see `perturb.audit.accounting`.
        false_alarm: a bound on the probability that `verify` refuses an honest release. Which one
            it refuses may depend on the text, so each text's ε comes with it as δ. 0 where
            `verify` accepts every honest release.
        brief: whether a text of `perturb.work.SHORT` characters takes about a millisecond, so
            that it needs no thread.
        grouped: whether one draw reads all units of a text. Replacing k of them then costs kε as
            a group, and no theorem on the composition of separate draws lowers it.
    """

    name: str
    summary: ClassVar[str] = ""
    about: ClassVar[str] = ""
    variants: ClassVar[tuple[Variant, ...]] = ()
    parameter_type: ClassVar[type[Parameters]] = Parameters
    verbatim: ClassVar[bool] = False
    needs_model: ClassVar[bool] = False
    certifiable: ClassVar[bool] = False
    bounded_range: bool = False
    false_alarm: ClassVar[float] = FALSE_ALARM
    brief: bool = False
    _warm: bool = False  # the first release computes tables
    grouped: ClassVar[bool] = False

    # -- construction -----------------------------------------------------------------------

    @classmethod
    def check_parameters(cls, **parameters: Any) -> Parameters:
        """Return the parameters, checked.

        Raises:
            ParameterError: an unknown parameter, or a value that breaks its rule.
        """
        known = [f.name for f in fields(cls.parameter_type)]
        for key in parameters:
            if key not in known:
                has = f"it has {', '.join(known)}{did_you_mean(key, known)}"
                raise ParameterError(f"{cls.name} has no parameter {key!r}; {has}")
        return cls.parameter_type(**parameters)

    @classmethod
    async def prepare(cls, parameters: Any, server: Any) -> Any:
        """Prepare the local model and return `Resources.model` for `build`; None by default.

        Args:
            parameters: of `parameter_type`.
            server: the proxy's local server, which may not be up yet.
        """
        del parameters, server

    @classmethod
    def build(cls, parameters: Any, resources: Resources) -> Sanitizer:
        """Build the sanitizer of documents.

        Args:
            parameters: of `parameter_type`.
            resources: the table, the document options and the model to build it with.
        """
        raise NotImplementedError(f"{cls.__name__} is not built by name")

    # -- description ------------------------------------------------------------------------

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the guarantee of one released unit."""

    @property
    def mechanism(self) -> Sanitizer:
        """Return the sanitizer that draws: itself, unless it wraps another."""
        return self

    @property
    def divisible(self) -> bool:
        """Tell whether a text may be released in parts, each drawn by itself, so that the release
        of a part can be used again in another text."""
        return False

    @property
    def restorable(self) -> bool:
        """Tell whether a release reads like its text, and the parts that it replaces can be put
        back into an answer to it."""
        return False

    @property
    def shows(self) -> Literal["text", "words", "passages"]:
        """Return how a release reads: as text, as words that were drawn one by one, or as public
        passages. The remote is told so."""
        return "text"

    @property
    def marking(self) -> Marking | None:
        """Return the marking that finds the parts to replace; None if it replaces everything."""
        return None

    def strengthen(self, demands: Demands, *, pass_weaker: bool = False) -> Sanitizer:
        """Return this sanitizer, which marks more parts or treats them more strictly.

        Args:
            demands: what is asked for.
            pass_weaker: whether a weaker action than the present one has no effect, instead of
                being an error.

        Raises:
            ParameterError: it marks no parts; a demand is unknown, or an action weaker than the
                present one.
        """
        del pass_weaker
        raise ParameterError(
            f"{demands.names[0]} must be left out unless the mechanism marks parts"
        )

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Return everything that a release depends on except the text and the noise, ready for
        JSON. Two identities are equal exactly when the channels are."""

    # -- releases ---------------------------------------------------------------------------

    @abstractmethod
    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        """Sanitize a text; any string is valid, the empty one too.

        Args:
            text: the raw text.
            rng: the noise; fresh operating-system randomness unless a test passes one.
            link: returns the noise of an entity by its raw text, so that an entity gets the same
                replacement in every text; None draws within this text alone.
            known: parts that are sensitive here, too, see `findings`.

        Raises:
            DocumentTooLong: the text is longer than this sanitizer takes.
        """

    async def release(
        self, text: str, link: Link | None = None, known: Known = EMPTY
    ) -> Perturbation:
        """Perturb a text with fresh noise; a long one in a thread."""
        made = await offload(self.is_brief(text), self.perturb, text, link=link, known=known)
        self._warm = True
        return made

    def is_brief(self, *texts: str) -> bool:
        """Tell if any step on texts takes about a millisecond, so that it needs no thread."""
        return self._warm and self.brief and sum(map(len, texts)) <= SHORT

    def units(self, text: str, least: int | None = None) -> list[Unit]:
        """Cut a text into units of at least `least` words; None leaves it whole.

        The cuts depend only on the part of the text that every release shows. The releases of the
        units, each with the white space after it, form a release of the whole text. A sanitizer
        that reads the whole text has one unit.

        Raises:
            DocumentTooLong: the text is longer than this sanitizer takes.
        """
        del least
        return [Unit(text)] if text.strip() else [Unit("", " " if text else "")]

    def findings(self, text: str) -> Known:
        """Return the parts of a text that are sensitive, too, in the texts that are released with
        it and after it. A sanitizer that marks no parts has none."""
        del text
        return EMPTY

    def index_known(self, known: Known) -> Known:
        """Return the findings of other texts, prepared for many calls of `known_in`."""
        return known

    def known_in(self, text: str, known: Known) -> Known:
        """Return the findings of other texts that matter for this text."""
        del text, known
        return EMPTY

    @abstractmethod
    def verify(self, raw: str, released: Perturbation) -> None:
        """Check, before a release is sent, that this sanitizer can have made it.

        The check reads the finished text and the channel, never the state of the draw.

        Raises:
            ReleaseError: it cannot have, or only with negligible probability.
        """

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        """Return the sensitive parts of the raw text that must not appear as whole words in
        anything else that is sent with this release. With `unrepeatable`, return only those that
        no release holds by chance. A sanitizer that marks no parts has none."""
        del raw, released, unrepeatable
        return ()

    # -- proofs -----------------------------------------------------------------------------

    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return a dominating pair of the channel, two distributions, float64 (k,) each: for every
        γ the hockey-stick divergence of any two rows is at most theirs. None if no such pair is
        known."""
        return None

    def proof(self) -> Proof | None:
        """Return the input of a certificate of its ε; None where there is no proof."""
        return None

    def figures(self) -> dict[str, Any]:
        """Return the figures of an audit that follow from the parameters alone, by name, ready for
        JSON. A mechanism over words has none here: `perturb.audit` reads its whole channel."""
        return {}
