"""Ask a question in Open WebUI with a browser of its own environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["BROWSERS", "ask"]

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 300.0  # only a hang reaches it


def ask(python: Path, address: str, question: str, *options: str) -> dict[str, str]:
    """Ask a question in a browser; return what is shown.

    Args:
        options: of `browse.py`.

    Raises:
        RuntimeError: there is no browser, or it failed; with what it wrote.
    """
    script = str(Path(__file__).with_name("browse.py"))
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise RuntimeError("there is no Chromium: apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [str(python), script, browser, address, question, *options],
            env={**os.environ, "HOME": home},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-4000:])
    seen: dict[str, str] = json.loads(done.stdout)
    return seen
