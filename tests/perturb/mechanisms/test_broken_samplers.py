"""Negative controls: the contract's test, with the same number of draws, must refuse each of these
samplers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, Mechanism, get_mechanism
from perturb.mechanisms.rantext import RanText
from perturb.mechanisms.rantext_ldp import UNIT, RanTextLDP
from perturb.testing.cases import choose_words, draw_samples, fit_p_value, sample_words
from perturb.testing.mechanism import SMALL_DRAWS
from perturb.testing.statistics import ALPHA
from tests.perturb.cases import BUNDLED_DRAWS


class Broken(ABC):
    """A sampler made from a sound mechanism by one mistake, tested at an ε where it matters."""

    tested_at = 8.0

    def __init__(self, sound: Mechanism) -> None:
        self.sound = sound
        self.table, self.epsilon = sound.table, sound.epsilon

    def draw(self, words: NDArray[Any], rng: np.random.Generator) -> Any:
        drawn = self.release(words, rng)
        return type("Drawn", (), {"words": drawn})

    @abstractmethod
    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """The drawn words, with the mistake."""


class PassesThrough(Broken):
    """Returns x itself one time in a hundred, on top of the channel."""

    tested_at = 3.0
    share = 0.01

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        return np.where(rng.random(len(words)) < self.share, words, drawn)


class PassesMoreThrough(PassesThrough):
    """Ten times as often: for mechanisms that keep more words anyway."""

    share = 0.1


class RankOffByOne(Broken):
    """Returns the word one rank farther out than the one drawn."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words.copy()
        for word in np.unique(words):
            mine = words == word
            order = np.argsort(self.table.distances(int(word)), kind="stable")
            rank = np.empty(len(order), dtype=np.int64)
            rank[order] = np.arange(len(order))
            drawn[mine] = order[(rank[drawn[mine]] + 1) % len(order)]
        return drawn


class NeverReturnsInput(Broken):
    """Draws again wherever x would be released."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        while (same := drawn == words).any():
            drawn[same] = self.sound.draw(words[same], rng).words
        return drawn


class EpsilonOff(Broken):
    """Draws at an ε one fifth too small."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        cls = type(self.sound)
        parameters = type(self.sound.parameters)(epsilon=self.epsilon * 0.8)
        return cls(self.table, parameters).draw(words, rng).words


