"""Forward–backward is enumeration of all texts, and its odds are held by the channel's ε."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from benchmarks.attacks.in_context.forward_backward import (
    BATCH,
    Chain,
    measure_odds_change,
    sum_by_form,
)
from benchmarks.metrics.ngram import Ngram
from perturb import seeded_generator
from perturb.audit.channel import Forms
from perturb.errors import ParameterError

M = 4  # words; M itself stands before every text


def model(seed: int = 1) -> Ngram:
    rng = seeded_generator(seed)
    texts = [[M, *rng.choice(M, size=6, p=[0.5, 0.3, 0.15, 0.05])] for _ in range(20)]
    return Ngram.fit(np.concatenate(texts), order=2, vocabulary=M + 1)


def enumerated(found: Ngram, seen: np.ndarray) -> np.ndarray:
    """P(x_i = a | y_{−i}) as sums over all texts, (n, M), for likelihoods (n, M)."""
    n = len(seen)
    step = np.array([found.distribution(np.array([h])) for h in range(M + 1)])
    total = np.zeros((n, M))
    for text in itertools.product(range(M), repeat=n):
        prior = math.prod(step[h, w] for h, w in zip((M, *text), text, strict=False))
        for i in range(n):
            rest = math.prod(seen[j, text[j]] for j in range(n) if j != i)
            total[i, text[i]] += prior * rest
    return total / total.sum(axis=1, keepdims=True)


def test_the_parts_of_a_bigram_model_are_its_distributions():
    found = model()
    seen, left_over, single = found.bigram()
    whole = seen.toarray() + np.outer(left_over, single)
    for context in range(M + 1):
        assert whole[context] == pytest.approx(found.distribution(np.array([context])), rel=1e-12)
    with pytest.raises(ParameterError, match="order must be 2, got 3"):
        Ngram.fit(np.arange(4), order=3, vocabulary=4).bigram()


def test_beliefs_are_those_of_enumeration_for_texts_of_all_lengths_at_once():
    rng = seeded_generator(2)
    likelihoods = rng.random((7, M)) ** 4
    likelihoods[3, 1:] = 0.0  # a release that gives its word away
    places = [rng.integers(7, size=n) for n in (3, 1, 5, 2, 4)]
    found = model()
    inferred = Chain(found).infer_from_others(likelihoods, places)
    for rows, beliefs in zip(places, inferred, strict=True):
        assert beliefs == pytest.approx(enumerated(found, likelihoods[rows]), rel=1e-10)


def test_beliefs_do_not_depend_on_what_else_is_attacked():
    rng = seeded_generator(3)
    likelihoods = rng.random((9, M))
    places = [rng.integers(9, size=rng.integers(1, 8)) for _ in range(2 * BATCH + 3)]
    chain = Chain(model())
    for rows, together in zip(places, chain.infer_from_others(likelihoods, places), strict=True):
        [alone] = chain.infer_from_others(likelihoods, [rows])
        assert together == pytest.approx(alone, rel=1e-12)


def test_a_long_text_neither_under_nor_overflows():
    rng = seeded_generator(4)
    likelihoods = rng.random((5, M)) * 1e-30
    [beliefs] = Chain(model()).infer_from_others(likelihoods, [rng.integers(5, size=500)])
    assert beliefs.sum(axis=1) == pytest.approx(np.ones(500))


def test_an_uninformative_channel_leaves_the_prior_and_the_identity_leaves_no_doubt():
    raw = seeded_generator(5).integers(M, size=6)
    chain = Chain(model())
    [prior] = chain.infer_from_others(np.ones((1, M)), [np.zeros(6, dtype=int)])
    [blind] = chain.infer_from_others(np.full((M, M), 0.25), [raw])
    assert blind == pytest.approx(prior, rel=1e-12)
    assert prior == pytest.approx(enumerated(model(), np.ones((6, M))), rel=1e-10)
    [clear] = chain.infer_from_others(np.eye(M), [raw])
    assert (clear * np.eye(M)[raw]).argmax(axis=1).tolist() == raw.tolist()


def test_context_tells_apart_what_the_channel_cannot():
    """Word 1 follows 0 and word 3 follows 2, always; the channel hides 0 from 2 and no more."""
    texts = [[M, 0, 1], [M, 2, 3]] * 30
    chain = Chain(Ngram.fit(np.concatenate(texts), order=2, vocabulary=M + 1))
    channel = np.eye(M)
    channel[0, 2] = channel[2, 0] = 1.0
    for text in ([0, 1], [2, 3]):
        [beliefs] = chain.infer_from_others(channel, [np.array(text)])
        assert (beliefs * channel[text]).argmax(axis=1).tolist() == text


def test_forms_are_summed():
    forms = Forms(("The", "on", "the", "On", "x"))
    shares = sum_by_form(np.array([[0.1, 0.2, 0.3, 0.1, 0.1]]), forms)
    assert shares == pytest.approx(np.array([[0.5, 0.375, 0.125]]))
    assert forms.group.tolist() == [0, 1, 0, 1, 2]


def response(epsilon: float) -> np.ndarray:
    """Randomised response over M words: ε-LDP and nothing less."""
    rows = np.ones((M, M)) + (math.exp(epsilon) - 1) * np.eye(M)
    return rows / rows.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_one_release_changes_odds_by_the_channels_epsilon_and_no_more(epsilon):
    channel, forms = response(epsilon), Forms(("a", "b", "c", "d"))
    rows = seeded_generator(6).integers(M, size=12)
    [before] = Chain(model()).infer_from_others(channel, [rows])
    after = sum_by_form(before * channel[rows], forms)
    assert measure_odds_change(after, before) == pytest.approx(epsilon, rel=1e-6)
    assert measure_odds_change(before, before) < 1e-12


def test_odds_that_double_precision_cannot_tell_are_passed_over():
    assert measure_odds_change(np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])) == 0.0
    assert measure_odds_change(np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])) == pytest.approx(
        math.log(9)
    )
