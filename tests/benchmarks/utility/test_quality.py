"""MAUVE is mauve-text's; BERTScore, overlap and the Expected share agree with worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from mauve import compute_mauve

from benchmarks.utility.documents import correlate, expected_share
from benchmarks.utility.quality import bert_score, mauve, overlap, split_words
from perturb import seeded_generator
from perturb.errors import ParameterError


def cloud(seed: int, n: int, shift: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 16)) + shift


@pytest.mark.parametrize("shift", [0.1, 0.3, 0.6])
def test_mauve_is_the_published_implementations(shift):
    p, q = cloud(1, 150, 0.0), cloud(2, 150, shift)
    found = mauve(p, q, seeded_generator(1))
    assert found.value == pytest.approx(compute_mauve(p_features=p, q_features=q).mauve, abs=1e-9)
    assert 0 < found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    assert found.n == 150


def test_mauve_of_a_set_and_itself_is_one():
    p = cloud(1, 60, 0.0)
    assert mauve(p, p, seeded_generator(1)).value == pytest.approx(1)


def test_mauve_of_two_sets_without_a_common_cluster_is_nought_and_sure_of_it():
    """Two clusters, one for each set: resampling them changes nothing."""
    p, q = cloud(1, 20, 0.0) * 0.01 + np.eye(16)[0], cloud(2, 20, 0.0) * 0.01 + np.eye(16)[1]
    found = mauve(p, q, seeded_generator(1))
    assert found.value == pytest.approx(compute_mauve(p_features=p, q_features=q).mauve)
    assert found.value < 0.01
    assert found.low == pytest.approx(found.value) == found.high


@pytest.mark.parametrize(
    ("p", "q"), [((5, 3), (5, 4)), ((1, 3), (5, 3)), ((5,), (5, 3)), ((5, 3), (0, 3))]
)
def test_mauve_wants_two_matrices_of_one_width(p, q):
    with pytest.raises(ParameterError, match="p and q must be"):
        mauve(np.zeros(p), np.zeros(q), seeded_generator(1))


def test_mauve_puts_standard_error_back(capfd):
    mauve(cloud(1, 20, 0.0), cloud(2, 20, 1.0), seeded_generator(1))
    assert capfd.readouterr().err == ""
    import os

    os.write(2, b"still there")
    assert capfd.readouterr().err == "still there"


def test_bert_score_of_a_worked_example():
    """Precision (1 + 0)/2, recall 1; lengths of vectors do not count."""
    one, two = np.array([[3.0, 0.0], [0.0, 0.5]]), np.array([[2.0, 0.0]])
    assert bert_score(one, two) == pytest.approx(2 * 0.5 * 1 / 1.5)
    assert bert_score(two, one) == pytest.approx(2 / 3)
    assert bert_score(one, one) == pytest.approx(1)
    assert bert_score(np.zeros((1, 2)), two) == 0


def test_words_are_in_lower_case_and_without_punctuation():
    assert split_words("The cat's 9 lives_END, d'Été!") == [
        "the",
        "cat's",
        "9",
        "lives",
        "end",
        "d'été",
    ]


def test_overlap_of_a_worked_example():
    raw, seen = "the cat sat on the mat", "On the mat, the CAT lay."
    assert overlap(raw, seen, 1) == pytest.approx(4 / 5)  # the, cat, on, mat; not sat
    assert overlap(raw, seen, 2) == pytest.approx(3 / 5)  # the cat, on the, the mat
    assert overlap(raw, seen, 3) == pytest.approx(1 / 4)  # on the mat
    assert overlap("", seen, 1) == overlap("one two", seen, 3) == 0


def test_expected_share_counts_repeats():
    assert expected_share("A b b, c", {"b", "x"}) == pytest.approx(2 / 4)
    assert expected_share("...", {"b"}) == 0


def test_correlation_of_worked_examples():
    rng, grid = seeded_generator(1), np.array([1.0, 2.0, 4.0])
    up = correlate(grid, np.outer(grid, np.ones(5)), rng)
    assert (up.value, up.low, up.high, up.n) == (pytest.approx(1),) * 3 + (5,)
    assert correlate(grid, np.outer(-grid, np.ones(5)), rng).value == pytest.approx(-1)
    assert correlate(grid, np.full((3, 5), 0.3), rng).value == 0
    # r of (1, 2, 4) with (0, 1, 0): covariance −1/9 over √(14/9 · 2/9)
    bent = correlate(grid, np.outer([0.0, 1.0, 0.0], np.ones(4)), rng)
    assert bent.value == pytest.approx(-(1 / 9) / np.sqrt(14 / 9 * 2 / 9))
