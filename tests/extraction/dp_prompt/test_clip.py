"""Clipped weights: their bound, exactly; their draw, by chi-square; vLLM's batch, row by row."""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extraction.dp_prompt.clip import ROOM, Decoding, compute_temperature
from extraction.dp_prompt.clip_bounds import LogitStatistics
from extraction.dp_prompt.vllm_clip import ARGUMENT, ClipRequest, update_rows
from perturb import ParameterError, seeded_generator
from perturb.testing.statistics import ALPHA, p_value

BOUNDS = (-2.0, 3.0)
LOGITS = st.lists(
    st.floats(-1e6, 1e6) | st.sampled_from([-math.inf, math.inf, -2.0, 3.0]),
    min_size=5,
    max_size=5,
)


def clipped(epsilon: float) -> Decoding:
    return Decoding(temperature=compute_temperature(BOUNDS, epsilon), bounds=BOUNDS)


def largest_ratio(one: Any, other: Any) -> Fraction:
    """The exact largest ratio of two distributions given by integer weights."""
    total = Fraction(int(other.sum()), int(one.sum()))
    return max(Fraction(int(a), int(b)) * total for a, b in zip(one, other, strict=True))


@given(LOGITS, LOGITS, st.floats(0.01, 200))
@settings(deadline=None)
def test_no_two_lists_of_logits_are_further_apart_than_epsilon(first, second, epsilon):
    decoding = clipped(epsilon)
    one, other = decoding.weights(np.array(first)), decoding.weights(np.array(second))
    assert min(one.min(), other.min()) >= 1
    # Exact integers against e^ε, which is rounded down here.
    assert largest_ratio(one, other) <= Fraction(math.exp(epsilon) * (1 - 1e-15))


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_bound_is_reached_by_the_worst_logits(epsilon):
    size = 200_000
    one, other = np.full(size, -math.inf), np.full(size, math.inf)
    one[0], other[0] = math.inf, -math.inf
    decoding = clipped(epsilon)
    ratio = largest_ratio(decoding.weights(one), decoding.weights(other))
    assert 0.99 * epsilon < math.log(ratio) <= epsilon


@pytest.mark.parametrize("broken", [Decoding(temperature=2.5), Decoding(top_k=2)])
def test_without_clipping_the_bound_breaks(broken):
    one, other = np.array([50.0, 0.0, -50.0]), np.array([-50.0, 0.0, 50.0])
    assert clipped(4.0).temperature == 2.5
    weights = broken.weights(one), broken.weights(other)
    first, second = (w / w.sum() for w in weights)
    assert np.log(first[0] / max(second[0], 1e-300)) > 4.0


# -- centred --------------------------------------------------------------------------------

PUBLIC = LOGITS.filter(lambda xs: math.isfinite(max(xs)))


class CentredOnDocument(Decoding):
    """Broken: takes the document's logits for the public ones."""

    def weights(self, logits, public=None):
        return super().weights(public, logits)


class DoublyWide(Decoding):
    """Broken: clips to twice the interval at the same temperature."""

    def weights(self, logits, public=None):
        low, high = self.bounds
        wide = Decoding(
            temperature=self.temperature, bounds=(2 * low, 2 * high), centred=self.centred
        )
        return wide.weights(logits, public)


class NotCentred(Decoding):
    """Broken: clips the logits themselves and adds the difference to the public ones."""

    def weights(self, logits, public=None):
        moved = np.clip(logits, *self.bounds) + (logits - public)
        return Decoding(temperature=self.temperature).weights(moved)


def centred(epsilon: float, kind: type[Decoding] = Decoding) -> Decoding:
    temperature = compute_temperature(BOUNDS, epsilon)
    return kind(temperature=temperature, bounds=BOUNDS, centred=True)


def ratio_around(decoding: Decoding, first: Any, second: Any, public: Any) -> Fraction:
    """The exact largest ratio of two documents' laws; what no document gives does not count."""
    weights = [decoding.weights(np.array(x), np.array(public)) for x in (first, second)]
    assert ((weights[0] == 0) == (weights[1] == 0)).all()
    drawn = weights[0] > 0
    return largest_ratio(weights[0][drawn], weights[1][drawn])


@given(LOGITS, LOGITS, PUBLIC, st.floats(0.01, 200))
@settings(deadline=None)
def test_no_two_documents_are_further_apart_than_epsilon_around_public_logits(
    first, second, public, epsilon
):
    ratio = ratio_around(centred(epsilon), first, second, public)
    assert ratio <= Fraction(math.exp(epsilon) * (1 - 1e-15))


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_the_bound_around_public_logits_is_reached(epsilon):
    size = 200_000
    one, other = np.full(size, -1e6), np.full(size, 1e6)
    one[0], other[0] = 1e6, -1e6
    ratio = ratio_around(centred(epsilon), one, other, np.zeros(size))
    assert 0.99 * epsilon < math.log(ratio) <= epsilon


