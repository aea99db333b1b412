"""Negative controls of the kit: each test of the contract refuses a mechanism with one mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from perturb import Guarantee, PerturbError, secure_generator
from perturb.mechanisms.base import Draw, Parameters, ldp_guarantee
from perturb.mechanisms.rantext_ldp import RanTextLDP, RanTextLDPParameters
from perturb.testing import Case, MechanismContract

Words = NDArray[Any]


class Says(RanTextLDP):
    summary = "ε-LDP (proved)"


@dataclass(frozen=True, kw_only=True)
class Unchecked(RanTextLDPParameters):
    radius: float = 1.0
    side: Literal["left", "right"] = "left"

    def __post_init__(self) -> None:
        pass


class TakesAnything(RanTextLDP):
    parameter_type = Unchecked


@dataclass(frozen=True, kw_only=True)
class Overflowing(Parameters):
    def __post_init__(self) -> None:
        float(self.epsilon)


class Overflows(RanTextLDP):
    parameter_type = Overflowing  # type: ignore[assignment]


class Changeable(RanTextLDPParameters):
    __setattr__ = object.__setattr__


class NotFrozen(RanTextLDP):
    parameter_type = Changeable


class ForgetsEpsilon(RanTextLDP):
    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "epsilon": 3.0}


class NamesNoBound(RanTextLDP):
    @property
    def guarantee(self) -> Guarantee:
        return Guarantee("ldp", self.epsilon, float("inf"), "private")


class ClaimsTooMuch(RanTextLDP):
    @property
    def guarantee(self) -> Guarantee:
        return ldp_guarantee(self.epsilon * 0.99)


class ClaimsBoundedRange(RanTextLDP):
    bounded_range = True


class NamesAnEasyPair(RanTextLDP):
    def dominating_pair(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        first, second = super().dominating_pair()
        return (first + second) / 2, second


class RowsOfMoreThanOne(RanTextLDP):
    def channel(self, words: Words) -> tuple[NDArray[np.float64], float]:
        rows, error = super().channel(words)
        return rows * 1.001, error


class KeepsMoreThanItSays(RanTextLDP):
    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return super().keep_rate(words) * 0.99


class SaysItKeepsAll(RanTextLDP):
    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.ones(len(words))


class SaysItKeepsNothing(RanTextLDP):
    def keep_rate(self, words: Words) -> NDArray[np.float64]:
        return np.zeros(len(words))


class PassesThrough(RanTextLDP):
    """Releases the private word one time in twenty, on top of the channel."""

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        drawn = super().draw(words, rng).words
        return Draw(np.where(rng.random(len(words)) < 0.05, words, drawn).astype(np.int32))


class OwnRandomness(RanTextLDP):
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return super().draw(words, secure_generator())


class OneDrawAWord(RanTextLDP):
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        unique, place = np.unique(words, return_inverse=True)
        return Draw(super().draw(unique, rng).words[place])


class WideIntegers(RanTextLDP):
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(super().draw(words, rng).words.astype(np.int64))  # type: ignore[arg-type]


class IgnoresEpsilon(RanTextLDP):
    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(rng.integers(0, len(self.table), len(words), dtype=np.int32))


class RoundsTinyEpsilon(RanTextLDP):
    """One word is all that is left of a law that was rounded away."""

    def draw(self, words: Words, rng: np.random.Generator) -> Draw:
        return Draw(np.zeros(len(words), np.int32))


class OverflowsToUniform(IgnoresEpsilon):
    parameter_type = Parameters  # type: ignore[assignment]

    def __init__(self, table: Any, parameters: Any) -> None:
        super().__init__(table, RanTextLDPParameters(epsilon=min(parameters.epsilon, 18.0)))


EIGHT = {"epsilon": 8.0}
CONTROLS: list[tuple[str, type[RanTextLDP], dict[str, Any]]] = [
    ("test_class_says_what_it_is", Says, {}),
    ("test_bad_epsilon_is_refused", TakesAnything, {"value": 0, "message": "epsilon must be"}),
    ("test_integer_beyond_any_float_is_refused", Overflows, {"value": 10**400}),
    ("test_choices_refuse_other_values_by_name", TakesAnything, {}),
    ("test_numbers_refuse_what_is_no_number_by_name", TakesAnything, {}),
    ("test_parameters_are_frozen", NotFrozen, {"key": "epsilon"}),
    ("test_identity_is_json_and_tells_parameters_apart", ForgetsEpsilon, {}),
    ("test_guarantee_names_what_is_proved", NamesNoBound, {}),
    ("test_channel_keeps_the_guarantee", ClaimsTooMuch, {**EIGHT, "name": "toy"}),
    ("test_bounded_range_holds", ClaimsBoundedRange, EIGHT),
    ("test_dominating_pair_dominates", NamesAnEasyPair, {**EIGHT, "name": "toy"}),
    ("test_rows_are_distributions", RowsOfMoreThanOne, {**EIGHT, "name": "toy"}),
    ("test_keep_rate_bounds_the_diagonal", KeepsMoreThanItSays, {**EIGHT, "name": "toy"}),
    ("test_keep_rate_is_close_on_bundled_table", SaysItKeepsAll, {**EIGHT, "name": "words"}),
    ("test_sampler_matches_channel_on_bundled_table", PassesThrough, {**EIGHT, "name": "words"}),
    ("test_sampler_matches_channel_on_small_table", PassesThrough, {**EIGHT, "name": "toy"}),
    ("test_sampler_matches_channel_on_two_words", PassesThrough, {}),
    ("test_draw_repeats_under_a_seed_and_only_then", OwnRandomness, {}),
    ("test_equal_words_of_one_draw_get_fresh_noise", OneDrawAWord, {}),
    ("test_draw_keeps_the_shape", WideIntegers, {"dtype": np.int64}),
    ("test_small_epsilon_is_near_its_limit", PassesThrough, {"name": "toy"}),
    ("test_large_epsilon_keeps_near_words", IgnoresEpsilon, {"name": "toy"}),
    ("test_tiniest_epsilon_is_refused_or_near_its_limit", RoundsTinyEpsilon, {"tiny": 1e-9}),
    ("test_largest_epsilon_is_refused_or_keeps_the_word", OverflowsToUniform, {"huge": 1e6}),
    ("test_a_released_text_passes_its_own_check", SaysItKeepsNothing, {**EIGHT, "name": "words"}),
]


def run(test: str, kind: type[RanTextLDP], given: dict[str, Any]) -> None:
    case = Case(kind, (8.0,), largest_epsilon=18.0)
    called: Callable[..., None] = getattr(MechanismContract(), test)
    wanted = called.__code__.co_varnames[: called.__code__.co_argcount]
    subjects = {"case": case, "limited": case, "kind": kind}
    called(**{name: subjects[name] for name in subjects if name in wanted}, **given)


@pytest.mark.parametrize(("test", "kind", "given"), CONTROLS, ids=[test for test, *_ in CONTROLS])
def test_mistake_is_caught(test: str, kind: type[RanTextLDP], given: dict[str, Any]) -> None:
    if "message" not in given:
        run(test, RanTextLDP, given)  # the same test passes what is sound
    with pytest.raises((AssertionError, PerturbError, OverflowError, pytest.fail.Exception)):
        run(test, kind, given)


def test_every_test_of_the_contract_has_a_control() -> None:
    tests = {name for name in dir(MechanismContract) if name.startswith("test_")}
    assert {test for test, *_ in CONTROLS} == tests
