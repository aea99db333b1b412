"""Building a table, held against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import tiktoken

from perturb import EmbeddingTable, TableError, Vocabulary
from perturb.testing.tables import PROVENANCE, random_rows
from perturb.vocabulary.table_build import build_table


def exact_order(table: EmbeddingTable, word: int) -> list[int]:
    """All words by exact squared distance, ties by rank, the word itself first: integers, no
    rounding (a float16 is a multiple of 2^-24)."""
    scaled = (table.vectors.astype(np.float64) * 2.0**24).astype(np.int64).astype(object)
    square = ((scaled - scaled[word]) ** 2).sum(axis=1)
    return sorted(range(len(table)), key=lambda y: (y != word, square[y], y))


@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_neighbours_are_the_exact_order(name: str, tables) -> None:
    table = tables(name)
    kept = min(512, len(table))
    for word in {0, 1, len(table) // 2, len(table) - 1}:
        assert table.neighbours[word].tolist() == exact_order(table, word)[:kept]


def test_bundled_neighbours_are_the_exact_order(bundled: EmbeddingTable) -> None:
    words = np.random.default_rng(1).choice(len(bundled), 20, replace=False)
    wide = bundled.vectors.astype(np.float64)
    for word in words:
        square = ((wide - wide[word]) ** 2).sum(axis=1)
        square[word] = -1
        expected = np.lexsort((np.arange(len(bundled)), square))[:512]
        assert (bundled.neighbours[word] == expected).all()
    word = int(words[0])
    assert bundled.neighbours[word].tolist() == exact_order(bundled, word)[:512]


def test_squared_distances_do_not_depend_on_the_order_of_summation(
    bundled: EmbeddingTable,
) -> None:
    """Every partial sum fits a float64: three orders and exact fractions agree to the bit."""
    wide = bundled.vectors.astype(np.float64)
    rng = np.random.default_rng(2)
    products = wide[rng.integers(0, len(wide), 400)] * wide[rng.integers(0, len(wide), 400)]
    forward = np.add.accumulate(products, axis=1)[:, -1]
    backward = np.add.accumulate(products[:, ::-1], axis=1)[:, -1]
    shuffled = np.add.accumulate(products[:, rng.permutation(products.shape[1])], axis=1)[:, -1]
    assert (forward == backward).all()
    assert (forward == shuffled).all()
    for row, value in zip(products[:10], forward, strict=False):
        assert sum((Fraction(float(p)) for p in row), Fraction(0)) == Fraction(float(value))


@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_rows_are_unit_vectors(name: str, tables) -> None:
    lengths = np.linalg.norm(tables(name).vectors.astype(np.float64), axis=1)
    assert np.abs(lengths - 1).max() < 2e-3


def test_rows_keep_the_direction_of_the_embeddings(encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 40)
    raw = random_rows(vocabulary, 6, 9)
    scales = np.random.default_rng(3).uniform(1e-3, 1e3, (len(raw), 1))
    one = build_table(vocabulary, raw, provenance=PROVENANCE)
    other = build_table(vocabulary, raw * scales, provenance=PROVENANCE)
    cosine = (one.vectors.astype(np.float64) * raw[:40]).sum(axis=1)
    assert np.allclose(cosine, np.linalg.norm(raw[:40], axis=1), rtol=2e-3)
    assert np.abs(one.vectors.astype(float) - other.vectors.astype(float)).max() < 1e-3


@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_diameter_is_no_less_than_any_distance(name: str, tables) -> None:
    table = tables(name)
    largest = max(table.distances(word).max() for word in range(len(table)))
    assert largest <= table.diameter < largest * (1 + 1e-5)


def test_bundled_diameter_is_no_less_than_any_distance(bundled: EmbeddingTable) -> None:
    for word in range(0, len(bundled), 400):
        assert bundled.distances(word).max() <= bundled.diameter


@pytest.mark.parametrize("name", ["bundled", "toy", "lattice", "pair"])
def test_spread_counts_other_words_by_distance_band(name: str, tables) -> None:
    table = tables(name)
    edges = np.linspace(0, table.diameter, 65)
    for word in {0, len(table) // 3, len(table) - 1}:
        distances = np.delete(table.distances(word), word)
        within = [(distances <= edge + 1e-9).sum() for edge in edges[1:]]
        # No more words are claimed nearer than are, and all are claimed: keep_rate needs both.
        assert (np.cumsum(table.spread[word], dtype=int) <= within).all()
        expected = np.histogram(distances, bins=edges)[0]
        assert np.abs(table.spread[word] - expected).sum() <= 4
        assert table.spread[word].sum(dtype=int) == len(table) - 1


def test_nearest_is_the_first_nearest_word(encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 60)
    m = len(vocabulary)
    raw = random_rows(vocabulary, 5, 4)
    raw[m] = raw[30] * 7
    raw[20] = raw[10]
    raw[m + 1] = raw[20]
    table = build_table(vocabulary, raw, provenance=PROVENANCE)
    assert table.nearest[0] == 30
    assert table.nearest[1] == 10, "ties go to the lower rank"
    unit = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float16).astype(float)
    for other in range(0, len(vocabulary.others), 997):
        distances = np.linalg.norm(unit[:m] - unit[m + other], axis=1)
        assert distances[table.nearest[other]] == pytest.approx(distances.min(), abs=1e-9)


def test_build_repeats_itself(encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 40)
    raw = random_rows(vocabulary, 3, 5)
    one, again = (build_table(vocabulary, raw, provenance=PROVENANCE) for _ in range(2))
    for name in ("vectors", "neighbours", "nearest", "spread", "radius"):
        assert (getattr(one, name) == getattr(again, name)).all()
    assert one.calibration == again.calibration


@pytest.mark.parametrize("name", ["toy", "lattice", "pair"])
def test_calibration_inverts_the_radius_quantiles(name: str, tables) -> None:
    """Pr[S/z ≤ d₍ₖ₎] is the target, k = 5 % of V, for the word that stands in for "happy"."""
    table = tables(name)
    words = table.vocabulary.words
    word = words.index("happy") if "happy" in words else 0
    edge = np.sort(table.distances(word))[max(1, len(table) // 20)]
    levels = (np.arange(len(table.radius)) + 0.5) / len(table.radius)
    for key, target in {"2": 0.015, "6": 0.090, "10": 0.100, "14": 0.105}.items():
        reached = np.interp(edge * table.calibration[key], table.radius, levels)
        assert reached == pytest.approx(target, abs=1e-6)


def test_radius_of_one_dimension_is_exponential(encoding: tiktoken.Encoding) -> None:
    """S = Δ·E for d = 1: the quantiles are −Δ·ln(1 − p)."""
    vocabulary = Vocabulary(encoding, 2)
    raw = np.ones((2 + len(vocabulary.others), 1))
    raw[1] = -1
    table = build_table(vocabulary, raw, provenance=PROVENANCE)
    levels = (np.arange(len(table.radius)) + 0.5) / len(table.radius)
    middle = slice(200, -200)
    expected = -2 * np.log1p(-levels)
    assert table.radius[middle] == pytest.approx(expected[middle], rel=0.02)
    assert table.diameter == pytest.approx(2.0, rel=1e-5)


def test_progress_ends_at_the_total(encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 30)
    last: dict[str, tuple[int, int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        assert 0 < done <= total
        assert done > last.get(stage, (0, 0))[0]
        last[stage] = (done, total)

    build_table(vocabulary, random_rows(vocabulary, 3, 6), provenance={}, progress=progress)
    assert set(last) == {"neighbours", "words outside V", "radius"}
    assert all(done == total for done, total in last.values())


def zero_row(rows):
    rows[5] = 0


def infinite(rows):
    rows[5, 0] = math.inf


def not_a_number(rows):
    rows[-1, 0] = math.nan


def all_alike(rows):
    rows[:] = rows[0]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (zero_row, "an embedding is zero or not finite"),
        (infinite, "an embedding is zero or not finite"),
        (not_a_number, "an embedding is zero or not finite"),
        (all_alike, "all embeddings are alike"),
    ],
)
def test_unusable_embeddings_are_refused(spoil, said: str, encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 30)
    rows = random_rows(vocabulary, 3, 7)
    spoil(rows)
    with pytest.raises(TableError, match=said):
        build_table(vocabulary, rows, provenance={})


def test_calibration_word_that_is_not_alone_is_refused(encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 30)
    rows = random_rows(vocabulary, 3, 7)
    rows[:5] = rows[0]
    with pytest.raises(TableError, match="shares its embedding with 5 % of V"):
        build_table(vocabulary, rows, provenance={})


@pytest.mark.parametrize("shape", [(10, 3), (0, 3), (5,), (2, 2, 2)])
def test_wrong_shape_is_refused(shape: tuple[int, ...], encoding: tiktoken.Encoding) -> None:
    vocabulary = Vocabulary(encoding, 30)
    expected = 30 + len(vocabulary.others)
    with pytest.raises(TableError, match=f"embeddings must have {expected} rows, got shape"):
        build_table(vocabulary, np.ones(shape), provenance={})
