"""`inferdpt privacy perturb --diff` on a terminal and in a pipe."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from proxy.cli.main import main

ROOT = Path(__file__).parents[3]
PERTURB = (sys.executable, "-m", "proxy.cli.main", "privacy", "perturb")
TEXT = "Mail anna@example.org by 12 May.\n"
COLOR = re.compile(r"\x1b\[[\d;]*3[12]m")


def show(tmp_path: Path, *, columns: int = 100, text: str = TEXT, **variables: str) -> str:
    """Return what a terminal gets."""
    path = tmp_path / "letter.txt"
    path.write_text(text)
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    unset = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    process = subprocess.Popen(
        [*PERTURB, path, "--mechanism", "selective", "--diff"],
        cwd=ROOT,
        env={**environment, "TERM": "xterm", **variables},
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
    return b"".join(chunks).decode()


def test_a_terminal_gets_two_columns_with_colors(tmp_path: Path) -> None:
    out = show(tmp_path)
    assert "raw" in out
    assert "│" in out
    assert "\x1b[4;31manna@example.org\x1b[0m" in out
    assert "\x1b[4;32m" in out


def test_no_color_leaves_the_underlines(tmp_path: Path) -> None:
    out = show(tmp_path, NO_COLOR="1")
    assert not COLOR.search(out)
    assert "\x1b[4manna@example.org\x1b[0m" in out


def test_a_narrow_terminal_shows_one_text_above_the_other(tmp_path: Path) -> None:
    out = show(tmp_path, columns=50)
    assert "│" not in out
    assert out.index("raw") < out.index("anna@example.org") < out.index("released")


def test_a_dumb_terminal_gets_written_marks(tmp_path: Path) -> None:
    assert "[-anna@example.org-]{+" in show(tmp_path, TERM="dumb")


def test_a_text_cannot_command_the_terminal(tmp_path: Path) -> None:
    out = show(tmp_path, text="Hello\x1b]0;owned\x07 \x1b[2J\u202eanna@example.org\n")
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
