"""Few-shot examples: which are worth something, and which give their texts away."""

from __future__ import annotations

import numpy as np
import pytest

import benchmarks.whole.synthesis as module
from benchmarks.run import run
from benchmarks.whole.examples import classify, make_examples, vote_privately
from benchmarks.whole.synthesis import Synthesis, _area
from perturb import seeded_generator
from perturb.whole.encoder import load_static
from tests.benchmarks.whole.toy import SUBJECTS, make_context
from tests.tables import bundled_table

PRIVATE = {
    label: [f"{SUBJECTS[label]}, wrote person {i}." for i in range(40)]
    for label in ("river", "court")
}
OTHERS = [(label, f"Person {i}: {SUBJECTS[label]}") for i in range(10) for label in PRIVATE]


def accuracy(said):
    return np.mean([a == label for a, (label, _) in zip(said, OTHERS, strict=True)])


@pytest.mark.parametrize("method", ["private", "public", "custext", "synthesize", "synthesize 8"])
def test_every_method_makes_examples_of_each_label(method):
    made = make_examples(method, 8.0, PRIVATE, bundled_table(), seeded_generator(1))
    assert made.examples.keys() == made.used.keys() == PRIVATE.keys()
    assert all(len(texts) <= 2 for texts in made.examples.values())
    raw = {text for texts in PRIVATE.values() for text in texts}
    shown = {text for texts in made.examples.values() for text in texts}
    assert (shown <= raw) if method == "private" else not (shown & raw)


def test_synthetic_examples_name_the_subject_and_public_ones_do_not():
    encode = load_static()
    texts = [text for _, text in OTHERS]

    def score(method, epsilon):
        rng = seeded_generator(2)
        return np.mean(
            [
                accuracy(
                    classify(
                        make_examples(method, epsilon, PRIVATE, bundled_table(), rng).examples,
                        texts,
                        encode,
                    )
                )
                for _ in range(6)
            ]
        )

    assert score("synthesize", 16.0) > 0.9
    assert score("public", 0.0) < 0.85


def test_private_votes_answer_well_with_much_epsilon_and_by_chance_with_none():
    texts = [text for _, text in OTHERS]
    rng = seeded_generator(3)
    much = vote_privately(500.0, PRIVATE, texts, load_static(), rng)
    none = [vote_privately(0.01, PRIVATE, texts, load_static(), rng) for _ in range(20)]
    assert accuracy(much) == 1
    assert 0.35 < np.mean([accuracy(said) for said in none]) < 0.65


def test_without_examples_nothing_is_answered():
    assert classify({"a": []}, ["text"], load_static()) == [None]


def test_area_counts_pairs():
    assert _area(np.array([3.0, 1.0]), np.array([2.0, 1.0])) == 0.625


def test_raw_examples_give_their_texts_away_and_synthetic_ones_do_not(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "DRAWS", 3)
    monkeypatch.setattr(
        module,
        "METHODS",
        (("private", None, "nothing"), ("synthesize", 2.0, "a text"), ("DP-ICL", 4.0, "a text")),
    )
    context = make_context(tmp_path)
    context.encode = context.features = load_static()
    raw, synthetic, answers = run(context, known={"synthesis": Synthesis()})
    assert raw.values["membership"].value > 0.95
    assert "membership_bound" not in raw.values
    assert synthetic.values["membership_bound"].value == pytest.approx(0.8808, abs=1e-3)
    assert set(answers.values) == {"accuracy"}
    [section] = Synthesis().render([raw, synthetic, answers])
    assert section.count("\n| `") == 3
