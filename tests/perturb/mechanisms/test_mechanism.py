"""The contract of every registered mechanism, and the registry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perturb import (
    EmbeddingTable,
    ParameterError,
    get_mechanism,
    mechanism_class,
    mechanism_names,
)
from perturb.mechanisms.base import Draw
from perturb.mechanisms.rantext import RanText
from perturb.registry import register
from perturb.testing import MechanismContract
from tests.perturb.cases import CASES


class TestEveryMechanism(MechanismContract):
    cases = CASES


def test_contract_covers_every_registered_mechanism() -> None:
    assert {case.mechanism for case in CASES} == set(map(mechanism_class, mechanism_names()))


@pytest.mark.parametrize("epsilon", [3.0, 14.0])
def test_channel_of_rantext_is_its_plain_quadrature(
    epsilon: float, bundled: EmbeddingTable
) -> None:
    mechanism = get_mechanism("rantext", bundled, epsilon=epsilon)
    assert isinstance(mechanism, RanText)
    (row,), error = mechanism.channel(np.array([4321]))
    distances = bundled.distances(4321)
    plain = np.zeros(len(bundled))
    for r in bundled.radius / mechanism.z:
        weights = np.where(distances < r, np.exp(-epsilon / 2 * distances / r), 0.0)
        plain += weights / weights.sum() / len(bundled.radius)
    assert np.abs(row - plain).sum() / 2 <= error < 0.005


@pytest.mark.parametrize("name", mechanism_names())
def test_bad_epsilon_is_refused_by_name(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be > 0 and finite, got -1$"):
        get_mechanism(name, toy, epsilon=-1)


@pytest.mark.parametrize("name", mechanism_names())
def test_unknown_parameter_is_refused_by_name(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError, match=f"{name} has no parameter 'epsilom'; it has epsilon"):
        get_mechanism(name, toy, epsilom=3.0)


@pytest.mark.parametrize("name", ["", "RANTEXT", "santext-", "rantext "])
def test_unknown_mechanism_is_refused_with_the_known_ones(name: str, toy: EmbeddingTable) -> None:
    with pytest.raises(ParameterError) as caught:
        get_mechanism(name, toy)
    assert all(known in str(caught.value) for known in mechanism_names())


@pytest.mark.parametrize("name", mechanism_names())
def test_a_class_has_the_name_it_is_registered_by(name: str) -> None:
    assert mechanism_class(name).name == name


def test_no_mechanism_takes_anothers_name() -> None:
    honest = mechanism_class("rantext_ldp")

    class Identity(honest):  # type: ignore[misc,valid-type]
        """Refuse what would print raw text under another's guarantee."""

        def draw(self, words: Any, rng: np.random.Generator) -> Draw:
            return Draw(np.asarray(words, np.int32))

    with pytest.raises(
        ParameterError, match=r"'rantext_ldp' is perturb\.mechanisms\.rantext_ldp\.\w+ alread"
    ):
        register(Identity)
    assert mechanism_class("rantext_ldp") is honest


def test_a_module_that_is_loaded_again_keeps_its_mechanisms_name() -> None:
    assert register(RanText) is RanText
    # what a second load of the module makes
    again = type("RanText", (RanText,), {"__module__": RanText.__module__})
    try:
        assert mechanism_class(register(again).name) is again
    finally:
        register(RanText)
    assert mechanism_class("rantext") is RanText
