"""Renew the requirements of the image and of the release, with the hashes of every file.

    python -m scripts.release.hashes

uv resolves them at the versions in constraints.txt, for every platform, and takes the hashes from
the package index. Run it after a change of a requirement, of a pin, or of the image's extras.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["IMAGE", "RELEASE", "main", "read_hashes"]

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "deploy" / "requirements.txt"
RELEASE = ROOT / "scripts" / "release" / "requirements.txt"
BACKEND = "setuptools"  # builds the package itself
EXTRAS = ("embedded", "offline", "oidc", "postgres")  # that an image may have
TOOLS = ("build", "cyclonedx-bom", "packaging", BACKEND, "twine")  # for scripts.release
HEAD = "# Made by `python -m scripts.release.hashes`.\n"


def main() -> int:
    """Write both files."""
    extras = [option for extra in EXTRAS for option in ("--extra", extra)]
    IMAGE.write_text(_resolve([BACKEND], "pyproject.toml", *extras), "utf-8")
    RELEASE.write_text(_resolve(TOOLS), "utf-8")
    return 0


def read_hashes(text: str) -> dict[str, set[str]]:
    """Return the hashes of each `name==version` in a file of requirements."""
    found: dict[str, set[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.startswith("#"):
            pin, *options = line.partition(";")[0].split() + line.partition(";")[2].split()
            found[pin] = {word for word in options if word.startswith("--hash=sha256:")}
    return found


def _resolve(names: Iterable[str], *more: str) -> str:
    """Return pinned requirements with hashes, for names and what else is given to uv."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config"]
    options = ["--constraint", "constraints.txt", "--generate-hashes", "--universal"]
    form = ["--no-header", "--no-annotate", "--python-version", "3.11"]
    done = subprocess.run(
        [*command, *options, *form, *more, "-"],
        cwd=ROOT,
        input="".join(f"{name}\n" for name in names),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return HEAD + done.stdout


if __name__ == "__main__":
    sys.exit(main())
