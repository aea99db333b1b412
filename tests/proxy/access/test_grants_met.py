"""The limits of several keys of a tenant together: the stricter of each."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest

from proxy.access.auth import Grant

CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({}, {}, {}),
    ({"models": ("a", "b")}, {"models": ("c", "b")}, {"models": ("b",)}),
    ({"models": ("a",)}, {"models": ("b",)}, {"models": ()}),
    ({"mechanisms": ("rantext", "selective")}, {}, {"mechanisms": ("rantext", "selective")}),
    (
        {"epsilon_min": 1, "epsilon_max": 8},
        {"epsilon_min": 2},
        {"epsilon_min": 2, "epsilon_max": 8},
    ),
    ({"epsilon_max": 8}, {"epsilon_max": 4}, {"epsilon_max": 4}),
    (
        {"requests_per_minute": 60, "burst": 2},
        {"requests_per_minute": 6, "burst": 3},
        {"requests_per_minute": 6, "burst": 2},
    ),
    (
        {"budget": {"day": 5, "total": 9}, "budget_tokens": {"day": 0}},
        {"budget": {"day": 7, "request": 1}},
        {"budget": {"day": 5, "total": 9, "request": 1}, "budget_tokens": {"day": 0}},
    ),
    ({"deny": ("Heron", "Unit 7")}, {"deny": ("Heron",)}, {"deny": ("Heron", "Unit 7")}),
    (
        {"thresholds": {"PERSON": 0.3}},
        {"thresholds": {"PERSON": 0.5, "LOCATION": 0.2}},
        {"thresholds": {"PERSON": 0.3, "LOCATION": 0.2}},
    ),
    # An action of one key is not weakened by one that the other has for the type alone, nor made
    # stronger than either asks.
    (
        {"actions": {"*": "refuse"}},
        {"actions": {"AGE": "tag"}},
        {"actions": {"*": "refuse", "AGE": "refuse"}},
    ),
    ({"actions": {"AGE": "replace"}}, {}, {"actions": {"AGE": "replace"}}),
    (
        {"actions": {"NAME": "tag"}},
        {"actions": {"PERSON": "replace"}},
        {"actions": {"NAME": "tag", "PERSON": "tag"}},
    ),
]


@pytest.mark.parametrize(("one", "other", "both"), CASES)
def test_the_stricter_limit_holds(
    one: dict[str, Any], other: dict[str, Any], both: dict[str, Any]
) -> None:
    first, second, expected = (Grant.model_validate(each) for each in (one, other, both))
    met = first.meet(second)
    assert met.model_copy(update={"deny": ()}) == expected.model_copy(update={"deny": ()})
    assert set(met.deny) == set(expected.deny)
    turned = second.meet(first)
    assert turned.model_dump(exclude={"deny", "models"}) == met.model_dump(
        exclude={"deny", "models"}
    )
    assert reduce(Grant.meet, [first, second, first]) == met