class PlainRanText(Broken):
    """RANTEXT written plainly, with a place for each mistake."""

    tested_at = 14.0

    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        assert isinstance(self.sound, RanText)
        scales = self.table.spans / self.sound.z
        return np.sqrt((rng.laplace(size=(n, len(scales))) ** 2) @ scales**2)

    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return (r - d) / r

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = np.empty(len(words), dtype=np.int64)
        radii = self.radii(len(words), rng)[:, None]
        for word in np.unique(words):
            mine = np.flatnonzero(words == word)
            d = self.table.distances(int(word))
            for part in np.array_split(mine, -(-len(mine) // 500)):
                r = radii[part]
                weights = np.where(d < r, np.exp(self.epsilon / 2 * self.utility(d, r)), 0)
                cumulative = np.cumsum(weights, axis=1)
                target = rng.random((len(part), 1)) * cumulative[:, -1:]
                drawn[part] = (cumulative <= target).sum(axis=1)
        return drawn


class NoiseTooLarge(Broken):
    """RANTEXT whose noise is scaled a fifth too wide."""

    noise = 1.2

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        assert isinstance(self.sound, RanText)
        other = RanText(self.table, self.sound.parameters)
        other.__dict__["z"] = self.sound.z / self.noise
        return other.draw(words, rng).words


class NoiseTooSmall(NoiseTooLarge):
    noise = 1 / 1.2


class UtilityWithoutRadius(PlainRanText):
    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return r - d


class NoUtility(PlainRanText):
    def utility(self, d: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        return np.zeros_like(r - d)


class OneRadiusForAll(PlainRanText):
    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.repeat(super().radii(1, rng), n)


class GaussianNoise(PlainRanText):
    """Gaussian noise of the Laplace noise's variance."""

    def radii(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        assert isinstance(self.sound, RanText)
        scales = self.table.spans / self.sound.z
        noise = rng.standard_normal((n, len(scales))) * math.sqrt(2)
        return np.sqrt(noise**2 @ scales**2)


class RoundedWeights(Broken):
    """rantext_ldp with its cumulative weights in half precision: the tail is lost."""

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        assert isinstance(self.sound, RanTextLDP)
        weights = self.sound._weights.astype(np.float64) / UNIT
        weights = np.append(weights, np.ones(len(self.table) - len(weights)))
        cumulative = np.zeros(len(weights), dtype=np.float16)
        total = np.float16(0)
        for i, weight in enumerate(weights.astype(np.float16)):
            total = np.float16(total + weight)
            cumulative[i] = total
        rank = np.searchsorted(
            cumulative.astype(np.float64), rng.random(len(words)) * float(total), side="right"
        )
        drawn = np.empty(len(words), dtype=np.int64)
        for word in np.unique(words):
            mine = words == word
            listed = self.table.neighbours[word].astype(np.int64)
            order = np.append(listed, np.setdiff1d(np.arange(len(self.table)), listed))
            drawn[mine] = order[rank[mine]]
        return drawn


class TailTakesListedWords(Broken):
    """rantext_ldp whose far draws pick among all words instead of those outside the list."""

    tested_at = 6.5  # nearly every listed word weighs more than the tail, which still has 3 %

    def release(self, words: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        drawn = self.sound.draw(words, rng).words
        far = (self.table.neighbours[words] != drawn[:, None]).all(axis=1)
        drawn[far] = rng.integers(0, len(self.table), far.sum())
        return drawn


RANTEXT_CONTROLS: list[type[Broken]] = [
    PassesThrough,
    RankOffByOne,
    NeverReturnsInput,
    NoiseTooLarge,
    NoiseTooSmall,
    UtilityWithoutRadius,
    NoUtility,
    OneRadiusForAll,
    GaussianNoise,
]
LDP_CONTROLS: list[type[Broken]] = [
    PassesThrough,
    RankOffByOne,
    NeverReturnsInput,
    EpsilonOff,
    RoundedWeights,
    TailTakesListedWords,
]


def control_p_value(name: str, control: type[Broken], table: EmbeddingTable, draws: int) -> float:
    words = sample_words(table)
    sampler = control(get_mechanism(name, table, epsilon=control.tested_at))
    return fit_p_value(sampler.sound, words, draw_samples(sampler, words, draws, 14))


@pytest.mark.parametrize("control", RANTEXT_CONTROLS)
def test_broken_rantext_is_caught(control: type[Broken], toy: EmbeddingTable) -> None:
    assert control_p_value("rantext", control, toy, SMALL_DRAWS) < ALPHA


@pytest.mark.parametrize("control", LDP_CONTROLS)
def test_broken_rantext_ldp_is_caught(control: type[Broken], toy: EmbeddingTable) -> None:
    assert control_p_value("rantext_ldp", control, toy, SMALL_DRAWS) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("control", [PassesThrough, NeverReturnsInput, NoiseTooLarge])
def test_broken_rantext_is_caught_on_bundled_table(
    control: type[Broken], bundled: EmbeddingTable
) -> None:
    class AtTested(control):  # type: ignore[valid-type, misc]
        tested_at = 3.0 if control is PassesThrough else 14.0  # rows already computed

    assert control_p_value("rantext", AtTested, bundled, BUNDLED_DRAWS) < ALPHA


@pytest.mark.statistical
@pytest.mark.parametrize("control", LDP_CONTROLS[:-1])
def test_broken_rantext_ldp_is_caught_on_bundled_table(
    control: type[Broken], bundled: EmbeddingTable
) -> None:
    assert control_p_value("rantext_ldp", control, bundled, 2000) < ALPHA


def test_plainly_written_rantext_passes(toy: EmbeddingTable) -> None:
    assert control_p_value("rantext", PlainRanText, toy, SMALL_DRAWS) > ALPHA


@pytest.mark.parametrize("control", [EpsilonOff, NeverReturnsInput, PassesMoreThrough])
@pytest.mark.parametrize(
    "name", ["exponential", "santext", "santext_plus", "custext", "tem", "madlib"]
)
def test_broken_baseline_is_caught(name: str, control: type[Broken], toy: EmbeddingTable) -> None:
    sound = get_mechanism(name, toy, epsilon=6.0 if name == "madlib" else 12.0)
    words = choose_words(sound)
    drawn = draw_samples(control(sound), words, SMALL_DRAWS, 16)
    assert fit_p_value(sound, words, drawn) < ALPHA
