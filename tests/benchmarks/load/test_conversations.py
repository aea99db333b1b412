"""An agent's conversations grow by a new file a turn, and the page shows what a turn costs."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from benchmarks.load.conversations import (
    Conversations,
    TurnRow,
    measure_conversations,
    read_conversations,
    write_steps,
)
from benchmarks.load.report.page import render_page
from tests.benchmarks.load.rows import record, row

MADE = Conversations(
    {"commit": "abc"},
    [TurnRow(1, 0, 26.0, 90.0, 30.0, 90.0), TurnRow(100, 0, 250.4, 300.0, 200.0, 100.0)],
)


def test_turns_are_measured_once_a_round() -> None:
    found = measure_conversations(2, turns=(1, 3), parameters={"policy": "regex"})
    assert [(made.round, made.turn) for made in found.rows] == [(0, 1), (0, 3), (1, 1), (1, 3)]
    assert found.rows[0].kilobytes < found.rows[1].kilobytes
    assert all(made.turn_ms > 0 and made.alone_ms > 0 for made in found.rows)


def test_no_two_files_of_conversations_are_equal() -> None:
    steps = [*islice(write_steps("a"), 40), *islice(write_steps("b"), 40)]
    texts = [tool["content"] for _, tool in steps]
    assert len(set(texts)) == 80
    assert list(islice(write_steps("a"), 40)) == steps[:40]


def test_the_page_shows_what_a_turn_costs() -> None:
    page = render_page(record(row("LiteLLM")), None, conversations=MADE)
    assert "| 100 | 250 kB | 300 | 200 | 100 | 3.00 |" in page
    assert "## Agents' conversations" not in render_page(record(row("LiteLLM")), None)


def test_records_are_read_as_written(tmp_path: Path) -> None:
    MADE.write(tmp_path / "conversations.json")
    assert read_conversations(tmp_path / "conversations.json") == MADE
    assert read_conversations(tmp_path / "none.json") is None
