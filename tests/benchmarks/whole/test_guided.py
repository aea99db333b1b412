"""Rounds against one choice, on a small codebook."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.run import run
from benchmarks.whole.guided import OFFERED, WAYS, Guided, choose_passage, play_round
from perturb import seeded_generator
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.encoder import load_static
from tests.benchmarks.whole.test_released import bags
from tests.benchmarks.whole.toy import SUBJECTS, make_codebook, make_context


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return make_codebook(tmp_path_factory.mktemp("codebook"))


def test_with_a_large_epsilon_the_nearest_is_chosen_and_kept(book):
    [vector] = load_static()([SUBJECTS["bread"]])
    nearest = int(np.argmax(book.similarities(vector)))
    rng = seeded_generator(1)
    assert {choose_passage(book, vector, 24.0, rng) for _ in range(20)} == {nearest}
    assert {play_round(book, nearest, vector, 24.0, rng) for _ in range(20)} == {nearest}
    far = int(np.argmin(book.similarities(vector)))
    nearer = play_round(book, far, vector, 24.0, rng)
    assert book.similarities(vector)[nearer] > book.similarities(vector)[far]


def test_with_next_to_no_epsilon_a_round_keeps_any_of_them(book):
    """The law is uniform over the current passage and those offered, whatever the text is."""
    [vector] = load_static()([SUBJECTS["bread"]])
    rng = seeded_generator(2)
    rounds = 20_000
    kept = sum(play_round(book, 0, vector, 1e-9, rng) == 0 for _ in range(rounds))
    expected = rounds / (OFFERED + 1)
    counts = np.array([kept, rounds - kept])
    assert p_value(counts, np.array([expected, rounds - expected])) > ALPHA


def test_every_way_is_measured(tmp_path):
    context = make_context(tmp_path)
    context.encode = bags
    records = run(context, known={"guided": Guided()})
    assert {r.case["way"] for r in records} == set(WAYS)
    near = [r.values["document"].value for r in records if r.case["way"] == "covering"]
    assert min(near) > 0.5
    [section] = Guided().render(records)
    assert section.count("two rounds |") == 4
