"""The experiments on the answers: against what was worked out by hand, through a real proxy."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from benchmarks.harness.suite import Subject
from benchmarks.harness.texts import Point, generate_texts
from benchmarks.metrics.utility import cosines, diversities
from benchmarks.run import run
from benchmarks.utility.answers import Lift, Utility, compare_scores
from benchmarks.utility.documents import Assumption1, Leakage, Similarity
from benchmarks.utility.quality import split_words
from perturb import seeded_generator
from tests.benchmarks.harness.test_stack import ORACLE, PIPELINE, SETS, context

KNOWN = {e.name: e for e in (Similarity(), Utility(), Lift(), Leakage(), Assumption1())}


def bags(texts):
    """A stand-in encoder: which words a text has."""
    rows = np.zeros((len(texts), 512), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in split_words(text):
            row[zlib.crc32(word.encode()) % 512] += 1
    return rows


def letters(texts):
    """A stand-in for token vectors: one word, one vector."""
    return [np.stack([bags([word])[0] for word in split_words(text) or [""]]) for text in texts]


@pytest.fixture
def made(tmp_path):
    with context(tmp_path) as (found, _, _):
        found.encode = found.features = bags
        found.encoder, found.token_vectors = lambda name: bags, letters
        found.suite = found.suite.model_copy(update={"pipeline": ("rantext_ldp random_k",)})
        yield found


def of(records, name, **case):
    [record] = [r for r in records if r.experiment == name and case.items() <= r.case.items()]
    return record.values


def test_lift_of_a_worked_example():
    rng = seeded_generator(1)
    one = np.array([0.5, 0.75, 1.0])
    found = compare_scores({"a": one, "b": one}, {"a": one - 0.25, "b": one[::-1].copy()}, rng)
    assert (found["a"].value, found["a"].low, found["a"].high) == (0.25, 0.25, 0.25)
    assert found["b"].value == 0
    assert found["b"].low < 0 < found["b"].high
    assert found["shown"] == {"a": True, "b": False}
    worse = compare_scores({"a": one}, {"a": one + 0.25}, rng)
    assert worse["a"].high < 0
    assert worse["shown"] == {"a": True}


def test_an_interval_that_touches_zero_shows_nothing():
    one = np.array([0.5, 0.75])
    assert compare_scores({"a": one}, {"a": one}, seeded_generator(1))["shown"] == {"a": False}


def test_every_experiment_runs_and_says_what_a_slow_reading_of_the_texts_says(made):
    records = run(made, known=KNOWN)
    label, dataset = "rantext_ldp random_k", "second"
    samples = made.samples(dataset)
    prefixes, references = [s.prefix for s in samples], [s.continuation for s in samples]

    texts = generate_texts(made, PIPELINE, dataset)
    answers = [t.answer for t in texts]
    utility = of(records, "utility", arm="pipeline", dataset=dataset)
    assert utility["diversity"].value == pytest.approx(diversities(answers).mean())
    assert utility["coherence"].value == pytest.approx(
        cosines(bags(prefixes), bags(answers)).mean()
    )
    assert utility["similarity"].value == pytest.approx(
        cosines(bags(references), bags(answers)).mean()
    )
    assert 0 <= utility["mauve"].low <= utility["mauve"].value <= utility["mauve"].high <= 1
    assert utility["words"].value == np.mean([len(a.split()) for a in answers])
    assert (utility["remote"], utility["local"]) == ("big", "small")
    arms = {r.case["arm"] for r in records if r.experiment == "utility"}
    assert arms == {"local", "random", "raw", "pipeline", "oracle"}

    # The local model says "alone" without a generation, and the oracle's generation with one.
    oracle = cosines(
        bags(references), bags([t.answer for t in generate_texts(made, ORACLE, dataset)])
    )
    found = of(records, "lift", arm="oracle", minus="local", dataset=dataset)
    assert found["similarity"].value == pytest.approx(oracle.mean())
    assert found["shown"]["similarity"] == (found["similarity"].low > 0)

    leak = of(records, "leakage", arm="raw", dataset=dataset)
    assert [leak[f"overlap {n}"].value for n in (1, 2, 3)] == [1, 1, 1]  # it repeats the prefix
    seen = [set(split_words(t.generation)) for t in texts]
    raw = [set(split_words(p)) for p in prefixes]
    by_hand = np.mean([len(r & s) / len(r) for r, s in zip(raw, seen, strict=True)])
    leak = of(records, "leakage", arm="pipeline", dataset=dataset)
    assert leak["overlap 1"].value == pytest.approx(by_hand)
    assert leak["overlap 1"].value < 1

    # The Expected words of a remote that repeats its prompt: the prefix's, and its own "heard".
    share = of(records, "assumption1", mechanism=label, dataset=dataset)
    by_hand = [
        np.mean([word in {*split_words(s.prefix), "heard"} for word in split_words(t.generation)])
        for s, t in zip(samples[:2], texts[:2], strict=True)
    ]
    assert share["share at 6"].value == pytest.approx(np.mean(by_hand))
    assert share["share at random"].value < 1
    assert "correlation" not in share  # one ε has none
    assert share["draws"] == 2


def test_similarity_is_measured_for_every_mechanism_and_bert_score_for_the_answered(made):
    records = run(made, known={"similarity": Similarity()})
    assert len(records) == 2 * len(SETS)
    for record in records:
        assert ("bert_score" in record.values) == (record.case["mechanism"] != "exponential")
        assert record.values["cosine minilm"].value < 1
        assert 0 <= record.values["bleu"].value < 100


def test_assumption1_has_a_correlation_over_several_epsilons(made):
    subject = Subject(mechanism="rantext", epsilons=(1.0, 300.0))  # none kept, and nearly all
    made.suite = made.suite.model_copy(update={"subjects": (subject,), "pipeline": ()})
    records = run(made, known={"assumption1": Assumption1()})
    found = of(records, "assumption1", dataset="first")
    assert found["share at 1"].value < found["share at 300"].value
    assert found["correlation"].value > 0.5
    assert -1 <= found["correlation"].low <= found["correlation"].high <= 1


def test_what_is_answered_is_what_the_suite_names(made):
    cases = list(Lift().cases(made))
    assert {c["mechanism"] for c in cases} == {"rantext_ldp random_k"}
    assert len(cases) == 3 * len(SETS)
    assert Point.from_case(cases[0]) == PIPELINE
