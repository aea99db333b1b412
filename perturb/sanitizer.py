"""What every way of making a text fit to leave has in common: its result and its receipt.

`Perturber` (perturb.document) sanitizes word by word with a mechanism; a paraphrasing model is
another sanitizer. Whoever sends text takes any of them.
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from perturb.mechanism import EMPTY, Guarantee, Known

__all__ = ["Link", "Perturbation", "Receipt", "Replacement", "Sanitizer"]

Link = Callable[[str], np.random.Generator]


@dataclass(frozen=True)
class Receipt:
    """What was done to one document, in counts; it holds no text.

    Attributes:
        mechanism, parameters, table: what drew the noise.
        tokens: how many tokens of each class the document had.
        treatment: what happened to each class.
        released: how many tokens the mechanism released.
        statistics: public figures of the draw.
        guarantee: the kind of guarantee; `statement` says it in words.
        epsilon_nominal: the ε asked for, per token.
        epsilon_per_token: the proved bound per token (∞ where there is none).
        epsilon_per_document: the proved bound for replacing all released tokens at once.
        reveals: what the released text shows of the document by design.
        entities: how many sensitive parts of each type were replaced (`selective` only).
    """

    mechanism: str
    parameters: dict[str, Any]
    table: str
    tokens: dict[str, int]
    treatment: dict[str, str]
    released: int
    statistics: dict[str, float]
    guarantee: str
    statement: str
    epsilon_nominal: float
    epsilon_per_token: float
    epsilon_per_document: float
    reveals: tuple[str, ...]
    entities: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; an infinite ε is the string "infinity", which JSON numbers cannot say."""
        out: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        for key in ("epsilon_per_token", "epsilon_per_document"):
            if math.isinf(out[key]):
                out[key] = "infinity"
        out["reveals"] = list(self.reveals)
        return out


@dataclass(frozen=True)
class Replacement:
    """One sensitive part: which characters of the raw text it was (`start` to `end`,
    exclusive), its type, and what stands there now."""

    start: int
    end: int
    type: str
    text: str


@dataclass(frozen=True)
class Perturbation:
    """A text fit to leave, and its receipt. Nothing of the sensitive raw text is in it: it may
    be stored.

    Attributes:
        text: what leaves.
        words: the words the mechanism released, in order.
        receipt: what was done, in counts.
        replaced: the parts that were replaced, in order, where the rest left verbatim; None
            where everything was perturbed.
    """

    text: str
    words: tuple[str, ...]
    receipt: Receipt
    replaced: tuple[Replacement, ...] | None = None


class Sanitizer(ABC):
    """Makes private texts fit to leave; safe to share by threads."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The mechanism's published name."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is proved of one released token."""

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything a release depends on but the text and the noise, JSON-ready; equal exactly
        when the channels are equal."""

    @abstractmethod
    def perturb(
        self,
        text: str,
        rng: np.random.Generator | None = None,
        *,
        link: Link | None = None,
        known: Known = EMPTY,
    ) -> Perturbation:
        """Make any string fit to leave, empty ones included.

        Args:
            text: the raw text.
            rng: the noise; fresh operating-system randomness unless a test passes one.
            link: gives the noise of an entity by its raw text, so that one entity gets one
                replacement wherever it stands; None draws within this text alone.
            known: parts that are sensitive here, too, see `findings`.

        Raises:
            DocumentTooLong: the text is longer than this sanitizer takes.
        """

    async def release(
        self, text: str, link: Link | None = None, known: Known = EMPTY
    ) -> Perturbation:
        """`perturb` with fresh noise, off the event loop."""
        return await asyncio.to_thread(self.perturb, text, link=link, known=known)

    def findings(self, text: str) -> Known:
        """The parts of a text that are sensitive in the texts that leave with it and after it,
        too. A sanitizer that marks no parts has none."""
        del text
        return EMPTY

    def known_in(self, text: str, known: Known) -> Known:
        """Those of other texts' findings that matter for this one."""
        del text, known
        return EMPTY

    @abstractmethod
    def verify(self, raw: str, released: Perturbation) -> None:
        """Look at a release before it is sent: could this sanitizer have made it?

        The check reads the finished text and the channel, never the state of the draw.

        Raises:
            ReleaseError: it could not, or only with negligible probability.
        """

    def secrets(
        self, raw: str, released: Perturbation, *, unrepeatable: bool = False
    ) -> tuple[str, ...]:
        """Sensitive parts of the raw text that must not stand as whole words in anything else
        that leaves with this release; or those of them (`unrepeatable`) that no release holds
        by chance. A sanitizer that marks no parts has none."""
        del raw, released, unrepeatable
        return ()
