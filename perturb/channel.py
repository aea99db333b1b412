"""The channel over words, as the treatment of documents uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.release import Guarantee
from perturb.vocabulary.table import EmbeddingTable

__all__ = ["Draw", "WordChannel", "Words"]

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