@pytest.mark.parametrize("kind", [CentredOnDocument, DoublyWide, NotCentred])
def test_broken_centres_are_caught(kind):
    one, other = np.array([50.0, *[0.0] * 400]), np.array([-50.0, *[1.0] * 400])
    public = np.zeros(401)
    assert ratio_around(centred(4.0), one, other, public) <= math.exp(4.0)
    weights = [centred(4.0, kind).weights(x, public) for x in (one, other)]
    first, second = (w / w.sum() for w in weights)
    assert np.abs(np.log(np.maximum(first, 1e-300) / np.maximum(second, 1e-300))).max() > 4.0


@given(
    LOGITS.filter(lambda xs: all(map(math.isfinite, xs))),
    st.lists(st.floats(-8, 8), min_size=5, max_size=5),
    st.floats(2, 20),
)
@settings(deadline=None)
def test_centred_weights_are_the_softmax_around_public_logits(logits, public, temperature):
    decoding = Decoding(temperature=temperature, bounds=BOUNDS, centred=True)
    moved = np.array(public) + np.clip(np.array(logits) - np.array(public), *BOUNDS)
    exact = np.exp((moved - moved.max()) / temperature)
    weights = decoding.weights(np.array(logits), np.array(public))
    np.testing.assert_allclose(weights / weights.sum(), exact / exact.sum(), rtol=1e-4)


@pytest.mark.parametrize("size", [2, 1000, 250_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 60.0, 1000.0])
def test_centred_weights_fit_their_integers_at_any_size(size, epsilon):
    logits = np.linspace(-50, 50, size)
    weights = centred(epsilon).weights(logits, logits[::-1])
    assert weights.min() >= 0
    assert 0 < sum(weights.tolist()) <= ROOM


def test_centred_logits_that_are_no_numbers_are_refused():
    finite, wrong, ruled_out = np.zeros(2), np.array([0.0, math.nan]), np.full(2, -math.inf)
    for logits, public, said in (
        (wrong, finite, "not a number"),
        (finite, wrong, "not a number"),
        (finite, ruled_out, "no finite"),
        (finite, None, "needs public logits"),
    ):
        with pytest.raises(ValueError, match=said):
            centred(1.0).weights(logits, public)


def test_centred_draws_follow_the_weights():
    rng, logits, public = seeded_generator(7), np.linspace(-3, 4, 12), np.linspace(2, -1, 12)
    decoding = centred(6.0)
    drawn = np.array([decoding.draw(logits, rng, public) for _ in range(20_000)])
    counts = np.bincount(drawn, minlength=12)
    right, wrong = decoding.weights(logits, public), clipped(6.0).weights(logits)
    assert p_value(counts, right / right.sum() * len(drawn)) > ALPHA
    assert p_value(counts, wrong / wrong.sum() * len(drawn)) < ALPHA


# -- clipped --------------------------------------------------------------------------------


@given(LOGITS.filter(lambda xs: all(map(math.isfinite, xs))), st.floats(0.5, 20))
@settings(deadline=None)
def test_weights_are_the_clipped_softmax(logits, temperature):
    decoding = Decoding(temperature=temperature, bounds=BOUNDS)
    exact = np.exp(np.clip(logits, *BOUNDS) / temperature)
    weights = decoding.weights(np.array(logits))
    np.testing.assert_allclose(weights / weights.sum(), exact / exact.sum(), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 1000, 250_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 60.0, 1000.0])
def test_weights_fit_their_integers_at_any_size(size, epsilon):
    weights = clipped(epsilon).weights(np.linspace(-50, 50, size))
    assert weights.min() >= 1
    assert 0 < sum(weights.tolist()) <= ROOM


@pytest.mark.parametrize("logits", [[0.0, math.nan], [math.nan]])
def test_a_logit_that_is_no_number_is_refused(logits):
    for decoding in (clipped(1.0), Decoding()):
        with pytest.raises(ValueError, match="not a number"):
            decoding.weights(np.array(logits))


def test_unclipped_logits_must_have_a_finite_greatest():
    for logits in ([-math.inf, -math.inf], [0.0, math.inf]):
        with pytest.raises(ValueError, match="finite"):
            Decoding().weights(np.array(logits))
    assert Decoding().weights(np.array([0.0, -math.inf])).tolist()[1] == 0


def test_top_k_leaves_exactly_k():
    weights = Decoding(top_k=3).weights(np.array([1.0, 5.0, 5.0, 5.0, 5.0, 0.0]))
    assert (weights > 0).sum() == 3
    assert (Decoding(top_k=9).weights(np.zeros(4)) > 0).all()


