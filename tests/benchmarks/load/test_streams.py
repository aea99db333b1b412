"""Streamed answers are measured with and without the gateway, and the page shows both."""

from __future__ import annotations

from pathlib import Path

from benchmarks.load.report.page import render_page
from benchmarks.load.streams import StreamRow, Streams, measure_streams, read_streams
from tests.benchmarks.load.rows import record, row

MADE = Streams({"commit": "abc"}, [StreamRow(1, 0, 90.0, 40.0), StreamRow(8, 0, 70.4, 30.4)])


def test_streams_are_measured_once_a_round_and_number() -> None:
    found = measure_streams(2, at_once=(1, 3), chunks=40)
    assert [(made.round, made.at_once) for made in found.rows] == [(0, 1), (0, 3), (1, 1), (1, 3)]
    assert all(made.chunk_us > 0 and made.direct_us > 0 for made in found.rows)


def test_the_page_shows_what_a_chunk_costs() -> None:
    page = render_page(record(row("LiteLLM")), None, streams=MADE)
    assert "| 8 | 70.4 | 30.4 | 40.0 |" in page
    assert "chunk by chunk" not in render_page(record(row("LiteLLM")), None)


def test_records_are_read_as_written(tmp_path: Path) -> None:
    MADE.write(tmp_path / "streams.json")
    assert read_streams(tmp_path / "streams.json") == MADE
    assert read_streams(tmp_path / "none.json") is None
