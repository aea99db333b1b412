"""Words named as a set: against slow readings, for sanitizers of words and of texts."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.run import run
from benchmarks.whole.public_words import PublicWords, find_thresholds, list_content_words
from benchmarks.whole.word_sets import WordSets, find_precision, name_from_words
from perturb import seeded_generator
from tests.benchmarks.whole.toy import make_codebook, make_context, make_surrogate


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return make_codebook(tmp_path_factory.mktemp("codebook"))


def test_content_words_are_folded_and_counted_once():
    text = "The River, a RIVER; it's 12 of them, and Élan!"
    assert list_content_words(text) == ["river", "élan"]


def test_precision_is_the_share_of_the_document_that_is_named():
    assert find_precision(["a", "b", "x", "y"], {"a", "b", "c", "d"}) == 0.5


def test_words_are_scored_by_the_chance_that_they_occur():
    rng = seeded_generator(1)
    joint, group = rng.random((3, 5)), np.array([0, 1, 0, 2, 1])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    forms = np.stack([posterior[:, group == g].sum(axis=1) for g in range(3)])
    occurs = 1 - (1 - forms).prod(axis=1)
    assert 1 - np.exp(-name_from_words(joint, group)) == pytest.approx(occurs)


def test_thresholds_are_those_of_a_sorted_list(book):
    every = book.vectors * book.scales[:, None]
    for near in (1, 4):
        found = find_thresholds(book, near, len(book))
        for place in range(len(book)):
            cosines = np.sort(np.delete(every @ every[place], place))[::-1]
            assert found[place] == pytest.approx(cosines[near - 1], abs=1e-6)


def test_the_posterior_is_that_of_a_text_drawn_from_the_codebook(book):
    public, law = PublicWords(book, {}), make_surrogate(book, 4.0).laws[0]
    assert len(public.places) == len(book)
    thresholds = find_thresholds(book, law.near, len(book))
    row = book.vectors[3] * book.scales[3]
    cosines = book.similarities(row.astype(np.float32))
    high, low = law.weights
    weights = np.where(cosines >= thresholds, high, low).astype(float)
    texts = [set(list_content_words(book.passage(i))) for i in range(len(book))]
    slow = [
        sum(w for w, t in zip(weights, texts, strict=True) if word in t) for word in public.words
    ]
    scores = public.score_posterior(law, cosines, thresholds)
    assert scores == pytest.approx(slow / weights.sum())


def test_the_passage_and_its_neighbours_come_first(book):
    public = PublicWords(book, {})
    passage = book.passage(0)
    words = list_content_words(passage)
    assert set(public.rank(public.score_passage(passage), len(words))) == set(words)
    row = (book.vectors[0] * book.scales[0]).astype(np.float32)
    named = public.rank(public.score_nearest(book.similarities(row)), 5)
    assert len(set(named) & set(words)) > 2
    assert list(public.frequency) == sorted(public.frequency, reverse=True)


def test_the_prior_is_corrected_by_what_the_neighbours_have_more_often(book):
    public = PublicWords(book, {"river": 0.5, "oven": 1e-6})
    assert public.general[public.words.index("river")] > 0.99
    assert (
        public.general[public.words.index("boats")]
        == public.frequency[public.words.index("boats")]
    )
    cosines = book.similarities((book.vectors[0] * book.scales[0]).astype(np.float32))
    near = np.argsort(-cosines, kind="stable")[:200]
    texts = [set(list_content_words(book.passage(int(i)))) for i in near]
    share = np.array([np.mean([w in text for text in texts]) for w in public.words])
    slow = public.general * (share / public.frequency + 1) / 2
    assert public.score_prior(cosines) == pytest.approx(slow)


def test_what_leaks_everything_is_read_and_what_leaks_nothing_is_not(tmp_path):
    subjects = [
        {"mechanism": "custext", "epsilons": [0.01, 300.0]},
        {"mechanism": "surrogate", "parameters": {"codebook": "corpus"}, "epsilons": [0.01, 12.0]},
    ]
    context = make_context(tmp_path, subjects=subjects, texts=5)
    records = run(context, known={"word_sets": WordSets()})
    found = {
        (r.case["mechanism"], r.case["epsilon"]): r.values["precision"].value
        for r in records
        if r.case["dataset"] == "first"
    }
    assert found["custext", 300.0] > 0.8  # all but what is not in V
    assert found["custext", 0.01] < 0.3
    assert found["surrogate corpus", 12.0] > found["surrogate corpus", 0.01]
    for record in records:
        values = record.values
        assert values["precision"].value == max(values["attackers"].values())
        gain = values["precision"].value - values["blind"].value
        assert WordSets.read_gain(record).value == pytest.approx(gain)
    [section] = WordSets().render(records)
    assert section.count("`custext`") == 4
