"""CusText: its lists against a plain greedy partition, its rows against their formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perturb import EmbeddingTable, ParameterError, get_mechanism
from perturb.mechanisms.custext import greedy_lists
from perturb.vocabulary.frequencies import word_counts
from perturb.vocabulary.stop_words import FUNCTION_WORDS, stop_words


def plain_lists(table: EmbeddingTable, size: int) -> list[list[int]]:
    counts = word_counts(table.vocabulary)
    free = set(range(len(table)))
    lists = []
    for word in sorted(free, key=lambda w: (-counts[w], w)):
        if word in free:
            distances = table.distances(word)
            nearest = sorted(free, key=lambda w: (w != word, distances[w], w))[:size]
            free -= set(nearest)
            lists.append(sorted(nearest))
    return lists


@pytest.mark.parametrize("size", [2, 7, 20, 599, 5000])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_lists_are_the_plain_greedy_partition(name: str, size: int, tables) -> None:
    table = tables(name)
    assert [members.tolist() for members in greedy_lists(table, size)] == plain_lists(table, size)


def test_lists_partition_the_vocabulary(bundled: EmbeddingTable) -> None:
    lists = greedy_lists(bundled, 20)
    assert sorted(np.concatenate(lists).tolist()) == list(range(len(bundled)))
    assert {len(members) for members in lists} == {20}
    first = int(word_counts(bundled.vocabulary).argmax())
    assert set(lists[0].tolist()) == set(bundled.neighbours[first][:20].tolist())
    assert greedy_lists(bundled, 20) is lists


@pytest.mark.parametrize("size", [2, 20, 128])
@pytest.mark.parametrize("epsilon", [0.5, 8.0, 50.0])
@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_row_is_its_formula(name: str, epsilon: float, size: int, tables) -> None:
    table = tables(name)
    mechanism = get_mechanism("custext", table, epsilon=epsilon, size=size)
    rows, error = mechanism.channel(np.arange(len(table)))
    assert error == 0.0
    for members in greedy_lists(table, size):
        for word in members[:2]:
            distances = table.distances(word)[members]
            low, high = distances.min(), distances.max()
            utility = -(distances - low) / (high - low) if high > low else 0 * distances
            plain = np.zeros(len(table))
            plain[members] = np.exp(epsilon / 2 * utility)
            assert np.allclose(rows[word], plain / plain.sum(), rtol=1e-9, atol=0)


def test_list_of_one_vector_is_uniform(lattice: EmbeddingTable) -> None:
    rows, _ = get_mechanism("custext", lattice, epsilon=9.0, size=2).channel(np.arange(560))
    lists = [
        members
        for members in greedy_lists(lattice, 2)
        if (lattice.vectors[members[0]] == lattice.vectors[members[-1]]).all()
    ]
    assert len(lists) > 50
    for members in lists:
        assert rows[members[0], members] == pytest.approx(1 / len(members))


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_inside_a_list_it_is_epsilon_ldp(epsilon: float, toy: EmbeddingTable) -> None:
    rows, _ = get_mechanism("custext", toy, epsilon=epsilon).channel(np.arange(600))
    for members in greedy_lists(toy, 20):
        logs = np.log(rows[np.ix_(members, members)])
        assert (logs.max(axis=0) - logs.min(axis=0)).max() <= epsilon + 1e-9


def test_released_word_reveals_the_list(toy: EmbeddingTable) -> None:
    mechanism = get_mechanism("custext", toy, epsilon=0.1)
    rows, _ = mechanism.channel(np.arange(600))
    assert (np.count_nonzero(rows, axis=0) == 20).all()
    assert math.isinf(mechanism.guarantee.epsilon)


def test_plus_keeps_function_words_and_nothing_else(bundled: EmbeddingTable) -> None:
    words = bundled.vocabulary.words
    plus = get_mechanism("custext_plus", bundled, epsilon=3.0)
    plain = get_mechanism("custext", bundled, epsilon=3.0)
    assert plus.verbatim
    assert not plain.verbatim
    places = np.array([words.index(w) for w in ("the", "The", "of", "US", "house", "A")])
    rows, _ = plus.channel(places)
    assert rows[[0, 1, 2, 5], places[[0, 1, 2, 5]]].tolist() == [1.0] * 4
    others, _ = plain.channel(places)
    assert (rows[3:5] == others[3:5]).all()
    assert plus.keep_rate(places).max() == 1.0


def test_function_words_are_closed_class_and_lower_case(bundled: EmbeddingTable) -> None:
    assert all(word == word.lower() and word.isalpha() for word in FUNCTION_WORDS)
    kept = {bundled.vocabulary.words[i] for i in np.flatnonzero(stop_words(bundled.vocabulary))}
    assert {"the", "and", "I", "of", "not", "would", "The"} <= kept
    assert not kept & {"US", "IT", "house", "run", "Paris", "Don", "said", "s"}


@pytest.mark.parametrize(
    ("value", "said"),
    [(1, "size must be >= 2, got 1"), (2.0, "size must be an integer, got float")],
)
def test_bad_size_is_refused(value, said: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=f"^{said}$"):
        get_mechanism("custext", toy, size=value)
