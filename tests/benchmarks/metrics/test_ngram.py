"""The n-gram model is its formula: against dictionaries, by hand, and as a distribution."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.metrics.ngram import Ngram
from perturb import seeded_generator
from perturb.errors import ParameterError

Gram = tuple[int, ...]


class Reference:
    """Modified Kneser–Ney with dictionaries, one probability at a time (Chen and Goodman 1999)."""

    def __init__(self, text: list[int], order: int, vocabulary: int) -> None:
        self.order, self.vocabulary = order, vocabulary
        self.counts: dict[int, Counter[Gram]] = {}
        for k in range(1, order + 1):
            places = range(len(text) - k + 1)
            if k == order:
                self.counts[k] = Counter(tuple(text[i : i + k]) for i in places)
                continue
            left: dict[Gram, set[int | str]] = defaultdict(set)
            for i in places:
                left[tuple(text[i : i + k])].add(text[i - 1] if i else "start")
            self.counts[k] = Counter({gram: len(found) for gram, found in left.items()})

    def discount(self, k: int, count: int) -> float:
        n = Counter(self.counts[k].values())
        values = [0.5, 1.0, 1.5]
        if all(n[c] for c in (1, 2, 3, 4)):
            y = n[1] / (n[1] + 2 * n[2])
            rule = [
                1 - 2 * y * n[2] / n[1],
                2 - 3 * y * n[3] / n[2],
                3 - 4 * y * n[4] / n[3],
            ]
            values = rule if min(rule) > 0 else values
        return values[min(count, 3) - 1]

    def p(self, token: int, context: Gram) -> float:
        """p(token | context), the context cut to what the order allows."""
        context = context[max(0, len(context) - self.order + 1) :]
        k = len(context) + 1
        lower = self.p(token, context[1:]) if context else 1 / self.vocabulary
        counts = self.counts[k]
        after = {gram: c for gram, c in counts.items() if gram[:-1] == context}
        if not after:
            return lower
        total = sum(after.values())
        own = after.get((*context, token), 0)
        left_over = sum(self.discount(k, c) for c in after.values()) / total
        kept = (own - self.discount(k, own)) / total if own else 0.0
        return kept + left_over * lower


def zipf(length: int, vocabulary: int, seed: int) -> np.ndarray:
    """Tokens of which a few are often and most are rare, and one never is."""
    share = 1 / np.arange(1, vocabulary)
    rng = seeded_generator(seed)
    return rng.choice(vocabulary - 1, size=length, p=share / share.sum()) + 1


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("length", [8, 400])
def test_every_probability_is_the_formulas(order, length):
    vocabulary = 9
    text = zipf(length, vocabulary, seed=order)
    model = Ngram.fit(text, order=order, vocabulary=vocabulary)
    reference = Reference(text.tolist(), order, vocabulary)
    fresh = seeded_generator(9).integers(vocabulary, size=60)
    for tokens in (text[:60], fresh):
        expected = [
            math.log(reference.p(int(t), tuple(tokens[max(0, i - order) : i].tolist())))
            for i, t in enumerate(tokens)
        ]
        assert model.log_probabilities(tokens) == pytest.approx(expected, rel=1e-12)


def test_the_references_own_discounts_come_from_the_rule_on_the_longer_text():
    """Else the test above would only see the fallback."""
    reference = Reference(zipf(400, 9, seed=3).tolist(), 3, 9)
    assert reference.discount(3, 1) not in (0.5, 1.0, 1.5)


def test_a_case_by_hand():
    """The text 0 1 0 2 with a token 3 that never comes. Left neighbours: of 0 the start and 1,
    of 1 and of 2 just 0, so p_1(0) = (2 − 1)/4 + γ/4 with γ = (1 + ½ + ½)/4. After 0 there was
    1 once and 2 once: p_2(1|0) = (1 − ½)/2 + ½ p_1(1)."""
    model = Ngram.fit(np.array([0, 1, 0, 2]), order=2, vocabulary=4)
    single = [3 / 8, 2 / 8, 2 / 8, 1 / 8]
    assert model.distribution(np.array([], dtype=np.int64)) == pytest.approx(single)
    assert model.distribution(np.array([0])) == pytest.approx([3 / 16, 3 / 8, 3 / 8, 1 / 16])
    assert model.distribution(np.array([2])) == pytest.approx(single)  # the last: never continued
    assert model.distribution(np.array([3])) == pytest.approx(single)  # never seen
    assert model.log_probabilities(np.array([3, 0, 1])) == pytest.approx(
        np.log([1 / 8, 3 / 8, 3 / 8])
    )


def test_discounts_by_hand():
    """8, 4, 2 and 1 tokens with counts 1, 2, 3 and 4: Y = ½, D = ½, 5/4, 2; γ = 15/26."""
    text = np.repeat(np.arange(15), [1] * 8 + [2] * 4 + [3] * 2 + [4])
    chance = Ngram.fit(text, order=1, vocabulary=16).distribution(np.array([5]))
    kept = [(1 - 1 / 2) / 26] * 8 + [(2 - 5 / 4) / 26] * 4 + [(3 - 2) / 26] * 2 + [2 / 26, 0]
    assert chance == pytest.approx(np.array(kept) + 15 / 26 / 16)


def test_a_word_of_one_phrase_is_rare_elsewhere_however_often_the_phrase_is():
    """The case of Kneser and Ney: 2 comes as often as 3, but after 1 alone."""
    phrase = [1, 2] * 30
    spread = [token for other in range(4, 34) for token in (other, 3)]
    model = Ngram.fit(np.array(phrase + spread), order=2, vocabulary=40)
    unseen = model.distribution(np.array([39]))
    assert unseen[3] > 10 * unseen[2]


texts = st.lists(st.integers(0, 5), min_size=4, max_size=60)


@settings(max_examples=60, deadline=None)
@given(text=texts, tokens=st.lists(st.integers(0, 6), max_size=12), order=st.integers(1, 4))
def test_log_probabilities_are_the_logs_of_distributions_that_sum_to_one(text, tokens, order):
    """Token 6 is never in the text, so contexts are seen, unseen and in between."""
    model = Ngram.fit(np.array(text), order=order, vocabulary=7)
    ids = np.array(tokens, dtype=np.int32)
    found = model.log_probabilities(ids)
    assert found.shape == ids.shape
    for i, token in enumerate(ids):
        chance = model.distribution(ids[:i])
        assert chance.sum() == pytest.approx(1, abs=1e-12)
        assert chance.min() > 0
        assert math.log(chance[token]) == pytest.approx(found[i], rel=1e-12)


def test_only_the_last_tokens_of_a_context_count():
    text = zipf(300, 9, seed=1)
    model = Ngram.fit(text, order=3, vocabulary=9)
    near = model.distribution(text[4:6])
    assert np.array_equal(near, model.distribution(text[:6]))
    assert not np.array_equal(near, model.distribution(text[5:6]))


def test_a_distribution_is_the_callers_own():
    model = Ngram.fit(np.array([0, 1, 0]), order=2, vocabulary=3)
    before = model.distribution(np.array([0]))
    model.distribution(np.array([0]))[:] = 7
    assert np.array_equal(model.distribution(np.array([0])), before)


def test_a_higher_order_predicts_a_text_with_memory_better():
    """Each token follows from the two before it, but for a tenth."""
    rng = seeded_generator(4)
    table = rng.integers(20, size=(20, 20))
    text = [0, 1]
    for noise, other in zip(rng.random(30_000), rng.integers(20, size=30_000), strict=True):
        text.append(int(other if noise < 0.1 else table[text[-2], text[-1]]))
    train, test = np.array(text[:25_000]), np.array(text[25_000:])
    losses = [
        -Ngram.fit(train, order=k, vocabulary=20).log_probabilities(test).mean() for k in (1, 2, 3)
    ]
    least = -(0.905 * math.log(0.905) + 0.095 * math.log(0.1 / 20))  # the source's own entropy
    assert losses[0] > losses[1] + 0.1 > losses[2] + 0.2
    assert least - 0.1 < losses[2] < least + 0.3


def test_ids_far_apart_and_small_integer_types_are_counted_right():
    """Keys are 64 bits wide whatever the tokens' type: 200,000³ does not fit 32."""
    wide = np.array([199_999, 0, 199_999, 199_998, 199_999, 0], dtype=np.int32)
    narrow = np.array([3, 0, 3, 2, 3, 0], dtype=np.uint8)
    one = Ngram.fit(wide, order=3, vocabulary=200_000)
    other = Ngram.fit(narrow, order=3, vocabulary=200_000)
    assert np.array_equal(one.log_probabilities(wide), other.log_probabilities(narrow))
    assert one.distribution(wide[:2])[199_999] == pytest.approx(
        other.distribution(narrow[:2])[3], rel=1e-12
    )


