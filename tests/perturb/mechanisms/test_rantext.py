"""RANTEXT against the paper: noise scale, calibration and a slow reference."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from perturb import EmbeddingTable, ParameterError, get_mechanism, seeded_generator
from perturb.mechanisms.radius import radius_law
from perturb.mechanisms.rantext import RanText, RanTextParameters, _RandomLists, noise_scale
from perturb.testing.statistics import ALPHA, two_sample_p_value


def rantext(table: EmbeddingTable, epsilon: float, **parameters: str) -> RanText:
    mechanism = get_mechanism("rantext", table, epsilon=epsilon, **parameters)
    assert isinstance(mechanism, RanText)
    return mechanism


@pytest.mark.parametrize(
    ("epsilon", "z"),
    [
        # 0.01658160142016071·ln(19.064721649556482·ε − 38.1294334077209) + 9.311083811697406
        # in 40 decimal digits
        (3.0, 9.3599637215),
        (6.0, 9.3829506956),
        (10.0, 9.3944441848),
        (14.0, 9.4011674452),
    ],
)
def test_published_noise_scale_is_the_authors_curve(
    epsilon: float, z: float, bundled: EmbeddingTable
) -> None:
    parameters = RanTextParameters(epsilon=epsilon, noise="published")
    assert noise_scale(bundled, parameters) == pytest.approx(z, abs=1e-9)


def test_published_noise_scale_jumps_at_two(bundled: EmbeddingTable) -> None:
    at_two = noise_scale(bundled, RanTextParameters(epsilon=2.0, noise="published"))
    assert 9.0 < at_two < 9.2


@pytest.mark.parametrize("noise", ["published", "calibrated"])
@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 1.0, 1.999999])
def test_noise_scale_is_epsilon_below_two(
    noise: str, epsilon: float, bundled: EmbeddingTable
) -> None:
    assert rantext(bundled, epsilon, noise=noise).z == epsilon


def test_calibrated_curve_meets_the_calibration_points(bundled: EmbeddingTable) -> None:
    for key, z in bundled.calibration.items():
        assert rantext(bundled, float(key)).z == pytest.approx(z, abs=2e-3)
    assert rantext(bundled, 2.0).z == pytest.approx(bundled.calibration["2"], abs=1e-9)


def test_calibrated_curve_grows_with_epsilon(bundled: EmbeddingTable, toy: EmbeddingTable) -> None:
    for table in (bundled, toy):
        curve = [rantext(table, epsilon).z for epsilon in np.linspace(2, 50, 200)]
        assert (np.diff(curve) > 0).all()


def test_published_constants_give_short_lists_on_bundled_table(bundled: EmbeddingTable) -> None:
    words = np.arange(300)
    sizes = {
        noise: rantext(bundled, 6.0, noise=noise)
        .draw(words, seeded_generator(1))
        .statistics["list_size_mean"]
        for noise in ("published", "calibrated")
    }
    assert sizes["published"] < 0.02 * len(bundled) < sizes["calibrated"]


@pytest.mark.statistical
def test_calibration_hits_the_published_shares(bundled: EmbeddingTable) -> None:
    """Pr[|C_r(happy)| ≤ 5 % of V] at ε = 2, 6, 10, 14 within half a point of 1.5, 9, 10, 10.5 %,
    by 400,000 plain simulations; the whole Clopper–Pearson interval at α = 1e-6 (split over the
    four) must lie inside."""
    wide = bundled.vectors.astype(np.float64)
    happy = bundled.vocabulary.words.index("happy")
    distances = np.sort(np.sqrt(((wide - wide[happy]) ** 2).sum(axis=1)))
    spans = wide.max(axis=0) - wide.min(axis=0)
    rng = np.random.default_rng(20)
    unit = np.concatenate(
        [np.linalg.norm(rng.laplace(size=(4000, len(spans))) * spans, axis=1) for _ in range(100)]
    )
    n, alpha = len(unit), ALPHA / 4
    for epsilon, target in {2: 0.015, 6: 0.090, 10: 0.100, 14: 0.105}.items():
        radii = unit / rantext(bundled, float(epsilon)).z
        sizes = np.searchsorted(distances, radii, side="left")  # how many d < r
        hits = int((sizes <= 0.05 * len(bundled)).sum())
        low = stats.beta.ppf(alpha / 2, hits, n - hits + 1)
        high = stats.beta.ppf(1 - alpha / 2, hits + 1, n - hits)
        assert target - 0.005 < low < high < target + 0.005


def slow_rantext(
    table: EmbeddingTable, word: int, epsilon: float, z: float, rng: np.random.Generator
) -> int:
    """Algorithms 2 and 3 step by step, one token."""
    phi = [[float(value) for value in row] for row in table.vectors]
    spans = [max(column) - min(column) for column in zip(*phi, strict=True)]
    noise = [rng.laplace(0.0, span / z) for span in spans]
    noisy = [value + extra for value, extra in zip(phi[word], noise, strict=True)]
    r = math.dist(noisy, phi[word])
    adjacent = [y for y, row in enumerate(phi) if math.dist(row, phi[word]) < r]
    scores = [(r - math.dist(phi[y], phi[word])) / r for y in adjacent]
    weights = [math.exp(epsilon / 2 * score) for score in scores]
    point, chosen = rng.uniform(0, sum(weights)), -1
    while point >= 0 and chosen + 1 < len(weights):
        chosen += 1
        point -= weights[chosen]
    return adjacent[chosen]


@pytest.mark.parametrize("epsilon", [1.0, 6.0, 14.0])
def test_sampler_agrees_with_slow_reference(epsilon: float, small: EmbeddingTable) -> None:
    word, m = 23, len(small)
    mechanism = rantext(small, epsilon)
    rng = np.random.default_rng(21)
    slow = [slow_rantext(small, word, epsilon, mechanism.z, rng) for _ in range(3000)]
    fast = mechanism.draw(np.full(50_000, word), seeded_generator(21)).words
    order = np.argsort(small.distances(word), kind="stable")
    rank = np.empty(m, dtype=np.int64)
    rank[order] = np.arange(m)
    first, second = (np.bincount(rank[drawn], minlength=m) for drawn in (np.array(slow), fast))
    assert two_sample_p_value(first, second) > ALPHA
    tilted = mechanism.draw(np.full(50_000, word), seeded_generator(22)).words
    tilted[::5] = word  # the comparison must be able to fail
    assert two_sample_p_value(first, np.bincount(rank[tilted], minlength=m)) < ALPHA


def weigh(distances: list[float], radius: float, epsilon: float) -> NDArray[np.float64]:
    lists = _RandomLists(np.array([radius]), epsilon)
    return lists.weigh(np.array([0]), np.array([distances]))[0]


def test_list_holds_words_strictly_nearer_than_the_radius() -> None:
    weights = weigh([0.0, 0.5, float(np.nextafter(1, 0)), 1.0, 1.5], 1.0, 2.0)
    assert weights == pytest.approx([1, math.exp(-0.5), math.exp(-1), 0, 0], rel=1e-6)
    assert (weights[3:] == 0).all()


def test_list_always_holds_the_word_itself() -> None:
    for radius in (0.0, 1e-30, 1e-6):
        assert weigh([0.0, 0.3, 0.4], radius, 5.0).tolist() == [1, 0, 0]


def test_released_words_lie_inside_the_radius(bundled: EmbeddingTable) -> None:
    words, mechanism = np.full(400, 77), rantext(bundled, 6.0)
    drawn = mechanism.draw(words, seeded_generator(5)).words
    radii = radius_law(bundled).draw(400, seeded_generator(5)) / mechanism.z
    distances = bundled.distances(77)[drawn]
    assert (distances < radii + 1e-5).all()
    assert (distances < radii[::-1]).mean() < 1  # the radii of others do not bound them


def test_list_sizes_are_reported(bundled: EmbeddingTable) -> None:
    draw = rantext(bundled, 6.0).draw(np.arange(400), seeded_generator(3))
    statistics = draw.statistics
    assert set(statistics) == {"list_size_min", "list_size_mean", "list_size_max"}
    assert (
        1
        <= statistics["list_size_min"]
        < statistics["list_size_mean"]
        < statistics["list_size_max"]
        <= len(bundled)
    )
    assert (
        rantext(bundled, 6.0).draw(np.array([], dtype=int), seeded_generator(3)).statistics == {}
    )


def test_radius_quantiles_match_fresh_noise(bundled: EmbeddingTable) -> None:
    rng = np.random.default_rng(22)
    fresh = np.linalg.norm(rng.laplace(size=(20_000, 384)) * bundled.spans, axis=1)
    assert (
        stats.kstest(
            fresh,
            lambda x: np.interp(
                x, bundled.radius, (np.arange(len(bundled.radius)) + 0.5) / len(bundled.radius)
            ),
        ).pvalue
        > ALPHA
    )
    drawn = radius_law(bundled).draw(20_000, seeded_generator(22))
    assert stats.ks_2samp(fresh, drawn).pvalue > ALPHA
    assert stats.ks_2samp(fresh, drawn * 1.01).pvalue < ALPHA


def test_proved_delta_is_the_share_of_radii_below_the_diameter(bundled: EmbeddingTable) -> None:
    rng = np.random.default_rng(23)
    unit = np.linalg.norm(rng.laplace(size=(20_000, 384)) * bundled.spans, axis=1)
    closer = replace(bundled, diameter=float(np.median(unit)) / rantext(bundled, 6.0).z)
    stated = float(rantext(closer, 6.0).guarantee.statement.rsplit("δ = ", 1)[1])
    assert abs(stated - 0.5) < 0.02
    # rounded up: the quantiles know a probability to 1/4096 and no better
    assert rantext(bundled, 0.01).guarantee.statement.endswith("δ = 0.0026")
    # a δ of 1 bounds nothing, and is not called a bound
    assert rantext(bundled, 6.0).proved_delta == 1
    assert rantext(bundled, 6.0).guarantee.statement.endswith("no bound is proved at this ε")


@pytest.mark.parametrize("value", ["Calibrated", "", None, 1])
def test_unknown_noise_is_refused(value: object, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match="noise must be 'calibrated' or 'published'"):
        get_mechanism("rantext", toy, noise=value)


def slow_channel(mechanism: RanText, word: int) -> NDArray[np.float64]:
    """E_r[P(· | x, r)] over the table's radius quantiles, radius by radius."""
    distances = mechanism.table.distances(word)
    row = np.zeros(len(distances))
    for r in mechanism.table.radius / mechanism.z:
        weights = np.where(distances < r, np.exp(-mechanism.epsilon / 2 * distances / r), 0.0)
        row += weights / weights.sum()
    return row / len(mechanism.table.radius)


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 14.0, 200.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_channel_is_within_its_error(epsilon: float, name: str, tables) -> None:
    mechanism = rantext(tables(name), epsilon)
    words = np.arange(min(12, len(mechanism.table)))
    rows, error = mechanism.channel(words)
    assert 0 < error < 0.02
    for row, word in zip(rows, words, strict=True):
        assert row.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.abs(row - slow_channel(mechanism, int(word))).sum() / 2 <= error


def test_channel_is_within_its_error_on_bundled_table(bundled: EmbeddingTable) -> None:
    mechanism = rantext(bundled, 6.0)
    (row,), error = mechanism.channel(np.array([4321]))
    slow = slow_channel(mechanism, 4321)
    assert np.abs(row - slow).sum() / 2 <= error < 0.004
    assert row[4321] == pytest.approx(slow[4321], rel=1e-3)
    other = slow_channel(rantext(bundled, 6.6), 4321)  # the error is small enough to tell
    assert np.abs(row - other).sum() / 2 > error


def test_channel_of_many_blocks_is_that_of_single_words(toy: EmbeddingTable) -> None:
    mechanism = rantext(toy, 6.0)
    rows, _ = mechanism.channel(np.arange(600))
    for word in (0, 255, 256, 599):
        assert rows[word] == pytest.approx(mechanism.channel(np.array([word]))[0][0], abs=1e-6)
    assert mechanism.channel(np.array([], dtype=int))[0].shape == (0, 600)