@pytest.mark.parametrize(
    "decoding", [clipped(1.0), clipped(8.0), Decoding(temperature=0.7), Decoding(top_k=4)]
)
def test_draws_follow_the_weights_and_a_tilted_draw_is_caught(decoding):
    rng, logits = seeded_generator(7), np.linspace(-3, 4, 12)
    drawn = np.array([decoding.draw(logits, rng) for _ in range(20_000)])
    weights = decoding.weights(logits)
    expected = weights / weights.sum() * len(drawn)
    assert set(np.unique(drawn)) <= set(np.flatnonzero(weights))
    order = np.argsort(-expected)
    counts = np.bincount(drawn, minlength=12)
    assert p_value(counts[order], expected[order]) > ALPHA
    off_by_one = np.bincount(np.minimum(drawn + 1, 11), minlength=12)
    assert p_value(off_by_one[order], np.maximum(expected[order], 1e-3)) < ALPHA


def test_epsilon_and_the_most_likely_token():
    decoding = clipped(3.0)
    assert decoding.epsilon == pytest.approx(3.0)
    assert Decoding().epsilon == math.inf
    logits = np.full(50, -100.0)
    logits[:4] = 100.0
    weights = decoding.weights(logits)
    assert weights[:4].sum() / weights.sum() == pytest.approx(decoding.bound_probability(4 / 50))
    assert decoding.bound_probability(1.0) == 1.0
    assert Decoding().bound_probability(0.01) == 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 0.0},
        {"temperature": math.inf},
        {"bounds": (1.0, 0.0)},
        {"bounds": (0.0, math.nan)},
        {"bounds": (0.0, 1.0), "top_k": 5},
        {"centred": True},
        {"top_k": 0},
    ],
)
def test_decodings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ParameterError):
        Decoding(**wrong)


# -- vLLM's batch ---------------------------------------------------------------------------


class Direction(Enum):
    """vLLM's `MoveDirectionality`, which is not installed here."""

    UNIDIRECTIONAL = 1
    SWAP = 2


def parameters(number: int) -> Any:
    """Every third request asks for nothing."""
    request = ClipRequest(Decoding(temperature=float(number + 1), bounds=BOUNDS), 0.75)
    return SimpleNamespace(extra_args=request.to_arguments() if number % 3 else None)


def test_rows_follow_requests_through_any_batch():
    """Against a batch that is a list of requests by place."""
    rng = np.random.default_rng(0)
    batch: dict[int, int] = {}
    rows: dict[int, ClipRequest] = {}
    made = 0
    for _ in range(3000):
        removed = [place for place in batch if rng.random() < 0.1]
        for place in removed:
            del batch[place]
        added = []
        for place in rng.permutation(12)[: rng.integers(0, 4)].tolist():
            batch[place] = made  # new requests may replace running ones
            added.append((place, parameters(made), None, []))
            made += 1
        moved = []
        for _ in range(rng.integers(0, 3)):
            source, target = map(int, rng.permutation(12)[:2])
            if rng.random() < 0.5:
                moved.append((source, target, Direction.SWAP))
                one, other = batch.pop(source, None), batch.pop(target, None)
                batch.update({p: r for p, r in ((target, one), (source, other)) if r is not None})
            elif source in batch:
                moved.append((source, target, Direction.UNIDIRECTIONAL))
                batch[target] = batch.pop(source)
        update_rows(rows, SimpleNamespace(removed=removed, added=added, moved=moved))
        expected = {place: float(r + 1) for place, r in batch.items() if r % 3}
        assert {place: request.decoding.temperature for place, request in rows.items()} == expected


def test_wishes_travel_as_they_are():
    request = ClipRequest(Decoding(temperature=0.1, bounds=(-19.23, 7.48)), 0.625)
    assert ClipRequest.parse(request.to_arguments()) == request
    assert ClipRequest.parse(None) is None
    assert ClipRequest.parse({"other": 1}) is None


@pytest.mark.parametrize(
    "wrong",
    [
        *("1", 5, [], [0, 1, 1], [0, 1, 1, 0.7, 1]),
        *([0, 1, 1, 0.5], [0, 1, 1, 1], [0, 1, 0, 0.7], [1, 0, 1, 0.7]),
        *([0, 1, 1, "x"], [True, 1, 1, 0.7], [0, math.inf, 1, 0.7]),
    ],
)
def test_wishes_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        ClipRequest.parse({ARGUMENT: wrong})


# -- bounds ---------------------------------------------------------------------------------


def test_statistics_of_pieces_are_those_of_the_whole():
    values = np.random.default_rng(1).normal(1e4, 2.0, 10_000)
    found = LogitStatistics()
    for piece in np.split(values, [1, 10, 5000]):
        found.add(piece.reshape(1, -1))
    found.add(np.array([-math.inf, math.nan]))
    assert found.count == len(values)
    assert found.bounds("minmax") == (values.min(), values.max())
    low, high = found.bounds("mean_std")
    assert low == pytest.approx(values.mean())
    assert high == pytest.approx(values.mean() + 4 * values.std())


def test_nothing_measured_gives_no_bounds():
    with pytest.raises(ParameterError, match="differ"):
        LogitStatistics().bounds("minmax")
    with pytest.raises(ParameterError, match="minmax, mean_std"):
        LogitStatistics().bounds("other")  # type: ignore[arg-type]
