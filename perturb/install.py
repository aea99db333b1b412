"""The command that installs an extra, for the way in which the running copy was installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from shlex import quote
from urllib.parse import unquote, urlsplit

__all__ = ["install_command"]

NAME = "inferdpt"


def install_command(extra: str) -> str:
    """Return the command that installs an extra for the running copy of the program.

    >>> "install" in install_command("audit")
    True
    """
    pip = shutil.which("pip")
    here = os.path.dirname(sys.executable)
    ours = pip is not None and os.path.dirname(pip) == here
    command = "pip" if ours else f"{quote(sys.executable)} -m pip"
    return f"{command} install {_find_requirement(extra)}"


def _find_requirement(extra: str) -> str:
    """Return the requirement that names the running copy with the extra, quoted for a shell."""
    checkout = Path(__file__).parents[1]
    if _is_checkout(checkout):
        return f"-e {quote(f'{_shorten(checkout)}[{extra}]')}"
    try:
        installed = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:
        return quote(f"{NAME}[{extra}]")
    origin = json.loads(installed.read_text("direct_url.json") or "null")
    if origin is None:  # from a package index
        return quote(f"{NAME}[{extra}]")
    url = str(origin["url"])
    if "vcs_info" in origin:
        version = origin["vcs_info"]
        url = f"{version['vcs']}+{url}@{version['commit_id']}"
    if not url.startswith("file:"):
        return quote(f"{NAME}[{extra}] @ {url}")
    file = Path(unquote(urlsplit(url).path))
    if file.exists():
        return quote(f"{_shorten(file)}[{extra}]")
    # The file it was installed from is gone, but the packages of the extra can be installed.
    requirements = [line.partition(";") for line in installed.requires or []]
    mark = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    return " ".join(quote(package.strip()) for package, _, on in requirements if mark.search(on))


def _is_checkout(folder: Path) -> bool:
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return bool(project.get("project", {}).get("name") == NAME)


def _shorten(path: Path) -> str:
    """Return a path, or "." if it is the working directory."""
    return "." if path == Path.cwd() else str(path)
