"""Drive a browser with Playwright of Open WebUI's environment, and ask a question with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["BROWSERS", "ask", "drive"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 300.0  # only a hang reaches it


def ask(python: Path, address: str, question: str, *options: str) -> dict[str, str]:
    """Ask a question in a browser; return what is shown.

    Args:
        options: of `browse.py`.

    Raises:
        RuntimeError: there is no browser, or it failed; with what it wrote.
    """
    script = Path(__file__).with_name("browse.py")
    seen: dict[str, str] = drive(python, script, address, question, *options)
    return seen


def drive(python: Path, script: Path, *arguments: str) -> Any:
    """Run a script with the path of a browser and more arguments; return the JSON it prints.

    Raises:
        RuntimeError: there is no browser, or the script failed; with what it wrote.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RuntimeError("there is no Chromium: apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [str(python), str(script), browser, *arguments],
            env={**os.environ, "HOME": home},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    return json.loads(done.stdout)
