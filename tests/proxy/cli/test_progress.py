"""Progress that no terminal shows is a line now and then."""

from __future__ import annotations

import io

from proxy.cli.progress import SECONDS, show_progress, write_lines


def show(*steps: tuple[float, int], note: str = "", total: int = 100) -> list[str]:
    """Return the lines about steps: the time of each, and how much is done."""
    out, now = io.StringIO(), [0.0]
    advance = write_lines(out, lambda: now[0])
    for now[0], done in steps:
        advance("rows", done, total, note)
    return out.getvalue().splitlines()


def test_a_short_command_writes_nothing() -> None:
    assert show((0, 1), (1, 50), (SECONDS - 1, 100)) == []


def test_lines_are_sparse_and_tell_the_time_left() -> None:
    steps = [(second, second) for second in range(101)]
    assert show(*steps) == [
        "rows: 30 of 100, about 1:10 left",
        "rows: 60 of 100, about 0:40 left",
        "rows: 90 of 100, about 0:10 left",
        "rows: 100 of 100",
    ]


def test_what_a_resumed_run_had_done_counts_for_no_speed() -> None:
    assert show((0, 90), (40, 91)) == ["rows: 91 of 100, about 6:00 left"]
    assert show((0, 0), (36, 1), total=1000) == ["rows: 1 of 1,000, about 9:59:24 left"]


def test_nothing_done_tells_no_time() -> None:
    assert show((0, 0), (31, 0), note="a case") == ["rows: 0 of 100 (a case)"]


def test_a_pipe_gets_no_bar(capsys) -> None:
    with show_progress() as progress:
        progress("rows", 1, 2)
        progress("rows", 2, 2)
    assert capsys.readouterr().err == ""
