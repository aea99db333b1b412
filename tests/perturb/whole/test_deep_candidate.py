"""deep_candidate: one sentence moves a depth by one at most, and the draw follows the depths."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perturb import ParameterError, seeded_generator
from perturb.audit.accounting import compose, spend
from perturb.audit.certificate import certify
from perturb.errors import CertificateError
from perturb.testing.statistics import ALPHA, p_value
from perturb.whole.deep_candidate import (
    DeepCandidate,
    DeepCandidateParameters,
    DepthLaw,
    DepthProof,
    fit_recoder,
    measure_depths,
)
from tests.perturb.whole.conftest import SUBJECTS
from tests.perturb.whole.contract import PassageContract
from tests.tables import bundled_table

SENTENCES = (
    "The boat is in the river water.",
    "The engine and the wheel are on the road.",
    "Bread is from the oven.",
    "The judge knows the law of the court.",
    "A river and a road.",
    "Nothing known.",
)
Depths = Callable[[Any, list[str]], np.ndarray]


class TestContract(PassageContract):
    kind = DeepCandidate
    changes = ({"projections": 3}, {"dimensions": 0})


@pytest.fixture
def make(codebook, encoder):
    def made(kind: type[DeepCandidate] = DeepCandidate, coder=None, **parameters) -> DeepCandidate:
        chosen = DeepCandidateParameters(**parameters)
        return kind(codebook, coder or encoder, chosen, bundled_table().vocabulary)

    return made


def neighbours() -> Iterator[tuple[list[str], list[str]]]:
    """Yield texts, as sentences, that differ in one: replaced, added or removed."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        text = rng.choice(SENTENCES, size=rng.integers(0, 7)).tolist()
        place = int(rng.integers(0, len(text) + 1))
        new = str(rng.choice(SENTENCES))
        yield text, [*text[:place], new, *text[place:]]
        if place < len(text):
            yield text, [*text[:place], new, *text[place + 1 :]]


def largest_change(sanitizer: DeepCandidate, depths: Depths) -> int:
    """Return the most that a depth moves between neighbours."""
    moves = [depths(sanitizer, one) - depths(sanitizer, other) for one, other in neighbours()]
    return max(int(np.abs(move).max()) for move in moves)


def honest(sanitizer: DeepCandidate, sentences: list[str]) -> np.ndarray:
    return sanitizer.depths("\n".join(sentences))


def sums_over_lines(sanitizer: DeepCandidate, sentences: list[str]) -> np.ndarray:
    """Broken: adds the depths of all lines up."""
    lines = sanitizer._lines.T
    total = np.zeros(len(sanitizer.codebook), dtype=np.int64)
    vectors = [sanitizer._encoder([sentence])[0] for sentence in sentences]
    for line, candidates in zip(lines, sanitizer._candidates, strict=True):
        places = np.array([[line @ vector for vector in vectors]]).reshape(1, -1)
        total += measure_depths(candidates[None], places)
    return total


def centres_the_batch(sanitizer: DeepCandidate, sentences: list[str]) -> np.ndarray:
    """Broken: a sentence's place depends on the text's other sentences."""
    if not sentences:
        return np.zeros(len(sanitizer.codebook), dtype=np.int64)
    vectors = sanitizer._encoder(sentences)
    vectors = vectors - vectors.mean(axis=0) + sanitizer._encoder([SENTENCES[0]])
    return measure_depths(sanitizer._candidates, (vectors @ sanitizer._lines).T)


@pytest.mark.parametrize(
    "parameters", [{"projections": 2}, {"dimensions": 2}, {"projections": 4, "dimensions": 0}]
)
def test_one_sentence_moves_a_depth_by_one_at_most(parameters, make) -> None:
    assert largest_change(make(**parameters), honest) == 1


@pytest.mark.parametrize("broken", [sums_over_lines, centres_the_batch])
def test_broken_depths_are_caught(broken: Depths, make) -> None:
    assert largest_change(make(projections=2, dimensions=2), broken) > 1


def test_a_sentence_is_encoded_by_itself(encoder, make) -> None:
    """A model that pads a batch gives a sentence another vector beside others."""

    @dataclasses.dataclass
    class Batched:
        identity: dict[str, str]

        def __call__(self, texts):
            return encoder(texts) + np.float32(len(texts) - 1)

    text = " ".join(SENTENCES)
    batched = make(coder=Batched(encoder.identity))
    np.testing.assert_array_equal(batched.depths(text), make().depths(text))


def law_of(law: DepthLaw, depths: np.ndarray) -> list[Fraction]:
    weights = law.weights(depths)
    found = [weights[depth] for depth in depths.tolist()]
    total = sum(found)
    return [Fraction(weight, total) for weight in found]


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 100.0])
def test_no_release_tells_neighbours_apart_by_more_than_epsilon(epsilon, make) -> None:
    sanitizer = make(epsilon=epsilon, projections=2, dimensions=2)
    worst = Fraction(1)
    for one, other in itertools.islice(neighbours(), 30):
        pairs = [law_of(sanitizer.law, honest(sanitizer, text)) for text in (one, other)]
        assert sum(pairs[0]) == sum(pairs[1]) == 1
        ratios = [p / q for p, q in zip(*pairs, strict=True)]
        worst = max(worst, *ratios, *(1 / ratio for ratio in ratios))
    assert 1 < worst <= sanitizer.law.ratio**2
    assert math.log(worst) <= epsilon
    proof = sanitizer.proof()
    assert proof.find_worst(lambda done, total: None).bound == sanitizer.law.ratio**2


