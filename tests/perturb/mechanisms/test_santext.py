"""SanText, SanText+ and TEM against their formulas, written plainly, and their metric privacy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, ParameterError, get_mechanism, seeded_generator
from perturb.mechanisms.santext import SanTextPlus
from perturb.mechanisms.scored import squared_distances
from perturb.mechanisms.tem import TEM
from perturb.testing.statistics import ALPHA, p_value
from perturb.vocabulary.frequencies import word_counts


def whole_channel(table: EmbeddingTable, name: str, epsilon: float, **more) -> NDArray[np.float64]:
    rows, error = get_mechanism(name, table, epsilon=epsilon, **more).channel(
        np.arange(len(table))
    )
    assert error == 0.0
    return rows


def all_distances(table: EmbeddingTable) -> NDArray[np.float64]:
    return np.array([table.distances(word) for word in range(len(table))])


@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_squared_distances_are_exact(name: str, tables) -> None:
    table = tables(name)
    found = squared_distances(table, np.arange(len(table)))
    wide = table.vectors.astype(np.longdouble)
    for word in range(0, len(table), 50):
        assert (found[word] == ((wide - wide[word]) ** 2).sum(axis=1)).all()


@pytest.mark.parametrize("epsilon", [0.1, 6.0, 40.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_santext_is_its_formula(name: str, epsilon: float, tables) -> None:
    table = tables(name)
    plain = np.exp(-epsilon / 2 * all_distances(table))
    plain /= plain.sum(axis=1, keepdims=True)
    assert np.allclose(whole_channel(table, "santext", epsilon), plain, rtol=1e-9, atol=0)


@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_santext_plus_is_its_formula(name: str, share: float, tables) -> None:
    table, epsilon, p = tables(name), 7.0, 0.3
    rows = whole_channel(table, "santext_plus", epsilon, share=share, probability=p)
    counts = word_counts(table.vocabulary)
    rarest = sorted(range(len(table)), key=lambda w: (counts[w], -w))
    inside = np.isin(np.arange(len(table)), rarest[: math.ceil(share * len(table))])
    for word in range(0, len(table), 13):
        distances = table.distances(word)
        plain = np.where(inside, np.exp(-epsilon / 2 * distances), 0.0)
        plain /= plain.sum()
        if not inside[word]:
            plain = p * plain + (1 - p) * (np.arange(len(table)) == word)
        assert np.allclose(rows[word], plain, rtol=1e-9, atol=0)


@pytest.mark.parametrize("beta", [0.001, 0.5, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("epsilon", [0.5, 12.0, 60.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_tem_is_its_algorithm(name: str, epsilon: float, beta: float, tables) -> None:
    """The law of argmax(score + Gumbel(2/ε)) is a softmax of ε/2 · score; ⊥ is one score."""
    table = tables(name)
    rows = whole_channel(table, "tem", epsilon, beta=beta)
    gamma = max(0.0, 2 / epsilon * math.log((1 - beta) * (len(table) - 1) / beta))
    for word in range(0, len(table), 13):
        distances = table.distances(word)
        within = distances <= gamma
        beyond = int((~within).sum())
        mass = np.where(within, np.exp(-epsilon / 2 * distances), 0.0)
        bottom = math.exp(epsilon / 2 * (-gamma + 2 / epsilon * math.log(beyond))) if beyond else 0
        plain = np.where(within, mass, bottom / max(1, beyond)) / (mass.sum() + bottom)
        assert np.allclose(rows[word], plain, rtol=1e-9, atol=0)


@pytest.mark.parametrize("name", ["toy", "pair"])
def test_tem_run_as_published_has_the_closed_form(name: str, tables) -> None:
    table, word, n = tables(name), 1, 20_000
    mechanism = get_mechanism("tem", table, epsilon=12.0, beta=0.3)
    assert isinstance(mechanism, TEM)
    (row,), _ = mechanism.channel(np.array([word]))
    rng = np.random.default_rng(3)
    distances = table.distances(word)
    within = np.flatnonzero(distances <= mechanism.gamma)
    beyond = np.flatnonzero(distances > mechanism.gamma)
    scores = -distances[within]
    if len(beyond):
        scores = np.append(scores, -mechanism.gamma + 2 / 12 * math.log(len(beyond)))
    won = (scores + rng.gumbel(scale=2 / 12, size=(n, len(scores)))).argmax(axis=1)
    places = np.append(within, -1)[won]
    places[places < 0] = rng.choice(beyond, (places < 0).sum()) if len(beyond) else 0
    assert p_value(np.bincount(places, minlength=len(table)), row * n) > ALPHA


@pytest.mark.parametrize(
    ("name", "more"), [("santext", {}), ("tem", {}), ("tem", {"beta": 0.5}), ("exponential", {})]
)
@pytest.mark.parametrize("epsilon", [0.5, 6.0, 20.0])
@pytest.mark.parametrize("table_name", ["small", "pair"])
def test_ratios_keep_the_guarantee(name, more, epsilon, table_name, request) -> None:
    table = request.getfixturevalue(table_name)
    logs = np.log(whole_channel(table, name, epsilon, **more))
    worst = np.abs(logs[:, None] - logs).max(axis=2)
    guarantee = get_mechanism(name, table, epsilon=epsilon, **more).guarantee
    assert worst.max() <= guarantee.epsilon + 1e-9
    if guarantee.kind == "metric":
        assert (worst <= epsilon * all_distances(table) + 1e-9).all()
        assert worst.max() >= 0.2 * guarantee.epsilon - 1e-9, "a bound this loose says nothing"


def test_guarantee_is_epsilon_times_the_largest_distance(small: EmbeddingTable) -> None:
    largest = all_distances(small).max()
    metric = get_mechanism("santext", small, epsilon=5.0).guarantee.epsilon
    assert 5.0 * largest <= metric <= 5.0 * largest * (1 + 1e-5)
    tem = get_mechanism("tem", small, epsilon=30.0)
    assert tem.guarantee.epsilon == pytest.approx(30.0 * tem.gamma)


def test_santext_plus_never_releases_a_frequent_word_that_was_not_there(
    toy: EmbeddingTable,
) -> None:
    mechanism = get_mechanism("santext_plus", toy, epsilon=1.0)
    assert isinstance(mechanism, SanTextPlus)
    assert mechanism.verbatim
    assert mechanism.sensitive.sum() == 300
    words = np.repeat(np.arange(600), 20)
    drawn = mechanism.draw(words, seeded_generator(1)).words
    frequent = ~mechanism.sensitive[drawn]
    assert frequent.any()
    assert (drawn[frequent] == words[frequent]).all()


@pytest.mark.parametrize(
    ("name", "key", "value", "rule"),
    [
        ("santext_plus", "share", 0, "> 0 and <= 1"),
        ("santext_plus", "share", 1.1, "> 0 and <= 1"),
        ("santext_plus", "probability", -0.1, ">= 0 and <= 1"),
        ("tem", "beta", 0.0, "> 0 and < 1"),
        ("tem", "beta", 1, "> 0 and < 1"),
        ("mahalanobis", "mixing", 0.0, "> 0 and <= 1"),
    ],
)
def test_share_outside_its_range_is_refused(name, key, value, rule, toy) -> None:
    with pytest.raises(ParameterError, match=f"^{key} must be {rule}, got {value}$"):
        get_mechanism(name, toy, **{key: value})


@pytest.mark.parametrize("name", ["santext", "custext", "tem", "madlib"])
@pytest.mark.parametrize("epsilon", [9e-10, 1.1e6])
def test_epsilon_beyond_double_precision_is_refused(name, epsilon, toy) -> None:
    with pytest.raises(ParameterError, match="^epsilon must be from 1e-9 to 1e6, got"):
        get_mechanism(name, toy, epsilon=epsilon)


def test_rows_longer_than_a_block_agree(toy: EmbeddingTable) -> None:
    mechanism = get_mechanism("santext", toy, epsilon=5.0)
    rows, _ = mechanism.channel(np.arange(600))
    for word in (0, 127, 128, 599):
        assert (rows[word] == mechanism.channel(np.array([word]))[0][0]).all()
    drawn = mechanism.draw(np.tile(np.arange(600), 3), seeded_generator(3)).words
    kept = drawn == np.tile(np.arange(600), 3)
    assert abs(kept.mean() - rows.diagonal().mean()) < 5 * math.sqrt(0.25 / 1800)
