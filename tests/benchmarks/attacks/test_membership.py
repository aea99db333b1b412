"""Membership: the score is the exact likelihood ratio, the bounds are the theorem's, a mechanism
that gives away more than it claims is caught, and a sound one is not."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.attacks.bounds import largest_success
from benchmarks.attacks.demonstrations import Channel, Population, build_population
from benchmarks.attacks.membership import (
    Membership,
    Scores,
    compute_figures,
    find_breaches,
    play_text_game,
    play_word_game,
    score_texts,
    tpr_bound,
)
from benchmarks.harness.context import Context
from benchmarks.harness.suite import Subject, Suite
from perturb import get_mechanism, seeded_generator
from tests.benchmarks.planted import Planted, keeps, responds, table_of
from tests.tables import bundled_table

ALPHA = 1e-6
TINY = Population.from_choices([[[0, 1], [2]], [[3], [0, 1, 4]]])  # over 5 words of V
TWO = Population.from_choices([[[0, 1]]])


def play(mechanism, source, game, trials, seed=1, epsilon=None):
    channel = Channel(mechanism, source)
    scores = game(mechanism, source, channel, seeded_generator(seed), trials)
    epsilon = mechanism.guarantee.epsilon if epsilon is None else epsilon
    return compute_figures(scores, epsilon, seeded_generator(seed + 1))


def likely(estimate, probability):
    """Tell if so many hits or more, and so many or fewer, each have probability >= ALPHA / 2."""
    hits, law = round(estimate.value * estimate.n), binom(estimate.n, probability)
    return min(law.cdf(hits), law.sf(hits - 1)) >= ALPHA / 2


# -- bounds ---------------------------------------------------------------------------------


def test_bounds_of_worked_examples():
    assert largest_success(math.log(3), 0.5) == pytest.approx(3 / 4)
    assert largest_success(math.log(3), 0.1) == pytest.approx(0.3 / 1.2)
    assert tpr_bound(math.log(2), 0.1) == pytest.approx(0.2)
    assert tpr_bound(math.log(2), 0.5) == pytest.approx(3 / 4)


def test_no_epsilon_allows_nothing_and_no_guarantee_everything():
    assert largest_success(0.0, 0.3) == pytest.approx(0.3)
    assert tpr_bound(0.0, 0.01) == pytest.approx(0.01)
    assert largest_success(math.inf, 0.3) == tpr_bound(math.inf, 0.01) == 1
    assert largest_success(1000.0, 0.5) == tpr_bound(1000.0, 0.01) == 1


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_auc_bound_is_the_area_under_the_bound_of_the_curve(epsilon):
    places = (np.arange(200_000) + 0.5) / 200_000
    area = np.mean([tpr_bound(epsilon, x) for x in places])
    assert largest_success(epsilon, 0.5) == pytest.approx(area, abs=1e-5)


# -- demonstrations -------------------------------------------------------------------------


def test_demonstrations_are_drawn_as_they_say():
    drawn = TINY.draw(6000, seeded_generator(1))
    texts, counts = np.unique(drawn, axis=0, return_counts=True)
    expected = {(0, 2): 1 / 4, (1, 2): 1 / 4, (3, 0): 1 / 6, (3, 1): 1 / 6, (3, 4): 1 / 6}
    assert {tuple(text) for text in texts.tolist()} == set(expected)
    for text, count in zip(texts.tolist(), counts, strict=True):
        law = binom(6000, expected[tuple(text)])
        assert min(law.cdf(count), law.sf(count - 1)) >= ALPHA / 10


def test_neighbours_differ_and_stand_in_one_place():
    one, other = TINY.neighbours(500, seeded_generator(1))
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    assert pairs == {(a, b) for a in (0, 1, 4) for b in (0, 1, 4) if a != b}


def test_the_templates_have_one_length_and_words_of_v():
    vocabulary = bundled_table().vocabulary
    source = build_population(vocabulary)
    assert (source.sizes > 1).sum(axis=1).min() >= 3
    for text in source.draw(50, seeded_generator(1)):
        tokens = vocabulary.encode(" ".join(vocabulary.words[i] for i in text))
        assert vocabulary.index[tokens].tolist() == text.tolist()


# -- the score ------------------------------------------------------------------------------


def test_the_score_is_the_likelihood_ratio_of_all_prompts_there_are():
    """Against a sum over every prompt of two demonstrations."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.ones(5), size=5)
    channel = Channel(Planted(table_of(5), rows, 1.0), TINY)
    law = {(0, 2): 1 / 4, (1, 2): 1 / 4, (3, 0): 1 / 6, (3, 1): 1 / 6, (3, 4): 1 / 6}

    def gives(raw, released):
        return math.prod(rows[x, y] for x, y in zip(raw, released, strict=True))

    for candidate in law:
        seen = rng.integers(5, size=(2, 2))
        other = sum(
            law[a] * law[b] * gives(a + b, seen.ravel())
            for a, b in itertools.product(law, repeat=2)
        )
        member = sum(
            law[a] * (gives(candidate + a, seen.ravel()) + gives(a + candidate, seen.ravel())) / 2
            for a in law
        )
        [score] = score_texts(channel, np.array([candidate]), seen[None])
        assert score == pytest.approx(math.log(member / other), rel=1e-5)


