"""rantext_ldp: the proof, checked in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from perturb import EmbeddingTable, ParameterError, get_mechanism, seeded_generator
from perturb.mechanisms.rantext_ldp import (
    UNIT,
    RanTextLDP,
    RanTextLDPParameters,
    _find_unlisted,
    rank_weights,
)
from perturb.testing.statistics import ALPHA, p_value

SHAPES = ("power", "random_k", "knn")
EPSILONS = (1e-60, 1e-12, 1e-3, 0.1, 1.0, math.log(2), 3.0, 6.0, 8.0, 10.0, 17.999, 18.0)


def exp_floor(epsilon: float) -> int:
    """⌊e^ε·B⌋ in exact arithmetic: a Taylor sum from below and its remainder from above."""
    x, term, total, k = Fraction(epsilon), Fraction(1), Fraction(1), 0
    while True:
        k += 1
        term = term * x / k
        total += term
        if k > 2 * x + 10 and term < Fraction(1, 10**30):
            break
    below, above = total * UNIT, (total + 2 * term) * UNIT
    assert math.floor(below) == math.floor(above), "more terms are needed"
    return math.floor(below)


def ldp(table: EmbeddingTable, epsilon: float, shape: str = "power") -> RanTextLDP:
    mechanism = get_mechanism("rantext_ldp", table, epsilon=epsilon, shape=shape)
    assert isinstance(mechanism, RanTextLDP)
    return mechanism


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("size", "m"), [(512, 11_000), (512, 54_361), (2, 2), (300, 300)])
def test_weights_lie_between_unit_and_exp_epsilon(shape: str, size: int, m: int) -> None:
    for epsilon in EPSILONS:
        weights = rank_weights(RanTextLDPParameters(epsilon=epsilon, shape=shape), size, m)
        assert len(weights) == size
        assert all(type(weight) is int for weight in weights)
        assert min(weights) >= UNIT
        assert max(weights) <= exp_floor(epsilon)
        assert weights == sorted(weights, reverse=True), "nearer words must not be less likely"


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0, 18, exclude_min=True),
    st.sampled_from(SHAPES),
    st.integers(1, 512),
    st.integers(0, 54_000),
)
def test_any_weights_lie_between_unit_and_exp_epsilon(
    epsilon: float, shape: str, size: int, more: int
) -> None:
    weights = rank_weights(
        RanTextLDPParameters(epsilon=epsilon, shape=shape), size, max(2, size + more)
    )
    assert UNIT <= min(weights) <= max(weights) <= exp_floor(epsilon)


@pytest.mark.parametrize("shape", SHAPES)
def test_certificate_proves_epsilon(shape: str, bundled: EmbeddingTable) -> None:
    for epsilon in EPSILONS:
        mechanism = ldp(bundled, epsilon, shape)
        largest, smallest = mechanism.certificate
        assert smallest == UNIT
        assert UNIT <= largest <= exp_floor(epsilon)
        assert Fraction(largest, smallest) <= Fraction(exp_floor(epsilon), UNIT)
        assert mechanism.guarantee.epsilon == epsilon


@pytest.mark.parametrize("shape", ["power", "knn"])
def test_shape_spends_the_whole_epsilon(shape: str, bundled: EmbeddingTable) -> None:
    for epsilon in (1.0, 6.0, 18.0):
        largest, smallest = ldp(bundled, epsilon, shape).certificate
        assert math.log(largest / smallest) == pytest.approx(epsilon, abs=1e-8)


def test_power_weights_follow_their_formula() -> None:
    weights = rank_weights(RanTextLDPParameters(epsilon=8.0), 512, 11_000)
    for k in range(1, 513):
        formula = math.exp(8) * ((k - 1 + 3) / 3) ** -1.3
        assert weights[k - 1] / UNIT == pytest.approx(max(1.0, formula), rel=1e-9)


def test_random_k_weights_follow_their_formula() -> None:
    m, top = 11_000, math.exp(6)
    weights = rank_weights(RanTextLDPParameters(epsilon=6.0, shape="random_k"), 512, m)
    sizes = [2**i for i in range(10)]

    def law(rank: int) -> float:
        return sum((top if rank <= k else 1) / (k * top + m - k) for k in sizes)

    for rank in (1, 2, 3, 4, 5, 100, 256, 257, 512):
        assert weights[rank - 1] / UNIT == pytest.approx(law(rank) / law(513), rel=1e-9)


def test_knn_weights_follow_their_formula() -> None:
    weights = rank_weights(RanTextLDPParameters(epsilon=6.0, shape="knn"), 512, 11_000)
    assert [w / UNIT for w in weights[:16]] == pytest.approx([math.exp(6)] * 16)
    assert weights[16:] == [UNIT] * 496


@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_every_row_of_nearest_words_can_grow_to_a_permutation(name: str, tables) -> None:
    table = tables(name)
    rows, m = table.neighbours, len(table)
    assert rows.shape == (m, min(512, m))
    assert (rows[:, 0] == np.arange(m)).all()
    assert rows.max() < m
    for row in rows:
        assert np.bincount(row, minlength=m).max() == 1


def integer_channel(mechanism: RanTextLDP) -> NDArray[np.object_]:
    """The channel times Σw as exact integers, (m, m)."""
    table = mechanism.table
    weights = rank_weights(mechanism.parameters, table.neighbours.shape[1], len(table))
    rows = np.full((len(table), len(table)), UNIT, dtype=object)
    for word, listed in enumerate(table.neighbours):
        rows[word, listed] = weights
    return rows


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0, 18.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_exact_channel_is_epsilon_ldp(shape: str, epsilon: float, name: str, tables) -> None:
    rows = integer_channel(ldp(tables(name), epsilon, shape))
    assert len(set(rows.sum(axis=1).tolist())) == 1, "one normaliser, whatever the word"
    ceiling = Fraction(exp_floor(epsilon), UNIT)
    worst = max(
        Fraction(int(high), int(low))
        for high, low in zip(rows.max(axis=0), rows.min(axis=0), strict=True)
    )
    assert worst <= ceiling


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_channel_is_the_integer_law(shape: str, name: str, tables) -> None:
    mechanism = ldp(tables(name), 5.0, shape)
    rows = integer_channel(mechanism)
    for word in range(0, len(rows), 41):
        exact = [float(Fraction(int(w), int(rows[word].sum()))) for w in rows[word]]
        (row,), error = mechanism.channel(np.array([word]))
        assert row == pytest.approx(exact, rel=1e-12)
        assert error == 0.0


class Tickets:
    """Hands out chosen integers in place of a generator's."""

    def __init__(self, tickets: list[int]) -> None:
        self.tickets = tickets
        self.bounds: tuple[int, int] | None = None

    def integers(self, low: int, high: int, size: int, dtype: type) -> NDArray[np.uint64]:
        assert size == len(self.tickets)
        assert dtype is np.uint64
        self.bounds = (low, high)
        return np.array(self.tickets, dtype=np.uint64)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [0.5, 8.0, 18.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_every_word_owns_exactly_its_weight_of_tickets(
    shape: str, epsilon: float, name: str, tables
) -> None:
    """The draw is a function of one integer below Σw; it is followed at both ends of every
    word's interval, so the channel of the running code is the integer law, exactly."""
    table = tables(name)
    mechanism = ldp(table, epsilon, shape)
    word = len(table) // 2
    listed = table.neighbours[word].astype(int).tolist()
    outside = sorted(set(range(len(table))) - set(listed))
    weights = rank_weights(mechanism.parameters, len(listed), len(table))
    weights += [UNIT] * len(outside)
    ends = np.cumsum(np.array(weights, dtype=object)).tolist()
    starts = [0, *ends[:-1]]
    owners = []
    for tickets in (starts, [end - 1 for end in ends]):
        source = Tickets(tickets)
        drawn = mechanism.draw(np.full(len(tickets), word), source).words.tolist()
        assert drawn[: len(listed)] == listed
        assert sorted(drawn[len(listed) :]) == outside
        assert source.bounds == (0, ends[-1])
        owners.append(drawn)
    assert owners[0] == owners[1]


def test_draw_takes_one_integer_whatever_the_word(toy: EmbeddingTable) -> None:
    mechanism = ldp(toy, 8.0)
    states = []
    for word in (0, 3, 599):
        rng = seeded_generator(9)
        mechanism.draw(np.full(100, word), rng)
        states.append(rng.integers(0, 1 << 62))
    assert len(set(states)) == 1


@pytest.mark.parametrize("name", ["bundled", "toy"])
def test_tail_is_uniform_outside_the_list(name: str, tables) -> None:
    table = tables(name)
    word, m = 200, len(table)
    drawn = ldp(table, 0.1).draw(np.full(120_000, word), seeded_generator(4)).words
    outside = np.setdiff1d(np.arange(m), table.neighbours[word])
    counts = np.bincount(drawn, minlength=m)[outside]
    assert p_value(counts, np.full(len(outside), counts.sum() / len(outside))) > ALPHA
    counts[: len(outside) // 20] = 0  # a twentieth of the tail never drawn must be seen
    assert p_value(counts, np.full(len(outside), counts.sum() / len(outside))) < ALPHA


def test_tail_share_is_reported(bundled: EmbeddingTable) -> None:
    mechanism = ldp(bundled, 6.0)
    (row,), _ = mechanism.channel(np.array([0]))
    far = 1 - row[bundled.neighbours[0]].sum()
    share = mechanism.draw(np.zeros(20_000, dtype=int), seeded_generator(2)).statistics
    assert share["tail_share"] == pytest.approx(far, abs=5 * math.sqrt(0.25 / 20_000))
    assert mechanism.draw(np.array([], dtype=int), seeded_generator(2)).statistics == {}


def listing(table: EmbeddingTable, rows: NDArray[np.uint16]) -> EmbeddingTable:
    """A table with these lists."""
    return replace(table, vectors=np.zeros((len(rows), 1), dtype=np.float16), neighbours=rows)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_places_outside_are_the_unlisted_words_each_once(
    toy: EmbeddingTable, data: st.DataObject
) -> None:
    m = data.draw(st.integers(2, 70))
    width = data.draw(st.integers(1, m - 1))
    row = data.draw(st.permutations(range(m)))[:width]
    far = m - width
    table, words = listing(toy, np.array([row], dtype=np.uint16)), np.zeros(far, dtype=np.int64)
    answer = _find_unlisted(table, words, np.arange(far, dtype=np.uint64), far)
    assert sorted(answer.tolist()) == [w for w in range(m) if w not in row]
    assert answer.dtype == np.int32


def test_outside_goes_past_one_block(toy: EmbeddingTable) -> None:
    rng = np.random.default_rng(1)
    rows = np.array([rng.permutation(40)[:30] for _ in range(900)], dtype=np.uint16)
    words, places = np.arange(900).repeat(10), np.tile(np.arange(10, dtype=np.uint64), 900)
    table = listing(toy, rows)
    answer = _find_unlisted(table, words, places, 10).reshape(900, 10)
    for i in (0, 25, 26, 409, 410, 899):
        assert sorted(answer[i].tolist()) == np.setdiff1d(np.arange(40), rows[i]).tolist()
    assert _find_unlisted(table, words[:0], places[:0], 10).shape == (0,)


@pytest.mark.parametrize("epsilon", [18.0001, 25, 1000])
def test_too_large_epsilon_is_refused(epsilon: float, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=r"epsilon must be <= 18 for rantext_ldp, got \d+"):
        get_mechanism("rantext_ldp", toy, epsilon=epsilon)


@pytest.mark.parametrize("value", ["Power", "", None, 2])
def test_unknown_shape_is_refused(value: object, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match="shape must be 'power', 'random_k' or 'knn'"):
        get_mechanism("rantext_ldp", toy, shape=value)


def test_mean_self_rate_respects_the_ldp_ceiling(bundled: EmbeddingTable) -> None:
    """No ε-LDP channel over m words keeps more than e^ε/(e^ε + m − 1)."""
    for epsilon in (3.0, 8.0, 10.0):
        for shape in SHAPES:
            kept = ldp(bundled, epsilon, shape).keep_rate(np.arange(10))
            assert (kept <= math.exp(epsilon) / (math.exp(epsilon) + 10_999)).all()
