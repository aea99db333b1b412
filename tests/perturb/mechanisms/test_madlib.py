"""Madlib and the Mahalanobis mechanism against a plain reference and, for two words, a formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, get_mechanism, seeded_generator
from perturb.mechanisms.madlib import FAILURE, MadLib, Mahalanobis, _bound_rates
from perturb.testing.statistics import ALPHA, p_value, two_sample_p_value


def build(table: EmbeddingTable, epsilon: float, name: str = "madlib", **more: float) -> MadLib:
    mechanism = get_mechanism(name, table, epsilon=epsilon, **more)
    assert isinstance(mechanism, MadLib)
    return mechanism


def nearest(table: EmbeddingTable, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The nearest word to each point, the lowest rank of equally near ones; one by one."""
    wide = table.vectors.astype(np.float64)
    return np.array([((wide - point) ** 2).sum(axis=1).argmin() for point in points])


def plain_noise(table: EmbeddingTable, epsilon: float, n: int, seed: int) -> NDArray[np.float64]:
    """Density ∝ exp(−ε‖η‖): a Gaussian's direction, and the sum of d exponentials as length."""
    rng, d = np.random.default_rng(seed), table.vectors.shape[1]
    direction = rng.standard_normal((n, d))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    return direction * rng.exponential(1 / epsilon, (n, d)).sum(axis=1, keepdims=True)