def test_figures_of_worked_scores():
    """Two pairs of four are won, and the tie is or is not. Two of 200 held out are above the
    threshold, so it is the third from the top, 198."""
    scores = Scores(
        np.array([3.0, 199.0, 198.0, 500.0]),
        np.array([4.0, 1.0, 198.0, 198.5]),
        np.arange(1.0, 201.0),
        2,
    )
    found = compute_figures(scores, math.log(3), seeded_generator(1))
    assert found["auc"].value in (0.5, 0.75)
    assert found["tpr"].value == 0.5
    assert found["fpr"].value == 0.25
    assert found["auc_bound"].value == pytest.approx(9 / 10)
    assert found["tpr_bound"].value == pytest.approx(0.09)


# -- the games ------------------------------------------------------------------------------


def test_no_perturbation_gives_every_member_away():
    found = play(keeps(60, 1.0, 1.0), TINY, play_word_game, 400)
    assert (found["auc"].value, found["tpr"].value, found["fpr"].value) == (1, 1, 0)
    many = Population.from_choices([[list(range(60))] * 6])  # 60^6 texts: none is drawn twice
    found = play(keeps(60, 1.0, 1.0), many, play_text_game, 400)
    assert (found["auc"].value, found["tpr"].value, found["fpr"].value) == (1, 1, 0)


@pytest.mark.parametrize("game", [play_word_game, play_text_game])
def test_an_uninformative_channel_is_a_coin(game):
    found = play(keeps(60, 0.0, 1.0), TINY, game, 2000)
    assert likely(found["auc"], 0.5)
    assert find_breaches(found, 0.01) == []


def test_randomised_response_meets_the_bound():
    """AUC: both right, or one of the two and the coin: s² + s(1 − s) = s, which is the bound."""
    truth = math.e / (1 + math.e)
    found = play(responds(truth, 1.0), TWO, play_word_game, 4000)
    assert likely(found["auc"], largest_success(1.0, 0.5))
    assert find_breaches(found, 1.0) == []


def test_more_than_the_claimed_epsilon_is_caught_by_the_area():
    found = play(responds(0.9, 1.0), TWO, play_word_game, 2000)  # ε = ln 9 = 2.2
    assert [b.partition(" ")[0] for b in find_breaches(found, 1.0)] == ["AUC"]


def test_a_leak_that_the_area_hides_is_caught_at_a_small_false_positive_rate():
    """3 of 10 words leave as they are, the rest tell nothing: an AUC of .65 alone fits ε = 2."""
    source = Population.from_choices([[[0, 1, 2, 3]]])
    found = play(keeps(600, 0.3, 2.0), source, play_word_game, 2000)
    assert found["auc"].high < found["auc_bound"].value
    assert [b.partition(" ")[0] for b in find_breaches(found, 2.0)] == ["TPR"]


def test_a_mechanism_without_a_guarantee_breaches_none():
    found = play(keeps(60, 1.0, 1.0), TINY, play_word_game, 400, epsilon=math.inf)
    assert found["auc_bound"].value == 1
    assert find_breaches(found, math.inf) == []


@pytest.mark.parametrize("name", ["rantext_ldp", "exponential"])
def test_a_sound_mechanism_keeps_its_bound(name):
    mechanism = get_mechanism(name, table_of(60), epsilon=0.5)
    for game, source in ((play_word_game, TINY), (play_text_game, TINY)):
        assert find_breaches(play(mechanism, source, game, 1000), 0.5) == []


# -- the experiment -------------------------------------------------------------------------


def context_of(tmp_path, *mechanisms):
    subjects = tuple(Subject(mechanism=name) for name in mechanisms)
    suite = Suite(name="test", subjects=subjects, epsilons=(1.0,), texts=2, answers=2)
    return Context(suite, tmp_path, None, tmp_path / "out")


def test_only_computed_channels_are_attacked(tmp_path):
    cases = list(Membership().cases(context_of(tmp_path, "rantext_ldp", "madlib")))
    assert cases == [{"mechanism": "rantext_ldp", "epsilon": 1.0}]


class ReleasesMore(Planted):
    """Claims ε = 1 by guarantee and channel, and keeps one word in two."""

    def __init__(self, table):
        self.sound = get_mechanism("rantext_ldp", table, epsilon=1.0)
        super().__init__(table, np.empty((0, 0)), 1.0)

    def draw(self, words, rng):
        drawn = self.sound.draw(words, rng)
        drawn.words[:] = np.where(rng.random(len(words)) < 0.5, words, drawn.words)
        return drawn

    def channel(self, words):
        return self.sound.channel(words)


def test_a_mechanism_that_is_not_what_it_says_fails_the_experiment(tmp_path):
    context = context_of(tmp_path, "rantext_ldp")
    case = {"mechanism": "rantext_ldp", "epsilon": 1.0}
    assert Membership().measure(case, context).breaches == ()
    context.mechanism = lambda label, epsilon: ReleasesMore(context.table)
    found = Membership().measure(case, context)
    assert found.breaches
    assert all(b.startswith("rantext_ldp at 1, word: ") for b in found.breaches)
