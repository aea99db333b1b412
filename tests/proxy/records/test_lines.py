"""Lines of the audit record as CSV."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.records.lines import spell_cell


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_text_of_a_client_is_a_formula_in_a_spreadsheet(text: str) -> None:
    assert spell_cell(text) == "'" + text


@pytest.mark.parametrize("value", ["gpt-4o", "a=b", "", 3, -0.5, None])
def test_other_values_stand_as_they_are(value: Any) -> None:
    assert spell_cell(value) == value


def test_structures_are_json() -> None:
    assert spell_cell({"=": ["ε"]}) == '{"=": ["ε"]}'