def counted(words: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    return np.bincount(words, minlength=m)


def sampled(mechanism: MadLib, word: int) -> NDArray[np.int64]:
    (row,), _ = mechanism.channel(np.array([word]))
    return np.rint(row * mechanism.channel_draws).astype(np.int64)


@pytest.mark.parametrize("epsilon", [3.0, 15.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_madlib_matches_a_plain_reference(name: str, epsilon: float, tables) -> None:
    table, word, n = tables(name), 1, 8000
    mechanism = build(table, epsilon)
    noise = plain_noise(table, epsilon, n, 4)
    expected = counted(nearest(table, table.vectors[word].astype(np.float64) + noise), len(table))
    drawn = mechanism.draw(np.full(n, word), seeded_generator(4)).words
    assert two_sample_p_value(counted(drawn, len(table)), expected) > ALPHA
    assert two_sample_p_value(sampled(mechanism, word), expected) > ALPHA


@pytest.mark.parametrize("mixing", [1.0, 0.4])
@pytest.mark.parametrize("name", ["skewed", "lattice", "pair"])
def test_mahalanobis_matches_a_plain_reference(name: str, mixing: float, tables) -> None:
    table, word, n = tables(name), 1, 8000
    mechanism = build(table, 8.0, "mahalanobis", mixing=mixing)
    wide = table.vectors.astype(np.float64)
    centred = wide - wide.mean(axis=0)
    covariance = centred.T @ centred / len(table)
    d = len(covariance)
    shape = mixing * covariance * d / np.trace(covariance) + (1 - mixing) * np.eye(d)
    # any root of the matrix shapes round noise the same way: Cholesky's is not the symmetric one
    root = np.linalg.cholesky(shape + 1e-9 * np.eye(d))
    noise = plain_noise(table, 8.0, n, 5) @ root.T
    expected = counted(nearest(table, wide[word] + noise), len(table))
    drawn = mechanism.draw(np.full(n, word), seeded_generator(4)).words
    assert two_sample_p_value(counted(drawn, len(table)), expected) > ALPHA
    assert two_sample_p_value(sampled(mechanism, word), expected) > ALPHA


@pytest.mark.parametrize("epsilon", [0.3, 2.0, 10.0])
def test_two_words_in_three_dimensions_have_a_formula(epsilon: float, pair) -> None:
    """The noise along one direction has density ε/4·(1 + ε|t|)·e^{−ε|t|} in three dimensions."""
    a = epsilon * float(pair.distances(0)[1]) / 2
    changed = (2 + a) * math.exp(-a) / 4
    mechanism, n = build(pair, epsilon), 50_000
    drawn = mechanism.draw(np.zeros(n, dtype=int), seeded_generator(6)).words
    law = np.array([1 - changed, changed])
    assert p_value(counted(drawn, 2), law * n) > ALPHA
    assert p_value(sampled(mechanism, 0), law * mechanism.channel_draws) > ALPHA
    assert math.log((1 - changed) / changed) <= mechanism.guarantee.epsilon
    assert mechanism.keep_rate(np.array([0]))[0] == pytest.approx(1 - changed, abs=0.1)


def test_length_of_the_noise_is_gamma_and_its_direction_uniform(toy) -> None:
    mechanism, n = build(toy, 2.0), 40_000
    noise = mechanism.noise(n, seeded_generator(7)).astype(np.float64)
    length = np.linalg.norm(noise, axis=1)
    assert length.mean() == pytest.approx(8 / 2, abs=6 * math.sqrt(8) / 2 / math.sqrt(n))
    assert length.var() == pytest.approx(8 / 4, rel=0.1)
    signs = ((noise > 0) << np.arange(8)).sum(axis=1)
    assert p_value(counted(signs, 256), np.full(256, n / 256)) > ALPHA


def test_shape_of_the_noise_is_the_covariance_of_mean_variance_one(skewed) -> None:
    mechanism, n = build(skewed, 1.0, "mahalanobis"), 40_000
    covariance = np.cov(skewed.vectors.astype(np.float64), rowvar=False, bias=True)
    seen = np.cov(mechanism.noise(n, seeded_generator(8)), rowvar=False)
    assert np.trace(seen) == pytest.approx(8 * 9, rel=0.1)  # E[length²] = d(d + 1)/ε²
    assert np.allclose(seen / np.trace(seen), covariance / np.trace(covariance), atol=0.02)


@pytest.mark.parametrize("name", ["madlib", "mahalanobis"])
def test_only_the_first_of_equal_vectors_is_released(name: str, lattice) -> None:
    mechanism = build(lattice, 5.0, name)
    first = {}
    for word, row in enumerate(lattice.vectors):
        first.setdefault(row.tobytes(), word)
    leaders = set(first.values())
    drawn = mechanism.draw(np.tile(np.arange(560), 20), seeded_generator(3)).words
    assert set(drawn.tolist()) <= leaders
    rates = mechanism.keep_rate(np.arange(560))
    assert set(np.flatnonzero(rates).tolist()) == leaders


@pytest.mark.parametrize("name", ["toy", "skewed", "pair"])
def test_mahalanobis_bound_holds_for_every_pair(name: str, tables) -> None:
    table = tables(name)
    mechanism = build(table, 2.0, "mahalanobis", mixing=0.7)
    wide = table.vectors.astype(np.float64)
    covariance = np.cov(wide, rowvar=False, bias=True)
    d = len(covariance)
    shape = 0.7 * covariance * d / np.trace(covariance) + 0.3 * np.eye(d)
    differences = (wide[:, None] - wide).reshape(-1, d)
    squares = (differences @ np.linalg.inv(shape) * differences).sum(axis=1)
    largest = math.sqrt(squares.max())
    assert 2 * largest <= mechanism.guarantee.epsilon <= 2 * 2 * largest * 1.001


def test_singular_covariance_has_a_finite_bound(pair) -> None:
    assert np.linalg.matrix_rank(np.cov(pair.vectors.astype(float), rowvar=False)) == 1
    mechanism = build(pair, 2.0, "mahalanobis")
    assert isinstance(mechanism, Mahalanobis)
    assert 0 < mechanism.guarantee.epsilon < 100


def test_stated_error_covers_a_known_row(pair) -> None:
    mechanism = build(pair, 1.0)
    a = float(pair.distances(0)[1]) / 2
    (row,), error = mechanism.channel(np.array([0]))
    changed = (2 + a) * math.exp(-a) / 4
    assert abs(row[1] - changed) <= error < 0.02
    assert mechanism.channel(np.array([0]))[0].tolist() == [row.tolist()], "public numbers"


@pytest.mark.parametrize("n", [16, 2048])
def test_upper_bound_is_what_chernoff_says(n: int) -> None:
    for seen, bound in enumerate(_bound_rates(np.arange(n + 1), n)):
        assert seen / n <= bound <= 1
        chance = sum(
            math.exp(
                math.lgamma(n + 1)
                - math.lgamma(k + 1)
                - math.lgamma(n - k + 1)
                + k * math.log(bound)
                + (n - k) * math.log1p(-bound)
            )
            for k in range(seen + 1)
            if bound < 1
        )
        assert chance <= FAILURE * 1.001, "the binomial is no likelier than its bound"
        if seen == 60:
            break
