"""The worth of the remote: by hand, and through a real proxy between a remote and a fake."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.harness.suite import Endpoint
from benchmarks.harness.texts import Text
from benchmarks.run import run
from benchmarks.whole.answers import Way, choose_samples, write_answers
from benchmarks.whole.collections import find_cover
from benchmarks.whole.worth import Worth, compare_answers, find_used, judge
from perturb import seeded_generator
from tests.benchmarks.harness.test_stack import echo, extracting, servers
from tests.benchmarks.whole.test_released import bags
from tests.benchmarks.whole.toy import SUBJECTS, make_context


def test_the_better_of_two_is_chosen_on_both_sides():
    near = {
        "first": np.array([0.1, 0.2, 0.3]),
        "second": np.array([0.2, 0.1, 0.3]),
        "extracted": np.array([0.5, 0.9, 0.0]),
    }
    better = {
        "second": np.array([True, True, False]),
        "extracted": np.array([True, False, False]),
    }
    used = np.array([True, True, False])
    found = compare_answers(near, better, used, seeded_generator(1))
    assert found["alone"].value == pytest.approx(0.2)
    assert found["best_of_two"].value == pytest.approx((0.2 + 0.1 + 0.3) / 3)
    assert found["judged"].value == pytest.approx((0.5 + 0.2 + 0.3) / 3)  # a tie keeps the first
    assert found["lift_one"].value == pytest.approx((0.4 + 0.7 - 0.3) / 3)
    assert found["lift_two"].value == pytest.approx((0.3 + 0.1 + 0) / 3)
    assert found["chosen"] == pytest.approx(1 / 3)
    assert found["used"] == pytest.approx(2 / 3)
    found = compare_answers(near, better, ~used, seeded_generator(1))
    assert found["chosen"] == 0  # the better answer was made without a generation


def test_an_answer_that_is_the_local_models_own_is_worth_nothing():
    """Negative control: a remote that adds nothing shows no lift."""
    same = {name: np.linspace(0, 1, 50) for name in ("first", "second", "extracted")}
    never = dict.fromkeys(("second", "extracted"), np.zeros(50, dtype=bool))
    used = np.ones(50, dtype=bool)
    found = compare_answers(same, never, used, seeded_generator(1))
    for name in ("lift_one", "lift_two"):
        assert (found[name].value, found[name].low, found[name].high) == (0, 0, 0)
    assert found["chosen"] == 0


def test_a_generation_is_used_if_it_is_about_the_document_and_of_help(tmp_path):
    river, bread = SUBJECTS["river"], SUBJECTS["bread"]
    rain = "Rain raised the water."
    pairs = [(rain, rain), (rain, bread), (bread, rain), (f"{rain} {bread}.", rain), (None, None)]
    made = [Text("first", "1", 1, sent, generation, "") for generation, sent in pairs]
    documents, passages = [river] * 5, Way("bundled", "surrogate", 20.0)
    words, truth = Way("bundled", "rantext", 20.0), Way("truth")

    def find(way: Way, first: str, **whole: str) -> list[bool]:
        context = make_context(tmp_path, **whole)
        return find_used(context, way, documents, made, [first] * 5).tolist()

    assert find(passages, bread) == [True, False, False, True, False]
    assert find(passages, rain) == [False] * 5  # no nearer than what the model writes alone
    assert find(truth, bread) == [True, True, False, True, False]
    for first in (bread, rain):
        assert find(words, first) == [True, True, False, True, False]
        assert find(passages, first, extraction="all") == [True] * 4 + [False]


def test_the_judge_prefers_what_is_about_the_document():
    river, bread = SUBJECTS["river"], SUBJECTS["bread"]
    rain = "Rain raised the water."
    assert judge([river, river], [rain, bread], [bread, rain]).tolist() == [False, True]
    assert not judge([river], [rain], [rain]).any()  # the first of equals


@pytest.fixture
def made(tmp_path):
    with servers(echo, extracting) as (remote, local):
        context = make_context(tmp_path, epsilons=(20.0,), encoders={}, extraction="all")
        context.suite = context.suite.model_copy(
            update={
                "remote": Endpoint(base_url=remote.base_url, model="big"),
                "local": Endpoint(base_url=local.base_url, model="small"),
                "pipeline_epsilons": (),
            }
        )
        context.encode = bags
        yield context, remote, local


def test_each_way_shows_the_local_model_what_its_remote_knows(made):
    context, remote, local = made
    samples = choose_samples(context, "first")
    assert len(samples) == 3
    covers = {find_cover(s) for name in ("first", "second") for s in context.samples(name)}
    covering = write_answers(context, Way("covering", "surrogate", 20.0), "first")
    for text, sample in zip(covering, samples, strict=True):
        assert text.sent == text.generation == text.answer
        assert text.sent in covers  # at this ε the nearest leaves
        assert sample.prefix in text.sent  # and that is about the same subject
    knowing = write_answers(context, Way("knowing", "surrogate", 20.0), "first")
    assert not {text.generation for text in knowing} & covers
    truth = write_answers(context, Way("truth"), "first")
    assert [t.generation.strip() for t in truth] == [s.continuation.strip() for s in samples]
    assert remote.bodies == []  # none of these asks the suite's remote
    alone = write_answers(context, Way("none", draw=0), "first")
    assert {text.answer for text in alone} == {"alone"}
    write_answers(context, Way("none"), "first")
    seeds = [body["seed"] for body in local.bodies]
    assert len(set(seeds)) == 2 * 6  # two draws of each text, whatever the way
    bundled = write_answers(context, Way("bundled", "surrogate", 20.0), "first")
    assert {text.generation.startswith("Heard: ") for text in bundled} == {True}
    assert len(remote.bodies) == 6


def test_a_run_measures_every_way_and_asks_for_nothing_twice(made):
    context, remote, local = made
    records = run(context, known={"worth": Worth()})
    remotes = [r.case["remote"] for r in records if r.case["dataset"] == "first"]
    assert sorted(remotes) == ["bundled"] * 2 + ["covering"] + ["knowing"] * 2 + ["truth"]
    asked = len(local.bodies), len(remote.bodies)
    [covering] = [r for r in records if r.case["remote"] == "covering"][:1]
    assert covering.values["sent"].value > 0.3
    texts = write_answers(context, Way("covering", "surrogate", 20.0), "first")
    samples = choose_samples(context, "first")
    own = [text.sent == find_cover(s) for text, s in zip(texts, samples, strict=True)]
    assert covering.values["reached"] == np.mean(own)
    truth = [s.continuation for s in samples]
    slow = [
        float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        for a, b in zip(bags([t.answer for t in texts]), bags(truth), strict=True)
    ]
    assert covering.values["extracted"].value == pytest.approx(np.mean(slow))
    assert Worth.read_lift(covering) == covering.values["lift_two"]
    Worth().measure(covering.case, context)
    assert (len(local.bodies), len(remote.bodies)) == asked
    [section] = Worth().render(records)
    assert section.count("| knows the subject |") == 2
