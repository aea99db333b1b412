"""Record the output of the commands that the pages show, for some also as a picture.

    python -m scripts.record                  # all of them
    python -m scripts.record demo account

Each command runs in a pseudo-terminal of its own, in an empty state directory. Its standard
output is saved in docs/recordings/NAME.txt and, for some, drawn in NAME.svg.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FOLDER", "RECORDINGS", "Recording", "draw", "main", "plain", "run"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "recordings"
COLUMNS = 100
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
_FONTS = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)  # rich's are fetched from the network


@dataclass(frozen=True)
class Recording:
    """Hold a command line, the name of its recording, and its expected exit status."""

    name: str
    command: str
    picture: bool = False
    status: int = 0


RECORDINGS = {
    recording.name: recording
    for recording in (
        Recording("demo", "inferdpt demo", picture=True),
        Recording(
            "selective", "inferdpt privacy perturb examples/letter.txt --mechanism selective"
        ),
        Recording(
            "rantext_ldp", "inferdpt privacy perturb examples/letter.txt --mechanism rantext_ldp"
        ),
        Recording(
            "surrogate",
            'echo "My landlord refuses to repair the boiler. Can I reduce the rent?" | '
            "inferdpt privacy perturb - --mechanism surrogate --epsilon 12",
        ),
        Recording(
            "diff",
            "inferdpt privacy perturb examples/letter.txt --mechanism selective --diff",
            picture=True,
        ),
        Recording("audit", "inferdpt privacy audit --mechanism rantext --epsilon 6"),
        Recording(
            "certify",
            "inferdpt privacy certify --mechanism rantext_ldp --epsilon 8 --out certificate.json",
        ),
        Recording(
            "refute", "inferdpt privacy refute --mechanism rantext --epsilon 3 --seed 1", status=1
        ),
        Recording(
            "account", "inferdpt privacy account --mechanism rantext_ldp --epsilon 6 --tokens 500"
        ),
        Recording(
            "compare",
            "python examples/compare.py rantext_ldp:6 rantext_ldp:10 exponential:10",
        ),
        Recording(
            "finding",
            "python -m benchmarks.finding examples/labelled.jsonl --words 5 | grep -v 'of type'",
        ),
        *(
            Recording(f"agent_{part}", f"python -m benchmarks.fidelity.show {part}")
            for part in ("file", "left", "edit", "patch")
        ),
    )
}


def run(recording: Recording) -> str:
    """Run a command in a terminal of `COLUMNS` columns, beside the examples; return its output,
    styles included.

    Raises:
        RuntimeError: its exit status is not the expected one.
    """
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as state, tempfile.TemporaryFile() as errors:
        (Path(state) / "examples").symlink_to(ROOT / "examples")
        variables = {"PATH": path, "INFERDPT_STATE_DIR": state, "TERM": "xterm"}
        variables["PYTHONPATH"] = str(ROOT)  # some are of the benchmarks, which are not installed
        process = subprocess.Popen(
            ["bash", "-c", recording.command],
            cwd=state,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=errors,
        )
        os.close(follower)
        chunks = []
        with suppress(OSError):  # on Linux, reading fails once the other end is closed
            while chunk := os.read(leader, 65536):
                chunks.append(chunk)
        os.close(leader)
        if process.wait() != recording.status:
            errors.seek(0)
            raise RuntimeError(f"{recording.command}: {errors.read().decode()}")
    return b"".join(chunks).decode().replace("\r\n", "\n")


def plain(printed: str) -> str:
    """Return a terminal's output without its styles."""
    return _STYLES.sub("", printed)


def draw(command: str, printed: str) -> str:
    """Draw a terminal that shows a command and its output; return the SVG."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    prompt = f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m"
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"{prompt}\n{printed.rstrip()}\n"))
    return console.export_svg(
        title=command, code_format=_FONTS.sub("", CONSOLE_SVG_FORMAT), unique_id="recording"
    )


def main() -> None:
    """Record the named commands, or all of them."""
    parser = argparse.ArgumentParser(description="Record the commands that the pages show.")
    parser.add_argument("name", nargs="*", choices=[*RECORDINGS, []], help="which (all)")
    for name in parser.parse_args().name or RECORDINGS:
        recording = RECORDINGS[name]
        printed = run(recording)
        text = f"$ {recording.command}\n{plain(printed)}".rstrip() + "\n"
        (FOLDER / f"{name}.txt").write_text(text, "utf-8")
        if recording.picture:
            picture = draw(recording.command, printed)
            (FOLDER / f"{name}.svg").write_text(picture, "utf-8")
        print(f"docs/recordings/{name}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main()
