"""`inferdpt privacy perturb --diff` on a terminal and in a pipe."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.main import main

ROOT = Path(__file__).parents[3]
TEXT = "Mail anna@example.org by 12 May.\n"
COLOR = re.compile(r"\x1b\[[\d;]*3[12]m")


CASES: dict[str, dict[str, Any]] = {
    "wide": {},
    "no color": {"NO_COLOR": "1"},
    "narrow": {"columns": 50},
    "dumb": {"TERM": "dumb"},
    "commands": {"text": "Hello\x1b]0;owned\x07 \x1b[2J\u202eanna@example.org\n"},
}
END = "<the end of a case>"
# One process shows every case on the terminal that is its output: each start takes seconds.
PROGRAM = f"""
import fcntl, json, os, struct, sys, termios
from proxy.cli.main import main

given = dict(os.environ)
for case in json.loads(sys.argv[1]):
    os.environ.clear()
    os.environ.update(given, **case["variables"])
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, case["columns"], 0, 0))
    perturb = ["privacy", "perturb", case["path"]]
    assert main([*perturb, "--mechanism", "selective", "--diff"]) == 0
    print({END!r}, flush=True)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a terminal gets in each case."""
    told = []
    for case in CASES.values():
        path = tmp_path_factory.mktemp("diff") / "letter.txt"
        path.write_text(case.get("text", TEXT))
        variables = {key: value for key, value in case.items() if key not in ("text", "columns")}
        columns = case.get("columns", 100)
        told.append({"path": str(path), "columns": columns, "variables": variables})
    leader, follower = pty.openpty()
    unset = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(told)],
        cwd=ROOT,
        env={**environment, "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=subprocess.DEVNULL,
    )
    os.close(follower)
    chunks = []
    with suppress(OSError):
        while chunk := os.read(leader, 65536):
            chunks.append(chunk)
    os.close(leader)
    assert process.wait() == 0
    *outputs, rest = b"".join(chunks).decode().split(END)
    assert not rest.strip()
    return dict(zip(CASES, outputs, strict=True))


def test_a_terminal_gets_two_columns_with_colors(shown: dict[str, str]) -> None:
    out = shown["wide"]
    assert "raw" in out
    assert "│" in out
    assert "\x1b[4;31manna@example.org\x1b[0m" in out
    assert "\x1b[4;32m" in out


def test_no_color_leaves_the_underlines(shown: dict[str, str]) -> None:
    out = shown["no color"]
    assert not COLOR.search(out)
    assert "\x1b[4manna@example.org\x1b[0m" in out


def test_a_narrow_terminal_shows_one_text_above_the_other(shown: dict[str, str]) -> None:
    out = shown["narrow"]
    assert "│" not in out
    assert out.index("raw") < out.index("anna@example.org") < out.index("released")


def test_a_dumb_terminal_gets_written_marks(shown: dict[str, str]) -> None:
    assert "[-anna@example.org-]{+" in shown["dumb"]


def test_a_text_cannot_command_the_terminal(shown: dict[str, str]) -> None:
    out = shown["commands"]
    assert "\x1b]" not in out
    assert "\x1b[2J" not in out
    assert "\u202e" not in out
    assert "owned" in out


def test_a_pipe_gets_written_marks_and_no_styles(tmp_path: Path, capsys) -> None:
    path = tmp_path / "letter.txt"
    path.write_text(TEXT)
    arguments = ["--mechanism", "selective", "--set", "policy=regex", "--diff", "--receipt"]
    assert main(["privacy", "perturb", str(path), *arguments]) == 0
    shown = capsys.readouterr()
    assert re.fullmatch(
        r"Mail \[-anna@\S+-\]\{\+\S+\+\} by \[-12 May\.-\]\{\+.*\+\}\n\n", shown.out
    )
    assert "\x1b" not in shown.out
    assert json.loads(shown.err)["mechanism"] == "selective"
    assert "anna" not in shown.err


@pytest.mark.parametrize("other", ["--json", "--lines"])
def test_a_difference_is_no_json(other: str, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["privacy", "perturb", "-", "--diff", other])
    assert caught.value.code == 2
    assert "--diff" in capsys.readouterr().err
