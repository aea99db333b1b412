"""Writers propose candidates. They see public texts and picked candidates, and no private text.

The one here needs no model: it moves through the space of vectors, after the estimation of
distribution algorithm of Zhao et al., and decodes a vector as the nearest passage of a codebook.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from perturb.errors import ParameterError
from perturb.whole.codebook import Codebook
from perturb.whole.encoder import Encoder, make_vectors

__all__ = ["PassageWriter", "Writer"]


class Writer(Protocol):
    """Suggest candidates for one label."""

    def begin(self, count: int) -> list[str]:
        """Return at most `count` different candidates, before anything was picked."""

    def vary(self, parents: Sequence[str], count: int) -> list[str]:
        """Return at most `count` different candidates that are like the parents, and none of
        them.

        Args:
            parents: what was picked, at least one.
        """


class PassageWriter:
    """Suggest passages of a codebook: first random ones, then those nearest to vectors of a
    normal law with the parents' mean and standard deviation in each coordinate.

    Args:
        codebook: public passages.
        encoder: the one that the codebook was made with.
        smoothing: α, 0 ≤ α < 1: the share of the last law's mean and deviation in the next one's.
        rng: draws the candidates; it hides nothing.
    """

    def __init__(
        self, codebook: Codebook, encoder: Encoder, smoothing: float, rng: np.random.Generator
    ) -> None:
        if not 0 <= smoothing < 1:
            raise ParameterError(f"smoothing must be >= 0 and < 1, got {smoothing:g}")
        self._codebook = codebook
        self._encoder = encoder
        self._smoothing = smoothing
        self._rng = rng
        self._law: NDArray[np.float32] | None = None  # mean and deviation, (2, d)

    def begin(self, count: int) -> list[str]:
        places = self._rng.permutation(len(self._codebook))[:count]
        passages = [self._codebook.passage(int(place)) for place in places]
        self._learn(passages)
        return passages

    def vary(self, parents: Sequence[str], count: int) -> list[str]:
        mean, deviation = self._learn(parents)
        taken = np.zeros(len(self._codebook), dtype=bool)
        taken[[place for place in map(self._codebook.find, parents) if place is not None]] = True
        made: list[str] = []
        for _ in range(min(count, int((~taken).sum()))):
            noise = self._rng.standard_normal(len(mean), dtype=np.float32)
            vector = make_vectors((mean + deviation * noise)[None])[0]
            near = np.where(taken, -np.inf, self._codebook.similarities(vector))
            place = int(np.argmax(near))
            taken[place] = True
            made.append(self._codebook.passage(place))
        return made

    def _learn(self, passages: Sequence[str]) -> NDArray[np.float32]:
        """Move the law towards passages, and return it."""
        vectors = self._encoder(passages)
        law = np.stack([vectors.mean(axis=0), vectors.std(axis=0)])
        if self._law is not None:
            law = self._smoothing * self._law + (1 - self._smoothing) * law
        self._law = law
        return law
