"""Negative controls of the published mechanisms: each mistake must fail the contract's test."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, get_mechanism
from perturb.mechanisms.custext import CusText, CusTextParameters, CusTextPlus
from perturb.mechanisms.exponential import Exponential
from perturb.mechanisms.madlib import MadLib, Mahalanobis
from perturb.mechanisms.santext import SanText, SanTextPlus, SanTextPlusParameters
from perturb.mechanisms.scored import ScoredMechanism, squared_distances
from perturb.mechanisms.tem import TEM
from perturb.testing.cases import choose_words, draw_samples, fit_p_value
from perturb.testing.mechanism import SMALL_DRAWS
from perturb.testing.statistics import ALPHA

# The class that makes a mistake, of a mechanism over `toy` at the parameters it is tested at.


class ExponentialWithoutHalf(Exponential):
    """exp(ε·u)."""

    def profile(self, distances: NDArray[np.float64]) -> NDArray[Any]:
        weights = super().profile(distances).astype(np.float64)
        return ((weights / weights.min()) ** 2 * 1000).astype(np.uint64)


class ExponentialCutOff(Exponential):
    """No weight beyond r₀: the support depends on x."""

    def profile(self, distances: NDArray[np.float64]) -> NDArray[Any]:
        return np.where(distances < self.radius, super().profile(distances), np.uint64(0))


class ExponentialFewLevels(Exponential):
    """The utility in eighths."""

    def profile(self, distances: NDArray[np.float64]) -> NDArray[Any]:
        width = self.radius / 8
        return super().profile(np.ceil(distances / width) * width)


class SanTextWithoutHalf(SanText):
    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return super().profile(2 * distances)


class SanTextOfSquares(SanText):
    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return super().profile(distances**2)


class SanTextDropsFirstColumn(SanText):
    """The word of rank 0 is never released."""

    draw = ScoredMechanism.draw  # by rows

    def weights(self, words: NDArray[Any]) -> NDArray[Any]:
        rows = super().weights(words)
        rows[:, 0] = 0.0
        return rows


class PlusOfMoreWords(SanTextPlus):
    """A share of 0.55 instead of a half."""

    def __init__(self, table: EmbeddingTable, parameters: SanTextPlusParameters) -> None:
        super().__init__(table, SanTextPlusParameters(epsilon=parameters.epsilon, share=0.55))


class PlusReplacesMore(SanTextPlus):
    """p = 0.25 instead of 0.2."""

    def __init__(self, table: EmbeddingTable, parameters: SanTextPlusParameters) -> None:
        more = SanTextPlusParameters(epsilon=parameters.epsilon, probability=0.25)
        super().__init__(table, more)


class PlusOverAllOfV(SanTextPlus):
    """Rare words are replaced by any word."""

    draw = ScoredMechanism.draw  # by rows

    def weights(self, words: NDArray[Any]) -> NDArray[Any]:
        rows = super().weights(words)
        rare = self.sensitive[words]
        weights = np.exp(np.sqrt(squared_distances(self.table, words)) * (-self.epsilon / 2))
        rows[rare] = (weights / weights.sum(axis=1, keepdims=True))[rare]
        return rows


class CusTextOwnNeighbours(CusText):
    """Every word has its own list of nearest words: no partition."""

    draw = ScoredMechanism.draw  # by rows

    def weights(self, words: NDArray[Any]) -> NDArray[Any]:
        rows = np.zeros((len(words), len(self.table)))
        for row, word in zip(rows, words, strict=True):
            members = self.table.neighbours[word][:20].astype(np.intp)
            distances = self.table.distances(int(word))[members]
            row[members] = np.exp(-self.epsilon / 2 * distances / distances.max())
        return rows


class CusTextListsOfNineteen(CusText):
    def __init__(self, table: EmbeddingTable, parameters: CusTextParameters) -> None:
        super().__init__(table, CusTextParameters(epsilon=parameters.epsilon, size=19))


class CusTextNotNormalised(CusText):
    """u = −d, not scaled to [−1, 0]."""

    draw = ScoredMechanism.draw  # by rows

    def weights(self, words: NDArray[Any]) -> NDArray[Any]:
        distances = np.sqrt(squared_distances(self.table, words))
        return np.exp(distances * (-self.epsilon / 2)) * (super().weights(words) > 0)


class PlusForgetsStopWords(CusTextPlus):
    @cached_property
    def _list_weights(self) -> NDArray[np.float64]:
        return CusText(self.table, self.parameters)._list_weights


class TEMWithoutCount(TEM):
    """⊥ scores −γ, without ln|beyond|."""

    draw = ScoredMechanism.draw  # by rows

    def weights(self, words: NDArray[Any]) -> NDArray[Any]:
        beyond = np.sqrt(squared_distances(self.table, words)) > self.gamma
        shared = np.maximum(1, beyond.sum(axis=1, keepdims=True))
        return super().weights(words) / np.where(beyond, shared, 1)


class TEMWithoutBeyond(TEM):
    """Words beyond γ are never released."""

    def profile(self, distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(distances <= self.gamma, super().profile(distances), 0.0)


class TEMNotTruncated(TEM):
    gamma = math.inf


class MadLibOneDimensionLess(MadLib):
    """Length Gamma(d − 1, 1/ε)."""

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        return _round_noise(self, n, rng, rng.standard_gamma(self._dimension - 1, (n, 1)))

    @property
    def _dimension(self) -> int:
        return self.table.vectors.shape[1]


class MadLibExponentialLength(MadLibOneDimensionLess):
    """Length d·Exponential(1/ε): the right mean."""

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        return _round_noise(self, n, rng, rng.standard_exponential((n, 1)) * self._dimension)


class MadLibGaussian(MadLibOneDimensionLess):
    """Gaussian noise of the same mean squared length."""

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        d = self._dimension
        scale = math.sqrt(d + 1) / self.epsilon
        return (rng.standard_normal((n, d)) * scale).astype(np.float32)


class MadLibOneNoise(MadLib):
    """One draw of noise for a whole block."""

    def noise(self, n: int, rng: np.random.Generator) -> NDArray[np.float32]:
        return np.repeat(super().noise(1, rng), n, axis=0)


class MadLibLastOfEqual(MadLib):
    """Of words with one vector the last is released."""

    def draw(self, words: NDArray[Any], rng: np.random.Generator) -> Any:
        draw = super().draw(words, rng)
        vectors = [row.tobytes() for row in self.table.vectors]
        last = {vector: word for word, vector in enumerate(vectors)}
        released = np.array([last[vectors[word]] for word in draw.words], dtype=np.int32)
        return type(draw)(released)


class MahalanobisIsRound(Mahalanobis):
    def _shape(self, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        return noise


class MahalanobisSquared(Mahalanobis):
    """A in place of its root."""

    def _shape(self, noise: NDArray[np.float64]) -> NDArray[np.float64]:
        return super()._shape(super()._shape(noise))


def _round_noise(
    mechanism: MadLib, n: int, rng: np.random.Generator, length: NDArray[np.float64]
) -> NDArray[np.float32]:
    direction = rng.standard_normal((n, mechanism.table.vectors.shape[1]))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return (direction * length / mechanism.epsilon).astype(np.float32)


CONTROLS = [
    (ExponentialWithoutHalf, {"epsilon": 8.0}, "toy"),
    (ExponentialCutOff, {"epsilon": 8.0, "radius": 1.2}, "toy"),
    (ExponentialFewLevels, {"epsilon": 16.0}, "toy"),
    (SanTextWithoutHalf, {"epsilon": 8.0}, "toy"),
    (SanTextOfSquares, {"epsilon": 8.0}, "toy"),
    (SanTextDropsFirstColumn, {"epsilon": 14.0}, "toy"),
    (PlusOfMoreWords, {"epsilon": 8.0}, "toy"),
    (PlusReplacesMore, {"epsilon": 8.0}, "toy"),
    (PlusOverAllOfV, {"epsilon": 8.0}, "toy"),
    (CusTextOwnNeighbours, {"epsilon": 8.0}, "toy"),
    (CusTextListsOfNineteen, {"epsilon": 8.0}, "toy"),
    (CusTextNotNormalised, {"epsilon": 8.0}, "toy"),
    (PlusForgetsStopWords, {"epsilon": 8.0}, "toy"),
    (TEMWithoutCount, {"epsilon": 30.0, "beta": 0.5}, "toy"),
    (TEMWithoutBeyond, {"epsilon": 30.0, "beta": 0.5}, "toy"),
    (TEMNotTruncated, {"epsilon": 30.0, "beta": 0.5}, "toy"),
    (MadLibOneDimensionLess, {"epsilon": 12.0}, "toy"),
    (MadLibExponentialLength, {"epsilon": 12.0}, "toy"),
    (MadLibGaussian, {"epsilon": 12.0}, "toy"),
    (MadLibOneNoise, {"epsilon": 12.0}, "toy"),
    (MadLibLastOfEqual, {"epsilon": 12.0}, "lattice"),
    (MahalanobisIsRound, {"epsilon": 12.0}, "skewed"),
    (MahalanobisSquared, {"epsilon": 12.0}, "skewed"),
]


@pytest.mark.parametrize(
    ("control", "parameters", "name"), CONTROLS, ids=[control.__name__ for control, *_ in CONTROLS]
)
def test_mistake_is_caught(
    control: type[ScoredMechanism] | type[MadLib],
    parameters: dict[str, Any],
    name: str,
    tables: Any,
) -> None:
    table = tables(name)
    sound = get_mechanism(control.name, table, **parameters)
    words = choose_words(sound)
    broken = control(table, sound.parameters)
    assert fit_p_value(sound, words, draw_samples(sound, words, SMALL_DRAWS, 15)) > ALPHA
    assert fit_p_value(sound, words, draw_samples(broken, words, SMALL_DRAWS, 15)) < ALPHA


def test_every_published_mechanism_has_controls() -> None:
    assert {control.name for control, *_ in CONTROLS} == {
        *("exponential", "santext", "santext_plus", "custext", "custext_plus", "tem"),
        *("madlib", "mahalanobis"),
    }