SOME = np.array([0, 1, 2])


@pytest.mark.parametrize(
    ("tokens", "options", "words"),
    [
        (SOME, {"order": 0}, "order must be >= 1, got 0"),
        (SOME, {"vocabulary": 0}, "vocabulary must be >= 1, got 0"),
        (SOME, {"order": 4}, r"tokens must be at least order \(4\), got 3"),
        (SOME, {"vocabulary": 2}, r"tokens must be within \[0, 2\), got 0 to 2"),
        (-SOME, {}, r"tokens must be within \[0, 3\), got -2 to 0"),
        (SOME.astype(float), {}, r"tokens must be \(n,\) integers, got \(3,\) float64"),
        (SOME[None], {}, r"tokens must be \(n,\) integers, got \(1, 3\) int64"),
        (SOME, {"vocabulary": 2**32}, r"vocabulary \* n-grams must be < 2\*\*63"),
    ],
)
def test_fit_refuses_what_it_cannot_count(tokens, options, words):
    with pytest.raises(ParameterError, match=words):
        Ngram.fit(tokens, **{"order": 2, "vocabulary": 3} | options)


def test_tokens_outside_the_vocabulary_are_refused_everywhere():
    model = Ngram.fit(SOME, order=2, vocabulary=3)
    with pytest.raises(ParameterError, match=r"tokens must be within \[0, 3\), got 0 to 3"):
        model.log_probabilities(np.array([0, 3]))
    with pytest.raises(ParameterError, match=r"context must be within \[0, 3\), got -1 to -1"):
        model.distribution(np.array([-1]))
