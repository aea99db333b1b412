"""docs/mechanisms.md: the page that is checked in is that of the table and the code here."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.pages.mechanisms_table import EPSILONS, list_cases
from perturb import get_mechanism
from perturb.audit.report import audit
from perturb.mechanisms.radius import radius_law
from perturb.registry import built_in_names
from tests.tables import bundled_table

PAGE = Path(__file__).parent.parent / "docs" / "mechanisms.md"


def rows_of(title: str) -> list[list[str]]:
    section = PAGE.read_text("utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def test_every_mechanism_has_its_section() -> None:
    assert {*built_in_names(), "dp_prompt", "paraphraser"} == {case.name for case in list_cases()}
    text = PAGE.read_text("utf-8")
    for case in list_cases():
        assert f"## {case.title}\n\n{case.text}\n" in text
        if case.audited:
            assert [float(row[0]) for row in rows_of(case.title)] == list(EPSILONS)


def test_page_is_of_the_bundled_table() -> None:
    assert bundled_table().sha256[:16] in PAGE.read_text("utf-8")


def test_page_states_the_error_of_the_drawn_radius() -> None:
    assert f" at most {radius_law(bundled_table()).error:.1e} in total" in PAGE.read_text("utf-8")


@pytest.mark.statistical
def test_page_says_what_the_audit_finds_now() -> None:
    found = audit(get_mechanism("rantext_ldp", bundled_table(), epsilon=8.0))
    row = rows_of("rantext_ldp")[EPSILONS.index(8.0)]
    assert row[2] == f"{found.epsilon.value:.6f}"
    assert row[5:] == [str(found.bayes_forms), str(found.information), str(found.cosine)]


@pytest.mark.parametrize("title", ["rantext_ldp", "rantext_ldp, shape random_k"])
def test_rantext_ldp_needs_what_it_asks_for(title: str) -> None:
    for row in rows_of(title):
        assert abs(float(row[2]) - float(row[0])) < 1e-6


def test_rantext_needs_more_than_it_asks_for() -> None:
    for row in rows_of("rantext"):
        if float(row[0]) >= 3:
            assert float(row[2].removeprefix(">= ")) > float(row[0]) + 1
