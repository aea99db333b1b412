"""Drawing by bounds: the same law as whole rows, and bounds that are none are caught."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import EmbeddingTable, get_mechanism, seeded_generator
from perturb.mechanisms import by_distance, santext
from perturb.mechanisms.santext import SanTextPlus
from perturb.testing.cases import draw_samples, fit_p_value, sample_words
from perturb.testing.mechanism import SMALL_DRAWS
from perturb.testing.statistics import ALPHA

NAMES = ["santext", "santext_plus", "exponential", "tem", "rantext"]


def altered(table: EmbeddingTable, name: str, value: object) -> EmbeddingTable:
    """The table with another value of an array that is computed from it."""
    copy = replace(table)
    copy.__dict__.update(table.__dict__, **{name: value})
    return copy


def control_p_value(name: str, sound: EmbeddingTable, broken: EmbeddingTable) -> float:
    words = sample_words(sound)
    drawn = draw_samples(get_mechanism(name, broken, epsilon=14.0), words, SMALL_DRAWS, 31)
    return fit_p_value(get_mechanism(name, sound, epsilon=14.0), words, drawn)


@pytest.mark.parametrize("name", NAMES)
def test_bounds_that_are_too_small_are_caught(name: str, toy: EmbeddingTable) -> None:
    farther = toy.farther + np.array([0.3, 0.1])
    assert control_p_value(name, toy, altered(toy, "farther", farther)) < ALPHA


@pytest.mark.parametrize("name", NAMES)
def test_bounds_that_are_too_large_change_nothing(name: str, toy: EmbeddingTable) -> None:
    assert control_p_value(name, toy, altered(toy, "farther", toy.farther / 1.3)) > ALPHA


@pytest.mark.parametrize("name", ["santext", "santext_plus", "tem", "rantext"])
def test_listed_words_that_are_drawn_twice_are_caught(name: str, toy: EmbeddingTable) -> None:
    wide = replace(toy, diameter=99.0)  # no word is accepted without its distance
    wide.__dict__["farther"] = toy.farther * [1, 0.5]
    assert control_p_value(name, toy, wide) > ALPHA
    nowhere = np.full(len(toy), -1.0)  # no drawn word is looked up in the list
    assert control_p_value(name, toy, altered(wide, "listed_squares", nowhere)) < ALPHA


@pytest.mark.parametrize("name", ["santext", "santext_plus", "exponential", "tem"])
def test_distances_in_single_precision_decide_as_exact_ones(
    name: str, toy: EmbeddingTable
) -> None:
    words = np.random.default_rng(1).integers(0, len(toy), 20_000)

    def draw(table: EmbeddingTable) -> NDArray[np.int32]:
        mechanism = get_mechanism(name, table, epsilon=14.0)
        return mechanism.draw(words, seeded_generator(33)).words

    found = draw(toy)
    assert (found == draw(altered(toy, "pair_error", 4.0))).all()  # no weight decides
    rough = altered(toy, "single", toy.single + np.float32(0.001))
    assert (found != draw(rough)).any()


@pytest.mark.parametrize("name", NAMES)
def test_listed_words_that_the_sieve_lets_pass_are_caught(name: str, toy: EmbeddingTable) -> None:
    wide = replace(toy, diameter=99.0)
    wide.__dict__["farther"] = toy.farther * [1, 0.5]
    nothing = np.zeros((len(toy), 256), dtype=np.uint8)
    assert control_p_value(name, toy, altered(wide, "_sieve", nothing)) < ALPHA


@pytest.mark.parametrize("name", NAMES)
def test_wrong_near_distances_are_caught(name: str, toy: EmbeddingTable) -> None:
    assert control_p_value(name, toy, altered(toy, "near", toy.near[:, ::-1].copy())) < ALPHA


@pytest.mark.parametrize("tickets", [1, 7, 100_000])
def test_number_of_tickets_at_once_changes_nothing(
    tickets: int, toy: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_distance, "TICKETS_AT_ONCE", tickets)
    words = sample_words(toy)[:4]
    mechanism = get_mechanism("rantext", toy, epsilon=14.0)
    assert fit_p_value(mechanism, words, draw_samples(mechanism, words, SMALL_DRAWS, 32)) > ALPHA


def test_documents_of_several_blocks_are_drawn_like_short_ones(
    toy: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_distance, "TOKENS_AT_ONCE", 1000)
    words = sample_words(toy)
    mechanism = get_mechanism("santext", toy, epsilon=14.0)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(words) * SMALL_DRAWS)
    drawn = np.empty(len(order), dtype=np.int64)
    drawn[order] = mechanism.draw(np.repeat(words, SMALL_DRAWS)[order], seeded_generator(8)).words
    assert fit_p_value(mechanism, words, drawn.reshape(len(words), -1)) > ALPHA


def santext_plus_p_value(
    table: EmbeddingTable, kind: type[SanTextPlus] = SanTextPlus, **more: float
) -> float:
    sound = get_mechanism("santext_plus", table, epsilon=8.0, **more)
    words = sample_words(table)
    drawn = draw_samples(kind(table, sound.parameters), words, SMALL_DRAWS, 33)
    return fit_p_value(sound, words, drawn)


@pytest.mark.parametrize("rounds", [0, 1, 3])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_number_of_rounds_before_rows_are_drawn_changes_nothing(
    rounds: int, share: float, toy: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(santext, "ROUNDS", rounds)
    assert santext_plus_p_value(toy, share=share, probability=0.7) > ALPHA


class KeepsWhatIsLeft(SanTextPlus):
    """Keeps the words that no round replaced."""

    def _draw_by_rows(self, words, weigh, rng):
        return words


class WeighsAllThatIsLeft(SanTextPlus):
    """Draws what no round replaced from the mixture, which keeps frequent words once more."""

    def _draw_by_rows(self, words, weigh, rng):
        return super()._draw_by_rows(words, self.weights, rng)


@pytest.mark.parametrize("kind", [KeepsWhatIsLeft, WeighsAllThatIsLeft])
def test_wrong_rows_for_the_words_left_are_caught(
    kind: type[SanTextPlus], toy: EmbeddingTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(santext, "ROUNDS", 1)
    assert santext_plus_p_value(toy, kind, probability=0.7) < ALPHA


def test_frequent_words_that_count_as_sensitive_are_caught(toy: EmbeddingTable) -> None:
    class AcceptsFrequentWords(SanTextPlus):
        @property
        def sensitive(self):
            return np.ones(len(self.table), dtype=np.bool_)

    assert santext_plus_p_value(toy, AcceptsFrequentWords) < ALPHA


def test_no_word_and_far_words_alone_are_drawn(toy: EmbeddingTable) -> None:
    mechanism = get_mechanism("santext_plus", toy, epsilon=1e6, share=0.01, probability=1.0)
    assert isinstance(mechanism, SanTextPlus)
    assert not len(mechanism.draw(np.empty(0, dtype=np.int32), seeded_generator(1)).words)
    drawn = mechanism.draw(np.arange(len(toy)), seeded_generator(1)).words
    assert mechanism.sensitive[drawn].all()
