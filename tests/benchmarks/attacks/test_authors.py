"""Author identification: figures worked out by hand, and attackers that find all there is to be
found and nothing where there is nothing."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from sklearn.metrics import f1_score

from benchmarks.attacks.authors import (
    KINDS,
    Authors,
    assign_folds,
    bootstrap_f1,
    estimate_f1,
    estimate_gain,
    macro_f1,
    predict,
    random_f1,
    train,
)
from benchmarks.harness.context import Context
from benchmarks.harness.datasets import DataError
from benchmarks.harness.records import Estimate
from benchmarks.harness.suite import Subject, Suite
from perturb import seeded_generator
from tests.benchmarks.planted import keeps, table_of

ALPHA = 1e-6
WORDS = 60

# -- figures --------------------------------------------------------------------------------


def test_macro_f1_of_a_worked_example():
    """2·1/(2 + 2), 2·2/(2 + 3) and nothing of the third class."""
    found = macro_f1(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 1, 0]), 3)
    assert found == pytest.approx((1 / 2 + 4 / 5 + 0) / 3)


def test_macro_f1_of_many_rows_is_that_of_each():
    rng = np.random.default_rng(1)
    actual, predicted = rng.integers(4, size=(2, 3, 50))
    expected = [
        f1_score(a, p, average="macro", labels=range(4))
        for a, p in zip(actual, predicted, strict=True)
    ]
    assert macro_f1(actual, predicted, 4) == pytest.approx(expected)


@pytest.mark.parametrize("counts", [(1, 1), (2, 1), (3, 1, 1)])
def test_random_f1_is_the_mean_over_all_blind_guesses(counts):
    """For (1, 1): 1, 0, 1/3 and 1/3, so 5/12."""
    actual = np.repeat(np.arange(len(counts)), counts)
    shares = np.array(counts) / sum(counts)
    guesses = np.array(list(itertools.product(range(len(counts)), repeat=len(actual))))
    scores = macro_f1(np.broadcast_to(actual, guesses.shape), guesses, len(counts))
    assert random_f1(counts) == pytest.approx(shares[guesses].prod(axis=1) @ scores)
    assert random_f1((1, 1)) == pytest.approx(5 / 12)


def test_random_f1_is_what_a_simulation_finds():
    counts, trials = (12, 5, 3), 20_000
    actual = np.repeat(np.arange(3), counts)
    guesses = np.random.default_rng(1).choice(3, size=(trials, 20), p=np.array(counts) / 20)
    scores = macro_f1(np.broadcast_to(actual, guesses.shape), guesses, 3)
    margin = math.sqrt(math.log(2 / ALPHA) / (2 * trials))  # Hoeffding: scores lie in [0, 1]
    assert abs(scores.mean() - random_f1(counts)) <= margin


def test_random_f1_is_one_over_the_classes_for_many_texts_whatever_their_shares():
    assert random_f1((9000, 900, 100)) == pytest.approx(1 / 3, abs=2e-3)
    assert random_f1((9000, 900, 100)) < 1 / 3


def test_the_interval_covers_the_value_and_is_paired():
    actual = np.tile([0, 1, 2], 100)
    good, worse = actual.copy(), actual.copy()
    good[:60], worse[:150] = 0, 0
    rows = bootstrap_f1(actual, [good, good, worse], seeded_generator(1))
    assert (rows[0] == rows[1]).all()
    assert (rows[0] > rows[2]).mean() > 0.99
    found = estimate_f1(actual, good, rows[0])
    assert found.low < found.value < found.high
    assert found.n == 300


def test_gain_of_worked_examples():
    raw = Estimate(0.6, 0.5, 0.7, 100)
    resampled_raw = np.linspace(0.5, 0.7, 41)
    same = estimate_gain(raw, raw, 0.1, resampled_raw, resampled_raw)
    assert same == Estimate(1, 1, 1, 100)
    blind = estimate_gain(Estimate.exact(0.1), raw, 0.1, np.full(41, 0.1), resampled_raw)
    assert (blind.value, blind.low, blind.high) == (0, 0, 0)
    half = estimate_gain(Estimate.exact(0.35), raw, 0.1, np.full(41, 0.35), np.full(41, 0.6))
    assert half.value == half.low == half.high == pytest.approx(0.5)


def test_there_is_no_gain_where_raw_texts_give_nothing_away():
    raw = Estimate(0.12, 0.09, 0.15, 100)
    assert estimate_gain(raw, raw, 0.1, np.full(9, 0.12), np.full(9, 0.12)) is None


# -- cross-validation -----------------------------------------------------------------------


def test_folds_are_stratified():
    actual = np.repeat([0, 1, 2], [7, 11, 5])
    fold = assign_folds(actual, seeded_generator(1))
    counts = np.array([np.bincount(fold[actual == c], minlength=5) for c in range(3)])
    assert (counts.max(axis=1) - counts.min(axis=1) <= 1).all()
    assert np.ptp(counts.sum(axis=0)) <= 1
    assert (assign_folds(actual, seeded_generator(2)) != fold).any()


@pytest.mark.parametrize("kind", KINDS)
def test_no_text_is_judged_by_who_has_seen_it(kind):
    """Each text is one word of its own, or one axis: known by heart, or not at all."""
    actual = np.random.default_rng(5).permutation(np.arange(60) % 2)
    inputs = {
        "text": np.array([f"q{i}q" for i in range(100, 160)], dtype=object),
        "embedding": np.eye(60),
    }[kind]
    fold = assign_folds(actual, seeded_generator(1))
    models = train(kind, inputs, actual, fold)
    assert (predict(models, inputs, fold) == actual).mean() < 0.8
    seen = train(kind, inputs, actual, (fold + 1) % 5)
    assert (predict(seen, inputs, fold) == actual).all()


# -- the experiment -------------------------------------------------------------------------


class Writing(Context):
    """Three authors who each have words of their own, on a small table; an embedding counts
    them."""

    def __init__(self, folder, mechanism, *, texts=60, some=60):
        rng = np.random.default_rng(3)
        words = table_of(WORDS).vocabulary.words
        path = folder / "authors.jsonl"
        lines = [
            {"author": f"a{who}", "text": " ".join(rng.choice(words[who * 20 :][:20], 12))}
            for who in range(3)
            for _ in range(some)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        subjects = tuple(Subject(mechanism=name) for name in ("planted", "other"))
        suite = Suite(
            name="test",
            subjects=subjects,
            epsilons=(1.0,),
            pipeline=("planted",),
            texts=2,
            answers=texts,
        )
        super().__init__(suite, folder, None, folder / "out", authors=path)
        self.table = table_of(WORDS)
        self.mechanism = lambda label, epsilon: mechanism
        self.encode = lambda texts: np.array(
            [[t.split().count(w) for w in words] for t in texts], dtype=np.float32
        )


CASE = {"mechanism": "planted", "epsilon": 1.0}


def test_without_perturbation_nothing_is_lost(tmp_path):
    values = Authors().measure(CASE, Writing(tmp_path, keeps(WORDS, 1.0, 1.0))).values
    for kind in KINDS:
        assert values[f"raw_{kind}"].value > 0.95
        for attacker in ("static", "adaptive"):
            assert values[f"{attacker}_{kind}"] == values[f"raw_{kind}"]
            found = values[f"gain_{attacker}_{kind}"]
            assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))
    assert values["blind"].value == pytest.approx(random_f1([60] * 3))


def test_an_uninformative_mechanism_leaves_chance(tmp_path):
    """Of the n texts of a fold, whose authors are unknown to who judges them, n/3 are right on
    average, and by Hoeffding more than a share a = 1/3 + √(ln(5/α)/2n) in any of 5 folds with
    probability α at most. Macro-F1 is then below 2a/(1 + a): F1 <= 2R/(R + 1) of a recall R, and
    that is concave."""
    context = Writing(tmp_path, keeps(WORDS, 0.0, 1.0), texts=150, some=150)
    values = Authors().measure(CASE, context).values
    most = 1 / 3 + math.sqrt(math.log(5 / ALPHA) / (2 * 90))
    for kind in KINDS:
        assert values[f"raw_{kind}"].value > 0.95
        for attacker in ("static", "adaptive"):
            assert values[f"{attacker}_{kind}"].value <= 2 * most / (1 + most)


def test_whoever_knows_the_mechanism_is_no_worse(tmp_path):
    """Half the words kept: three authors with words of their own stay known."""
    values = Authors().measure(CASE, Writing(tmp_path, keeps(WORDS, 0.5, 1.0))).values
    for kind in KINDS:
        assert 0.7 < values[f"gain_adaptive_{kind}"].value <= 1.05


def test_measuring_is_reproducible(tmp_path):
    context = Writing(tmp_path, keeps(WORDS, 0.3, 1.0))
    assert Authors().measure(CASE, context) == Authors().measure(CASE, context)


def test_the_first_texts_of_every_author_are_taken(tmp_path):
    values = Authors().measure(CASE, Writing(tmp_path, keeps(WORDS, 1.0, 1.0), texts=20)).values
    assert values["raw_text"].n == 60


def test_cases_are_those_of_the_pipeline_and_need_the_data(tmp_path):
    context = Writing(tmp_path, keeps(WORDS, 1.0, 1.0))
    assert list(Authors().cases(context)) == [CASE]
    context.authors = None
    assert list(Authors().cases(context)) == []


def test_an_author_of_few_texts_is_an_error_that_tells_no_name(tmp_path):
    context = Writing(tmp_path, keeps(WORDS, 1.0, 1.0), some=4)
    with pytest.raises(DataError, match=r"needs >= 5 texts, number 1 has 4"):
        Authors().measure(CASE, context)
