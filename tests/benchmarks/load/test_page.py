"""The page says what the record says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.load.processes import LoadError
from benchmarks.load.record import read_record
from benchmarks.load.report.page import render_details, render_page
from benchmarks.load.soak import Soak, read_soak
from tests.benchmarks.load.rows import record, row

OURS = "inferdpt rantext_ldp"
SOAK = Soak(
    target=OURS,
    machine={"commit": "abc"},
    connections=16,
    requests=200_000,
    seconds=600.0,
    late=1,
    bad=0,
    points=[(0, 100.0), (50_000, 150.0), (100_000, 160.0), (150_000, 161.0), (200_000, 162.0)],
)


def test_cells_and_verdicts() -> None:
    measured = record(
        row("LiteLLM"),
        row(OURS, requests_per_second=523.4, p50_ms=2.5, p99_ms=1234.0, late=3, wrong=2),
        row(OURS, stream=True, words=2000, connections=256, repeat=True),
    )
    page = render_page(measured, None)
    lines = [*page.splitlines(), *render_details(measured).splitlines()]
    assert f"| `{OURS}` |  | **523**/s, 2.50, 1,234, 3 late, 2 bad |  |  |" in lines
    goal = "| requests/s at 16 connections, as a multiple of LiteLLM's | ≥ 5 | 5.23, met |"
    assert goal in lines
    assert "LiteLLM spent 9.0 ms of CPU on a request, ours 9.0 ms at best." in page
    assert "would leave 1.8 ms for reading" in page
    assert "### Streamed answers, long documents, repeated" in lines
    assert "### Streamed answers, short documents" not in lines  # not measured
    assert "## Profile" not in lines


def test_nothing_answered_and_nothing_measured_are_said() -> None:
    none = row(OURS, requests=0, requests_per_second=0.0, p50_ms=None, p99_ms=None, cpu_ms=None)
    measured = record(none, skipped=["LiteLLM: it *cannot* be installed"])
    page = render_page(measured, None)
    assert "nothing answered" in render_details(measured)
    assert r"Not measured: LiteLLM: it \*cannot\* be installed" in page


def test_workers_are_compared_with_one() -> None:
    many = row(f"{OURS}, 2 workers", requests_per_second=180.0, cpu_ms=3.2)
    page = render_page(record(row(OURS, cpu_ms=3.0), many), None)
    assert "## Processes" in page
    cells = [cell.strip() for cell in page.partition("## Processes")[2].split("|")]
    assert {"1.80", "1.88"} <= set(cells)


def test_a_soak_shows_its_growth() -> None:
    page = render_page(record(row(OURS, busy_cores=0.7)), SOAK)
    assert "Other programs took 0.7 of its cores" in page
    assert "changed by +2.0 MB for 100,000 requests" in page
    assert "| memory | 100 MB | 150 MB | 160 MB | 161 MB | 162 MB |" in page


def test_records_are_read_as_written(tmp_path: Path) -> None:
    made = record(row(OURS), row("LiteLLM", p50_ms=None), profiles={OURS: "text"})
    made.write(tmp_path / "load.json")
    SOAK.write(tmp_path / "soak.json")
    assert read_record(tmp_path / "load.json") == made
    assert read_soak(tmp_path / "soak.json") == SOAK
    assert read_soak(tmp_path / "none.json") is None


@pytest.mark.parametrize("text", ["{", "{}", '{"rows": [{"target": 1}]}'])
def test_files_that_are_no_records_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "load.json"
    path.write_text(text)
    with pytest.raises(LoadError, match=r"load\.json is not a record"):
        read_record(path)
    with pytest.raises(LoadError, match="does not exist"):
        read_record(tmp_path / "none.json")
    with pytest.raises(LoadError, match=r"load\.json is not a record"):
        read_soak(path)
