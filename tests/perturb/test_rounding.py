"""Bounds in few digits hold as they are written."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perturb.mechanisms.base import ldp_guarantee
from perturb.release import format_lower, format_upper

BOUNDS = st.floats(1e-12, 1e9)


@given(BOUNDS, st.integers(2, 10))
@example(1.55611, 4)
@example(6.0000049, 6)
def test_a_bound_is_rounded_to_its_side_by_less_than_a_unit(bound, digits):
    upper, lower = (Decimal(show(bound, digits)) for show in (format_upper, format_lower))
    unit = Decimal(10) ** (Decimal(repr(bound)).adjusted() - digits + 1)
    assert lower <= Decimal(repr(bound)) <= upper
    assert upper - Decimal(repr(bound)) < unit
    assert Decimal(repr(bound)) - lower < unit


@pytest.mark.parametrize("digits", [4, 6])
def test_what_fits_is_written_as_it_is(digits):
    for bound in (0.0, 1.0, 6.0, 12.5, 48.0, 1e9):
        assert format_upper(bound, digits) == format_lower(bound, digits) == f"{bound:g}"
    assert format_upper(float("inf")) == "inf"


def test_a_statement_claims_no_less_than_what_is_proved():
    assert "is 6.00001-LDP" in ldp_guarantee(6.0000049).statement
