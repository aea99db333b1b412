"""Synthesis: private texts decide by their votes alone, and the whole keeps its (ε, δ)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from perturb import ParameterError, seeded_generator
from perturb.audit.intervals import clopper_pearson
from perturb.synthetic.synthesis import (
    Example,
    SynthesisPlan,
    count_votes,
    encode_texts,
    synthesize,
)
from perturb.synthetic.writers import PassageWriter
from tests.perturb.whole.conftest import PASSAGES

RIVERS = [f"Anna {i} took the boat down the river." for i in range(60)]
COURTS = [f"The judge read the law to Mr {i}." for i in range(60)]
ALPHA = 1e-6


class Recorder:
    """Notes what a writer is asked, and answers with numbered texts."""

    def __init__(self, first: Sequence[str]) -> None:
        self.first = list(first)
        self.asked: list[list[str]] = []

    def begin(self, count: int) -> list[str]:
        return self.first[:count]

    def vary(self, parents: Sequence[str], count: int) -> list[str]:
        self.asked.append(list(parents))
        return [f"{parent} again {i}" for i in range(count) for parent in parents][:count]


def test_examples_are_public_passages_on_the_private_subject(codebook, encoder) -> None:
    plan = SynthesisPlan(epsilon=8, rounds=3, picks=4, population=24)
    rng = seeded_generator(1)
    made = synthesize(
        {"rivers": RIVERS, "courts": COURTS},
        plan,
        encoder,
        lambda label: PassageWriter(codebook, encoder, 0.3, seeded_generator(2)),
        rng,
    )
    assert Counter(example.label for example in made) == {"rivers": 4, "courts": 4}
    assert {example.text for example in made} <= set(PASSAGES)
    about = {"rivers": "river", "courts": "judge"}
    assert sum(about[str(e.label)] in e.text for e in made) >= 6
    assert not any("Anna" in example.text for example in made)


def test_writer_sees_nothing_but_what_was_picked(encoder) -> None:
    writer = Recorder(PASSAGES)
    plan = SynthesisPlan(epsilon=8, rounds=3, picks=3, population=20)
    made = synthesize({None: RIVERS}, plan, encoder, lambda label: writer, seeded_generator(3))
    known = set(PASSAGES)
    for parents in writer.asked:
        assert len(parents) == 3
        assert set(parents) <= known
        known |= {f"{parent} again {i}" for parent in parents for i in range(20)}
    assert len(writer.asked) == 2
    assert {example.text for example in made} <= known
    assert made[0] == Example(made[0].text, None)


def test_one_text_moves_one_vote(encoder) -> None:
    candidates = encoder(PASSAGES[:20])
    without = count_votes(encode_texts(RIVERS, encoder), candidates)
    extra = count_votes(encode_texts([*RIVERS, "bread"], encoder), candidates)
    assert np.abs(extra - without).sum() == 1
    assert without.sum() == len(RIVERS)


def test_each_text_is_encoded_by_itself(encoder) -> None:
    seen = []

    class Watching:
        identity = encoder.identity

        def __call__(self, texts):
            seen.append(len(texts))
            return encoder(texts)

    encode_texts(RIVERS[:5], Watching())
    assert seen == [1] * 5


def test_a_text_without_a_vector_has_a_vote_too() -> None:
    """Otherwise the sum of votes would depend on more than the number of texts."""
    texts = [np.full(3, np.nan, dtype=np.float32), np.zeros(3, dtype=np.float32)]
    assert count_votes(texts, np.eye(3, dtype=np.float32)).tolist() == [2, 0, 0]


def test_nothing_picked_leaves_the_candidates_as_they_are(encoder) -> None:
    """No text: the end of a limited domain wins, and no parents are varied."""
    writer = Recorder(PASSAGES)
    plan = SynthesisPlan(epsilon=1, delta=1e-6, rounds=3, picks=2, population=20, domain=4)
    made = synthesize({None: []}, plan, encoder, lambda label: writer, seeded_generator(4))
    assert made == []
    assert writer.asked == []


def test_progress_counts_texts_and_rounds(encoder) -> None:
    told: dict[str, tuple[int, int]] = {}

    def advance(stage: str, done: int, total: int) -> None:
        told[stage] = (done, total)

    plan = SynthesisPlan(rounds=2, picks=2, population=10)
    private = {"a": RIVERS[:3], "b": COURTS[:4]}
    synthesize(
        private, plan, encoder, lambda label: Recorder(PASSAGES), seeded_generator(5), advance
    )
    assert told == {"texts": (7, 7), "rounds": (4, 4)}


def test_writer_takes_no_passage_twice(codebook, encoder) -> None:
    writer = PassageWriter(codebook, encoder, 0.0, seeded_generator(6))
    first = writer.begin(30)
    parents = first[:3]
    made = writer.vary(parents, 10_000)
    assert len(set(made)) == len(made) == len(codebook) - 3
    assert not set(made) & set(parents)
    assert len(set(first)) == 30


def test_smoothing_keeps_the_writer_near_where_it_was(codebook, encoder) -> None:
    """With much smoothing, offspring of one subject are of other subjects more often."""
    rivers = [passage for passage in PASSAGES if "river" in passage][:6]

    def count_rivers(smoothing: float) -> int:
        writer = PassageWriter(codebook, encoder, smoothing, seeded_generator(7))
        writer.begin(60)
        return sum("river" in passage for passage in writer.vary(rivers, 20))

    assert count_rivers(0.0) == 20
    assert count_rivers(0.95) < 15


# -- the guarantee, end to end ---------------------------------------------------------------


def play(texts: Sequence[str], encoder, runs: int, seed: int, *, noisy: bool = True) -> int:
    """Count the runs whose example is the passage that the one extra text is nearest to."""
    plan = SynthesisPlan(epsilon=1.0, delta=0.0, rounds=1, picks=1, population=4)
    rng = seeded_generator(seed)
    hits = 0
    if not noisy:  # broken: the candidate with the most votes
        counts = count_votes(encode_texts(texts, encoder), encoder(PASSAGES[:4]))
        return runs if int(np.argmax(counts)) == 2 else 0
    for _ in range(runs):
        [made] = synthesize({None: texts}, plan, encoder, lambda label: Recorder(PASSAGES), rng)
        hits += made.text == PASSAGES[2]
    return hits


@pytest.mark.parametrize("noisy", [True, False])
def test_one_text_changes_no_probability_by_more_than_epsilon(encoder, noisy: bool) -> None:
    """The probability of each example, with and without a text, from 2,000 runs each: within e^ε
    at a confidence of 1 − 1e-6; without noise it is not."""
    runs = 2000
    with_text = play(["bread and oven"], encoder, runs, 8, noisy=noisy)
    without = play([], encoder, runs, 9, noisy=noisy)
    low, _ = clopper_pearson(with_text, runs, ALPHA)
    _, high = clopper_pearson(without, runs, ALPHA)
    assert (low <= math.exp(1.0) * high) is noisy
    if noisy:  # ε is used: the vote makes its candidate e/(e + 3) likely, and not 1/4
        assert with_text / runs == pytest.approx(math.e / (math.e + 3), abs=0.05)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rounds": 0}, "rounds must be >= 1, got 0"),
        ({"picks": 0}, "picks must be >= 1, got 0"),
        ({"population": 6}, r"population must be > picks \(6\), got 6"),
        ({"domain": 5}, "domain must be from 6, the picks, to 64, the population, got 5"),
        ({"domain": 65}, "domain must be from 6"),
        ({"epsilon": -1}, "epsilon must be > 0"),
        ({"domain": 20, "delta": 0}, "delta must be > 0 where domain"),
    ],
)
def test_bad_plans_are_named(values: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        SynthesisPlan(**values)  # type: ignore[arg-type]


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_has_a_range(codebook, encoder, smoothing: float) -> None:
    with pytest.raises(ParameterError, match="smoothing must be >= 0 and < 1"):
        PassageWriter(codebook, encoder, smoothing, seeded_generator(1))


def test_plan_describes_its_guarantee() -> None:
    told = SynthesisPlan(
        epsilon=4, delta=1e-6, rounds=2, picks=3, population=64, domain=16
    ).describe()
    assert told["epsilon"] <= 4
    assert 0 < told["delta"] <= 1e-6
    assert told["domain"] == 16
    assert "adding or removing one private text" in told["statement"]
    full = SynthesisPlan(epsilon=4, delta=0, rounds=1, picks=4, population=64, domain=64)
    assert full.describe()["delta"] == 0
    assert "are 4-DP with respect to" in full.describe()["statement"]
    assert full.law.domain is None
