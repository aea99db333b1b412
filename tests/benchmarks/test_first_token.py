"""The time to the first token is measured over the whole path, and the page says what it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.first_token import (
    FirstToken,
    Row,
    lengthen_context,
    measure_first_token,
    read_first_token,
)
from benchmarks.load.report.page import render_page
from tests.benchmarks.load.rows import record, row

MADE = FirstToken(
    {"commit": "abc"},
    [Row(1000, 2.0, False, [5.0, 4.0, 9.0]), Row(1000, 2.0, True, [2.5, 2.25, 2.0])],
)


def test_every_case_is_measured_with_and_without() -> None:
    found = measure_first_token(1, documents=(600,), remote_seconds=(0.2,))
    assert [(row.document_tokens, row.warmed) for row in found.rows] == [(600, False), (600, True)]
    assert all(len(row.seconds) == 1 and row.median >= 0.2 for row in found.rows)


def test_the_page_shows_medians_and_what_is_left_after_the_remote() -> None:
    page = render_page(record(row("LiteLLM")), None, MADE)
    assert "| 1,000 tokens | 2 | 5.00 | 2.25 | 3.00 | 0.25 |" in page
    assert "## First token" not in render_page(record(row("LiteLLM")), None, None)


def test_records_are_read_as_written(tmp_path: Path) -> None:
    MADE.write(tmp_path / "first.json")
    assert read_first_token(tmp_path / "first.json") == MADE
    assert read_first_token(tmp_path / "none.json") is None
    (tmp_path / "other.json").write_text('{"rows": [{}]}')
    with pytest.raises(ValueError, match=r"other\.json is not a record"):
        read_first_token(tmp_path / "other.json")


def test_a_file_that_names_no_context_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.gguf").write_bytes(b"GGUF")
    with pytest.raises(ValueError, match="does not name its context"):
        lengthen_context(tmp_path / "other.gguf", tmp_path / "copy.gguf", 8192)