def test_the_bound_is_approached_by_depths_of_long_texts() -> None:
    """The worst neighbours: one candidate goes up where all others go down."""
    law = DepthLaw(Fraction(2))
    near = []
    for others in (1, 10, 50):
        one = np.array([1, *[others] * 40])
        other = np.array([0, *[others + 1] * 40])
        near.append(law_of(law, one)[0] / law_of(law, other)[0])
    assert near == sorted(near)
    assert law.ratio**2 * (1 - Fraction(1, 10**6)) < near[-1] <= law.ratio**2


DEPTHS = np.array([0] * 30 + [1] * 12 + [2] * 5 + [5])


class Flat(DepthLaw):
    """Broken: takes a depth's candidates together for one."""

    def draw(self, depths, rng):
        levels, first = np.unique(depths, return_index=True)
        return int(first[super().draw(levels, rng)])


class Steep(DepthLaw):
    """Broken: a step has the whole ε."""

    @property
    def ratio(self):
        return DepthLaw(2 * self.epsilon).ratio


def fit(drawn_by: DepthLaw, law: DepthLaw) -> float:
    rng = seeded_generator(8)
    counts = np.bincount([drawn_by.draw(DEPTHS, rng) for _ in range(6000)], minlength=len(DEPTHS))
    return p_value(counts, np.array([float(p) for p in law_of(law, DEPTHS)]) * 6000)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_sampler_matches_its_exact_law(epsilon: Fraction) -> None:
    law = DepthLaw(epsilon)
    assert fit(law, law) > ALPHA


@pytest.mark.parametrize("broken", [Flat, Steep])
def test_broken_samplers_are_caught(broken: type[DepthLaw]) -> None:
    assert fit(broken(Fraction(1)), DepthLaw(Fraction(1))) < ALPHA


def test_release_of_a_text_follows_the_law(make, codebook) -> None:
    sanitizer = make(epsilon=3, projections=2, dimensions=2)
    text = " ".join(SENTENCES[:5])
    depths = sanitizer.depths(text)
    assert len(np.unique(depths)) > 1
    expected = np.array([float(p) for p in law_of(sanitizer.law, depths)])
    rng = seeded_generator(3)
    found = [codebook.find(sanitizer.perturb(text, rng).text) for _ in range(2000)]
    order = np.argsort(-expected)
    counts = np.bincount(found, minlength=len(codebook))
    assert p_value(counts[order], expected[order] * 2000) > ALPHA


def test_a_text_without_sentences_gets_any_passage_alike(make) -> None:
    sanitizer = make()
    assert (sanitizer.depths(" \n ") == 0).all()
    assert sanitizer.perturb("").receipt.epsilon_per_document == 12


def test_depth_is_the_smaller_count_on_any_line() -> None:
    sentences = np.array([[0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    candidates = np.array([[-1.0, 0.0, 1.5, 2.0, 9.0], [0.0, 0.0, 0.0, 1.0, 0.0]])
    assert measure_depths(candidates, sentences).tolist() == [0, 1, 2, 0, 0]


def test_receipt_counts_sentences(make) -> None:
    receipt = make(epsilon=2).perturb(" ".join(SENTENCES)).receipt
    assert receipt.unit == "sentence"
    assert (receipt.epsilon_per_token, receipt.epsilon_per_document) == (2.0, 12.0)
    assert receipt.statement.startswith("each sentence: ε = 2")


def test_sentences_of_one_text_cost_as_a_group(make) -> None:
    """No composition of separate draws applies: five sentences share one draw."""
    sanitizer = make(epsilon=0.1)
    cost = spend(sanitizer, 5)
    assert (cost.count, cost.epsilon, cost.bounded_range) == (1, 0.5, True)
    basic, zcdp = compose([cost], losses=False)
    assert basic.epsilon == 0.5
    rho = 0.5**2 / 8
    assert zcdp.epsilon == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e6)))
    assert spend(sanitizer, 0).count == 0


def test_a_proof_of_too_steep_a_law_is_refused(make) -> None:
    class Careless(DeepCandidate):
        def proof(self):
            return DepthProof(Steep(self.law.epsilon), len(self.codebook))

    with pytest.raises(CertificateError, match="6-LDP is not proved"):
        certify(make(Careless, epsilon=6.0))


def test_recoder_sets_subjects_apart(codebook) -> None:
    rows = codebook.vectors * codebook.scales[:, None]
    texts = [codebook.passage(i) for i in range(len(codebook))]
    about = np.array([[word in t for word in (s.split()[0] for s in SUBJECTS)] for t in texts])
    labels = about.argmax(axis=1)
    coded = rows @ fit_recoder(codebook, 3)

    def separation(points: np.ndarray) -> float:
        means = np.array([points[labels == label].mean(axis=0) for label in range(4)])
        within = np.mean([points[labels == i].var(axis=0).sum() for i in range(4)])
        return float(means.var(axis=0).sum() / max(within, 1e-12))

    assert coded.shape == (len(codebook), 3)
    assert separation(coded) > separation(np.random.default_rng(1).standard_normal(coded.shape))
    np.testing.assert_array_equal(fit_recoder.__wrapped__(codebook, 3), fit_recoder(codebook, 3))


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"epsilon": 201}, "epsilon must be <= 200 for deep_candidate, got 201"),
        ({"projections": 0}, "projections must be >= 1, got 0"),
        ({"projections": 1025}, "projections must be <= 1024, got 1025"),
        ({"projections": 1.5}, "projections must be a whole number, got float"),
        ({"dimensions": -1}, "dimensions must be >= 0, got -1"),
        ({"dimensions": True}, "dimensions must be a whole number, got bool"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        DeepCandidate.check_parameters(**parameters)


def test_more_dimensions_than_the_codebook_has_are_refused(make) -> None:
    with pytest.raises(ParameterError, match="dimensions must be <= 8 for this codebook, got 9"):
        make(dimensions=9)
