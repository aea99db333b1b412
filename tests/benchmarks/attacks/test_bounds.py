"""The success that a guarantee allows an attack: proved cases, random channels, error rate."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.attacks.bounds import (
    ALPHA,
    best_blind,
    contextual_limit,
    largest_success,
    limit,
    measure_bounded,
    report_breach,
)
from perturb.audit.intervals import clopper_pearson
from perturb.mechanisms.base import ldp_guarantee
from perturb.mechanisms.scored import metric_guarantee, no_guarantee


def randomized_response(m: int, epsilon: float) -> np.ndarray:
    weights = np.where(np.eye(m, dtype=bool), math.exp(epsilon), 1.0)
    return weights / weights.sum(axis=1, keepdims=True)


def random_channel(rng: np.random.Generator, m: int) -> tuple[np.ndarray, float]:
    """A channel and the smallest ε for which it is ε-LDP."""
    rows = rng.dirichlet(np.ones(m), m) + rng.uniform(0.001, 0.2)
    rows /= rows.sum(axis=1, keepdims=True)
    return rows, float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())


def test_largest_success_of_worked_examples():
    assert largest_success(math.log(3), 0.25) == pytest.approx(0.5)  # 3/4 to 3/4
    assert largest_success(0.0, 0.3) == pytest.approx(0.3)
    assert largest_success(5.0, 0.0) == 0.0
    assert largest_success(5.0, 1.0) == 1.0
    assert largest_success(1e5, 0.1) == 1.0


@pytest.mark.parametrize("m", [2, 5, 100])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_randomized_response_reaches_the_limit(m: int, epsilon: float):
    """The best guess is y itself; a uniform word is guessed blindly once in m."""
    kept = randomized_response(m, epsilon)[0, 0]
    assert largest_success(epsilon, 1 / m) == pytest.approx(kept)


def test_best_blind_takes_the_most_frequent():
    targets = np.array([7, 7, 7, 2, 2, 5])
    assert best_blind(targets) == 0.5
    assert best_blind(targets, 2) == pytest.approx(5 / 6)
    assert best_blind(targets, 10) == 1.0


def test_no_context_free_attack_on_a_random_channel_passes_the_limit():
    """Exact success of the best answer sets of each size for words of any frequency."""
    rng = np.random.default_rng(1)
    closest = 0.0
    for _ in range(200):
        m = int(rng.integers(2, 6))
        rows, epsilon = random_channel(rng, m)
        targets = rng.integers(0, m, 12)
        share = np.bincount(targets, minlength=m) / len(targets)
        for k in range(1, m):
            sets = [list(s) for s in combinations(range(m), k)]
            joint = share[:, None] * rows
            best = sum(max(joint[s, y].sum() for s in sets) for y in range(m))
            bound = largest_success(epsilon, best_blind(targets, k))
            assert best <= bound + 1e-12
            closest = max(closest, best / bound)
    assert closest > 0.9


def test_no_contextual_attack_passes_its_limit():
    """Any rule, any word, any context: its chance against its chance where another word is
    released there."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        m = int(rng.integers(2, 6))
        rows, epsilon = random_channel(rng, m)
        x, other = rng.integers(0, m, 2)
        rule = rng.random((4, m)) < rng.random()  # by context and release: does it name x?
        context = rng.dirichlet(np.ones(4))
        chance, blind = (float(context @ rule @ rows[w]) for w in (x, other))
        assert chance <= math.exp(epsilon) * blind + 1e-12
        assert 1 - blind <= math.exp(epsilon) * (1 - chance) + 1e-12


def test_a_models_own_blind_success_is_no_prior():
    """A model that never names the right word blindly does so once it looks: put for p*, its
    blind success would accuse a sound mechanism."""
    epsilon, believed = 3.0, np.array([0.4, 0.3, 0.3])
    rows = randomized_response(3, epsilon)
    truth = 2
    assert believed.argmax() != truth
    guesses = (believed[:, None] * rows).argmax(axis=0)
    chance = rows[truth][guesses == truth].sum()
    assert chance > 0.8 > largest_success(epsilon, 0.0) == 0.0


def test_contextual_limit_counts_what_is_not_known_of_the_blind_run():
    guarantee = ldp_guarantee(1.0)
    high = clopper_pearson(10, 1000, ALPHA)[1]
    assert contextual_limit(guarantee, 10, 1000) == pytest.approx(math.e * high)
    high = clopper_pearson(900, 1000, ALPHA)[1]
    assert contextual_limit(guarantee, 900, 1000) == pytest.approx(1 - (1 - high) / math.e)
    assert contextual_limit(ldp_guarantee(2000.0), 1, 10) == 1.0
    assert contextual_limit(no_guarantee(1.0, "test"), 0, 10) == 1.0


def test_limits_by_kind_of_guarantee():
    assert limit(no_guarantee(0.1, "test"), 0.01) == 1.0
    metric = metric_guarantee(2.0, 1.5)
    assert limit(metric, 0.1) == pytest.approx(largest_success(3.0, 0.1))
    assert limit(ldp_guarantee(2.0), 0.1, 4) == pytest.approx(largest_success(8.0, 0.1))


def test_a_breach_is_said_of_a_sound_mechanism_at_most_once_in_a_billion_runs():
    trials, bound = 1000, 0.3
    said = next(h for h in range(trials + 1) if report_breach("attack", h, trials, bound))
    assert binom.sf(said - 1, trials, bound) <= ALPHA
    assert said < 420  # and it is said
    [sentence] = report_breach("attack", said, trials, bound)
    assert sentence.startswith(f"attack: {said} of 1000 right")
    assert report_breach("attack", 1000, 1000, 1.0) == ()


def test_held_counts_all_places_and_each_forms_first():
    """Six words of three forms; named at the first, third and fourth place."""
    targets = np.array([4, 4, 9, 1, 4, 9])
    right = np.array([True, False, True, True, False, False])
    found = measure_bounded("hit", right, targets, ldp_guarantee(math.log(3)), releases=2)
    assert found.values["hit"].value == found.values["hit_blind"] == 0.5
    assert found.values["hit_bound"] == pytest.approx(0.9)  # odds of 1 times 3²
    assert found.values["hit_once"].value == 1.0
    assert found.values["hit_once_bound"] == pytest.approx(9 / 11)  # odds of 1 to 2 times 3²
    assert found.breaches == ()


def test_held_says_which_limit_was_passed():
    """Frequent words let a blind guess be right: only the places of different forms show it."""
    targets = np.concatenate([np.zeros(2000, dtype=int), np.arange(1, 1001)])
    right = np.ones(3000, dtype=bool)
    right[1:2000] = False
    [sentence] = measure_bounded("hit", right, targets, ldp_guarantee(1.0)).breaches
    assert sentence.startswith("hit_once: 1001 of 1001 right")
