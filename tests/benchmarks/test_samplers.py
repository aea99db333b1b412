"""Samplers are measured with their check, and the page says which goals they meet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.load.report.page import render_page
from benchmarks.samplers import (
    GOALS,
    SamplerRow,
    Samplers,
    measure_samplers,
    read_samplers,
    write_article,
)
from tests.benchmarks.load.rows import record, row

ROW = SamplerRow("rantext_ldp", 0, 0.5, 1.25, 1.75, 0.9)
MADE = Samplers(
    {"commit": "abc"},
    2500,
    [replace(ROW, name=name, round=round_) for round_ in (0, 1) for name in GOALS],
)


def test_every_sanitizer_is_measured() -> None:
    found = measure_samplers(1, words=40, long=2)
    assert [made.name for made in found.rows] == [*GOALS]
    for made in found.rows:
        assert 0 < made.tiktoken_ms < made.checked_ms
        assert made.growth > 0
    assert found.tokens > 40


def test_the_page_says_which_goals_are_met() -> None:
    slow = [replace(row, checked_ms=3.0) if row.round else row for row in MADE.of("rantext_ldp")]
    others = [row for row in MADE.rows if row.name != "rantext_ldp"]
    page = render_page(record(row("LiteLLM")), None, None, replace(MADE, rows=[*slow, *others]))
    assert "| `rantext_ldp` | 1.25 | 2.38 | ≤ 4 | 4.75 (3.5 to 6), not met | 0.90 |" in page
    assert "| `custext` | 1.25 | 1.75 | ≤ 10 | 3.5 (3.5 to 3.5), met | 0.90 |" in page
    assert "| `santext_plus` | 1.25 | 1.75 |  | 3.5 (3.5 to 3.5) | 0.90 |" in page
    assert "## Sanitizers" not in render_page(record(row("LiteLLM")), None)


def test_records_are_read_as_written(tmp_path: Path) -> None:
    MADE.write(tmp_path / "samplers.json")
    assert read_samplers(tmp_path / "samplers.json") == MADE
    assert read_samplers(tmp_path / "none.json") is None


def test_the_article_has_the_words_it_is_asked_for() -> None:
    assert len(write_article(100).split()) == 100
