"""The exponential mechanism: the proof, checked in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perturb import EmbeddingTable, ParameterError, get_mechanism
from perturb.mechanisms.by_distance import Line
from perturb.mechanisms.exponential import LEVELS, UNIT, Exponential, level_weights
from perturb.vocabulary.table import NEAR

EPSILONS = (1e-300, 1e-12, 1e-3, 1.0, 2 * math.log(2), 6.0, 14.0, 24.0)


def build(table: EmbeddingTable, epsilon: float, **parameters: Any) -> Exponential:
    mechanism = get_mechanism("exponential", table, epsilon=epsilon, **parameters)
    assert isinstance(mechanism, Exponential)
    return mechanism


def half_exp_floor(epsilon: float) -> int:
    """⌊e^{ε/2}·B⌋ in exact arithmetic."""
    x, term, total, k = Fraction(epsilon) / 2, Fraction(1), Fraction(1), 0
    while term > Fraction(1, 10**30) or k < 2 * x + 10:
        k += 1
        term = term * x / k
        total += term
    below, above = total * UNIT, (total + 2 * term) * UNIT
    if below < UNIT + 1:  # so small an ε that the sum never settles between two integers
        return UNIT
    assert math.floor(below) == math.floor(above), "more terms are needed"
    return math.floor(below)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_weights_lie_between_unit_and_half_exp_epsilon(epsilon: float) -> None:
    weights = level_weights(epsilon)
    assert len(weights) == LEVELS + 1
    assert weights[0] == UNIT
    assert weights == sorted(weights)
    assert weights[-1] <= half_exp_floor(epsilon)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 24))
def test_weights_follow_their_formula(epsilon: float) -> None:
    weights = level_weights(epsilon)
    assert weights[-1] <= half_exp_floor(epsilon)
    for level in (1, 100, LEVELS // 2, LEVELS):
        exact = UNIT * math.exp(epsilon / 2 * level / LEVELS)
        assert weights[level] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("radius", [None, 0.7])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_channel_is_the_formula_rounded_to_levels(name: str, radius: float | None, tables) -> None:
    table = tables(name)
    mechanism = build(table, 7.0, radius=radius)
    reach = radius or table.diameter
    for word in range(0, len(table), 97):
        (row,), error = mechanism.channel(np.array([word]))
        utility = np.maximum(0.0, 1 - table.distances(word) / reach)
        assert error == 0.0
        for rounded in (utility, np.maximum(utility - 1 / LEVELS, 0)):
            plain = np.exp(3.5 * rounded)
            assert np.allclose(row, plain / plain.sum(), rtol=2 * 3.5 / LEVELS, atol=0)
        exact = np.exp(3.5 * np.floor(np.round(utility * LEVELS, 6)) / LEVELS)
        near = np.abs(utility * LEVELS - np.round(utility * LEVELS)) > 1e-6  # not on an edge
        assert (row * exact.sum())[near] == pytest.approx(exact[near], rel=1e-4)


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 3.0, 10.0, 20.0])
@pytest.mark.parametrize("radius", [None, 0.4])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_exact_channel_is_epsilon_ldp(
    name: str, radius: float | None, epsilon: float, tables
) -> None:
    table = tables(name)
    words = np.arange(0, len(table), max(1, len(table) // 40))
    weights = build(table, epsilon, radius=radius).integer_weights(words)
    assert weights.dtype == np.uint64
    totals = [sum(row) for row in weights.tolist()]
    ceiling = Fraction(half_exp_floor(epsilon), UNIT) ** 2  # ≤ e^ε
    worst = Fraction(0)
    for column in weights.T.tolist():
        shares = [Fraction(w, total) for w, total in zip(column, totals, strict=True)]
        worst = max(worst, max(shares) / min(shares))
    assert 1 <= worst <= ceiling


def test_channel_is_the_integer_law(toy: EmbeddingTable) -> None:
    mechanism = build(toy, 9.0)
    words = np.array([0, 300, 599])
    rows, _ = mechanism.channel(words)
    for row, weights in zip(rows, mechanism.integer_weights(words).tolist(), strict=True):
        total = sum(weights)
        assert row == pytest.approx([float(Fraction(w, total)) for w in weights], rel=1e-12)


class Tickets:
    """Hands out chosen integers in place of a generator's."""

    def __init__(self, tickets: list[int]) -> None:
        self.tickets = tickets

    def integers(self, low: int, high: Any, dtype: type) -> Any:
        assert low == 0
        assert dtype is np.uint64
        self.bounds = set(high.tolist())
        return np.array(self.tickets, dtype=np.uint64)


@pytest.mark.parametrize("epsilon", [0.5, 8.0, 20.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_every_word_owns_exactly_its_weight_of_tickets(name: str, epsilon: float, tables) -> None:
    """The draw is a function of one integer below the length of the line, see
    `perturb.mechanisms.by_distance`. It is followed at both ends of the accepted part of every
    segment and just beyond, so the law of the running code is the integer law, exactly."""
    table = tables(name)
    mechanism, word = build(table, epsilon), len(table) // 2
    weights = mechanism.integer_weights(np.array([word])).tolist()[0]
    listed = table.neighbours[word].tolist()
    farther = mechanism.profile(table.farther[word]).tolist()
    segments = [(y, weights[y], weights[y]) for y in listed[:NEAR]]
    segments += [(y, weights[y], farther[0]) for y in listed[NEAR:]]
    if len(table) > len(listed):
        among = set(listed)
        segments += [(y, 0 if y in among else weights[y], farther[1]) for y in range(len(table))]
    starts = [0, *accumulate(length for _, _, length in segments)]
    tickets, wanted = [], []
    for (y, weight, length), start in zip(segments, starts, strict=False):
        assert weight <= length  # the bound is one
        ends = {0: weight > 0, max(0, weight - 1): weight > 0, length - 1: weight == length}
        for place, accepted in (ends | ({weight: False} if weight < length else {})).items():
            tickets.append(start + place)
            wanted.append((y, accepted))
    source = Tickets(tickets)
    words = np.full(len(tickets), word)
    line = Line(table, words, np.arange(len(words)), mechanism.fall)
    drawn, accepted = line.take(np.arange(len(words)), source)
    assert source.bounds == {starts[-1]}
    assert list(zip(drawn.tolist(), accepted.tolist(), strict=True)) == wanted


def test_words_of_one_vector_have_one_weight(lattice: EmbeddingTable) -> None:
    weights = build(lattice, 8.0).integer_weights(np.arange(len(lattice)))
    same = (lattice.vectors[:, None] == lattice.vectors).all(axis=2)
    assert same.sum() > 2 * len(lattice)
    top = np.uint64(level_weights(8.0)[-1])
    assert ((weights == top) == same).all()


def test_identity_names_the_radius_in_use(toy: EmbeddingTable) -> None:
    assert build(toy, 3.0).identity()["radius"] == toy.diameter
    assert build(toy, 3.0).identity() == build(toy, 3.0, radius=toy.diameter).identity()
    assert build(toy, 3.0, radius=1).identity()["radius"] == 1.0


def test_too_large_epsilon_is_refused(toy: EmbeddingTable, bundled: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match="epsilon 25 is too large for 11000 words"):
        build(bundled, 25.0)
    assert build(toy, 25.0).guarantee.epsilon == 25.0
    weights = build(bundled, 24.3).integer_weights(np.array([5]))[0].tolist()
    assert sum(weights) < 1 << 63


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan])
def test_bad_radius_is_refused(value: float, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match="radius must be > 0 and finite, got"):
        build(toy, 3.0, radius=value)
